//! A damaged database: set aside, and made anew from all that is left. Nothing of it is ever deleted for its damage.
//!
//! In goes the path of a database that SQLite calls corrupt or none, out comes a whole one under that path, with an account of what it
//! was made of. A lock, a full disk, a missing right or a newer version is no damage, and is left to who asked. Least first: SQLite
//! itself takes what its log holds, at any opening; a full-text index that is damaged alone is made anew (`write/index.rs`); a file
//! of which every table can be read is copied, and what is made from the tables is made anew (`copy_out`); else the latest good
//! backup is taken, or nothing, and every row that can be read goes into it (`salvage`). What the user decided follows from the
//! journal at the opening (`write/replay.rs`), and the transcripts that are still there are read from their beginnings.
//!
//! The new file is made beside the damaged one and takes its place once it is whole, so that being killed costs only the work.

mod aside;
mod cells;
mod copy_out;
mod pages;
mod removed;
mod salvage;

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::copy::with_suffix;
use crate::error::OpenError;
use crate::kept::newest_first;
use crate::migrate::{LATEST, meta, set_meta, version};
use crate::open::{self, APPLICATION_ID, CLEAN_SHUTDOWN};
use crate::system;
use crate::units::UnixMillis;
use crate::write::{self, Writer};
pub use aside::set_aside_files;
pub(crate) use aside::{finish, is_of_recovery};
use salvage::{SalvageError, Salvaged};

/// Key in `_meta`: what the database was made of after the last damage.
const RECOVERY: &str = "recovery";
/// End the names of the new database while it is made, and once it is whole.
const REBUILDING: &str = ".rebuilding";
const REBUILT: &str = ".rebuilt";

/// What became of a damaged database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// When.
    pub at: UnixMillis,
    /// What was found damaged, in SQLite's words.
    pub found: String,
    /// Where the damaged file lies now; its log, where it has one, beside it.
    pub set_aside: PathBuf,
    /// Whether every table could be read, so that nothing was lost.
    pub whole: bool,
    /// The backup that the new database began as.
    pub backup: Option<PathBuf>,
    /// How many episodes could be read of the damaged file.
    pub salvaged: u64,
    /// How many could not: those of transcripts that are still there come back with them, or with the backup.
    pub unreadable: u64,
}

/// Opens the store for writing as [`Writer::open`]; one that is damaged is set aside and made anew first, which is logged loudly.
///
/// # Errors
/// As [`Writer::open`]; where it can't be made anew, the damaged file is as it was.
pub fn open_or_rebuild(path: &Path, now: UnixMillis) -> Result<Writer, OpenError> {
    match Writer::open(path) {
        Err(OpenError::Corrupt { detail, .. }) => {
            set_aside_and_rebuild(path, now, &detail)?;
            Writer::open(path)
        }
        opened => opened,
    }
}

/// Sets the damaged database at `path` aside and puts one in its place that is made of all that is left; `found` says what was
/// damaged. What the user decided is true of it once [`Writer::open`] has opened it. To be called by who has the database to itself.
///
/// # Errors
/// [`OpenError`]: the damaged file is then as it was.
pub fn set_aside_and_rebuild(path: &Path, now: UnixMillis, found: &str) -> Result<Recovery, OpenError> {
    tracing::error!(
        database = %path.display(),
        found,
        "the database is damaged: it is set aside, and made anew from what can be read of it, the latest backup and the transcripts"
    );
    let lock = open::lock_file(path)?;
    let temporary = with_suffix(path, REBUILDING);
    remove_with_companions(&temporary).map_err(io_error("remove", &temporary))?;
    let set_aside = aside::name(path, now).map_err(OpenError::at(path, "set aside"))?;
    let mut recovery = Recovery {
        at: now,
        found: found.to_owned(),
        set_aside,
        whole: true,
        backup: None,
        salvaged: 0,
        unreadable: 0,
    };
    match copy_out::copy_out(path, &temporary) {
        Ok(episodes) => recovery.salvaged = episodes,
        Err(error) => {
            tracing::warn!(%error, "not every table can be read; each row that can is taken by itself");
            remove_with_companions(&temporary).map_err(io_error("remove", &temporary))?;
            salvage_into(path, &temporary, &mut recovery)?;
        }
    }
    finish_database(&temporary, &recovery).map_err(OpenError::at(&temporary, "write"))?;
    remove_companions(&temporary).map_err(io_error("remove what belongs to", &temporary))?;
    aside::swap(path, &temporary, &recovery.set_aside).map_err(io_error("set aside", path))?;
    drop(lock);
    tracing::error!(
        set_aside = %recovery.set_aside.display(),
        backup = ?recovery.backup,
        salvaged = recovery.salvaged,
        unreadable = recovery.unreadable,
        "the database was made anew; the transcripts that are still there are read again, and the damaged file is kept"
    );
    Ok(recovery)
}

