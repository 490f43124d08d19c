//! What a person may do about a database that can't be used: a path comes in, half a sentence goes out.

use std::path::Path;

use crate::copy::with_suffix;
use crate::kept::{backups, newest_set_aside};

/// Of one that is damaged.
pub(super) fn corrupt_remedy(path: &Path) -> String {
    // Where it can't be told, it is not promised.
    let has_backups = backups(path, false).is_ok_and(|found| !found.is_empty());
    let backup = if has_backups {
        "run `remembrancer restore --latest` to go back to the last backup, or "
    } else {
        ""
    };
    format!(
        "{backup}start the daemon, which sets it aside and makes it anew from what can be read of it; or move it aside yourself, its log \
         with it ({}), and the daemon makes it anew from backups and transcripts{}",
        moving(path, ".damaged"),
        replaced(path)
    )
}

/// Of one that is gone.
pub(super) fn lost_remedy(path: &Path) -> String {
    let folder = path.parent().unwrap_or(Path::new(".")).display();
    format!(
        "start the daemon, which makes it anew from the latest good backup, the transcripts and what you decided; to begin with \
         nothing instead, remove the whole folder {folder}{}{}",
        left_behind(path),
        replaced(path)
    )
}

/// What to do with a log whose database was moved away without it.
fn left_behind(path: &Path) -> String {
    let log = with_suffix(path, "-wal");
    if fs_err::metadata(&log).is_ok_and(|found| found.len() > 0) {
        format!(
            "; its log is still there, {}, and holds a part of it: if you moved the database, move the log beside it first, under the same \
             name with -wal behind it, before anything opens either",
            log.display()
        )
    } else {
        String::new()
    }
}

/// Of one that a newer version wrote.
pub(super) fn future_remedy(path: &Path, backup: Option<&Path>) -> String {
    let Some(backup) = backup else {
        return format!(
            "install the newer version again, or stop the daemon and move it aside, its log with it ({})",
            moving(path, ".newer")
        );
    };
    format!(
        "install the newer version again, or stop the daemon and run `remembrancer restore --pre-migration` to go back to \
         the copy made before the migration ({})",
        backup.display()
    )
}

/// The shell's line that moves a database with all that belongs to it: what stands in its log alone would be lost without it.
fn moving(path: &Path, ending: &str) -> String {
    let from = format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
    let to = format!("'{}{ending}'", path.display().to_string().replace('\'', r"'\''"));
    format!("for end in '' -wal -shm; do [ ! -e {from}$end ] || mv {from}$end {to}$end; done")
}

/// Where the memory is that another took the place of.
fn replaced(path: &Path) -> String {
    newest_set_aside(path).ok().flatten().map_or_else(String::new, |aside| {
        format!(
            "; the memory that was there before the last restore is {}, and `remembrancer restore` goes back to it",
            aside.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_moved_with_its_log() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = folder.path().join("it's here.db");
        for end in ["", "-wal"] {
            fs_err::write(with_suffix(&path, end), end).expect("writes");
        }
        for remedy in [future_remedy(&path, None), corrupt_remedy(&path)] {
            assert!(remedy.contains("-wal -shm"), "{remedy}");
        }
        let line = moving(&path, ".newer");
        let done = std::process::Command::new("sh").args(["-euc", &line]).output().expect("runs");
        assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
        let newer = folder.path().join("it's here.db.newer");
        assert!(!path.exists() && newer.exists());
        assert_eq!(fs_err::read(with_suffix(&newer, "-wal")).expect("reads"), b"-wal");
    }
}
