//! Damaged files beside the database: their names, how a new database takes the place of one, and how many are kept.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{REBUILDING, REBUILT, io_error, remove_with_companions};
use crate::copy::{beside, with_suffix};
use crate::error::OpenError;
use crate::system;
use crate::units::UnixMillis;

/// What follows the database's name in that of a damaged file; the moment it was set aside follows.
const DAMAGED: &str = ".damaged-";
/// How many damaged files are kept; the oldest go.
const KEPT: usize = 3;
/// What else belongs to a database, moved before it: a database without its log is still damaged, a log without its database is lost.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// The damaged files that lie beside the database at `path`, oldest first, without their logs.
///
/// # Errors
/// The file system's, where the folder can't be listed.
pub fn set_aside_files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = beside(path)?
        .into_iter()
        .filter(|(rest, _)| rest.starts_with(DAMAGED) && !COMPANIONS.iter().any(|suffix| rest.ends_with(suffix)))
        .map(|(_, file)| file)
        .collect();
    files.sort_unstable();
    Ok(files)
}

/// Whether what follows the database's name says that a file is a damaged one, belongs to one, or was to take its place.
pub(crate) fn is_of_recovery(rest: &str) -> bool {
    [DAMAGED, REBUILDING, REBUILT].iter().any(|begin| rest.starts_with(begin))
}

/// Whether a file of this name is of a database that was to take a damaged one's place, and is not whole.
pub(crate) fn is_unfinished(name: &str) -> bool {
    name.contains(REBUILDING)
}

/// The name under which the database is set aside: by the log that was moved before this was killed, or by the moment.
///
/// # Errors
/// [`OpenError`].
pub(super) fn name(path: &Path, now: UnixMillis) -> Result<PathBuf, OpenError> {
    let list = io_error("list what lies beside", path);
    let files = set_aside_files(path).map_err(&list)?;
    let orphan = beside(path).map_err(&list)?.into_iter().find_map(|(rest, file)| {
        let log = file.to_str()?.strip_suffix("-wal").map(PathBuf::from)?;
        (rest.starts_with(DAMAGED) && !files.contains(&log)).then_some(log)
    });
    if let Some(orphan) = orphan {
        return Ok(orphan);
    }
    let moment = moment(now).map_err(OpenError::at(path, "set aside"))?;
    let named = with_suffix(path, &format!("{DAMAGED}{moment}"));
    // Two in a second are told apart.
    let numbered = (2..).map(|number| with_suffix(&named, &format!(".{number}")));
    let mut candidates = std::iter::once(named.clone()).chain(numbered);
    let free = candidates.find_map(|name| match name.try_exists() {
        Ok(true) => None,
        Ok(false) => Some(Ok(name)),
        Err(error) => Some(Err(error)),
    });
    free.expect("invariant: there is no end of names").map_err(list)
}

fn moment(now: UnixMillis) -> rusqlite::Result<String> {
    Connection::open_in_memory()?.query_row("SELECT strftime('%Y%m%dT%H%M%SZ', :now / 1000, 'unixepoch')", [now], |row| {
        row.get(0)
    })
}

/// Puts the database that is whole at `temporary` in the place of the damaged one at `path`, which goes to `aside`.
///
/// # Errors
/// The file system's error. What was begun is brought to its end by the next start.
pub(super) fn swap(path: &Path, temporary: &Path, aside: &Path) -> io::Result<()> {
    let rebuilt = with_suffix(path, REBUILT);
    fs_err::File::open(temporary)?.sync_all()?;
    fs_err::rename(temporary, &rebuilt)?;
    for suffix in COMPANIONS {
        move_if_there(&with_suffix(path, suffix), &with_suffix(aside, suffix))?;
    }
    move_if_there(path, aside)?;
    fs_err::rename(&rebuilt, path)?;
    system::sync_folder_of(path)?;
    keep_few(path)
}

/// Brings a swap to its end that was killed in the middle of it; one that did not come to it is undone.
///
/// # Errors
/// The file system's error.
pub(crate) fn finish(path: &Path) -> io::Result<()> {
    let rebuilt = with_suffix(path, REBUILT);
    if rebuilt.try_exists()? && !path.try_exists()? {
        tracing::warn!("a rebuilt database takes the place of the damaged one, which an earlier start did not come to");
        fs_err::rename(&rebuilt, path)?;
        system::sync_folder_of(path)?;
    }
    remove_with_companions(&rebuilt)?;
    remove_with_companions(&with_suffix(path, REBUILDING))
}

/// Makes a damaged file private and moves it.
fn move_if_there(from: &Path, to: &Path) -> io::Result<()> {
    if !from.try_exists()? {
        return Ok(());
    }
    system::tighten_file(from)?;
    fs_err::rename(from, to)
}

fn keep_few(path: &Path) -> io::Result<()> {
    let files = set_aside_files(path)?;
    for old in &files[..files.len().saturating_sub(KEPT)] {
        tracing::warn!(file = %old.display(), "an old damaged file is removed: three newer ones are kept");
        remove_with_companions(old)?;
    }
    Ok(())
}
