//! Going back to a copy. A copy and the database come in; the copy stands in the database's place, with what the user has decided
//! since, and the database that was there stands beside it under another name.
//!
//! Three stages, each safe to be killed in. First the copy is made ready in a folder of its own (`restoring/`), which the next
//! restore removes. One rename makes it count: from then on `<database>.restored` is what opening for writing finishes with,
//! before anything else, so that no empty memory is ever made in a gap. The last stage are renames, each of which is passed over
//! where it has been done.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::backup::{FreshCopy, sync_folder};
use crate::choices::Choices;
use crate::copy::with_suffix;
use crate::error::{CopyError, OpenError, QueryError};
use crate::kept::free_name;
use crate::units::UnixMillis;
use crate::write::Writer;

/// The folder in which a copy is made ready.
const FOLDER: &str = "restoring";
/// Follows the database's name in that of a copy that is ready.
const READY: &str = ".restored";
/// Follows it in that of a database that was replaced.
const REPLACED: &str = ".replaced-";
/// Notes, in that folder, the name under which the database is set aside.
const STAMP: &str = "stamp";

/// What came of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Where the database is that was there before; `None` where there was none.
    pub set_aside: Option<PathBuf>,
    /// Episodes of the copy that were forgotten since it was made.
    pub forgotten: u64,
    /// Folders and sessions that the copy kept out, and the database did not: their transcripts are to be read again.
    pub let_in: u64,
    /// What of the user's decisions could not be read from the database.
    pub unread: Vec<&'static str>,
}

/// Why a restore was not done. The database is as it was.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The copy can't be used.
    #[error("cannot restore this copy")]
    Copy(#[from] CopyError),
    /// The copy can't be opened in this version.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// What the user decided since could not be put into it.
    #[error("cannot take over what was decided since the copy was made")]
    Choices(#[from] QueryError),
    /// A file could not be made, renamed or removed.
    #[error("cannot {act}")]
    Io {
        /// What was tried.
        act: &'static str,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// Puts the copy at `copy` in the place of `database`, which nobody uses. `stamp` names what is set aside.
///
/// # Errors
/// [`RestoreError`].
pub fn restore(database: &Path, copy: &Path, stamp: &str, now: UnixMillis) -> Result<Restored, RestoreError> {
    let (choices, taken) = make_ready(database, copy, now)?;
    commit(database, stamp).map_err(io("put the copy beside the database"))?;
    let set_aside = finish(database).map_err(io("put the copy in place of the database"))?;
    Ok(Restored {
        set_aside,
        forgotten: taken.forgotten,
        let_in: taken.let_in,
        unread: choices.unread,
    })
}

/// The first stage: the copy, whole, of this version, with what the user decided since.
fn make_ready(database: &Path, copy: &Path, now: UnixMillis) -> Result<(Choices, crate::choices::Taken), RestoreError> {
    let folder = database.with_file_name(FOLDER);
    clear(&folder).map_err(io("clear the folder of an earlier restore"))?;
    let staged = staged(database);
    FreshCopy::make(copy, &staged, &mut |_| ControlFlow::Continue(()))?.put_at(&staged)?;
    let choices = Choices::of(database);
    let mut writer = Writer::open(&staged)?;
    let taken = writer.take_over(&choices, now)?;
    writer.distrust();
    writer.close()?;
    Ok((choices, taken))
}

/// The second stage: from here on it counts.
fn commit(database: &Path, stamp: &str) -> std::io::Result<()> {
    let name = database.file_name().unwrap_or_default().to_string_lossy();
    let staged = staged(database);
    fs_err::write(staged.with_file_name(STAMP), format!("{name}{REPLACED}{stamp}"))?;
    sync_folder(&staged)?;
    fs_err::rename(&staged, with_suffix(database, READY))?;
    sync_folder(database)
}

/// The last stage, one step after the other.
type Step = fn(&Path) -> std::io::Result<()>;
const STEPS: [Step; 4] = [set_database_aside, set_log_aside, put_in_place, clear_up];

/// Finishes a restore that counts, if there is one. Gives where the database is that was there before.
pub(crate) fn finish(database: &Path) -> std::io::Result<Option<PathBuf>> {
    if !with_suffix(database, READY).exists() {
        return Ok(None);
    }
    let (aside, there) = (aside(database)?, database.exists());
    STEPS.iter().try_for_each(|step| step(database))?;
    Ok(Some(aside).filter(|aside| there || aside.exists()))
}

/// Under which name the database is set aside.
fn aside(database: &Path) -> std::io::Result<PathBuf> {
    let noted = fs_err::read_to_string(database.with_file_name(FOLDER).join(STAMP));
    let name = database.file_name().unwrap_or_default().to_string_lossy();
    match noted {
        // Only a name that we gave, in our folder.
        Ok(noted) if noted.starts_with(&format!("{name}{REPLACED}")) && !noted.contains('/') => {
            Ok(database.with_file_name(noted))
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(with_suffix(database, &format!("{REPLACED}unknown"))),
    }
}

fn set_database_aside(database: &Path) -> std::io::Result<()> {
    let aside = aside(database)?;
    if !database.exists() {
        return Ok(());
    }
    if aside.exists() {
        // Made since by a program that knows nothing of this: it is kept as well.
        let suffix = format!("{REPLACED}again");
        return fs_err::rename(database, free_name(database, &suffix));
    }
    fs_err::rename(database, &aside)
}

/// The log goes with its database: under the new one it would be taken for the new one's.
fn set_log_aside(database: &Path) -> std::io::Result<()> {
    let (log, aside) = (with_suffix(database, "-wal"), with_suffix(&aside(database)?, "-wal"));
    if log.exists() && !aside.exists() {
        fs_err::rename(&log, &aside)?;
    }
    for suffix in ["-wal", "-shm"] {
        match fs_err::remove_file(with_suffix(database, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    // Before the database comes, nothing of the old one may come back.
    sync_folder(database)
}

fn put_in_place(database: &Path) -> std::io::Result<()> {
    let ready = with_suffix(database, READY);
    if ready.exists() {
        fs_err::rename(ready, database)?;
    }
    sync_folder(database)
}

fn clear_up(database: &Path) -> std::io::Result<()> {
    clear(&database.with_file_name(FOLDER))
}

fn staged(database: &Path) -> PathBuf {
    database.with_file_name(FOLDER).join("memory.db")
}

fn clear(folder: &Path) -> std::io::Result<()> {
    if folder.symlink_metadata().is_ok() {
        fs_err::remove_dir_all(folder)?;
    }
    Ok(())
}

fn io(act: &'static str) -> impl Fn(std::io::Error) -> RestoreError {
    move |source| RestoreError::Io { act, source }
}

#[cfg(test)]
mod tests;
