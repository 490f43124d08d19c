//! The back-off: how long the hook stays silent after it waited for a daemon in vain.
//!
//! Where a service manager holds the socket, a connection succeeds although no daemon runs, and every prompt would wait its whole
//! budget for nothing. So a hook that connected, waited at least [`TELLING_WAIT`] and got not one byte writes the monotonic time
//! into [`Places::backoff_file`](crate::places::Places::backoff_file); for [`SILENCE`] after it, hooks remove their session's stale
//! recollection file and say nothing. A refused or closed connection is known at once and needs no back-off.
//!
//! The daemon ends the back-off by [`end`]: when it becomes ready, and whenever it finished a recall after its deadline, since then
//! it was slow and not absent. A reboot ends it too, because the monotonic clock starts again.

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

/// Says whether a miss was noted in `file` at most [`SILENCE`] before the monotonic instant `now_ns`.
pub(crate) fn is_silent(file: &Path, now_ns: u64) -> bool {
    let Some(content) = note(file) else { return false };
    let Ok(missed_ns) = content.trim().parse::<u64>() else {
        return false;
    };
    now_ns
        .checked_sub(missed_ns)
        .is_some_and(|age_ns| Duration::from_nanos(age_ns) < SILENCE)
}

/// Notes a miss at the monotonic instant `now_ns`. What can't be written is passed over: the next hook then waits again.
pub(crate) fn begin(file: &Path, now_ns: u64) {
    if let Some(folder) = file.parent() {
        create_private_folder(folder).ok();
    }
    // Emptied only once it is known to be ours: at its place may lie a link, or another name of a file that is dear to somebody.
    let opened = private_file().write(true).create(true).truncate(false).open(file);
    if let Ok(mut opened) = opened
        && is_own_file(&opened, user_id()).unwrap_or_default()
        && opened.set_len(0).is_ok()
    {
        writeln!(opened, "{now_ns}").ok();
    }
}

/// What stands in the file.
fn note(file: &Path) -> Option<String> {
    let mut content = String::new();
    let opened = private_file().read(true).open(file).ok()?;
    opened.take(MAX_NOTE_BYTES).read_to_string(&mut content).ok()?;
    Some(content)
}

/// A note has 20 digits at most.
const MAX_NOTE_BYTES: u64 = 64;

/// Ends the back-off, so that the next hook asks again.
pub fn end(file: &Path) {
    remove_file(file).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_silences_for_half_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("remembrancer/hook-backoff");
        let silence_ns = SILENCE.as_nanos() as u64;
        assert!(!is_silent(&file, 5));

        begin(&file, 1_000);
        assert!(is_silent(&file, 1_000));
        assert!(is_silent(&file, 1_000 + silence_ns - 1));
        assert!(!is_silent(&file, 1_000 + silence_ns));
        assert!(!is_silent(&file, 999), "a reboot starts the monotonic clock again");

        end(&file);
        assert!(!is_silent(&file, 1_000));
        end(&file);
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
            assert!(!is_silent(&file, 1_000));
        }
    }
}
