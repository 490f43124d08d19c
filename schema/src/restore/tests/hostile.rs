//! Copies that are whole to SQLite and no memory of ours: refused before they take the place.

use std::error::Error;

use rstest::rstest;
use rusqlite::Connection;

use super::*;
use crate::make_older;

fn spoil(copy: &Path, sql: &str) {
    let db = Connection::open(copy).expect("opens");
    db.pragma_update(None, "foreign_keys", false).expect("sets");
    db.execute_batch(sql).expect("spoils");
}

fn told(error: &dyn Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        told = format!("{told}: {deeper}");
        cause = deeper.source();
    }
    told
}

/// The copy is refused, in these words, and all is as it was before.
fn check_refused(scene: Scene, copy: &Path, expected: &str) {
    let path = scene.store.path.clone();
    scene.store.writer.close().expect("closes");
    let before = (prompts(&path), Journal::path_of(&path).exists());
    let error = restore(&path, copy, STAMPED).expect_err("is refused");
    let told = told(&error);
    assert!(told.contains(expected) && told.contains("the memory is as it was"), "{told}");
    assert!(!path.with_file_name(FOLDER).exists(), "nothing of it is left");
    assert!(!with_suffix(&path, &format!("{REPLACED}{STAMPED}")).exists() && !with_suffix(&path, READY).exists());
    drop(Writer::open(&path).expect("opens as ever"));
    assert_eq!((prompts(&path), Journal::path_of(&path).exists()), before);
}

#[rstest]
#[case::rows_that_refer_to_nothing("UPDATE episodes SET session_id = 99999", "refers to one of `sessions` that is not there")]
#[case::tables_that_are_gone("DROP TABLE episode_texts; DROP TABLE sources", "is missing")]
#[case::a_trigger(
    "CREATE TRIGGER x AFTER INSERT ON episodes BEGIN DELETE FROM episodes; END",
    "it has a trigger `x`"
)]
#[case::a_view("CREATE VIEW v AS SELECT 1", "it has a view `v`")]
#[case::an_index_that_is_gone("DROP INDEX idx_episodes_turn", "the index `idx_episodes_turn` is missing")]
fn a_copy_that_others_changed_is_refused_before_it_takes_the_place(#[case] sql: &str, #[case] expected: &str) {
    let scene = scene();
    let copy = scene.backup.clone();
    spoil(&copy, sql);
    let error = Contents::of_whole(&copy).expect_err("is told before anything is asked");
    assert!(told(&error).contains(expected), "{}", told(&error));
    check_refused(scene, &copy, expected);
}

#[test]
fn an_older_copy_is_judged_by_its_own_version_and_by_its_migration() {
    let older = |scene: &Scene| make_older(&scene.backup, crate::SCHEMA_VERSION - 1);
    let spoilt = scene();
    older(&spoilt);
    let copy = spoilt.backup.clone();
    spoil(
        &copy,
        "CREATE TRIGGER x AFTER INSERT ON episodes BEGIN DELETE FROM episodes; END",
    );
    check_refused(spoilt, &copy, "it has a trigger `x`");
    let good = scene();
    older(&good);
    let path = good.store.path.clone();
    good.store.writer.close().expect("closes");
    restore(&path, &good.backup, STAMPED).expect("restores");
    check_restored(&path);
}

/// What only following the journal finds: no row number is left for a session that the journal keeps out.
#[test]
fn a_copy_in_which_the_journal_cant_be_followed_is_refused_before_it_takes_the_place() {
    let mut scene = scene();
    scene
        .store
        .writer
        .exclude_session(&session("unknown to the copy"))
        .expect("excludes");
    let copy = scene.backup.clone();
    spoil(
        &copy,
        "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'sessions'",
    );
    check_refused(scene, &copy, "bring the journal's choices into");
}

#[test]
fn what_is_no_copy_is_told_as_a_copy() {
    let scene = scene();
    let folder = scene.backup.parent().expect("has a folder").to_owned();
    let garbage = folder.join("garbage.db");
    fs_err::write(&garbage, vec![7; 20_000]).expect("writes");
    let pipe = folder.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("runs");
    assert!(made.success());
    for (copy, expected) in [
        (garbage, "is no copy of a memory: it is damaged, or no database"),
        (folder.join("nofile"), "there is no copy at "),
        (folder.clone(), "is no copy of a memory: it is a folder"),
        (pipe, "is no copy of a memory: it is a named pipe"),
        (PathBuf::from("/dev/zero"), "is no copy of a memory: it is a device"),
    ] {
        let told = told(&Contents::of_whole(&copy).expect_err("is refused"));
        assert!(told.contains(expected), "{told}");
        assert!(!told.contains("start the daemon") && !told.contains("mv '"), "{told}");
    }
    let error = restore(&scene.store.path, &scene.store.path, STAMPED).expect_err("is refused");
    assert!(matches!(error, RestoreError::Itself { .. }), "{error}");
}

#[test]
fn what_a_restore_left_that_was_killed_is_reached_by_forgetting() {
    let Scene { mut store, backup } = scene();
    make_ready(&store.path, &backup, &FormerSharing::default()).expect("makes ready");
    let folder = store.path.with_file_name(FOLDER);
    assert!(folder.exists());
    let forget = ForgetTarget::Matching("third".to_owned());
    assert_eq!(store.writer.forget(&forget, UnixMillis(9)).expect("forgets").episodes, 1);
    assert!(!folder.exists());
}
