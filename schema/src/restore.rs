//! Going back to a copy. A copy and the database come in; the copy stands in the database's place, and the database that was there
//! stands beside it under another name. What the user has decided since comes from the journal (`write/replay.rs`).
//!
//! Three stages, each safe to be killed in. First the copy is made ready in a folder of its own (`restoring/`), which the next
//! restore removes: looked through, compared with our schema, migrated, and opened with a copy of the journal as the next start will
//! open it. Whatever fails, fails here, and the folder goes. One rename makes it count: from then on `<database>.restored` is what opening for writing finishes with,
//! before anything else, so that no empty memory is ever made in a gap. The last stage are renames, each of which is passed over
//! where it has been done.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::backup::{FreshCopy, sync_folder};
use crate::copy::with_suffix;
use crate::error::{CopyError, OpenError};
use crate::journal::Journal;
use crate::kept::{Spared, free_name};
use crate::migrate::set_meta;
use crate::open::{BUSY_TIMEOUT, CLEAN_SHUTDOWN};
use crate::sqlite_error::SqliteError;
use crate::system::{is_same_file, means_gone};
use crate::write::{FormerSharing, Writer, forget_machine, rehearse};

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
    /// Whether it is known what the user decided since the copy was made: there is a journal, or there was no database.
    pub decisions_known: bool,
}

