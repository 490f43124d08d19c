//! What is odd in the public transcripts of Hermes Agent, and what comes of it. The numbers are those of
//! `formats/ODDITIES.md`.

#[path = "support/shared.rs"]
mod shared;

use remembrancer_processor::ingest::{Advance, Shape};

fn read(ends: &str) -> Vec<Advance> {
    shared::transcripts("hermes", ends)
        .iter()
        .map(|path| {
            shared::read(
                "hermes",
                Shape::Document,
                path,
                &fs_err::read(path).expect("a transcript"),
                &shared::beside,
            )
        })
        .collect()
}

#[test]
fn every_shared_transcript_is_read() {
    let advances = read(".json");
    let found = !advances.is_empty();
    let turns = shared::turns("hermes", advances).len();
    assert!(turns >= 3 || !found, "{turns}");
}

#[test]
fn oddity_59_messages_without_ids_and_times_take_the_sessions() {
    for advance in read("large.json") {
        let [turn] = advance.turns.as_slice() else {
            panic!("one turn: {:?}", advance.turns)
        };
        assert_eq!(turn.session, "20260429_hermes_large");
        assert_eq!(turn.started_at.0, 1_777_493_100_000);
        assert_eq!(turn.facets().tools, ["shell"]);
        assert_eq!(turn.cwd, None, "a folder that is named by its place in a home");
        let told = format!("{turn:?}");
        assert!(!told.contains("Need a shell lookup") && !told.contains("You are Hermes"));
    }
    for advance in read("schema_drift.json") {
        assert_eq!(advance.problems, [], "metadata that was added is passed over");
        assert_eq!(advance.turns[0].cwd.as_deref(), Some("/tmp/hermes-drift"));
        assert_eq!(advance.turns[0].facets().errors, ["No results."]);
    }
}
