mod hostile;

use std::ops::ControlFlow;

use super::*;
use crate::testing::{Store, batch, session, turn, turn_uid};
use crate::{
    Contents, FieldWeights, ForgetTarget, InstructionFile, MatchExpression, Pause, Reader, Scope, UnixMillis, backup_path,
    query_terms,
};

const STAMPED: &str = "2026-11-05T000000Z";

/// A memory of three turns with a backup of it, then: one forgotten, a folder and a session excluded, a pause, a file, a new turn.
struct Scene {
    store: Store,
    backup: PathBuf,
}

fn file() -> InstructionFile {
    InstructionFile {
        path: "/p/AGENTS.md".to_owned(),
        line: None,
        folder: "/p".to_owned(),
        made: None,
        tracked: false,
    }
}

fn scene() -> Scene {
    let mut store = Store::new();
    store.writer.exclude_path("/let/in/again", UnixMillis(1)).expect("excludes");
    store.fill(&["the first", "the word is xyzzyq", "the third"]);
    store
        .writer
        .ingest(&batch(vec![turn(7, "kept-out-later", &["of another session"])]))
        .expect("stores");
    let backup = backup_path(&store.path, "2026-11-04T000000Z", false);
    FreshCopy::make(&store.path, &backup, &mut |_| ControlFlow::Continue(()))
        .and_then(|copy| copy.put_at(&backup))
        .expect("copies");
    let keep = fs_err::read(&backup).expect("reads");
    let forget = ForgetTarget::Matching("xyzzyq".to_owned());
    assert_eq!(store.writer.forget(&forget, UnixMillis(2)).expect("forgets").episodes, 1);
    // As if the backup had lain elsewhere meanwhile.
    fs_err::write(&backup, keep).expect("writes");
    store.writer.include_path("/let/in/again").expect("includes");
    store.writer.exclude_path("/secret", UnixMillis(3)).expect("excludes");
    store.writer.exclude_session(&session("kept-out-later")).expect("excludes");
    store.writer.set_paused(Some(Pause::Indefinite)).expect("pauses");
    store.writer.add_instruction_file(&file(), UnixMillis(4)).expect("notes");
    store
        .writer
        .ingest(&batch(vec![turn(9, "s", &["after the backup"])]))
        .expect("stores");
    Scene { store, backup }
}

fn prompts(path: &Path) -> Vec<String> {
    let reader = Reader::open(path).expect("opens");
    let ids = reader.episodes_of(&ForgetTarget::All).expect("reads");
    let texts = reader.texts_with_hidden(&ids).expect("reads");
    let mut prompts: Vec<String> = texts.into_iter().map(|text| text.prompt).collect();
    prompts.sort();
    prompts
}

fn check_restored(path: &Path) {
    let mut writer = Writer::open(path).expect("opens");
    assert_eq!(prompts(path), ["of another session", "the first", "the third"]);
    let reader = Reader::open(path).expect("opens");
    let found = |text: &str| {
        let expression = MatchExpression::any_of(&query_terms(text, 64), Scope::All).expect("has terms");
        reader
            .bm25(&expression, FieldWeights::EQUAL, 50)
            .expect("searches")
            .hits
            .len()
    };
    assert_eq!((found("third"), found("xyzzyq"), found("another")), (1, 0, 0));
    assert_eq!(reader.tombstones().expect("reads"), [turn_uid(1)]);
    assert_eq!(reader.exclusions().expect("reads"), ["/secret"]);
    assert_eq!(reader.paused().expect("reads"), Some(Pause::Indefinite));
    assert_eq!(reader.instruction_files().expect("reads"), [file()]);
    assert_eq!(reader.damages().expect("reads"), [] as [String; 0]);
    writer.checkpoint().expect("checkpoints");
    let bytes = fs_err::read(path).expect("reads");
    assert!(
        !bytes.windows(6).any(|window| window == b"xyzzyq"),
        "no byte of what was forgotten"
    );
}

/// No file of ours holds a byte of what was forgotten, whether database, log, journal or copy.
fn check_bytes_nowhere(path: &Path) {
    let folder = path.parent().expect("has a folder");
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).expect("lists").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let bytes = fs_err::read(entry.path()).expect("reads");
            assert!(
                !bytes.windows(6).any(|window| window == b"xyzzyq"),
                "{}",
                entry.path().display()
            );
        }
    }
}

