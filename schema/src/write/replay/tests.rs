//! Journal and database, whichever of them is behind.

use std::path::PathBuf;

use super::*;
use crate::testing::{Store, batch, session, turn, turn_uid};
use crate::{ForgetTarget, Reader};

/// What the user decided, as a database tells it.
#[derive(Debug, PartialEq)]
struct Decided {
    forgotten: Vec<TurnUid>,
    folders: Vec<String>,
    sessions: Vec<String>,
    pause: Option<Pause>,
    files: usize,
    visible: usize,
}

fn decided(store: &Store) -> Decided {
    let reader = Reader::open(&store.path).expect("opens");
    let db = &store.writer.db;
    let mut statement = db
        .prepare("SELECT external_id FROM sessions WHERE excluded = 1 ORDER BY 1")
        .expect("prepares");
    let sessions = statement.query_map([], |row| row.get(0)).expect("reads");
    Decided {
        forgotten: reader.tombstones().expect("reads"),
        folders: reader.exclusions().expect("reads"),
        sessions: sessions.collect::<Result<_, _>>().expect("reads"),
        pause: reader.paused().expect("reads"),
        files: reader.instruction_files().expect("reads").len(),
        visible: store.found("text").len(),
    }
}

/// Five turns, of which the user forgot one, and whose folder, another folder and a session are kept out.
fn store() -> Store {
    let mut store = Store::new();
    store.fill(&["text one", "text two", "text three", "text four", "text five"]);
    store
}

fn decide(store: &mut Store) {
    let writer = &mut store.writer;
    let first = crate::EpisodeUid::of(&turn_uid(0), 0).to_string();
    writer.forget(&ForgetTarget::Episode(first), UnixMillis(5)).expect("forgets");
    writer.exclude_path("/home/ada/other", UnixMillis(6)).expect("excludes");
    writer.exclude_session(&session("never-seen")).expect("excludes");
    writer.exclude_path("/home/ada/engine", UnixMillis(7)).expect("excludes");
    writer.include_path("/home/ada/other").expect("includes");
    writer.set_paused(Some(Pause::Indefinite)).expect("pauses");
    let file = InstructionFile {
        path: "/p/x.md".to_owned(),
        line: None,
        folder: "/p".to_owned(),
        made: None,
        tracked: false,
    };
    writer.add_instruction_file(&file, UnixMillis(8)).expect("notes");
}

fn expected() -> Decided {
    Decided {
        forgotten: vec![turn_uid(0)],
        folders: vec!["/home/ada/engine".to_owned()],
        sessions: vec!["never-seen".to_owned()],
        pause: Some(Pause::Indefinite),
        files: 1,
        visible: 0,
    }
}

fn journal(store: &Store) -> PathBuf {
    crate::copy::with_suffix(&store.path, ".journal")
}

/// Closes the store, so that its files may be changed: another takes its place in the test.
fn close(store: &mut Store) {
    store.writer = Writer::open(&store.path.with_file_name("no/memory.db")).expect("opens");
}

fn reopen(store: &mut Store) {
    close(store);
    store.writer = Writer::open(&store.path).expect("opens");
}

/// The database replaced by a copy of it.
fn put_back(store: &mut Store, copy: &std::path::Path) {
    close(store);
    for suffix in ["-wal", "-shm"] {
        fs_err::remove_file(crate::copy::with_suffix(&store.path, suffix)).ok();
    }
    fs_err::copy(copy, &store.path).expect("copies");
    reopen(store);
}

#[test]
fn tc_37_an_older_copy_that_is_put_back_does_what_was_decided_since() {
    let mut store = store();
    let copy = store.path.with_file_name("older.db");
    store.copy_to(&copy);
    decide(&mut store);
    assert_eq!(decided(&store), expected());
    put_back(&mut store, &copy);
    assert_eq!(decided(&store), expected());
    assert!(
        !fs_err::read(&store.path)
            .expect("reads")
            .windows(8)
            .any(|bytes| bytes == b"text one"),
        "what is forgotten again leaves no byte"
    );
    // To do it again changes nothing, in neither.
    let lines = fs_err::read(journal(&store)).expect("reads");
    reopen(&mut store);
    assert_eq!(
        (decided(&store), fs_err::read(journal(&store)).expect("reads")),
        (expected(), lines)
    );
}

