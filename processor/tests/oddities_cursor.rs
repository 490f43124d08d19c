//! What is odd in public transcripts of Cursor, by its number, and what comes of it. Skips where there are none.

#[path = "support/shared_files.rs"]
mod shared_files;

use std::path::Path;

use shared_files::{MODIFIED, agent, file, files, read, read_all, read_bytes};

const ID: &str = "cursor";
const FOLDER: &str = "cursor";

#[test]
fn every_shared_transcript_is_read() {
    let is_transcript = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl");
    assert!(read_all(ID, FOLDER, is_transcript).is_none_or(|turns| turns >= 12));
}

#[test]
fn oddity_56_without_times_a_turn_has_that_of_its_file() {
    for path in files(FOLDER)
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
    {
        for turn in read(ID, path).turns {
            assert_eq!(turn.started_at, MODIFIED, "{}", path.display());
        }
    }
}

#[test]
fn oddity_56_without_ids_every_turn_has_a_uid_of_its_own_that_stays() {
    let Some(path) = file(FOLDER, "Cursor/test-session.jsonl") else {
        return;
    };
    let uids: Vec<_> = read(ID, &path).turns.iter().map(|turn| turn.uid).collect();
    assert_eq!(uids.len(), 2);
    assert_ne!(uids[0], uids[1]);
    let bytes = fs_err::read(&path).expect("a transcript");
    let again: Vec<_> = read_bytes(ID, &path, &bytes).turns.iter().map(|turn| turn.uid).collect();
    assert_eq!(again, uids);
}

#[test]
fn oddity_56_a_prompt_stands_without_its_tags_and_an_answer_without_what_was_redacted() {
    let Some(path) = file(FOLDER, "Cursor/test-session.jsonl") else {
        return;
    };
    let turns = read(ID, &path).turns;
    assert_eq!(turns[0].prompt, "run ls command");
    assert_eq!(turns[1].prompt, "now show me the git status");
    assert!(!turns[1].answer().contains("REDACTED"), "{}", turns[1].answer());
    assert_eq!(turns[1].facets().commands, ["git status"]);
}

#[test]
fn oddity_56_a_subagents_file_is_of_its_conversation() {
    let Some(path) = file(FOLDER, "subagent/subagents/child.jsonl") else {
        return;
    };
    let turns = read(ID, &path).turns;
    assert_eq!(turns[0].origin, remembrancer_schema::Origin::Subagent);
    assert_eq!(turns[0].session, "subagent");
}

#[test]
fn oddity_56_a_store_is_no_transcript() {
    let Some(path) = file(FOLDER, "Cursor/test-store.db") else {
        return;
    };
    assert_eq!(agent(ID).shape(&path), None);
}
