//! A database among the transcripts: what is read again after which change, and what becomes of one that can't be read.

use std::collections::BTreeSet;

use remembrancer_schema::{ForeignWriter, Layout};
use rstest::rstest;

use super::*;

const MADE: &str = include_str!("../../../../processor/tests/fixtures/agents/opencode/.local/share/opencode/opencode.db.sql");
const TURN: &str = include_str!("../../../../processor/tests/fixtures/databases/opencode_turn.sql");
const DELETES: &str = include_str!("../../../../processor/tests/fixtures/databases/opencode_deletes.sql");
const LARGE: &str = include_str!("../../../../processor/tests/fixtures/databases/opencode_large.sql");
const SESSIONS: usize = 4;
const CURSOR: &str =
    include_str!("../../../../processor/tests/fixtures/agents/cursor/.config/Cursor/User/globalStorage/state.vscdb.sql");
const CURSOR_TURN: &str = include_str!("../../../../processor/tests/fixtures/databases/cursor_turn.sql");
const CONVERSATION: &str = "5c000000-0000-4000-8000-000000000011";

/// The database of an agent that has it open.
fn agent(place: &Place) -> (PathBuf, ForeignWriter) {
    let path = place.folder.path().join("opencode/opencode.db");
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    let writer = ForeignWriter::open(&path);
    writer.run(MADE);
    (path, writer)
}

fn says(writer: &ForeignWriter, number: u32) {
    says_by(TURN, writer, number);
}

fn says_by(turn: &str, writer: &ForeignWriter, number: u32) {
    let turn = turn
        .replace("NUMBER", &format!("{number:04}"))
        .replace("PROMPT", &prompt(number));
    writer.run(&turn.replace("ANSWER", "It kept an old handle. It has a bounded queue now, and a test."));
}

fn prompt(number: u32) -> String {
    format!("Why does the spooler of case{number} drop its last page after an upgrade?")
}

fn read_all(ingest: &mut Ingest) {
    ingest.scan();
    take_all(ingest);
}

fn take_all(ingest: &mut Ingest) {
    while !ingest.backfill.is_empty() {
        ingest.take_from_backfill().unwrap();
    }
}

/// The transcript of a conversation that is in Cursor's store, too, with other words around its prompt.
fn transcript(place: &Place) -> PathBuf {
    let folder = place
        .folder
        .path()
        .join("cursor/projects/home-ada-shop/agent-transcripts")
        .join(CONVERSATION);
    fs_err::create_dir_all(&folder).unwrap();
    let line = |role: &str, text: &str| json!({"role": role, "message": {"content": [{"type": "text", "text": text}]}});
    let prompt = line("user", &format!("<user_query>\n{}\n</user_query>", prompt(1)));
    let path = folder.join(CONVERSATION).with_extension("jsonl");
    fs_err::write(&path, format!("{prompt}\n{}\n", line("assistant", "It kept an old handle."))).unwrap();
    path
}

#[rstest]
#[case::that_was_there_first(true)]
#[case::that_came_later(false)]
fn a_conversation_of_cursors_is_read_from_its_transcript_alone(#[case] at_first: bool) {
    let place = Place::new();
    let store = place.folder.path().join("cursor/store/state.vscdb");
    fs_err::create_dir_all(store.parent().unwrap()).unwrap();
    let writer = ForeignWriter::open(&store);
    writer.run(CURSOR);
    says_by(CURSOR_TURN, &writer, 1);
    says_by(CURSOR_TURN, &writer, 2);
    let first = at_first.then(|| transcript(&place));
    let mut ingest = place.start();
    read_all(&mut ingest);
    let session = store.join(CONVERSATION);
    assert_eq!(ingest.known.contains_key(&session), !at_first);
    let file = first.unwrap_or_else(|| {
        assert_eq!(place.turns(), [1, 2]);
        let file = transcript(&place);
        ingest.take_changed([file.clone()]).unwrap();
        ingest.end_waiting(true);
        take_all(&mut ingest);
        file
    });
    assert_eq!(place.turns(), [1], "the transcript's");
    says_by(CURSOR_TURN, &writer, 3);
    ingest.take_sessions(&store, Layout::Cursor);
    assert_eq!(ingest.backfill, [""; 0].map(PathBuf::from), "nothing of it is to be read");
    // Nor is it read once the transcript, of which all is kept, is gone.
    fs_err::remove_file(file).unwrap();
    drop(ingest);
    let mut ingest = place.start();
    read_all(&mut ingest);
    assert_eq!(place.turns(), [1]);
    let others = ingest
        .known
        .keys()
        .filter(|path| path.starts_with(&store) && **path != session);
    assert_eq!(others.count(), 3, "the store's other conversations");
}

