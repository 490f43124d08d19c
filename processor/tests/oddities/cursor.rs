//! What is odd in public transcripts of Cursor, by its number, and what comes of it. Skips where there are none.

use remembrancer_processor::ingest::Advance;
use remembrancer_schema::Origin;

use super::shared::{MODIFIED, Sample, Transcripts};

fn cursor() -> Transcripts {
    Transcripts::of("cursor", "cursor")
}

/// Every transcript.
pub(crate) fn samples() -> Vec<Sample> {
    cursor().samples(".jsonl")
}

#[test]
fn oddity_56_without_times_a_turn_has_that_of_its_file() {
    for sample in samples() {
        for turn in sample.read().turns {
            assert_eq!(turn.started_at, MODIFIED, "{}", sample.path.display());
        }
    }
}

#[test]
fn oddity_56_without_ids_every_turn_has_a_uid_of_its_own_that_stays() {
    for sample in cursor().samples("Cursor/test-session.jsonl") {
        let uids = || -> Vec<_> { sample.read().turns.iter().map(|turn| turn.uid).collect() };
        assert_eq!(uids().len(), 2);
        assert_ne!(uids()[0], uids()[1]);
        assert_eq!(uids(), uids());
    }
}

#[test]
fn oddity_56_a_prompt_stands_without_its_tags_and_an_answer_without_what_was_redacted() {
    for Advance { turns, .. } in cursor().read_all("Cursor/test-session.jsonl") {
        assert_eq!(turns[0].prompt, "run ls command");
        assert_eq!(turns[1].prompt, "now show me the git status");
        assert!(!turns[1].answer().contains("REDACTED"), "{}", turns[1].answer());
        assert_eq!(turns[1].facets().commands, ["git status"]);
    }
}

#[test]
fn oddity_56_a_subagents_file_is_of_its_conversation() {
    for Advance { turns, .. } in cursor().read_all("subagent/subagents/child.jsonl") {
        assert_eq!(turns[0].origin, Origin::Subagent);
        assert_eq!(turns[0].session, "subagent");
    }
}

#[test]
fn oddity_56_a_store_is_no_transcript() {
    for file in cursor().files("Cursor/test-store.db") {
        assert_eq!(cursor().agent.shape(&cursor().path(&file)), None);
    }
}
