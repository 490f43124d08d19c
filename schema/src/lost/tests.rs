use std::path::PathBuf;

use super::*;
use crate::copy::with_suffix;
use crate::testing::{Store, batch, turn};
use crate::{ForgetTarget, FreshCopy, Reader, Recovery, UnixMillis, Writer, backup_path, open_or_rebuild};

const NOW: UnixMillis = UnixMillis(1_795_000_000_000);

/// A memory of three turns, of which one was forgotten after a backup that lay elsewhere meanwhile, and another came after it. Closed.
fn lived_in() -> (Store, PathBuf, PathBuf) {
    let mut store = Store::new();
    store.fill(&["the first", "the word is xyzzyq", "the third"]);
    let path = store.path.clone();
    let backup = backup_path(&path, "2026-11-04T000000Z", true);
    FreshCopy::make(&path, &backup, &mut |_| std::ops::ControlFlow::Continue(()))
        .and_then(|copy| copy.put_at(&backup))
        .expect("copies");
    let keep = fs_err::read(&backup).expect("reads");
    let forget = ForgetTarget::Matching("xyzzyq".to_owned());
    assert_eq!(store.writer.forget(&forget, UnixMillis(2)).expect("forgets").episodes, 1);
    fs_err::write(&backup, keep).expect("writes");
    store
        .writer
        .ingest(&batch(vec![turn(9, "s", &["after the backup"])]))
        .expect("stores");
    let other = path.with_file_name("no/memory.db");
    store.writer = Writer::open(&other).expect("opens");
    (store, path, backup)
}

fn remove_database(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        fs_err::remove_file(with_suffix(path, suffix)).ok();
    }
}

fn prompts(path: &Path) -> Vec<String> {
    let reader = Reader::open(path).expect("opens");
    let ids = reader.episodes_of(&ForgetTarget::All).expect("reads");
    let mut prompts: Vec<String> = reader
        .texts(&ids)
        .expect("reads")
        .into_iter()
        .map(|text| text.prompt)
        .collect();
    prompts.sort();
    prompts
}

fn made_anew(path: &Path) -> Recovery {
    for error in [Writer::open(path).err(), Reader::open(path).err()] {
        let error = error.expect("is refused");
        assert!(matches!(error, OpenError::Lost { .. }), "{error}");
        let told = error.to_string();
        assert!(
            told.contains("start the daemon") && told.contains("remove the whole folder"),
            "{told}"
        );
    }
    assert!(
        fs_err::metadata(path).map_or(true, |there| there.len() == 0),
        "nothing is made in its place"
    );
    drop(open_or_rebuild(path, NOW).expect("is made anew"));
    let recovery = Reader::open(path)
        .expect("opens")
        .recovery()
        .expect("reads")
        .expect("is noted");
    assert!(recovery.found.contains("it was gone or empty"), "{recovery:?}");
    // Once: the next start finds it as it is.
    drop(Writer::open(path).expect("opens"));
    recovery
}

#[test]
fn a_memory_that_is_gone_or_empty_is_made_anew_of_its_backup_and_its_journal() {
    for is_empty in [false, true] {
        let (_store, path, backup) = lived_in();
        remove_database(&path);
        if is_empty {
            fs_err::write(&path, "").expect("writes");
        }
        let recovery = made_anew(&path);
        assert_eq!(recovery.backup, Some(backup.clone()));
        assert_eq!(prompts(&path), ["the first", "the third"], "and not what was forgotten");
        let bytes = fs_err::read(&backup).expect("reads");
        assert!(
            !bytes.windows(6).any(|window| window == b"xyzzyq"),
            "it leaves the backup, too, which holds it still"
        );
    }
}

#[test]
fn a_backup_or_what_a_restore_replaced_is_enough_and_so_is_the_journal() {
    let replaced = |path: &Path| with_suffix(path, ".replaced-2026-11-05T000000Z");
    for kept in ["backup", "replaced", "journal"] {
        let (_store, path, backup) = lived_in();
        if kept == "replaced" {
            // With its log.
            for suffix in ["", "-wal"] {
                fs_err::rename(with_suffix(&path, suffix), with_suffix(&replaced(&path), suffix)).ok();
            }
        }
        remove_database(&path);
        if kept != "journal" {
            fs_err::remove_file(Journal::path_of(&path)).expect("removes");
        }
        if kept != "backup" {
            fs_err::remove_file(&backup).expect("removes");
        }
        made_anew(&path);
        let expected: &[&str] = match kept {
            "backup" => &["the first", "the third", "the word is xyzzyq"],
            "replaced" => &["after the backup", "the first", "the third"],
            _ => &[],
        };
        assert_eq!(prompts(&path), expected, "{kept}");
    }
}

#[test]
fn the_log_of_a_memory_that_is_gone_is_read() {
    let (store, path, _) = lived_in();
    drop(store.writer);
    let mut writer = Writer::open(&path).expect("opens");
    let more = batch(vec![turn(11, "s", &["in the log alone"])]);
    writer.ingest(&more).expect("stores");
    let log = fs_err::read(with_suffix(&path, "-wal")).expect("reads");
    drop(writer);
    remove_database(&path);
    fs_err::write(with_suffix(&path, "-wal"), &log).expect("writes");
    let recovery = made_anew(&path);
    let kept = fs_err::read(with_suffix(&recovery.set_aside, "-wal")).expect("is set aside as well");
    assert_eq!(kept, log);
}

#[test]
fn a_first_start_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memory.db");
    assert!(matches!(Reader::open(&path), Err(OpenError::Missing { .. })));
    // Killed between making the file and filling it.
    fs_err::write(&path, "").expect("writes");
    fs_err::write(folder.path().join("notes.txt"), "mine").expect("writes");
    drop(open_or_rebuild(&path, NOW).expect("opens"));
    assert_eq!(Reader::open(&path).expect("opens").recovery().expect("reads"), None);
}

#[test]
fn a_log_that_was_left_behind_is_kept_for_the_database_that_was_moved() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path().join("memory.db");
    let mut writer = Writer::open(&path).expect("opens");
    writer
        .ingest(&batch(vec![turn(1, "s", &["only in the log"])]))
        .expect("stores");
    let moved = with_suffix(&path, ".newer");
    // As both are while the daemon runs.
    let kept = ["", "-wal"].map(|suffix| fs_err::read(with_suffix(&path, suffix)).expect("reads"));
    drop(writer);
    for (suffix, bytes) in [("", None), ("-shm", None), (".journal", None), ("-wal", Some(&kept[1]))] {
        fs_err::remove_file(with_suffix(&path, suffix)).ok();
        if let Some(bytes) = bytes {
            fs_err::write(with_suffix(&path, suffix), bytes).expect("writes");
        }
    }
    fs_err::write(&moved, &kept[0]).expect("writes");
    for error in [Writer::open(&path).err(), Reader::open(&path).err()] {
        let told = error.expect("is refused").to_string();
        assert!(told.contains("move the log beside it first"), "{told}");
    }
    open_or_rebuild(&path, NOW).expect("begins anew").close().expect("closes");
    let aside: Vec<_> = fs_err::read_dir(folder.path())
        .expect("lists")
        .map(|entry| entry.expect("lists").path())
        .filter(|path| path.to_string_lossy().contains(".damaged-") && path.to_string_lossy().ends_with("-wal"))
        .collect();
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert_eq!(fs_err::read(&aside[0]).expect("reads"), kept[1]);
    fs_err::rename(&aside[0], with_suffix(&moved, "-wal")).expect("moves");
    assert_eq!(prompts(&moved), ["only in the log"]);
}
