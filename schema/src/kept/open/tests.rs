use std::cell::Cell;

use rstest::rstest;
use rusqlite::ffi;

use super::*;

fn damaged(path: &Path) -> OpenError {
    OpenError::Corrupt {
        path: path.to_owned(),
        detail: "database disk image is malformed".to_owned(),
    }
}

fn by_sqlite(path: &Path, code: i32) -> OpenError {
    OpenError::sqlite(path, "read", rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
}

/// What comes of one try at the copy at a path.
type Try<'a> = &'a dyn Fn(&Path) -> Result<(), OpenError>;

/// What is judged of a copy of which the tries come to `tries`, and how many there were.
fn judge(tries: &[Try<'_>]) -> (io::Result<Result<(), OpenError>>, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("copy.db");
    fs_err::write(&path, "bytes").expect("writes");
    let made = Cell::new(0);
    let judged = judged(&path, || {
        made.set(made.get() + 1);
        tries[made.get() - 1](&path)
    });
    (judged, made.get())
}

#[test]
fn only_what_was_found_damaged_twice_is_judged() {
    let (once, tries) = judge(&[&|path| Err(damaged(path)), &|_| Ok(())]);
    assert!(matches!(once, Ok(Ok(()))), "the disk failed for a moment: {once:?}");
    assert_eq!(tries, 2);
    let (twice, tries) = judge(&[&|path| Err(damaged(path)), &|path| Err(damaged(path))]);
    assert!(matches!(twice, Ok(Err(OpenError::Corrupt { .. }))), "{twice:?}");
    assert_eq!(tries, 2);
    let (other, _) = judge(&[&|path| Err(damaged(path)), &|path| Err(by_sqlite(path, ffi::SQLITE_BUSY))]);
    assert!(other.is_err(), "{other:?}");
}

#[rstest]
#[case::no_descriptor(ffi::SQLITE_CANTOPEN)]
#[case::a_lock(ffi::SQLITE_BUSY)]
#[case::a_full_disk(ffi::SQLITE_FULL)]
#[case::a_failing_disk(ffi::SQLITE_IOERR)]
#[case::no_memory(ffi::SQLITE_NOMEM)]
#[case::no_locks(ffi::SQLITE_PROTOCOL)]
#[case::no_permission(ffi::SQLITE_PERM)]
fn what_says_nothing_of_the_copy_is_tried_again(#[case] code: i32) {
    let (judged, tries) = judge(&[&|path| Err(by_sqlite(path, code))]);
    assert!(judged.is_err(), "{judged:?}");
    assert_eq!(tries, 1);
}

#[test]
fn no_descriptors_left_says_nothing_of_the_copy_and_has_its_cause_told() {
    // How `OpenError::sqlite` tells that the folder can't be opened either.
    let no_files = |path: &Path| OpenError::Io {
        act: "open",
        path: path.to_owned(),
        source: io::Error::from_raw_os_error(24),
    };
    let (judged, _) = judge(&[&|path| Err(no_files(path))]);
    let told = judged.expect_err("is tried again").to_string();
    assert!(told.contains("copy.db") && told.contains("os error 24"), "{told}");
}

#[test]
fn what_is_gone_is_judged_at_once() {
    let (judged, tries) = judge(&[&|path| Err(OpenError::Missing { path: path.to_owned() })]);
    assert!(matches!(judged, Ok(Err(OpenError::Missing { .. }))), "{judged:?}");
    assert_eq!(tries, 1);
}
