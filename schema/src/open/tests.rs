//! Opening: private modes, refusals with their remedies, and what a crash or damage leaves.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rstest::rstest;
use tempfile::TempDir;

use super::*;
use crate::testing::{Store, batch, turn};
use crate::{Damage, FieldWeights, MatchExpression, Reader, Scope, Writer};

fn mode(path: &Path) -> u32 {
    fs_err::metadata(path).expect("is there").permissions().mode() & 0o777
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memory.db");
    (folder, path)
}

/// A store with one episode, closed in order or not.
fn written(path: &Path, in_order: bool) {
    let mut writer = Writer::open(path).expect("opens");
    let turns = (0..100)
        .map(|number| turn(number, "s", &["some text that fills a row"]))
        .collect();
    writer.ingest(&batch(turns)).expect("stores");
    if in_order {
        writer.close().expect("closes");
    } else {
        drop(writer);
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("sets");
}

#[test]
fn what_is_made_is_private() {
    let mut store = Store::new();
    store.fill(&["one"]);
    assert_eq!(mode(store.path.parent().expect("has a folder")), 0o700);
    for suffix in ["", "-wal", "-shm", ".lock"] {
        assert_eq!(mode(&with_suffix(&store.path, suffix)), 0o600, "{suffix}");
    }
    store.copy_to(&with_suffix(&store.path, ".bak"));
    assert_eq!(mode(&with_suffix(&store.path, ".bak")), 0o600);
}

#[test]
fn tc_29_a_copy_goes_through_no_link() {
    let mut store = Store::new();
    store.fill(&["one"]);
    let victim = tempfile::NamedTempFile::new().expect("a file");
    fs_err::write(victim.path(), "a year's work").expect("writes");
    let copy = with_suffix(&store.path, ".bak");
    for foretold in [copy.clone(), with_suffix(&copy, ".part")] {
        fs_err::os::unix::fs::symlink(victim.path(), foretold).expect("links");
    }
    store.copy_to(&copy);
    assert_eq!(fs_err::read_to_string(victim.path()).expect("reads"), "a year's work");
    assert!(!copy.is_symlink() && mode(&copy) == 0o600);
    let (hard, other) = (with_suffix(&store.path, ".bak2"), with_suffix(&store.path, ".other"));
    fs_err::write(&other, "a year's work").expect("writes");
    fs_err::hard_link(&other, with_suffix(&hard, ".part")).expect("links");
    store.copy_to(&hard);
    assert_eq!(fs_err::read_to_string(&other).expect("reads"), "a year's work");
}

#[rstest]
#[case::our_folder("remembrancer", 0o700)]
#[case::a_folder_of_others("shared", 0o755)]
fn old_modes_are_tightened(#[case] name: &str, #[case] expected: u32) {
    let (folder, _) = folder();
    let own = folder.path().join(name);
    let path = own.join("memory.db");
    written(&path, true);
    set_mode(&own, 0o755);
    set_mode(&path, 0o644);
    drop(Writer::open(&path).expect("opens"));
    assert_eq!((mode(&own), mode(&path)), (expected, 0o600));
}

#[test]
fn pragmas_are_as_designed() {
    let store = Store::new();
    let db = rusqlite::Connection::open(&store.path).expect("opens");
    let stored = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).expect("reads");
    assert_eq!(
        (stored("page_size"), stored("auto_vacuum"), stored("application_id")),
        (8192, 2, i64::from(APPLICATION_ID))
    );
    let journal: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0)).expect("reads");
    assert_eq!(journal, "wal");
    let db = open_writer(&store.path).expect("opens").db;
    let own = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).expect("reads");
    assert_eq!(
        (
            own("synchronous"),
            own("foreign_keys"),
            own("secure_delete"),
            own("busy_timeout")
        ),
        (1, 1, 1, 5_000)
    );
    assert_eq!((own("journal_size_limit"), own("cache_size")), (16 << 20, -(16 << 10)));
}

#[rstest]
#[case::text(b"this is no database, but it is long enough for a header of one hundred bytes or so, is it not? yes.".to_vec())]
#[case::zeros(vec![0; 8192])]
fn a_file_that_is_no_database_is_refused(#[case] bytes: Vec<u8>) {
    let (_folder, path) = folder();
    fs_err::write(&path, &bytes).expect("writes");
    for error in [Writer::open(&path).err(), Reader::open(&path).err()] {
        let error = error.expect("is refused");
        assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
        let message = error.to_string();
        assert!(
            message.contains(path.to_str().expect("is text")) && message.contains("mv '"),
            "{message}"
        );
    }
    assert_eq!(fs_err::read(&path).expect("reads"), bytes, "it is left as it was");
}

#[test]
fn damaged_pages_are_found_after_a_crash() {
    let (_folder, path) = folder();
    written(&path, false);
    let mut bytes = fs_err::read(&path).expect("reads");
    let pages = bytes.len() / 8192;
    // All but the first pages, where the schema is.
    bytes[8192 * (pages / 2)..].fill(0x5a);
    fs_err::write(&path, bytes).expect("writes");
    let error = Writer::open(&path).expect_err("is damaged");
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains("mv '"), "{error}");
}