#[test]
fn a_restore_brings_back_what_was_there_and_nothing_that_was_forgotten() {
    let Scene { store, backup } = scene();
    let path = store.path.clone();
    store.writer.close().expect("closes");
    let restored = restore(&path, &backup, STAMPED).expect("restores");
    let aside = restored.set_aside.clone().expect("sets aside");
    assert!(restored.decisions_known);
    check_restored(&path);
    check_bytes_nowhere(&path);
    assert!(prompts(&aside).contains(&"after the backup".to_owned()), "nothing is lost");
    let names: Vec<_> = fs_err::read_dir(path.parent().expect("has a folder"))
        .expect("lists")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("restor"))
        .collect();
    assert!(names.is_empty(), "{names:?}");
    assert!(backup.exists(), "it may be gone back to again");
}

#[test]
fn a_restore_that_is_killed_after_any_step_is_finished_by_the_next_opening() {
    for done in 0..=STEPS.len() {
        let Scene { store, backup } = scene();
        let path = store.path.clone();
        // Killed: its log is still beside it.
        std::mem::forget(store.writer);
        make_ready(&path, &backup, &FormerSharing::default()).expect("makes ready");
        commit(&path, STAMPED).expect("commits");
        for step in &STEPS[..done] {
            step(&path).expect("steps");
        }
        check_restored(&path);
        let aside = with_suffix(&path, &format!("{REPLACED}{STAMPED}"));
        assert!(prompts(&aside).contains(&"after the backup".to_owned()), "after {done} steps");
    }
}

#[test]
fn a_restore_that_is_killed_before_it_counts_changes_nothing() {
    let Scene { store, backup } = scene();
    let path = store.path.clone();
    store.writer.close().expect("closes");
    make_ready(&path, &backup, &FormerSharing::default()).expect("makes ready");
    drop(Writer::open(&path).expect("opens"));
    assert!(prompts(&path).contains(&"after the backup".to_owned()));
    restore(&path, &backup, STAMPED).expect("is tried again");
    check_restored(&path);
}

#[test]
fn a_damaged_copy_is_refused_and_the_memory_stays() {
    let Scene { store, backup } = scene();
    let path = store.path.clone();
    store.writer.close().expect("closes");
    let before = prompts(&path);
    let mut bytes = fs_err::read(&backup).expect("reads");
    let end = bytes.len();
    bytes[end / 3..end / 2].fill(0x5a);
    fs_err::write(&backup, &bytes).expect("writes");
    restore(&path, &backup, STAMPED).expect_err("is refused");
    assert_eq!(prompts(&path), before);
}

#[test]
fn tc_38_a_database_of_a_newer_version_gives_its_decisions_to_the_copy_before_its_migration() {
    let Scene { store, backup } = scene();
    let path = store.path.clone();
    store.writer.close().expect("closes");
    let copy = crate::copy::before_migration(&path, crate::SCHEMA_VERSION);
    fs_err::rename(&backup, &copy).expect("renames");
    let db = rusqlite::Connection::open(&path).expect("opens");
    db.execute_batch(&format!(
        "CREATE TABLE of_tomorrow (x); PRAGMA user_version = {}",
        crate::SCHEMA_VERSION + 1
    ))
    .expect("writes");
    drop(db);
    let error = Writer::open(&path).expect_err("is refused").to_string();
    assert!(error.contains("`remembrancer restore --pre-migration`"), "{error}");
    assert_eq!(crate::newest_before_migration(&path).expect("lists"), Some(copy.clone()));
    let newer = Contents::of(&path).expect("tells what it can");
    assert_eq!((newer.schema_version, newer.episodes), (crate::SCHEMA_VERSION + 1, 4));
    let restored = restore(&path, &copy, STAMPED).expect("restores");
    assert!(restored.decisions_known);
    check_restored(&path);
    assert!(restored.set_aside.expect("is set aside").exists(), "the newer one is kept");
}

#[test]
fn decisions_outlive_an_unreadable_database_and_it_is_said_where_they_did_not() {
    for has_journal in [true, false] {
        let Scene { store, backup } = scene();
        let path = store.path.clone();
        store.writer.close().expect("closes");
        fs_err::write(&path, vec![0x5a; 100_000]).expect("writes");
        if !has_journal {
            fs_err::remove_file(Journal::path_of(&path)).expect("removes");
        }
        let restored = restore(&path, &backup, STAMPED).expect("restores");
        assert_eq!(restored.decisions_known, has_journal);
        assert!(restored.set_aside.expect("is set aside").exists());
        if has_journal {
            check_restored(&path);
        } else {
            drop(Writer::open(&path).expect("opens"));
            assert_eq!(prompts(&path).len(), 4);
        }
    }
}
