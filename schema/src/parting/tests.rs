//! Databases and files with second names.

use super::*;
use crate::testing::{Store, batch, turn};
use crate::{ForgetTarget, Reader, Writer};

/// Links all that lies in the folder of `database` into a folder beside it, as `cp -al` does.
fn snapshot(database: &Path) -> PathBuf {
    let (folder, name) = (database.parent().expect("has one"), database.file_name().expect("has one"));
    let copy = folder.join("snapshot");
    fs_err::create_dir(&copy).expect("makes");
    for entry in fs_err::read_dir(folder).expect("lists").flatten() {
        if entry.path().is_file() {
            fs_err::hard_link(entry.path(), copy.join(entry.file_name())).expect("links");
        }
    }
    copy.join(name)
}

fn bytes(database: &Path) -> Vec<Option<Vec<u8>>> {
    FILES
        .iter()
        .map(|suffix| fs_err::read(with_suffix(database, suffix)).ok())
        .collect()
}

fn episodes(database: &Path) -> usize {
    let reader = Reader::open(database).expect("opens");
    reader.episodes_of(&ForgetTarget::All).expect("reads").len()
}

/// A store as a kill leaves it, with a log beside it, linked elsewhere.
fn killed_and_linked() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memory.db");
    let mut store = Store::new();
    store.fill(&["one", "two"]);
    for suffix in ["", "-wal", INDEX] {
        fs_err::copy(with_suffix(&store.path, suffix), with_suffix(&path, suffix)).expect("copies");
    }
    let other = snapshot(&path);
    (folder, path, other)
}

#[test]
fn what_is_written_after_parting_does_not_reach_the_other_name() {
    let (_folder, path, other) = killed_and_linked();
    let before = bytes(&other);
    assert!(
        before[1].as_ref().is_some_and(|log| !log.is_empty()),
        "else the log shows nothing"
    );
    assert_eq!(part_database(&path).expect("parts"), 3);
    for suffix in FILES {
        assert!(!has_other_names(&with_suffix(&path, suffix)), "{suffix}");
    }
    let mut writer = Writer::open(&path).expect("opens");
    let other_turn = turn(9, "s", &["three"]);
    writer.ingest(&batch(vec![other_turn])).expect("stores");
    writer.close().expect("closes");
    assert_eq!(bytes(&other), before);
    assert_eq!((episodes(&path), episodes(&other)), (3, 2));
    assert_eq!(part_database(&path).expect("has nothing to do"), 0);
}

#[test]
fn a_database_that_another_has_open_is_not_parted() {
    let (_folder, path, _other) = killed_and_linked();
    let reader = Reader::open(&path).expect("opens");
    let error = part_database(&path).expect_err("is in use");
    assert!(matches!(error, OpenError::Busy { .. }), "{error:?}");
    assert!(has_other_names(&path) && !with_suffix(&path, PARTING).exists());
    drop(reader);
    assert!(part_database(&path).expect("parts") > 0);
    assert_eq!(episodes(&path), 2);
}

#[test]
fn what_is_no_database_is_parted_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, other) = (folder.path().join("memory.db"), folder.path().join("victim"));
    fs_err::write(&other, "a year's work").expect("writes");
    fs_err::hard_link(&other, &path).expect("links");
    assert_eq!(part_database(&path).expect("parts"), 1);
    fs_err::write(&path, "ours").expect("writes");
    assert_eq!(fs_err::read_to_string(&other).expect("reads"), "a year's work");
}

#[test]
fn a_copy_is_private_and_as_old_as_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, other) = (folder.path().join("a.md"), folder.path().join("b.md"));
    fs_err::write(&path, "text").expect("writes");
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let file = fs_err::OpenOptions::new().write(true).open(&path).expect("opens");
    file.file().set_modified(long_ago).expect("sets");
    fs_err::hard_link(&path, &other).expect("links");
    // What a crash left of an earlier one is in nobody's way.
    fs_err::write(with_suffix(&path, PARTING), "half").expect("writes");
    part_file(&path).expect("parts");
    let found = fs_err::metadata(&path).expect("is there");
    assert!(system::is_private(&found) && system::names(&found) == 1);
    assert_eq!(found.modified().expect("is known"), long_ago);
    assert_eq!(fs_err::read_to_string(&path).expect("reads"), "text");
    assert_eq!(fs_err::read_dir(folder.path()).expect("lists").count(), 2);
}

#[test]
fn half_a_change_is_not_rolled_back_through_another_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memory.db");
    Store::new().copy_to(&path);
    fs_err::write(with_suffix(&path, ROLLBACK), [0xd9; 512]).expect("writes");
    let other = snapshot(&path);
    let before = (bytes(&path), bytes(&other));
    let error = part_database(&path).expect_err("is refused");
    let OpenError::Io { path: named, source, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(
        *named,
        fs_err::canonicalize(&path)
            .map(|path| with_suffix(&path, ROLLBACK))
            .expect("is there")
    );
    assert!(source.to_string().contains("move the copies back"), "{source}");
    assert_eq!((bytes(&path), bytes(&other)), before);
    assert!(before.1[2].is_some(), "else this shows nothing");
    // What the error says to do.
    for suffix in ["", ROLLBACK] {
        let file = with_suffix(&path, suffix);
        let bytes = fs_err::read(&file).expect("reads");
        fs_err::remove_file(&file).expect("removes");
        fs_err::write(&file, bytes).expect("writes");
    }
    assert_eq!(part_database(&path).expect("has nothing to do"), 0);
}
