//! Modes, owners and links of what is ours.

use std::os::unix::fs::{PermissionsExt, chown};
use std::time::Duration;

use fs_err::os::unix::fs::symlink;

use super::*;

/// A user who owns nothing here.
const STRANGER: u32 = 12_345;

fn mode(path: &Path) -> u32 {
    fs_err::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Only the superuser can give a file away, as an attacker's would be.
fn can_give_away() -> bool {
    let is_root = system::user_id() == 0;
    if !is_root {
        println!("skipped in part: only the superuser can make files of another user");
    }
    is_root
}

fn in_a_minute() -> Deadline {
    Deadline::after(Duration::from_mins(1))
}

#[test]
fn a_private_folder_is_tightened() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("a/b");
    private_folder(&folder).unwrap();
    assert_eq!(mode(&folder), 0o700);
    set_mode(&folder, 0o755);
    private_folder(&folder).unwrap();
    assert_eq!(mode(&folder), 0o700);
}

#[test]
fn tc_29_a_folder_that_is_not_ours_alone_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let (folder, file) = (place.path().join("folder"), place.path().join("file"));
    fs_err::create_dir(&folder).unwrap();
    fs_err::write(&file, "").unwrap();
    assert!(private_folder(&file).unwrap_err().to_string().contains("is no folder"));
    set_mode(&folder, 0o1777);
    assert!(private_folder(&folder).unwrap_err().to_string().contains("all users share"));
    assert_eq!(mode(&folder), 0o777, "it is left as it is");
    if can_give_away() {
        set_mode(&folder, 0o755);
        chown(&folder, Some(STRANGER), None).unwrap();
        let refused = private_folder(&folder).unwrap_err().to_string();
        assert!(refused.contains("another user (12345)"), "{refused}");
        assert_eq!(mode(&folder), 0o755);
    }
}

#[test]
fn tc_29_a_stranger_s_link_is_not_followed_and_one_s_own_is() {
    let place = tempfile::tempdir().unwrap();
    let (victim, link) = (place.path().join("victim"), place.path().join("remembrancer"));
    fs_err::create_dir(&victim).unwrap();
    symlink(&victim, &link).unwrap();
    private_folder(&link).unwrap();
    assert_eq!(mode(&victim), 0o700);
    if can_give_away() {
        set_mode(&victim, 0o755);
        std::os::unix::fs::lchown(&link, Some(STRANGER), None).unwrap();
        let refused = private_folder(&link).unwrap_err().to_string();
        assert!(refused.contains("a link that another user made"), "{refused}");
        assert_eq!(mode(&victim), 0o755);
    }
}

#[test]
fn tc_40_what_lies_in_a_folder_of_ours_is_tightened() {
    let place = tempfile::tempdir().unwrap();
    let below = place.path().join("logs");
    fs_err::create_dir(&below).unwrap();
    for file in [place.path().join("memory.db"), below.join("daemon.log")] {
        fs_err::write(&file, "").unwrap();
        set_mode(&file, 0o664);
    }
    set_mode(&below, 0o777);
    let outside = tempfile::NamedTempFile::new().unwrap();
    set_mode(outside.path(), 0o644);
    symlink(outside.path(), place.path().join("link")).unwrap();
    assert_eq!(secure(place.path()).unwrap(), 3);
    assert_eq!((mode(&below), mode(&below.join("daemon.log"))), (0o700, 0o600));
    assert_eq!(mode(&place.path().join("memory.db")), 0o600);
    assert_eq!(mode(outside.path()), 0o644, "a link is not followed");
    assert_eq!(secure(place.path()).unwrap(), 0);
}

#[test]
fn tc_29_a_file_of_ours_with_a_second_name_is_parted_from_it() {
    let place = tempfile::tempdir().unwrap();
    let (ours, theirs) = (place.path().join("ours"), place.path().join("snapshot"));
    let backups = ours.join("backups");
    for folder in [&backups, &theirs] {
        fs_err::create_dir_all(folder).unwrap();
    }
    let (database, wal) = (ours.join("memory.db"), ours.join("memory.db-wal"));
    let (lock, backup, alone) = (ours.join("memory.db.lock"), backups.join("memory-1.db"), ours.join("notes"));
    for file in [&database, &wal, &lock, &backup] {
        fs_err::write(file, "a year's work").unwrap();
        fs_err::hard_link(file, theirs.join(file.file_name().unwrap())).unwrap();
    }
    fs_err::write(&alone, "alone").unwrap();
    let left = backups.join("memory-0.db.parting");
    fs_err::write(&left, "half").unwrap();
    set_mode(&backups, 0o755);
    for file in [&backup, &alone, &left] {
        set_mode(file, 0o644);
    }
    assert_eq!(secure(&ours).unwrap(), 3, "a folder and the files that have one name");
    assert_eq!(part(&ours, &database).unwrap(), 1);
    let names = |file: &PathBuf| system::names(&fs_err::metadata(file).unwrap());
    assert_eq!(
        (names(&backup), mode(&backup), mode(&theirs.join("memory-1.db"))),
        (1, 0o600, 0o644)
    );
    assert_eq!(
        [&database, &wal, &lock].map(names),
        [2; 3],
        "the database is parted where SQLite can be asked, and a lock is none of ours to change"
    );
    fs_err::write(&backup, "changed").unwrap();
    assert_eq!(fs_err::read_to_string(theirs.join("memory-1.db")).unwrap(), "a year's work");
    assert!(!left.exists() && alone.exists());
    assert_eq!(part(&ours, &database).unwrap(), 0);
}

