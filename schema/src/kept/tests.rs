use std::ops::ControlFlow;

use super::*;
use crate::testing::{Store, turn_uid};
use crate::{Contents, ForgetTarget, FreshCopy, Reader, UnixMillis, Writer};

/// A store with a secret and a copy of every kind that holds it.
fn store_with_copies() -> (Store, Vec<PathBuf>) {
    let mut store = Store::new();
    store.fill(&["the word is xyzzyq", "another"]);
    let copies = vec![
        backup_path(&store.path, "2026-11-01T000000Z", false),
        backup_path(&store.path, "2026-11-02T000000Z", true),
        with_suffix(&store.path, ".replaced-2026-11-03T000000Z"),
        with_suffix(&store.path, ".damaged-2026-11-04T000000Z"),
        crate::copy::before_migration(&store.path, 3),
    ];
    for path in &copies {
        store.copy_to(path);
    }
    (store, copies)
}

fn holds(path: &Path, word: &str) -> bool {
    fs_err::read(path).is_ok_and(|bytes| bytes.windows(word.len()).any(|window| window == word.as_bytes()))
}

#[test]
fn every_copy_is_listed_with_its_kind() {
    let (store, copies) = store_with_copies();
    fs_err::write(backups_folder(&store.path).join("notes.txt"), "mine").expect("writes");
    fs_err::write(backups_folder(&store.path).join(".memory-x.db.7.part"), "half").expect("writes");
    // What kills in the middle of a copy, and of a parting from a second name, leave.
    for rest in [".v3.bak.part", ".v3.bak.part-journal", ".parting", "-wal.parting"] {
        fs_err::write(with_suffix(&store.path, rest), "half").expect("writes");
    }
    let found = kept_copies(&store.path).expect("lists");
    let kind = |path: &PathBuf| found.iter().find(|copy| copy.path == *path).map(|copy| copy.kind);
    let kinds: Vec<_> = copies.iter().map(kind).collect();
    assert_eq!(
        kinds,
        [
            Some(KeptKind::Backup),
            Some(KeptKind::Daily),
            Some(KeptKind::SetAside),
            Some(KeptKind::Part),
            Some(KeptKind::BeforeMigration(3)),
        ]
    );
    assert_eq!(found.len(), copies.len() + 5, "the parts, and not the user's note: {found:?}");
    let parts = found
        .iter()
        .filter(|copy| copy.kind == KeptKind::Part && !copies.contains(&copy.path));
    assert_eq!(parts.count(), 5);
    assert_eq!(backups(&store.path, true).expect("lists"), [copies[1].clone()]);
    assert_eq!(
        backups(&store.path, false).expect("lists"),
        [copies[0].clone(), copies[1].clone()]
    );
}

#[test]
fn what_is_forgotten_leaves_every_copy() {
    let (mut store, copies) = store_with_copies();
    assert!(copies.iter().all(|copy| holds(copy, "xyzzyq")), "else this shows nothing");
    store
        .writer
        .forget(&ForgetTarget::Matching("xyzzyq".to_owned()), UnixMillis(9))
        .expect("forgets");
    for copy in &copies[..3] {
        assert!(!holds(copy, "xyzzyq"), "{}", copy.display());
        let reader = Reader::open(copy).expect("is whole");
        assert_eq!(reader.episodes_of(&ForgetTarget::All).expect("reads").len(), 1);
        assert_eq!(reader.damages().expect("reads"), [] as [String; 0]);
        assert_eq!(
            reader.tombstones().expect("reads"),
            [turn_uid(0)],
            "nor does a restore bring it back"
        );
    }
    assert!(!copies[3].exists(), "a damaged file goes");
    assert!(!copies[4].exists(), "and so does a copy before a migration");
}

#[test]
fn a_copy_that_cant_be_rewritten_goes_and_so_do_all_with_everything() {
    let (mut store, copies) = store_with_copies();
    fs_err::write(&copies[0], b"xyzzyq, and no database").expect("writes");
    store
        .writer
        .forget(&ForgetTarget::Matching("xyzzyq".to_owned()), UnixMillis(9))
        .expect("forgets");
    assert!(!copies[0].exists() && copies[1].exists());
    store.writer.forget(&ForgetTarget::All, UnixMillis(9)).expect("forgets");
    assert_eq!(kept_copies(&store.path).expect("lists"), []);
}

#[test]
fn a_copy_that_cant_be_looked_at_is_not_gone_and_stays_until_it_can() {
    let mut store = Store::new();
    store.fill(&["the word is xyzzyq", "another"]);
    let copy = backup_path(&store.path, "2026-11-02T000000Z", true);
    store.copy_to(&copy);
    let elsewhere = copy.with_file_name("elsewhere");
    fs_err::rename(&copy, &elsewhere).expect("moves");
    // Whoever looks is told of too many links, and not that there is nothing.
    fs_err::os::unix::fs::symlink(&copy, &copy).expect("links");
    let forgotten = store
        .writer
        .forget(&ForgetTarget::Matching("xyzzyq".to_owned()), UnixMillis(9));
    assert!(
        forgotten.is_err(),
        "it can't be told whether the word is in it: {forgotten:?}"
    );
    assert!(copy.symlink_metadata().is_ok(), "it is not removed for that");
    fs_err::rename(&elsewhere, &copy).expect("moves");
    assert!(store.writer.finish_forgetting().expect("is tried again"));
    assert!(copy.exists() && !holds(&copy, "xyzzyq"));
}