#[test]
fn only_a_session_that_changed_is_read_again() {
    let place = Place::new();
    let (path, writer) = agent(&place);
    let mut ingest = place.start();
    read_all(&mut ingest);
    assert_eq!(ingest.known.len(), SESSIONS);
    says(&writer, 1);
    ingest.take_changed([path.clone()]).unwrap();
    assert!(ingest.waiting.contains_key(&path), "like a document, it waits");
    ingest.end_waiting(true);
    assert_eq!(ingest.backfill, [path.join("ses_0000000010")]);
    ingest.take_from_backfill().unwrap();
    assert_eq!(place.turns(), [1]);
    ingest.take_changed([path]).unwrap();
    ingest.end_waiting(true);
    assert_eq!(ingest.backfill, [""; 0].map(PathBuf::from), "what was said is known");
    // Nor is anything read again after a restart, but what was said meanwhile.
    drop(ingest);
    says(&writer, 2);
    let mut ingest = place.start();
    ingest.scan();
    assert_eq!(ingest.backfill.len(), 1);
    read_all(&mut ingest);
    assert_eq!(place.turns(), [1, 2]);
}

#[test]
fn a_session_that_is_deleted_keeps_its_episodes() {
    let place = Place::new();
    let (path, writer) = agent(&place);
    let mut ingest = place.start();
    says(&writer, 1);
    read_all(&mut ingest);
    writer.run(DELETES);
    read_all(&mut ingest);
    let missing: Vec<&PathBuf> = ingest
        .known
        .values()
        .filter(|known| known.missing)
        .map(|known| &known.stat.path)
        .collect();
    assert_eq!(missing, [&path.join("ses_0000000010")]);
    assert_eq!(place.turns(), [1]);
}

#[test]
fn a_session_that_is_too_large_is_left_out_until_it_changes() {
    let place = Place::new();
    let (path, writer) = agent(&place);
    writer.run(LARGE);
    let mut ingest = place.start();
    read_all(&mut ingest);
    assert_eq!(ingest.known.len(), SESSIONS - 1);
    let problems = place.progress.problems();
    assert!(
        problems.len() == 1 && problems[0].contains("larger than 64 MiB"),
        "{problems:?}"
    );
    says(&writer, 1);
    ingest.take_sessions(&path, Layout::OpenCode);
    assert_eq!(ingest.backfill, [path.join("ses_0000000010")]);
}

#[rstest]
#[case::damaged("it is a diary, and no database at all", "damaged or no database")]
#[case::of_another("", "has no tables of OpenCode")]
fn a_database_that_cannot_be_read_is_a_problem_and_loses_nothing(#[case] content: &str, #[case] expected: &str) {
    let place = Place::new();
    let (path, writer) = agent(&place);
    let mut ingest = place.start();
    read_all(&mut ingest);
    drop(writer);
    let (good, bad) = (path.with_extension("good"), path.with_extension("bad"));
    if content.is_empty() {
        fs_err::copy(place.folder.path().join("store/memory.db"), &bad).unwrap();
    } else {
        fs_err::write(&bad, content).unwrap();
    }
    fs_err::rename(&path, &good).unwrap();
    fs_err::rename(&bad, &path).unwrap();
    for _ in 0..2 {
        read_all(&mut ingest);
        let problems = place.progress.problems();
        assert!(problems.len() == 1 && problems[0].contains(expected), "{problems:?}");
        assert!(ingest.known.values().all(|known| !known.missing));
    }
    fs_err::rename(&good, &path).unwrap();
    read_all(&mut ingest);
    assert_eq!(place.progress.problems(), [""; 0]);
    fs_err::remove_file(&path).unwrap();
    read_all(&mut ingest);
    assert!(ingest.known.values().all(|known| known.missing));
}

#[test]
fn a_database_that_is_locked_is_tried_again() {
    let place = Place::new();
    let mut ingest = place.start();
    fs_err::create_dir(place.folder.path().join("opencode")).unwrap();
    let rollback = place.folder.path().join("opencode/opencode-old.db");
    let writer = ForeignWriter::open(&rollback);
    writer.run(
        &MADE
            .lines()
            .filter(|line| !line.contains("journal_mode"))
            .collect::<Vec<_>>()
            .join("\n"),
    );
    writer.lock();
    let found = ingest.sessions_of(&rollback, Layout::OpenCode);
    assert_eq!((found.len(), ingest.waiting.contains_key(&rollback)), (0, true));
    assert!(
        place.progress.problems()[0].contains("tried again"),
        "{:?}",
        place.progress.problems()
    );
    writer.unlock();
    ingest.end_waiting(true);
    let waiting: BTreeSet<&Path> = ingest.backfill.iter().filter_map(|path| path.parent()).collect();
    assert_eq!(
        (ingest.backfill.len(), waiting),
        (SESSIONS, BTreeSet::from([rollback.as_path()]))
    );
    assert_eq!(place.progress.problems(), [""; 0]);
}
