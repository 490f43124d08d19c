//! What is odd in the public transcripts of Hermes Agent, and what comes of it. The numbers are those of
//! `formats/ODDITIES.md`.

use remembrancer_schema::TurnUid;
use serde_json::json;

use super::shared::{Sample, Transcripts};

fn hermes() -> Transcripts {
    Transcripts::of("hermes", "hermes")
}

/// Every log.
pub(crate) fn samples() -> Vec<Sample> {
    hermes().samples(".json")
}

#[test]
fn oddity_59_messages_without_ids_and_times_take_the_sessions() {
    for advance in hermes().read_all("/large.json") {
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
    for advance in hermes().read_all("/schema_drift.json") {
        assert_eq!(advance.problems, [], "metadata that was added is passed over");
        assert_eq!(advance.turns[0].cwd.as_deref(), Some("/tmp/hermes-drift"));
        assert_eq!(advance.turns[0].facets().errors, ["No results."]);
    }
}

/// The uids of the turns of a log with these prompts.
fn uids(prompts: &[&str]) -> Vec<TurnUid> {
    let messages: Vec<_> = prompts
        .iter()
        .map(|prompt| json!({"role": "user", "content": prompt}))
        .collect();
    let log = json!({"session_id": "s", "session_start": "2026-03-01T10:00:00", "messages": messages}).to_string();
    let advance = hermes().read_bytes(log.as_bytes(), ".hermes/sessions/session_s.json");
    advance.turns.iter().map(|turn| turn.uid).collect()
}

#[test]
fn a_prompt_that_is_given_often_stays_the_same_when_earlier_ones_are_taken_out() {
    let whole = uids(&["Why twice?", "go on", "And the till?", "go on", "Then test it.", "go on"]);
    let compacted = uids(&[
        "[CONTEXT SUMMARY] rounding",
        "And the till?",
        "go on",
        "Then test it.",
        "go on",
    ]);
    assert_eq!(compacted[1..], whole[3..]);
    assert!(!whole.contains(&compacted[0]));
}
