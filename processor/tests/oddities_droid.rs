//! What is odd in public transcripts of Factory Droid, by its number, and what comes of it. Skips where there are none.

#[path = "support/shared_files.rs"]
mod shared_files;

use remembrancer_schema::UnixMillis;
use shared_files::{file, files, read, read_all, read_bytes};

const ID: &str = "droid";
const FOLDER: &str = "droid";

#[test]
fn every_shared_session_is_read() {
    assert!(read_all(ID, FOLDER, |_| true).is_none_or(|turns| turns >= 7));
}

#[test]
fn oddity_04_a_blank_line_at_the_end_is_told_and_costs_nothing() {
    for path in files(FOLDER) {
        let whole = fs_err::read(&path).expect("a transcript");
        let cut = read_bytes(ID, &path, whole.trim_ascii_end());
        assert_eq!(read(ID, &path).turns, cut.turns, "{}", path.display());
        assert_eq!(cut.problems, [], "{}", path.display());
    }
}

#[test]
fn oddity_11_times_may_be_numbers() {
    let Some(path) = file(FOLDER, "stream_json_schema_drift.jsonl") else {
        return;
    };
    assert_eq!(read(ID, &path).turns[0].started_at, UnixMillis(1_767_812_641_000));
}

#[test]
fn oddity_59_a_session_of_the_store_is_read() {
    let Some(path) = file(FOLDER, "session_store_small.jsonl") else {
        return;
    };
    let turns = read(ID, &path).turns;
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].session, "droid_s1");
    assert_eq!(turns[0].cwd.as_deref(), Some("/tmp"));
    assert_eq!(turns[0].prompt, "Run a command");
    assert_eq!(turns[0].facets().errors.len(), 1);
}

#[test]
fn oddity_59_a_stream_is_read() {
    let Some(path) = file(FOLDER, "stream_json_schema_drift.jsonl") else {
        return;
    };
    let turns = read(ID, &path).turns;
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].session, "sid_stage0_drift");
    assert_eq!(turns[0].cwd.as_deref(), Some("/tmp/drift"));
    assert_eq!(turns[0].prompt, "List files");
    assert_eq!(turns[0].answer(), "Done");
}

#[test]
fn oddity_59_a_reminder_is_no_part_of_a_prompt() {
    let Some(path) = file(FOLDER, "session_store_schema_drift.jsonl") else {
        return;
    };
    assert_eq!(read(ID, &path).turns[0].prompt, "Do the thing");
}