#[test]
fn tc_37_a_database_made_anew_does_all_that_was_decided() {
    let mut store = store();
    decide(&mut store);
    let empty = store.path.with_file_name("empty/memory.db");
    drop(Writer::open(&empty).expect("opens").close());
    put_back(&mut store, &empty);
    assert_eq!(decided(&store), expected());
    let turns = (0..5).map(|number| turn(number, "s", &["text again"])).collect();
    let outcome = store.writer.ingest(&batch(turns)).expect("stores");
    assert_eq!((outcome.added, outcome.tombstoned, outcome.excluded), (0, 1, 4));
}

#[test]
fn a_store_without_a_journal_is_given_one() {
    let mut store = store();
    decide(&mut store);
    fs_err::remove_file(journal(&store)).expect("removes");
    reopen(&mut store);
    assert_eq!(decided(&store), expected());
    let empty = store.path.with_file_name("empty/memory.db");
    drop(Writer::open(&empty).expect("opens").close());
    put_back(&mut store, &empty);
    assert_eq!(decided(&store), expected());
}

#[test]
fn killed_before_the_database_had_it_it_is_done_at_the_next_opening() {
    let mut store = store();
    let choices = [
        forgotten(&[turn_uid(2)], UnixMillis(9)),
        Choice::Pause { until: Some(77) },
        Choice::ExcludeSession {
            agent: "claude-code".to_owned(),
            session: "s".to_owned(),
        },
    ];
    store.writer.journal.append(&choices).expect("appends");
    reopen(&mut store);
    let now = decided(&store);
    assert_eq!(
        (now.forgotten, now.pause),
        (vec![turn_uid(2)], Some(Pause::Until(UnixMillis(77))))
    );
    assert_eq!((now.sessions, now.visible), (vec!["s".to_owned()], 0));
    assert_eq!(store.reader().stats().expect("counts").episodes, 4);
}

#[test]
fn what_only_the_database_has_comes_into_the_journal() {
    let mut store = store();
    decide(&mut store);
    // As an older version leaves it, which knows no journal, and as a line does that the disk lost.
    let extra = TurnUid([0xaa; 16]);
    store
        .writer
        .db
        .execute_batch(
            "DELETE FROM exclusions; INSERT INTO exclusions (path, created_at) VALUES ('/by/old', 1);
             UPDATE _meta SET value = '' WHERE key = 'paused';
             DELETE FROM instruction_files; UPDATE sessions SET excluded = 0;",
        )
        .expect("changes");
    forget::bury(&store.writer.db, extra, UnixMillis(9)).expect("buries");
    reopen(&mut store);
    let changed = Decided {
        forgotten: vec![turn_uid(0), extra],
        folders: vec!["/by/old".to_owned()],
        sessions: Vec::new(),
        pause: None,
        files: 0,
        visible: 0,
    };
    assert_eq!(decided(&store), changed);
    let empty = store.path.with_file_name("empty/memory.db");
    drop(Writer::open(&empty).expect("opens").close());
    put_back(&mut store, &empty);
    let mut rebuilt = decided(&store);
    rebuilt.forgotten.sort_unstable();
    assert_eq!(rebuilt, changed);
}

#[test]
fn a_tombstone_that_only_the_journal_has_is_true_of_the_database_again() {
    let mut store = store();
    decide(&mut store);
    store.writer.db.execute("DELETE FROM tombstones", []).expect("deletes");
    reopen(&mut store);
    assert_eq!(decided(&store), expected());
}

#[test]
fn what_the_database_refuses_is_not_in_the_journal() {
    let mut store = store();
    let before = fs_err::read(journal(&store)).expect("reads");
    let other = rusqlite::Connection::open(&store.path).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locks");
    store.writer.db.busy_timeout(std::time::Duration::ZERO).expect("sets");
    let refused = store.writer.exclude_path("/x", UnixMillis(1)).expect_err("is locked");
    assert!(matches!(refused, crate::QueryError::Busy { .. }), "{refused:?}");
    assert_eq!(fs_err::read(journal(&store)).expect("reads"), before);
    drop(other);
    store.writer.exclude_path("/x", UnixMillis(1)).expect("excludes");
    reopen(&mut store);
    assert_eq!(decided(&store).folders, ["/x"]);
}