/// Why a restore was not done. The database is as it was, but for [`RestoreError::Unfinished`].
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The copy can't be used.
    #[error("nothing was restored, and the memory is as it was")]
    Copy(#[from] CopyError),
    /// The copy can't be opened as a memory now.
    #[error("nothing was restored, and the memory is as it was")]
    Open(#[from] OpenError),
    /// The copy is the database itself.
    #[error("{} is the memory itself: there is nothing to go back to in it", .path.display())]
    Itself {
        /// The database.
        path: PathBuf,
    },
    /// SQLite can't finish the copy.
    #[error("nothing was restored, and the memory is as it was: cannot make the copy ready")]
    Ready(#[source] SqliteError),
    /// A file could not be made, renamed or removed.
    #[error("nothing was restored, and the memory is as it was: cannot {act}")]
    Io {
        /// What was tried.
        act: &'static str,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// It counts, and could not be brought to its end.
    #[error("the copy is ready, and can't be put in the place of the memory now; the next start goes on")]
    Unfinished(#[source] std::io::Error),
}

/// Puts the copy at `copy` in the place of `database`, which nobody uses. `stamp` names what is set aside. What the user decided since
/// the copy was made stands in the journal, which stays where it is: the next opening for writing follows it, and only then is
/// what was forgotten gone again.
///
/// # Errors
/// [`RestoreError`].
pub fn restore(database: &Path, copy: &Path, stamp: &str) -> Result<Restored, RestoreError> {
    if is_same_file(copy, database) {
        return Err(RestoreError::Itself { path: copy.to_owned() });
    }
    // What can't be told is no reason to take it for gone.
    let was_there = !matches!(database.try_exists(), Ok(false));
    // What it knew of a shared store: what it pushed is still its own, and what others forgot stays forgotten.
    let mut former = FormerSharing::default();
    if was_there {
        // An older version may have been at work last, which keeps no journal: opening tells the journal what it did. Where the
        // database can't be opened, the journal knows what it knows.
        if let Ok(writer) = Writer::open(database) {
            former = writer.former_sharing().unwrap_or_default();
            drop(writer.close());
        }
    }
    let decisions_known = !was_there || Journal::path_of(database).exists();
    let ready = make_ready(database, copy, &former)
        .and_then(|()| commit(database, stamp).map_err(io("put the copy beside the database")))
        .inspect_err(|_| {
            // The first error is what counts; what can't be removed now is removed by the next opening.
            drop(give_up(database));
        });
    ready?;
    let set_aside = finish(database).map_err(RestoreError::Unfinished)?;
    Ok(Restored {
        set_aside,
        decisions_known,
    })
}

/// The first stage: the copy, whole, of this version, and true to the journal. It has no journal of its own: its place's is the
/// database's, and no name at a shared store, whose changes since it knows nothing of.
fn make_ready(database: &Path, copy: &Path, former: &FormerSharing) -> Result<(), RestoreError> {
    let folder = database.with_file_name(FOLDER);
    clear(&folder).map_err(io("clear the folder of an earlier restore"))?;
    let staged = staged(database);
    FreshCopy::make(copy, &staged, &mut |_| ControlFlow::Continue(()))?.put_at(&staged)?;
    rehearse(&staged, database, Spared::Replaced).map_err(|error| unfit(copy, error))?;
    make_one_file(&staged, former).map_err(|error| RestoreError::Ready(error.into()))
}

/// Why the copy at `copy` is not fit: what there is to be done about a memory is nothing to be done about a copy.
fn unfit(copy: &Path, error: OpenError) -> RestoreError {
    match error {
        OpenError::Corrupt { detail, .. } => RestoreError::Copy(CopyError::NoCopy {
            path: copy.to_owned(),
            why: detail,
        }),
        error => RestoreError::Open(error),
    }
}

/// One file, without a log beside it. That it was not closed in order has the next opening look through it.
fn make_one_file(staged: &Path, former: &FormerSharing) -> rusqlite::Result<()> {
    let db = Connection::open_with_flags(staged, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Copies of what others forgot leave it.
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    forget_machine(&db, former)?;
    set_meta(&db, CLEAN_SHUTDOWN, "0")?;
    db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    db.close().map_err(|(_, error)| error)
}

/// Brings a copy of an older version to this one, in its place: the new one is whole before the old one goes.
///
/// # Errors
/// [`RestoreError`]; the copy is as it was.
pub(crate) fn bring_to_this_version(database: &Path, copy: &Path) -> Result<(), RestoreError> {
    if with_suffix(database, READY).try_exists().map_err(io("look for a restore"))? {
        let why = std::io::Error::other("a restore is to be finished first, by the next start");
        return Err(io("use the folder of a restore")(why));
    }
    // A log beside it would be taken for the new one's.
    as_one_file(copy).map_err(|error| RestoreError::Ready(error.into()))?;
    let brought = make_ready(database, copy, &FormerSharing::default()).and_then(|()| {
        fs_err::rename(staged(database), copy)
            .and_then(|()| sync_folder(copy))
            .map_err(io("put the copy in place of its older version"))
    });
    // What stays there, the next restore and the next clean-up remove.
    brought.and(clear_up(database).map_err(io("clear the folder of a restore")))
}

/// Folds the log of a database that nobody uses into it.
fn as_one_file(path: &Path) -> rusqlite::Result<()> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
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
    if !with_suffix(database, READY).try_exists()? {
        return Ok(None);
    }
    let (aside, there) = (aside(database)?, database.try_exists()?);
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
    if !database.try_exists()? {
        return Ok(());
    }
    if aside.try_exists()? {
        // Made since by a program that knows nothing of this: it is kept as well.
        let suffix = format!("{REPLACED}again");
        return fs_err::rename(database, free_name(database, &suffix)?);
    }
    fs_err::rename(database, &aside)
}

/// The log goes with its database: under the new one it would be taken for the new one's.
fn set_log_aside(database: &Path) -> std::io::Result<()> {
    let (log, aside) = (with_suffix(database, "-wal"), with_suffix(&aside(database)?, "-wal"));
    if log.try_exists()? && !aside.try_exists()? {
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
    if ready.try_exists()? {
        fs_err::rename(ready, database)?;
    }
    sync_folder(database)
}

fn clear_up(database: &Path) -> std::io::Result<()> {
    clear(&database.with_file_name(FOLDER))
}

/// Removes what a restore left that was killed before it counted.
///
/// # Errors
/// The file system's.
pub(crate) fn give_up(database: &Path) -> std::io::Result<()> {
    if with_suffix(database, READY).try_exists()? {
        return Ok(());
    }
    clear_up(database)
}

/// The folder of a restore that does not count yet, if there is one.
///
/// # Errors
/// The file system's, where that can't be told.
pub(crate) fn unfinished(database: &Path) -> std::io::Result<Option<PathBuf>> {
    let folder = database.with_file_name(FOLDER);
    Ok((is_there(&folder)? && !with_suffix(database, READY).try_exists()?).then_some(folder))
}

fn staged(database: &Path) -> PathBuf {
    database.with_file_name(FOLDER).join("memory.db")
}

fn clear(folder: &Path) -> std::io::Result<()> {
    if is_there(folder)? {
        fs_err::remove_dir_all(folder)?;
    }
    Ok(())
}

fn is_there(path: &Path) -> std::io::Result<bool> {
    match fs_err::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if means_gone(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn io(act: &'static str) -> impl Fn(std::io::Error) -> RestoreError {
    move |source| RestoreError::Io { act, source }
}

#[cfg(test)]
mod tests;