#[test]
fn a_damaged_index_alone_is_rebuilt() {
    let (_folder, path) = folder();
    written(&path, false);
    let db = rusqlite::Connection::open(&path).expect("opens");
    db.execute(
        "UPDATE episodes_fts_data SET block = zeroblob(length(block)) WHERE id > 10",
        [],
    )
    .expect("damages");
    drop(db);
    let writer = Writer::open(&path).expect("opens");
    let hits = Reader::open(&path).expect("opens").bm25(
        &MatchExpression::any_of(&["text".to_owned()], Scope::All).expect("has a term"),
        FieldWeights::EQUAL,
        200,
    );
    assert_eq!(hits.expect("searches").hits.len(), 100);
    drop(writer);
}

#[test]
fn an_index_damaged_while_it_is_used_is_told_mended_and_looked_at_at_the_next_opening() {
    let mut store = Store::new();
    store.fill(&["one text", "another text"]);
    let reader = store.reader();
    let db = rusqlite::Connection::open(&store.path).expect("opens");
    db.execute("UPDATE episodes_fts_data SET block = x'FFFFFFFFFFFFFFFF'", [])
        .expect("damages");
    let search = || {
        let expression = MatchExpression::any_of(&["text".to_owned()], Scope::All).expect("has a term");
        reader.bm25(&expression, FieldWeights::EQUAL, 9)
    };
    search().expect_err("is damaged");
    assert_eq!((reader.take_damage(), reader.take_damage()), (Some(Damage::Index), None));
    let more = batch(vec![turn(7, "s", &["a third text"])]);
    store.writer.ingest(&more).expect_err("is damaged");
    assert_eq!(store.writer.take_damage(), Some(Damage::Index));
    store.writer.rebuild_index().expect("mends");
    store.writer.ingest(&more).expect("stores");
    assert_eq!(search().expect("searches").hits.len(), 3);
    store.writer.close().expect("closes");
    let mark = migrate::meta(&db, CLEAN_SHUTDOWN).expect("reads");
    assert_eq!(mark.as_deref(), Some("0"), "the next opening looks through the file");
}

#[test]
fn a_crash_alone_loses_nothing() {
    let (_folder, path) = folder();
    written(&path, false);
    assert_eq!(Reader::open(&path).expect("opens").stats().expect("counts").episodes, 100);
    Writer::open(&path).expect("opens").close().expect("closes");
    assert_eq!(Reader::open(&path).expect("opens").stats().expect("counts").episodes, 100);
}

#[test]
fn another_programs_database_is_refused() {
    let (_folder, path) = folder();
    let db = rusqlite::Connection::open(&path).expect("opens");
    db.execute_batch("CREATE TABLE theirs (x); PRAGMA user_version = 3;")
        .expect("makes");
    drop(db);
    let before = fs_err::read(&path).expect("reads");
    assert!(matches!(Writer::open(&path), Err(OpenError::Foreign { .. })));
    assert!(matches!(Reader::open(&path), Err(OpenError::Foreign { .. })));
    assert_eq!(fs_err::read(&path).expect("reads"), before);
}

#[test]
fn a_missing_database_is_not_made_by_a_reader() {
    let (_folder, path) = folder();
    assert!(matches!(Reader::open(&path), Err(OpenError::Missing { .. })));
    assert!(!path.exists());
}

#[test]
fn a_folder_that_can_not_be_made_is_named() {
    let (folder, _) = folder();
    let file = folder.path().join("file");
    fs_err::write(&file, "x").expect("writes");
    let error = Writer::open(&file.join("below/memory.db")).expect_err("can't be made");
    assert!(error.to_string().contains("below"), "{error}");
}

#[rstest]
#[case::the_database("")]
#[case::its_log("-wal")]
#[case::its_lock(".lock")]
#[case::its_journal(".journal")]
#[case::its_facts(".facts")]
fn a_pipe_or_a_folder_in_the_place_of_a_file_is_told_and_not_waited_for(#[case] suffix: &str) {
    for (program, expected) in [("mkfifo", "a named pipe"), ("mkdir", "a folder")] {
        let (_folder, path) = folder();
        if !suffix.is_empty() {
            written(&path, true);
            fs_err::remove_file(with_suffix(&path, suffix)).ok();
        }
        let place = with_suffix(&path, suffix);
        let made = std::process::Command::new(program).arg(&place).status().expect("runs");
        assert!(made.success());
        let is_read = !suffix.starts_with('.');
        let told = |error: OpenError| {
            let told = error.to_string();
            assert!(told.contains(&format!("{} is {expected}", place.display())), "{told}");
        };
        told(Writer::open(&path).expect_err("is refused"));
        match Reader::open(&path) {
            Err(error) => told(error),
            Ok(_) => assert!(!is_read, "{expected}"),
        }
    }
}

#[test]
fn a_log_that_its_owner_may_not_write_is_given_back() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path().join("memory.db");
    let writer = Writer::open(&path).expect("opens");
    let companions = ["-wal", "-shm"].map(|suffix| with_suffix(&path, suffix));
    let held: Vec<Vec<u8>> = companions.iter().map(|file| fs_err::read(file).expect("reads")).collect();
    drop(writer);
    for (file, bytes) in companions.iter().zip(held) {
        fs_err::write(file, bytes).expect("writes");
        fs_err::set_permissions(file, crate::system::permissions(0o400)).expect("takes away");
    }
    let _writer = Writer::open(&path).expect("opens");
    for file in &companions {
        let metadata = fs_err::metadata(file).expect("is there");
        assert!(!crate::system::lacks_owner_rights(&metadata), "{}", file.display());
    }
}
