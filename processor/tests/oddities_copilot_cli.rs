//! What is odd in public transcripts of GitHub Copilot CLI, by its number, and what comes of it. Skips where there are none.

#[path = "support/shared_files.rs"]
mod shared_files;

use std::path::Path;

use shared_files::{MODIFIED, agent, file, files, read, read_all, read_bytes};

const ID: &str = "copilot-cli";
const FOLDER: &str = "copilot";

#[test]
fn every_shared_session_is_read() {
    let is_events = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl");
    assert!(read_all(ID, FOLDER, is_events).is_none_or(|turns| turns >= 15));
}

#[test]
fn oddity_06_a_giant_line_of_system_text_costs_nothing() {
    let Some(path) = file(FOLDER, "0-6ab6996a.full.jsonl") else {
        return;
    };
    let advance = read(ID, &path);
    assert_eq!(advance.problems, []);
    assert_eq!(advance.turns.len(), 2);
}

#[test]
fn oddity_09_escaped_line_ends_of_windows_are_line_ends() {
    let line = br#"{"type":"user.message","id":"e1","data":{"content":"first\r\nsecond"}}"#;
    let advance = read_bytes(ID, Path::new("/s/events.jsonl"), line);
    assert_eq!(advance.turns[0].prompt, "first\nsecond");
}

#[test]
fn oddity_55_hooks_and_telemetry_are_no_problem_and_no_memory() {
    for path in files(FOLDER)
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
    {
        let advance = read(ID, path);
        assert_eq!(advance.problems, [], "{}", path.display());
    }
}

#[test]
fn oddity_55_a_session_without_its_end_keeps_its_last_turn() {
    let Some(path) = file(FOLDER, "07c40cd0-ff51-4d6e-bdcd-ac2f90877203/events.jsonl") else {
        return;
    };
    let advance = read(ID, &path);
    let last = advance.turns.last().expect("turns");
    assert!(last.prompt.starts_with("Send a broadcast message"), "{}", last.prompt);
    assert!(last.answer().contains("sent successfully"), "{}", last.answer());
}

#[test]
fn oddity_55_a_prompt_is_what_was_typed_and_not_what_was_sent() {
    for path in files(FOLDER)
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
    {
        for turn in read(ID, path).turns {
            for mark in ["<current_datetime>", "<system_reminder>", "<sql_tables>"] {
                assert!(!turn.prompt.contains(mark), "{}: {}", path.display(), turn.prompt);
            }
        }
    }
}

#[test]
fn oddity_55_without_a_workspace_file_the_start_tells_the_folder() {
    let Some(path) = file(FOLDER, "07c40cd0-ff51-4d6e-bdcd-ac2f90877203/events.jsonl") else {
        return;
    };
    for turn in read(ID, &path).turns {
        assert_eq!(turn.session, "07c40cd0-ff51-4d6e-bdcd-ac2f90877203");
        assert_eq!(turn.cwd.as_deref(), Some("D:\\Source\\GitHub\\agent-engram"));
        assert_eq!(turn.git_branch.as_deref(), Some("007-agent-engineering-refactor"));
    }
}

#[test]
fn oddity_55_a_workspace_file_without_quotes_is_read_and_is_no_transcript() {
    let Some(path) = file(FOLDER, "212435a2-8d62-4467-bb24-64bdcc8dbd59/workspace.yaml") else {
        return;
    };
    assert_eq!(agent(ID).shape(&path), None);
    let info = agent(ID).source(&path.with_file_name("events.jsonl"), MODIFIED, &|path| {
        fs_err::read(path).ok()
    });
    assert_eq!(info.context.session.as_deref(), Some("212435a2-8d62-4467-bb24-64bdcc8dbd59"));
    assert_eq!(info.context.cwd.as_deref(), Some("D:\\Source\\GitHub\\agent-engram"));
    assert_eq!(info.context.git_branch.as_deref(), Some("007-agent-engineering-refactor"));
}
