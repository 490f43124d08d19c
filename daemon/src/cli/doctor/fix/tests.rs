use std::path::PathBuf;

use remembrancer_hooks::Environment;

use super::*;
use crate::doctor::Outcome;

fn places(home: &Path) -> Places {
    Places::new(&Environment {
        data_home: home.join("data"),
        state_home: home.join("state"),
        config_home: home.join("config"),
        runtime_dir: None,
        explicit_socket: Some(home.join("socket")),
        run_user: home.join("run"),
        temporary: home.to_owned(),
        uid: system::user_id(),
        guard: false,
    })
}

/// A memory whose last daemon did not end in order, so that its log is to be folded in.
fn memory(places: &Places) -> PathBuf {
    let database = places.database_file();
    let aside = places.data_dir().join("aside");
    let writer = Writer::open(&database).unwrap();
    fs_err::create_dir(&aside).unwrap();
    let log = |folder: &Path| folder.join("memory.db-wal");
    fs_err::copy(log(&places.data_dir()), log(&aside)).unwrap();
    fs_err::copy(&database, aside.join("memory.db")).unwrap();
    drop(writer);
    fs_err::rename(aside.join("memory.db"), &database).unwrap();
    fs_err::rename(log(&aside), log(&places.data_dir())).unwrap();
    fs_err::remove_dir(&aside).unwrap();
    database
}

#[test]
fn what_has_a_second_name_is_parted_before_it_is_mended() {
    let home = tempfile::tempdir().unwrap();
    let places = places(home.path());
    let database = memory(&places);
    let snapshot = home.path().join("snapshot.db");
    fs_err::hard_link(&database, &snapshot).unwrap();
    let before = fs_err::read(&snapshot).unwrap();
    let repairs = without_daemon(&places, false);
    assert!(
        repairs
            .iter()
            .any(|repair| repair.outcome == Outcome::Mended && repair.found.contains("log")),
        "{repairs:?}"
    );
    assert_ne!(fs_err::read(&database).unwrap(), before, "it was written to");
    assert_eq!(fs_err::read(&snapshot).unwrap(), before);
}

#[test]
fn what_can_not_be_parted_is_left() {
    let error = SingleError::Linked {
        source: "no room".into(),
    };
    let left = not_parted(&error);
    assert_eq!(left.outcome, Outcome::Left);
    assert!(
        left.found.contains("second name") && left.found.contains("no room"),
        "{left:?}"
    );
}

#[test]
fn a_part_of_one_who_lives_stays() {
    let home = tempfile::tempdir().unwrap();
    let places = places(home.path());
    drop(Writer::open(&places.database_file()).unwrap());
    let backups = places.data_dir().join("backups");
    fs_err::create_dir_all(&backups).unwrap();
    let part = |pid: u32| {
        let path = backups.join(format!(".memory-2026-11-28T210345Z.db.{pid}.part"));
        let file = fs_err::File::create(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        path
    };
    let (living, dead) = (part(std::process::id()), part(i32::MAX as u32));
    let repairs = half_written_files(&places, false);
    assert_eq!(repairs.len(), 1, "{repairs:?}");
    assert!(living.exists() && !dead.exists());
}

#[test]
fn another_programs_database_is_left_with_its_mode() {
    let home = tempfile::tempdir().unwrap();
    let places = places(home.path());
    let database = places.database_file();
    assert_eq!(anothers(&database), None, "nothing is there");
    memory(&places);
    assert_eq!(anothers(&database), None, "it is ours");
    // SQLite's mark of the program, in the header.
    let mut bytes = fs_err::read(&database).unwrap();
    bytes[68..72].copy_from_slice(&[1, 2, 3, 4]);
    for suffix in ["-wal", "-shm"] {
        fs_err::remove_file(format!("{}{suffix}", database.display())).ok();
    }
    fs_err::write(&database, bytes).unwrap();
    let left = anothers(&database).unwrap();
    assert_eq!(left.outcome, Outcome::Left);
    assert!(left.found.contains("another program's database"), "{left:?}");
}