#[test]
fn a_folder_that_cant_be_listed_is_not_taken_for_empty() {
    let mut store = Store::new();
    store.fill(&["the word is xyzzyq", "another"]);
    let copy = backup_path(&store.path, "2026-11-02T000000Z", true);
    store.copy_to(&copy);
    let (folder, elsewhere) = (backups_folder(&store.path), store.path.with_file_name("elsewhere"));
    fs_err::rename(&folder, &elsewhere).expect("moves");
    fs_err::os::unix::fs::symlink(&folder, &folder).expect("links");
    assert!(kept_copies(&store.path).is_err() && backups(&store.path, true).is_err() && half_written(&store.path).is_err());
    let word = ForgetTarget::Matching("xyzzyq".to_owned());
    assert!(
        store.writer.forget(&word, UnixMillis(9)).is_err(),
        "it is not known to have left the copies"
    );
    fs_err::remove_file(&folder).expect("removes");
    fs_err::rename(&elsewhere, &folder).expect("moves");
    assert!(holds(&copy, "xyzzyq"), "else this shows nothing");
    assert!(store.writer.finish_forgetting().expect("is tried again"));
    assert!(copy.exists() && !holds(&copy, "xyzzyq"));
}

#[test]
fn a_backup_that_is_being_made_is_waited_for_and_then_holds_nothing_of_the_forgotten() {
    let mut store = Store::new();
    store.fill(&["the word is xyzzyq", "another"]);
    let target = backup_path(&store.path, "2026-11-02T000000Z", true);
    let copy = FreshCopy::make(&store.path, &target, &mut |_| ControlFlow::Continue(())).expect("copies");
    let word = ForgetTarget::Matching("xyzzyq".to_owned());
    let forgotten = store.writer.forget(&word, UnixMillis(9)).expect("forgets");
    assert!(!forgotten.log_emptied, "a copy is being made that holds the word");
    copy.put_at(&target).expect("is not taken from whoever makes it");
    assert!(holds(&target, "xyzzyq"), "else this shows nothing");
    assert!(store.writer.finish_forgetting().expect("is tried again"));
    assert!(target.exists() && !holds(&target, "xyzzyq"));
}

#[test]
fn a_backup_elsewhere_is_not_waited_for() {
    let mut store = Store::new();
    store.fill(&["the word is xyzzyq", "another"]);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let target = elsewhere.path().join("memory.db");
    let _copy = FreshCopy::make(&store.path, &target, &mut |_| ControlFlow::Continue(())).expect("copies");
    let word = ForgetTarget::Matching("xyzzyq".to_owned());
    assert!(store.writer.forget(&word, UnixMillis(9)).expect("forgets").log_emptied);
}

#[test]
fn a_rewritten_copy_can_be_gone_back_to() {
    let (mut store, copies) = store_with_copies();
    store
        .writer
        .forget(&ForgetTarget::Matching("xyzzyq".to_owned()), UnixMillis(9))
        .expect("forgets");
    assert_eq!(Contents::of_whole(&copies[1]).expect("is whole").episodes, 1);
    let writer = Writer::open(&copies[1]).expect("opens");
    writer.close().expect("closes");
}

#[test]
fn what_is_half_written_is_told_from_what_is_whole_and_from_what_was_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("memory.db");
    for name in ["backups", "restoring"] {
        fs_err::create_dir(folder.path().join(name)).expect("makes");
    }
    let half = [
        "backups/.memory-2026-11-28T210345Z.db.7.part",
        "memory.db.facts.part",
        "memory.db.journal.part",
        "memory.db.rebuilding",
        "memory.db.rebuilding-wal",
        "memory.db.v3.bak.part",
    ];
    let whole = [
        "backups/memory-2026-11-28T210345Z.db",
        "memory.db",
        "memory.db.damaged-20261128T210345Z",
        "memory.db.facts",
        "memory.db.journal",
        "memory.db.rebuilt",
        "memory.db.replaced-1",
        "memory.db.v3.bak",
        "memory.db-wal",
        "thesis.part",
    ];
    for name in half.iter().chain(&whole) {
        fs_err::write(folder.path().join(name), "x").expect("writes");
    }
    let mut found = half_written(&database).expect("lists");
    found.sort();
    let expected = [&half[..], &["restoring"]].concat();
    assert_eq!(
        found,
        expected.iter().map(|name| folder.path().join(name)).collect::<Vec<_>>()
    );
    for path in &found {
        remove_half_written(path).expect("removes");
    }
    assert_eq!(half_written(&database).expect("lists"), Vec::<PathBuf>::new());
    assert!(whole.iter().all(|name| folder.path().join(name).exists()));
}
