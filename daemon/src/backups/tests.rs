use std::collections::BTreeSet;

use remembrancer_schema::{CopyProgress, Writer};

use super::*;
use crate::sample_rows::{batch, turn};

const NOW: UnixMillis = UnixMillis(1_795_836_770_500);

fn go_on(_: CopyProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn a_moment_stands_in_the_name_and_is_read_from_it() {
    let path = backup_path(Path::new("/d/memory.db"), &stamp(NOW), true);
    assert_eq!(path, Path::new("/d/backups/memory-2026-11-28T033250Z-daily.db"));
    assert_eq!(made_at(&path), Some(UnixMillis(NOW.0 / 1_000 * 1_000)));
    assert_eq!(made_at(&backup_path(Path::new("/d/memory.db"), &stamp(NOW), false)), None);
}

#[test]
fn never_more_daily_ones_than_are_kept_and_the_user_s_stay() {
    let place = tempfile::tempdir().unwrap();
    let database = place.path().join("memory.db");
    let _writer = Writer::open(&database).unwrap();
    let made = make(&database, None, &mut go_on).unwrap();
    for number in 1..6 {
        let old = backup_path(&database, &format!("2026-01-0{number}T000000Z"), true);
        fs_err::copy(made["path"].as_str().unwrap(), old).unwrap();
    }
    make_daily(&database, 3, &mut go_on).unwrap();
    let daily = backups(&database, true).unwrap();
    let kept: BTreeSet<String> = daily.iter().map(|path| path.display().to_string()).collect();
    assert_eq!(kept.len(), 3);
    assert!(kept.iter().any(|path| path.contains("2026-01-05")) && kept.iter().any(|path| path.contains("2026-01-04")));
    assert_eq!(backups(&database, false).unwrap().len(), 4);
    assert_eq!(status(&database)["count"], 4);
}

/// A database with so many episodes.
fn of_episodes(path: &Path, episodes: u8) -> Writer {
    let mut writer = Writer::open(path).unwrap();
    writer
        .ingest(&batch((0..episodes).map(|number| turn(number, "/a")).collect()))
        .unwrap();
    writer
}

#[test]
fn a_memory_that_was_begun_anew_pushes_out_no_backup_that_holds_far_more() {
    let place = tempfile::tempdir().unwrap();
    let rich = place.path().join("rich.db");
    of_episodes(&rich, 5).close().unwrap();
    for keep in [1, 2] {
        let database = place.path().join(format!("{keep}")).join("memory.db");
        let _writer = of_episodes(&database, 1);
        fs_err::create_dir(backups_folder(&database)).unwrap();
        let made = |days: i64| backup_path(&database, &stamp(UnixMillis(clock::now().0 - days * 86_400_000)), true);
        let (long_ago, lately, last) = (made(40), made(5), made(1));
        for path in [&long_ago, &lately] {
            fs_err::copy(&rich, path).unwrap();
        }
        make(&database, Some(&last), &mut go_on).unwrap();
        make_daily(&database, keep, &mut go_on).unwrap();
        assert_eq!(
            (long_ago.exists(), lately.exists(), last.exists()),
            (false, true, false),
            "{keep}"
        );
        let kept = backups(&database, true).unwrap();
        assert_eq!(kept.len(), 2, "{keep}");
        // It goes as any once the memory is about as rich again, and when a month has passed.
        let now = clock::now();
        assert_eq!(far_richer(&kept, 2, now), Some(&lately));
        assert_eq!(far_richer(&kept, 3, now), None);
        assert_eq!(far_richer(&kept, 1, UnixMillis(now.0 + 26 * 86_400_000)), None);
    }
}

#[test]
fn a_backup_that_cant_be_looked_at_now_is_not_pushed_out() {
    let place = tempfile::tempdir().unwrap();
    let database = place.path().join("memory.db");
    let _writer = of_episodes(&database, 1);
    let now = clock::now();
    let made = |days: i64| backup_path(&database, &stamp(UnixMillis(now.0 - days * 86_400_000)), true);
    fs_err::create_dir(backups_folder(&database)).unwrap();
    let (unseen, last) = (made(2), made(1));
    fs_err::os::unix::fs::symlink(&unseen, &unseen).unwrap();
    make(&database, Some(&last), &mut go_on).unwrap();
    assert_eq!(far_richer(&[unseen.clone(), last.clone()], 1, now), Some(&unseen));
    // One that is damaged is worth nothing.
    fs_err::remove_file(&unseen).unwrap();
    fs_err::write(&unseen, vec![7; 9_000]).unwrap();
    assert_eq!(far_richer(&[unseen, last], 1, now), None);
}

#[test]
fn one_is_due_a_day_later_also_after_the_clock_was_set_back() {
    let place = tempfile::tempdir().unwrap();
    let database = place.path().join("memory.db");
    let mut writer = Writer::open(&database).unwrap();
    let day = Duration::from_hours(24);
    let later = |hours: i64| UnixMillis(clock::now().0 + hours * 3_600_000);
    let is_due = |now| is_due(&database, day, now).unwrap();
    assert!(is_due(later(0)), "there is none");
    make_daily(&database, 3, &mut go_on).unwrap();
    assert!(!is_due(later(25)), "nothing has changed");
    writer.exclude_path("/secret", later(0)).unwrap();
    assert!(!is_due(later(1)) && is_due(later(25)));
    // The clock stood a month ahead.
    let made = backups(&database, true).unwrap().pop().unwrap();
    fs_err::copy(&made, backup_path(&database, &stamp(later(24 * 30)), true)).unwrap();
    assert!(!is_due(later(1)) && is_due(later(25)));
}

#[test]
fn a_folder_that_cant_be_listed_has_none_made_and_is_told_of() {
    let place = tempfile::tempdir().unwrap();
    let database = place.path().join("memory.db");
    let _writer = Writer::open(&database).unwrap();
    let folder = backups_folder(&database);
    fs_err::os::unix::fs::symlink(&folder, &folder).unwrap();
    // Else one would be made at each look, and none would ever go.
    assert!(is_due(&database, Duration::from_hours(24), clock::now()).is_err());
    let told = status(&database);
    assert_eq!(told["count"], serde_json::Value::Null);
    assert!(told["problem"].as_str().unwrap().contains("backups"), "{told}");
}

#[test]
fn tc_40_a_place_that_cant_be_written_fails_and_takes_nothing_away() {
    let place = tempfile::tempdir().unwrap();
    let database = place.path().join("memory.db");
    let _writer = Writer::open(&database).unwrap();
    // A file where the folder should be: root may write everywhere else.
    fs_err::write(place.path().join("backups"), "in the way").unwrap();
    let error = make_daily(&database, 3, &mut go_on).unwrap_err();
    assert!(with_causes(&error).contains("backups"), "{}", with_causes(&error));
    let target = place.path().join("letter.txt");
    fs_err::write(&target, "dear reader").unwrap();
    let error = make(&database, Some(&target), &mut go_on).unwrap_err();
    assert!(matches!(error, BackupError::InTheWay(_)), "{error:?}");
    assert_eq!(fs_err::read_to_string(&target).unwrap(), "dear reader");
    let error = make(&database, Some(&target.join("below-a-file.db")), &mut go_on).unwrap_err();
    assert!(matches!(error, BackupError::NoFolder(_)), "{error:?}");
    // A stick that is not mounted is not taken for a folder to be made.
    let missing = place.path().join("no/stick/copy.db");
    let error = make(&database, Some(&missing), &mut go_on).unwrap_err();
    assert!(matches!(error, BackupError::NoFolder(_)), "{error:?}");
    assert!(!place.path().join("no").exists());
}

#[test]
fn a_folder_whose_name_is_no_text_is_told_all_the_same() {
    use std::os::unix::ffi::OsStrExt;
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join(std::ffi::OsStr::from_bytes(b"non\xff\xfeutf"));
    let database = folder.join("memory.db");
    let _writer = Writer::open(&database).unwrap();
    let made = make(&database, None, &mut go_on).unwrap();
    assert!(made["path"].as_str().unwrap().contains("utf/backups/"), "{made}");
    let told = status(&database);
    assert_eq!(told["count"], 1);
    assert!(told["newest"].as_str().unwrap().contains("utf/backups/"), "{told}");
}
