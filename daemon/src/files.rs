//! Private folders and atomic writes: folders 0700, files 0600, a reader never sees half a file.

use std::io::Write;
use std::path::{Path, PathBuf};

use remembrancer_hooks::places::create_private_folder;
use remembrancer_processor::Deadline;

use crate::system;

/// Makes `path` and what is missing above it, 0700; tightens a folder of ours that others can enter.
///
/// # Errors
/// The file system's error, naming the path.
pub(crate) fn private_folder(path: &Path) -> std::io::Result<()> {
    if !path.is_dir() {
        create_private_folder(path)
            .map_err(|error| std::io::Error::new(error.kind(), format!("cannot make {}: {error}", path.display())))?;
    }
    if system::mode(&fs_err::metadata(path)?) & 0o077 != 0 {
        fs_err::set_permissions(path, system::permissions(0o700))?;
    }
    Ok(())
}

/// Whether there is nothing at `path`: the system says so. Where it only can't tell, for want of permission or by an error of the disk,
/// what was there may be there still.
pub(crate) fn is_gone(path: &Path) -> bool {
    fs_err::metadata(path).is_err_and(|error| means_gone(&error))
}

/// Whether this error says that there is nothing, and not that it can't be told.
pub(crate) fn means_gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Writes `text` to `path` by way of a temporary name and a rename, 0600.
///
/// Nothing appears under `path` after the `deadline` has passed: a file that came too late would be taken for the
/// next prompt's. Returns whether the file was written. A failed write leaves what was there before, and no remains.
///
/// # Errors
/// The file system's error, naming the path.
pub(crate) fn write_atomically(path: &Path, text: &str, deadline: Deadline) -> std::io::Result<bool> {
    let temporary = temporary_name(path);
    let written = write_new(&temporary, text).and_then(|()| {
        if deadline.has_passed() {
            return Ok(false);
        }
        fs_err::rename(&temporary, path).map(|()| true)
    });
    if !matches!(written, Ok(true)) {
        // Nothing to do about a failure to remove: the name is unique and the folder is pruned.
        drop(fs_err::remove_file(&temporary));
    }
    written
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = system::opening(0o600).write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

fn temporary_name(path: &Path) -> PathBuf {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{number}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_private_folder_is_tightened() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b");
        private_folder(&folder).unwrap();
        assert_eq!(fs_err::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        fs_err::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        private_folder(&folder).unwrap();
        assert_eq!(fs_err::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
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
    fn a_write_replaces_the_file_and_leaves_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x.md");
        let deadline = Deadline::after(Duration::from_mins(1));
        assert!(write_atomically(&path, "one", deadline).unwrap());
        assert!(write_atomically(&path, "two", deadline).unwrap());
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs_err::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_renamed_after_the_deadline() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x.md");
        assert!(!write_atomically(&path, "late", Deadline::after(Duration::ZERO)).unwrap());
        assert_eq!(fs_err::read_dir(place.path()).unwrap().count(), 0);
    }
}
