//! The recollection files, one a session: what a prompt was reminded of, for the agent to read. Written under the prompt's
//! deadline, removed where they may quote what left the memory, kept few. (The hook removes the one of its own session.)

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use remembrancer_processor::Deadline;

use crate::causes::root_cause;
use crate::counts::Count;
use crate::files::{means_gone, write_atomically};
use crate::progress::{Part, Progress};

/// How many are kept: older ones belong to conversations that have ended long ago.
const KEPT: usize = 500;
/// A temporary file of this age may still be written.
const WRITING: Duration = Duration::from_mins(1);

/// Writes `text` to `path`, unless `deadline` has passed. A failure is told to `progress`: the prompt is answered all the same.
pub(crate) fn write(path: &Path, text: &str, deadline: Deadline, progress: &Progress) {
    match write_atomically(path, text, deadline) {
        Ok(true) => progress.works(Part::Recollections),
        Ok(false) => progress.count(Count::FileLate, 1),
        Err(error) => {
            progress.count(Count::FileNotWritten, 1);
            progress.fails(Part::Recollections, root_cause(&error));
        }
    }
}

/// Whether one can be written: a file that no prompt has is written, and removed again.
pub(crate) fn can_be_written(folder: &Path) -> bool {
    let probe = folder.join(".probe.tmp");
    let written = fs_err::write(&probe, [b' '; 4_096]).is_ok();
    fs_err::remove_file(&probe).ok();
    written
}

/// Removes every file: what was forgotten or hidden may stand in any of them.
///
/// # Errors
/// The file system's error, naming the path.
pub(crate) fn remove_all(folder: &Path) -> std::io::Result<()> {
    let entries = match fs_err::read_dir(folder) {
        Err(error) if means_gone(&error) => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        match fs_err::remove_file(entry?.path()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Removes files of conversations that ended long ago, and remains of interrupted writes.
pub(crate) fn prune(folder: &Path) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let temporary = path.extension().is_some_and(|extension| extension == "tmp");
        let remains = temporary && !modified.as_ref().is_ok_and(is_fresh);
        match modified {
            Ok(modified) if !remains => files.push((modified, path)),
            _ => {
                fs_err::remove_file(path).ok();
            }
        }
    }
    files.sort_unstable_by(|a, b| b.cmp(a));
    for (_, path) in files.into_iter().skip(KEPT) {
        fs_err::remove_file(path).ok();
    }
}

fn is_fresh(modified: &SystemTime) -> bool {
    // One of the future is as young: the clock was set back.
    modified.elapsed().map_or(true, |age| age < WRITING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_and_remains_of_a_write_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, age: u64| {
            let file = fs_err::File::create(folder.path().join(name)).unwrap();
            let long_ago = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 50) - Duration::from_secs(age);
            file.set_modified(long_ago).unwrap();
        };
        for number in 0..KEPT as u64 + 2 {
            file(&format!("{number}.md"), number);
        }
        file(".0.md.1.1.tmp", 0);
        fs_err::File::create(folder.path().join(".1.md.1.2.tmp")).unwrap();
        prune(folder.path());
        let there = |name: &str| folder.path().join(name).exists();
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), KEPT);
        assert!(there(".1.md.1.2.tmp") && there("0.md") && !there(".0.md.1.1.tmp") && !there(&format!("{KEPT}.md")));
        remove_all(folder.path()).unwrap();
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
    }
}
