//! The back-off: how long the hook stays silent after it waited for a daemon in vain.
//!
//! Where a service manager holds the socket, a connection succeeds although no daemon runs, and every prompt would wait its whole
//! budget for nothing. So a hook that connected, waited at least [`TELLING_WAIT`] and got not one byte writes the monotonic time
//! into [`Places::backoff_file`](crate::places::Places::backoff_file); for [`SILENCE`] after it, hooks remove their session's stale
//! recollection file and say nothing. A refused or closed connection is known at once and needs no back-off.
//!
//! The daemon ends the back-off by [`end`]: when it becomes ready, and whenever it finished a recall after its deadline, since then
//! it was slow and not absent. It counts what the file tells of by then, one line each: a miss by its time, and a hook that kept
//! silent for it. A reboot ends it too, because the monotonic clock starts again.

#![expect(
    clippy::disallowed_methods,
    reason = "the hook links no fs-err; its errors are never shown, so they need no path"
)]

use std::fs::remove_file;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use crate::places::create_private_folder;
use crate::system::{is_own_file, private_file, user_id};

/// How long the hook stays silent after a miss.
pub const SILENCE: Duration = Duration::from_secs(30);

/// A shorter wait says nothing about the daemon: stdin may have come late, or the budget may be small. A warm daemon is meant to
/// answer 99 of 100 prompts within 60 ms.
pub const TELLING_WAIT: Duration = Duration::from_millis(100);

/// A longer file is begun anew: nobody has counted for very long.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The line of a hook that kept silent.
const KEPT_SILENT: &str = "kept silent";

/// What hooks noted that met a silent daemon.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Misses {
    /// How many waited in vain.
    pub gave_up: u64,
    /// How many did not ask for that.
    pub kept_silent: u64,
}

/// Says whether a miss was noted in `file` at most [`SILENCE`] before the monotonic instant `now_ns`; if so, notes that one more
/// hook keeps silent.
pub(crate) fn keeps_silent(file: &Path, now_ns: u64) -> bool {
    let Some(missed_ns) = noted(file).lines().rev().find_map(missed_ns) else {
        return false;
    };
    let is_silent = now_ns
        .checked_sub(missed_ns)
        .is_some_and(|age_ns| Duration::from_nanos(age_ns) < SILENCE);
    if is_silent {
        note(file, KEPT_SILENT);
    }
    is_silent
}

/// Notes a miss at the monotonic instant `now_ns`. What can't be written is passed over: the next hook then waits again.
pub(crate) fn begin(file: &Path, now_ns: u64) {
    if let Some(folder) = file.parent() {
        create_private_folder(folder).ok();
    }
    note(file, &now_ns.to_string());
}

/// Ends the back-off, so that the next hook asks again, and tells what was noted meanwhile.
pub fn end(file: &Path) -> Misses {
    let content = noted(file);
    remove_file(file).ok();
    Misses {
        gave_up: content.lines().filter(|line| missed_ns(line).is_some()).count() as u64,
        kept_silent: content.lines().filter(|line| *line == KEPT_SILENT).count() as u64,
    }
}

fn missed_ns(line: &str) -> Option<u64> {
    line.trim().parse().ok()
}

/// What stands in the file.
fn noted(file: &Path) -> String {
    let mut content = String::new();
    if let Ok(opened) = private_file().read(true).open(file) {
        opened.take(2 * MAX_FILE_BYTES).read_to_string(&mut content).ok();
    }
    content
}

fn note(file: &Path, line: &str) {
    let Ok(mut opened) = private_file().append(true).create(true).open(file) else {
        return;
    };
    // Written only once it is known to be ours: at its place may lie a link, or another name of a file that is dear to somebody.
    if !is_own_file(&opened, user_id()).unwrap_or_default() {
        return;
    }
    if opened.metadata().is_ok_and(|metadata| metadata.len() > MAX_FILE_BYTES) {
        opened.set_len(0).ok();
    }
    // In one write, since several hooks may note something at once.
    opened.write_all(format!("{line}\n").as_bytes()).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_silences_for_half_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("remembrancer/hook-backoff");
        let silence_ns = SILENCE.as_nanos() as u64;
        assert!(!keeps_silent(&file, 5));

        begin(&file, 1_000);
        assert!(keeps_silent(&file, 1_000));
        assert!(keeps_silent(&file, 1_000 + silence_ns - 1));
        assert!(!keeps_silent(&file, 1_000 + silence_ns));
        assert!(!keeps_silent(&file, 999), "a reboot starts the monotonic clock again");
        begin(&file, 2_000 + silence_ns);
        assert!(keeps_silent(&file, 2_001 + silence_ns), "the last miss counts");

        assert_eq!(
            end(&file),
            Misses {
                gave_up: 2,
                kept_silent: 3
            }
        );
        assert!(!keeps_silent(&file, 1_000));
        assert_eq!(end(&file), Misses::default());
    }

    #[test]
    fn tc_29_a_miss_is_noted_in_no_file_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let (file, victim) = (folder.path().join("hook-backoff"), folder.path().join("victim"));
        for make in [std::os::unix::fs::symlink::<&Path, &Path>, std::fs::hard_link::<&Path, &Path>] {
            std::fs::write(&victim, "a year's work").unwrap();
            make(&victim, &file).unwrap();
            begin(&file, 1_000);
            assert_eq!(std::fs::read_to_string(&victim).unwrap(), "a year's work");
            end(&file);
            assert!(victim.exists() && !file.exists());
        }
    }

    #[test]
    fn an_unreadable_note_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hook-backoff");
        for content in ["", "soon", "-1", "99999999999999999999999"] {
            std::fs::write(&file, content).unwrap();
            assert!(!keeps_silent(&file, 1_000));
        }
    }

    #[test]
    fn the_file_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hook-backoff");
        begin(&file, 1);
        for _ in 0..3 * MAX_FILE_BYTES / (KEPT_SILENT.len() as u64 + 1) {
            begin(&file, 1);
            keeps_silent(&file, 2);
        }
        assert!(std::fs::metadata(&file).unwrap().len() <= MAX_FILE_BYTES + 16);
    }
}
