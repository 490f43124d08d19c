//! What is odd in Antigravity's transcripts, by its number.

use super::shared::{MODIFIED, Sample, Transcripts, name, problems, prompts};

const FIXTURES: &str = "jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/antigravity";

fn antigravity() -> Transcripts {
    Transcripts::of("antigravity", "antigravity")
}

/// Every transcript.
pub(crate) fn samples() -> Vec<Sample> {
    antigravity().samples_at(".jsonl", place)
}

fn place(file: &str) -> String {
    let session = name(file).trim_end_matches(".jsonl");
    format!(".gemini/antigravity-cli/brain/{session}/.system_generated/logs/transcript.jsonl")
}

#[test]
fn oddity_59_a_request_stands_between_what_the_client_adds() {
    let file = format!("{FIXTURES}/cli_small.jsonl");
    let Some(advance) = antigravity().read_at(&file, &place(&file)) else {
        return;
    };
    assert_eq!(problems(&advance), [""; 0]);
    let first = &advance.turns[0];
    assert_eq!(first.prompt, "List the files.");
    assert_eq!(first.answer(), "The directory contains a.txt and b.txt.");
    assert_eq!(first.session, "cli_small");
    assert_eq!(first.facets().files, ["/tmp/repo/notes.md"]);
    assert!(first.started_at > MODIFIED);
    assert!(advance.sessions.iter().any(|session| session.compacted_at.is_some()));
}

#[test]
fn oddity_59_a_new_kind_of_step_is_counted_and_ends_nothing() {
    let file = format!("{FIXTURES}/cli_schema_drift.jsonl");
    let Some(advance) = antigravity().read_at(&file, &place(&file)) else {
        return;
    };
    assert_eq!(problems(&advance), ["unknown-record:BROWSER_NAVIGATE"]);
    assert_eq!(prompts(&advance.turns), ["Go"]);
}
