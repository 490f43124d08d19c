//! What is odd in public transcripts of Factory Droid, by its number, and what comes of it. Skips where there are none.

use remembrancer_processor::ingest::Advance;
use remembrancer_schema::UnixMillis;

use super::shared::{Sample, Transcripts, beside};

fn droid() -> Transcripts {
    Transcripts::of("droid", "droid")
}

/// Every session.
pub(crate) fn samples() -> Vec<Sample> {
    droid().samples(".jsonl")
}

#[test]
fn oddity_04_a_blank_line_at_the_end_is_told_and_costs_nothing() {
    for sample in samples() {
        let cut = droid().read_as(&sample.path, sample.content.trim_ascii_end(), &beside);
        assert_eq!(sample.read().turns, cut.turns, "{}", sample.path.display());
        assert_eq!(cut.problems, [], "{}", sample.path.display());
    }
}

#[test]
fn oddity_11_times_may_be_numbers() {
    for advance in droid().read_all("/stream_json_schema_drift.jsonl") {
        assert_eq!(advance.turns[0].started_at, UnixMillis(1_767_812_641_000));
    }
}

#[test]
fn oddity_59_a_session_of_the_store_is_read() {
    for Advance { turns, .. } in droid().read_all("/session_store_small.jsonl") {
        assert_eq!(turns.len(), 1);
        assert_eq!(turns[0].session, "droid_s1");
        assert_eq!(turns[0].cwd.as_deref(), Some("/tmp"));
        assert_eq!(turns[0].prompt, "Run a command");
        assert_eq!(turns[0].facets().errors.len(), 1);
    }
}

#[test]
fn oddity_59_a_stream_is_read() {
    for Advance { turns, .. } in droid().read_all("/stream_json_schema_drift.jsonl") {
        assert_eq!(turns.len(), 1);
        assert_eq!(turns[0].session, "sid_stage0_drift");
        assert_eq!(turns[0].cwd.as_deref(), Some("/tmp/drift"));
        assert_eq!(turns[0].prompt, "List files");
        assert_eq!(turns[0].answer(), "Done");
    }
}

#[test]
fn oddity_59_a_reminder_is_no_part_of_a_prompt() {
    for advance in droid().read_all("/session_store_schema_drift.jsonl") {
        assert_eq!(advance.turns[0].prompt, "Do the thing");
    }
}
