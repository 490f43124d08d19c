//! What is odd in the public transcripts of Pi and `OpenClaw`, which write one format, and what comes of it. The numbers are
//! those of `formats/ODDITIES.md`.

use super::shared::{Sample, Transcripts, problems};

fn pi() -> Transcripts {
    Transcripts::of("pi", "pi")
}

fn openclaw() -> Transcripts {
    Transcripts::of("openclaw", "openclaw")
}

/// Every session of Pi.
pub(crate) fn samples() -> Vec<Sample> {
    pi().samples(".jsonl")
}

/// Every session of `OpenClaw`.
pub(crate) fn openclaw_samples() -> Vec<Sample> {
    openclaw().samples(".jsonl")
}

#[test]
fn oddity_59_pi_names_session_and_folder_once_and_compacts_without_a_turn() {
    for advance in pi().read_all("/small.jsonl") {
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
    for advance in openclaw().read_all("/large.jsonl") {
        let [turn] = advance.turns.as_slice() else {
            panic!("one turn: {:?}", advance.turns)
        };
        assert_eq!(turn.facets().commands, ["git status --short"]);
        assert_eq!(turn.facets().files, ["notes.md"]);
        assert_eq!(turn.cwd.as_deref(), Some("/tmp/large"));
        let told = format!("{turn:?}");
        assert!(!told.contains("injected before the turn") && !told.contains("M file1"));
    }
    for advance in openclaw().read_all("/schema_drift.jsonl") {
        assert_eq!(advance.turns.len(), 1);
        assert!(!advance.turns[0].answer().contains("summary updated"), "the system's words");
        assert_eq!(problems(&advance), ["unknown-record:compact"]);
    }
}
