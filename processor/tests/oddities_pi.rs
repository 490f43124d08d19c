//! What is odd in the public transcripts of Pi and `OpenClaw`, which write one format, and what comes of it. The numbers are
//! those of `formats/ODDITIES.md`.

#[path = "support/shared.rs"]
mod shared;

use remembrancer_processor::ingest::{Advance, ProblemKind, Shape};

fn read(agent: &str, ends: &str) -> Vec<Advance> {
    shared::transcripts(agent, ends)
        .iter()
        .map(|path| {
            shared::read(
                agent,
                Shape::Lines,
                path,
                &fs_err::read(path).expect("a transcript"),
                &shared::beside,
            )
        })
        .collect()
}

#[test]
fn every_shared_transcript_is_read() {
    for (agent, least) in [("pi", 2), ("openclaw", 3)] {
        let advances = read(agent, ".jsonl");
        let found = !advances.is_empty();
        let turns = shared::turns(agent, advances).len();
        assert!(turns >= least || !found, "{agent}: {turns}");
    }
}

#[test]
fn oddity_59_pi_names_session_and_folder_once_and_compacts_without_a_turn() {
    for advance in read("pi", "small.jsonl") {
        let [first, second] = advance.turns.as_slice() else {
            panic!("two turns: {:?}", advance.turns)
        };
        assert_eq!(first.session, "019e19b4-eb48-746a-aa6b-8dfcfa37954b");
        assert_eq!(first.cwd.as_deref(), Some("/tmp/as-agent-fixture/project"));
        assert_eq!(second.cwd, first.cwd);
        assert!(first.prompt.starts_with("Read hello.py") && !first.answer().is_empty());
        assert!(first.carried_summary.is_none() && second.carried_summary.is_none());
        assert_eq!(advance.problems, []);
    }
}

#[test]
fn oddity_59_openclaw_puts_context_calls_and_results_between_messages() {
    for advance in read("openclaw", "large.jsonl") {
        let [turn] = advance.turns.as_slice() else {
            panic!("one turn: {:?}", advance.turns)
        };
        assert_eq!(turn.facets().commands, ["git status --short"]);
        assert_eq!(turn.facets().files, ["notes.md"]);
        assert_eq!(turn.cwd.as_deref(), Some("/tmp/large"));
        let told = format!("{turn:?}");
        assert!(!told.contains("injected before the turn") && !told.contains("M file1"));
    }
    for advance in read("openclaw", "schema_drift.jsonl") {
        assert_eq!(advance.turns.len(), 1);
        assert!(!advance.turns[0].answer().contains("summary updated"), "the system's words");
        let kinds: Vec<ProblemKind> = advance.problems.into_iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::unknown_record("compact")]);
    }
}