#[test]
fn what_the_journal_refuses_is_not_done() {
    let mut store = store();
    fs_err::remove_file(journal(&store)).expect("removes");
    fs_err::create_dir(journal(&store)).expect("makes");
    let before = decided(&store);
    let refused = store
        .writer
        .set_paused(Some(Pause::Indefinite))
        .expect_err("can't be written");
    assert!(
        matches!(refused, crate::QueryError::Journal { .. }) && !refused.is_of_content(),
        "{refused:?}"
    );
    assert_eq!(decided(&store), before);
}

#[test]
fn tc_37_a_journal_holds_no_text() {
    let mut store = store();
    decide(&mut store);
    store
        .writer
        .forget(&ForgetTarget::Matching("text three".to_owned()), UnixMillis(9))
        .expect("forgets");
    let text = fs_err::read_to_string(journal(&store)).expect("reads");
    assert!(!text.contains("three") && text.contains(&turn_uid(2).to_string()), "{text}");
}

#[test]
fn killed_before_the_bytes_of_what_was_forgotten_were_removed_the_next_opening_does_it() {
    let mut store = store();
    // What `forget` has done by then.
    let choice = forgotten(&[turn_uid(2)], UnixMillis(9));
    let stored = store.writer.decide("forget", choice, |db| {
        set_meta(db, forget::UNSCRUBBED, "1")?;
        forget::forget_again(db, &[turn_uid(2)], UnixMillis(9))
    });
    assert_eq!(stored.expect("stores"), 1);
    let aside = crate::copy::with_suffix(&store.path, ".damaged-20260101T000000Z");
    fs_err::write(&aside, "text three").expect("writes");
    reopen(&mut store);
    let held = |path: &std::path::Path| {
        fs_err::read(path)
            .expect("reads")
            .windows(10)
            .any(|bytes| bytes == b"text three")
    };
    assert!(!aside.exists() && !held(&store.path) && !held(&crate::copy::with_suffix(&store.path, "-wal")));
    assert_eq!(
        meta(&store.writer.db, forget::UNSCRUBBED).expect("reads").as_deref(),
        Some("0")
    );
}

#[test]
fn that_something_was_forgotten_once_more_is_noted_with_it() {
    let mut store = store();
    let choice = forgotten(&[turn_uid(2)], UnixMillis(9));
    let told = Told::of([&choice].into_iter());
    assert_eq!(store.writer.follow(&[&choice], &told, Spared::Replaced).expect("follows"), 1);
    // Killed here.
    assert_eq!(forget::unscrubbed(&store.writer.db).expect("reads"), Some(Spared::Replaced));
    let none = Choice::Resume;
    let mut other = self::store();
    let told = Told::of([&none].into_iter());
    assert_eq!(other.writer.follow(&[&none], &told, Spared::Replaced).expect("follows"), 0);
    assert_eq!(forget::unscrubbed(&other.writer.db).expect("reads"), None, "nothing went");
}

#[test]
fn a_folder_with_two_names_is_kept_out_under_the_one_that_both_become() {
    let mut store = store();
    store.writer.exclude_path("/srv/raw", UnixMillis(6)).expect("excludes");
    let renamed = |choice: &Choice| match choice {
        Choice::Exclude { path, at } if path == "/srv/raw" => Some(Choice::Exclude {
            path: "/srv/redacted".to_owned(),
            at: *at,
        }),
        Choice::Include { path } if path == "/srv/raw" => Some(Choice::Include {
            path: "/srv/redacted".to_owned(),
        }),
        _ => None,
    };
    store.writer.journal.change(renamed).expect("changes");
    // Killed before the database was: the next start tells the journal, which is then changed once more.
    let path = store.path.clone();
    close(&mut store);
    store.writer = Writer::open(&path).expect("opens");
    store.writer.journal.change(renamed).expect("changes");
    close(&mut store);
    let (_, lines) = crate::journal::Journal::open(&path, "new").expect("opens");
    let told = Told::of(lines.iter().map(|(_, choice)| choice));
    assert!(told.folders.contains("/srv/redacted"), "{lines:?}");
}
