//! What is odd in the public transcripts of `OpenCode`'s older tree, and what comes of it. The numbers are those of
//! `formats/ODDITIES.md`.

use super::shared::{Sample, Transcripts};

fn opencode() -> Transcripts {
    Transcripts::of("opencode", "opencode")
}

/// Every session.
pub(crate) fn samples() -> Vec<Sample> {
    let mut samples = opencode().samples(".json");
    samples.retain(|sample| opencode().agent.shape(&sample.path).is_some());
    samples
}

#[test]
fn oddity_57_messages_and_parts_are_found_where_folders_are_not_named_like_files() {
    for advance in opencode().read_all("/ses_s_stage0_small.json") {
        let [turn] = advance.turns.as_slice() else {
            panic!("one turn: {:?}", advance.turns)
        };
        assert_eq!((turn.prompt.as_str(), turn.cwd.as_deref()), ("Hello", Some("/tmp/repo")));
        assert_eq!(turn.answer(), "Found 2 files.");
        assert_eq!(turn.facets().tools, ["bash"]);
        assert_eq!(turn.started_at.0, 1_730_000_001_000);
    }
}

#[test]
fn oddity_57_errors_in_messages_and_synthetic_texts_are_no_memory() {
    for advance in opencode().read_all("/ses_s_stage0_large.json") {
        let prompts: Vec<&str> = advance.turns.iter().map(|turn| turn.prompt.as_str()).collect();
        assert_eq!(prompts, ["Step 1", "Step 2"]);
        assert_eq!(advance.turns[0].answer(), "", "the client's text, and what was only thought");
        assert_eq!(
            advance.turns[0].facets().errors,
            ["ls: /non-existent-directory: No such file or directory"]
        );
        assert_eq!(advance.problems, []);
    }
}

#[test]
fn oddity_57_a_message_without_parts_and_parts_in_no_folder_are_read() {
    for advance in opencode().read_all("/ses_s_stage0_drift.json") {
        let [turn] = advance.turns.as_slice() else {
            panic!("one turn: {:?}", advance.turns)
        };
        assert_eq!(turn.prompt, "", "what has no part says nothing");
        assert_eq!(turn.facets().tools, ["bash"]);
        assert!(turn.answer().starts_with("Read README"));
        assert_eq!(advance.problems, []);
    }
}

#[test]
fn oddity_57_what_is_no_session_is_none() {
    for file in opencode().files("") {
        let is_session = file.contains("/session/");
        let shape = opencode().agent.shape(&opencode().path(&file));
        assert_eq!(shape.is_some(), is_session, "{file}");
    }
}