/// What the database was made of, if it was made anew and the damaged file is still there.
///
/// # Errors
/// What SQLite reports.
pub(crate) fn noted(db: &Connection) -> rusqlite::Result<Option<Recovery>> {
    let note = meta(db, RECOVERY)?.and_then(|json| serde_json::from_str::<Recovery>(&json).ok());
    Ok(note.filter(|recovery| recovery.set_aside.exists()))
}

/// Makes a database of the latest good backup, or an empty one, and puts in what can be read of the damaged one.
fn salvage_into(damaged: &Path, temporary: &Path, recovery: &mut Recovery) -> Result<(), OpenError> {
    recovery.whole = false;
    recovery.backup = newest_first(damaged).into_iter().find(|backup| is_good(backup));
    if let Some(backup) = &recovery.backup {
        fs_err::copy(backup, temporary).map_err(io_error("copy", backup))?;
        system::tighten_file(temporary).map_err(io_error("make private", temporary))?;
    }
    let mut db = open::open_writer(temporary)?.db;
    let store = OpenError::at(temporary, "put what can be read into");
    let tx = db.transaction().map_err(&store)?;
    let salvaged = match salvage::salvage(damaged, &tx) {
        Ok(salvaged) => salvaged,
        Err(SalvageError::Read(source)) => return Err(io_error("read", damaged)(source)),
        Err(SalvageError::Store(error)) => return Err(store(error)),
    };
    reset_sources(&tx).and_then(|()| tx.commit()).map_err(&store)?;
    let Salvaged { episodes, unreadable } = salvaged;
    (recovery.salvaged, recovery.unreadable) = (episodes, unreadable);
    Ok(())
}

/// Whether a backup is whole, but for what is made anew of its rows, and of a version that this program reads.
fn is_good(backup: &Path) -> bool {
    let look = || -> rusqlite::Result<bool> {
        let db = Connection::open_with_flags(backup, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        let application: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let known = application == APPLICATION_ID && (1..=LATEST).contains(&version(&db)?);
        Ok(known && open::look_through(&db)?.damage.is_none())
    };
    let good = look().unwrap_or(false);
    if !good {
        tracing::warn!(backup = %backup.display(), "a backup is not whole, and is passed over");
    }
    good
}

/// Has every transcript read from its beginning: what is stored of it is known again, what is not is added.
fn reset_sources(db: &Connection) -> rusqlite::Result<()> {
    let nothing: [u8; 32] = Sha256::digest(b"").into();
    db.execute(
        "UPDATE sources SET size = 0, mtime = 0, read_offset = 0, read_line = 0, committed_offset = 0, committed_line = 0,
             committed_turn = 0, prefix_hash = :nothing, prefix_len = 0, tail_hash = :nothing, tail_len = 0, records = 0,
             skipped = 0",
        [nothing],
    )?;
    db.execute("DELETE FROM source_problems", [])?;
    Ok(())
}

/// Makes what is made from the tables, and closes the database as one that was closed in order.
fn finish_database(temporary: &Path, recovery: &Recovery) -> rusqlite::Result<()> {
    let mut db = Connection::open_with_flags(temporary, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    write::rebuild_derived(&mut db)?;
    let note = serde_json::to_string(recovery).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    set_meta(&db, RECOVERY, &note)?;
    set_meta(&db, CLEAN_SHUTDOWN, "1")?;
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    db.close().map_err(|(_, error)| error)
}

fn remove_with_companions(database: &Path) -> io::Result<()> {
    remove_companions(database)?;
    remove(database)
}

/// Removes what opening and migrating leave beside a database that is closed.
fn remove_companions(database: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-shm", ".lock"] {
        remove(&with_suffix(database, suffix))?;
    }
    crate::copy::migration_copies(database)
        .iter()
        .try_for_each(|(_, copy)| remove(copy))
}

fn remove(file: &Path) -> io::Result<()> {
    match fs_err::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn io_error<'a>(act: &'static str, path: &'a Path) -> impl Fn(io::Error) -> OpenError + 'a {
    move |source| OpenError::Io {
        act,
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;