#[test]
fn tc_29_a_file_of_another_user_in_our_folder_is_refused() {
    if !can_give_away() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("memory.db");
    fs_err::write(&file, "").unwrap();
    chown(&file, Some(STRANGER), None).unwrap();
    let refused = secure(place.path()).unwrap_err().to_string();
    assert!(
        refused.contains("memory.db") && refused.contains("another user (12345)"),
        "{refused}"
    );
}

#[test]
fn a_write_replaces_the_file_and_leaves_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("x.md");
    assert!(write_atomically(&path, "one", in_a_minute()).unwrap());
    assert!(write_atomically(&path, "two", in_a_minute()).unwrap());
    assert_eq!(fs_err::read_to_string(&path).unwrap(), "two");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(fs_err::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn tc_29_a_write_goes_through_no_link() {
    let place = tempfile::tempdir().unwrap();
    let (path, victim) = (place.path().join("x.md"), place.path().join("victim"));
    for make in [symlink::<&Path, &Path>, fs_err::hard_link::<&Path, &Path>] {
        fs_err::write(&victim, "a year's work").unwrap();
        make(&victim, &path).unwrap();
        assert!(write_atomically(&path, "two", in_a_minute()).unwrap());
        assert_eq!(fs_err::read_to_string(&victim).unwrap(), "a year's work");
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "two");
        fs_err::remove_file(&path).unwrap();
    }
}

#[test]
fn tc_29_a_foretold_temporary_name_is_passed_over() {
    let place = tempfile::tempdir().unwrap();
    let (path, victim) = (place.path().join("x.md"), place.path().join("victim"));
    fs_err::write(&victim, "a year's work").unwrap();
    // Other tests of this process take numbers, too: the next few are all taken.
    let next = temporary_name(&path).to_string_lossy().into_owned();
    let number: u64 = next.rsplit('.').nth(1).unwrap().parse().unwrap();
    let foretold = |number: u64| place.path().join(format!(".x.md.{}.{number}.tmp", std::process::id()));
    (number + 1..number + 3).for_each(|number| symlink(&victim, foretold(number)).unwrap());
    assert!(write_atomically(&path, "two", in_a_minute()).unwrap());
    assert_eq!(fs_err::read_to_string(&victim).unwrap(), "a year's work");
    assert_eq!(fs_err::read_to_string(&path).unwrap(), "two");
}

#[test]
fn nothing_is_renamed_after_the_deadline() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("x.md");
    assert!(!write_atomically(&path, "late", Deadline::after(Duration::ZERO)).unwrap());
    assert_eq!(fs_err::read_dir(place.path()).unwrap().count(), 0);
    // Nor is one begun, which here would fail.
    let nowhere = place.path().join("no folder/x.md");
    assert!(!write_atomically(&nowhere, "late", Deadline::after(Duration::ZERO)).unwrap());
}

#[test]
fn what_cannot_be_looked_at_is_not_gone() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    assert!(is_gone(&file));
    fs_err::write(&file, "").unwrap();
    assert!(!is_gone(&file) && is_gone(&file.join("below")));
    // Whoever may do everything reads a closed folder, too; a name that is too long can't be looked at by anybody.
    assert!(!is_gone(&place.path().join("x".repeat(5_000))));
}

#[test]
fn what_is_no_file_is_told_and_not_waited_for() {
    let place = tempfile::tempdir().unwrap();
    let pipe = place.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for (path, expected) in [
        (pipe.as_path(), "is a named pipe, and no file"),
        (place.path(), "is a folder, and no file"),
        (Path::new("/dev/zero"), "is a device, and no file"),
    ] {
        let error = read_text(path).unwrap_err().to_string();
        assert!(
            error.contains(expected) && error.contains(&path.display().to_string()),
            "{error}"
        );
    }
    let text = place.path().join("text");
    fs_err::write(&text, "words").unwrap();
    assert_eq!(read_text(&text).unwrap(), "words");
    assert_eq!(read(&place.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn what_is_open_or_closed_to_its_owner_is_found_and_made_private() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("memory");
    fs_err::create_dir_all(folder.join("backups")).unwrap();
    fs_err::write(folder.join("backups/a.db"), "x").unwrap();
    fs_err::write(folder.join("memory.db"), "x").unwrap();
    fs_err::os::unix::fs::symlink("/nowhere", folder.join("link")).unwrap();
    make_private(&folder).unwrap();
    assert_eq!(open_paths(&folder), [] as [PathBuf; 0]);
    for (path, mode) in [
        ("backups/a.db", 0o644),
        ("memory.db", 0o400),
        ("backups", 0o500),
        (".", 0o755),
    ] {
        let path = folder.join(path);
        fs_err::set_permissions(&path, system::permissions(mode)).unwrap();
        assert_eq!(open_paths(&folder).len(), 1, "{}", path.display());
        make_private(&folder).unwrap();
        assert_eq!(open_paths(&folder), [] as [PathBuf; 0], "{}", path.display());
    }
}

#[test]
fn a_mode_under_two_names_is_neither_told_nor_changed() {
    let place = tempfile::tempdir().unwrap();
    let (folder, theirs) = (place.path().join("memory"), place.path().join("snapshot.db"));
    fs_err::create_dir(&folder).unwrap();
    fs_err::write(&theirs, "a year's work").unwrap();
    fs_err::hard_link(&theirs, folder.join("memory.db")).unwrap();
    for theirs_mode in [0o644, 0o400, 0o004] {
        set_mode(&theirs, theirs_mode);
        make_private(&folder).unwrap();
        assert_eq!(open_paths(&folder), [] as [PathBuf; 0], "{theirs_mode:o}");
        assert_eq!(mode(&theirs), theirs_mode);
    }
}
