//! What is odd in public transcripts of GitHub Copilot CLI, by its number, and what comes of it. Skips where there are none.

use super::shared::{MODIFIED, Sample, Transcripts, beside};

/// A session that was never shut down.
const ENDLESS: &str = "/07c40cd0-ff51-4d6e-bdcd-ac2f90877203/events.jsonl";

fn copilot() -> Transcripts {
    Transcripts::of("copilot-cli", "copilot")
}

/// Every session.
pub(crate) fn samples() -> Vec<Sample> {
    copilot().samples(".jsonl")
}

#[test]
fn oddity_06_a_giant_line_of_system_text_costs_nothing() {
    for advance in copilot().read_all("/0-6ab6996a.full.jsonl") {
        assert_eq!(advance.problems, []);
        assert_eq!(advance.turns.len(), 2);
    }
}

#[test]
fn oddity_09_escaped_line_ends_of_windows_are_line_ends() {
    let line = br#"{"type":"user.message","id":"e1","data":{"content":"first\r\nsecond"}}"#;
    let advance = copilot().read_bytes(line, ".copilot/session-state/s/events.jsonl");
    assert_eq!(advance.turns[0].prompt, "first\nsecond");
}

#[test]
fn oddity_55_hooks_and_telemetry_are_no_problem_and_no_memory() {
    for sample in samples() {
        assert_eq!(sample.read().problems, [], "{}", sample.path.display());
    }
}

#[test]
fn oddity_55_a_session_without_its_end_keeps_its_last_turn() {
    for advance in copilot().read_all(ENDLESS) {
        let last = advance.turns.last().expect("turns");
        assert!(last.prompt.starts_with("Send a broadcast message"), "{}", last.prompt);
        assert!(last.answer().contains("sent successfully"), "{}", last.answer());
    }
}

#[test]
fn oddity_55_a_prompt_is_what_was_typed_and_not_what_was_sent() {
    for sample in samples() {
        for turn in sample.read().turns {
            for mark in ["<current_datetime>", "<system_reminder>", "<sql_tables>"] {
                assert!(!turn.prompt.contains(mark), "{}: {}", sample.path.display(), turn.prompt);
            }
        }
    }
}

#[test]
fn oddity_55_without_a_workspace_file_the_start_tells_the_folder() {
    for turn in copilot().read_all(ENDLESS).iter().flat_map(|advance| &advance.turns) {
        assert_eq!(turn.session, "07c40cd0-ff51-4d6e-bdcd-ac2f90877203");
        assert_eq!(turn.cwd.as_deref(), Some("D:\\Source\\GitHub\\agent-engram"));
        assert_eq!(turn.git_branch.as_deref(), Some("007-agent-engineering-refactor"));
    }
}

#[test]
fn oddity_55_a_workspace_file_without_quotes_is_read_and_is_no_transcript() {
    for file in copilot().files("/212435a2-8d62-4467-bb24-64bdcc8dbd59/workspace.yaml") {
        let (agent, path) = (copilot().agent, copilot().path(&file));
        assert_eq!(agent.shape(&path), None);
        let context = agent.source(&path.with_file_name("events.jsonl"), MODIFIED, &beside).context;
        assert_eq!(context.session.as_deref(), Some("212435a2-8d62-4467-bb24-64bdcc8dbd59"));
        assert_eq!(context.cwd.as_deref(), Some("D:\\Source\\GitHub\\agent-engram"));
        assert_eq!(context.git_branch.as_deref(), Some("007-agent-engineering-refactor"));
    }
}
