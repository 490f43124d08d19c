//! A damaged database: set aside, and made anew from all that is left. The damaged file is kept, as are the two before it; older ones go.
//!
//! In goes the path of a database that SQLite calls corrupt or none, that has another schema than ours, whose rows forbid what the
//! journal says, or that is gone; out comes a whole one under that path, with an account of what it was made of. A lock, a full disk,
//! a missing right or a newer version is no damage, and is left to who asked. Least first: SQLite itself takes what its log holds, at
//! any opening; a full-text index that is damaged alone is made anew (`write/index.rs`); a file of which every table can be read is
//! copied, and what is made from the tables is made anew (`copy_out`); else the latest good copy is taken, a backup or what a restore
//! replaced, or nothing, and every row that can be read goes into it (`salvage`). What the user decided follows from the journal at
//! the opening (`write/replay.rs`), and the transcripts that are still there are read from their beginnings.
//!
//! The new file is made beside the damaged one and takes its place once it is whole and was opened there with the journal, so that being
//! killed costs only the work, and that no start sets aside what the start before it made.

mod aside;
mod cells;
mod copy_out;
mod pages;
mod removed;
mod salvage;

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::backup::{FreshCopy, of_a_copy};
use crate::copy::with_suffix;
use crate::error::OpenError;
use crate::facts::SUFFIX;
use crate::kept::{Spared, fallbacks, looked_through};
use crate::migrate::{LATEST, meta, set_meta};
use crate::open::{self, CLEAN_SHUTDOWN};
use crate::units::UnixMillis;
use crate::write::{self, Writer};
pub use aside::set_aside_files;
pub(crate) use aside::{finish, is_of_recovery, is_unfinished};
use copy_out::CopyOutError;
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
    #[serde(serialize_with = "as_text")]
    pub set_aside: PathBuf,
    /// Whether every table could be read, so that nothing was lost.
    pub whole: bool,
    /// The backup that the new database began as.
    #[serde(serialize_with = "as_text_if_any")]
    pub backup: Option<PathBuf>,
    /// How many episodes could be read of the damaged file.
    pub salvaged: u64,
    /// How many could not: those of transcripts that are still there come back with them, or with the backup.
    pub unreadable: u64,
}

/// A path of any bytes: a home whose name is no text must not keep a memory from being made anew.
fn as_text<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

#[expect(clippy::ref_option, reason = "serde hands it so")]
fn as_text_if_any<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => to.serialize_some(&path.to_string_lossy()),
        None => to.serialize_none(),
    }
}

/// Opens the store for writing as [`Writer::open`]; one that is damaged is set aside and made anew first, which is logged loudly. So is
/// one that is gone though it had been there: an empty file stands for it.
///
/// # Errors
/// As [`Writer::open`]; where it can't be made anew, the damaged file is as it was.
pub fn open_or_rebuild(path: &Path, now: UnixMillis) -> Result<Writer, OpenError> {
    match Writer::open(path) {
        Err(OpenError::Corrupt { detail, .. }) => {
            set_aside_and_rebuild(path, now, &detail)?;
            Writer::open(path)
        }
        Err(OpenError::Lost { beside, .. }) => {
            open::create_private(path)?;
            let found = format!("it was gone or empty, though {} says that there was one", beside.display());
            set_aside_and_rebuild(path, now, &found)?;
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
    let set_aside = aside::name(path, now)?;
    let mut recovery = Recovery {
        at: now,
        found: found.to_owned(),
        set_aside,
        whole: true,
        backup: None,
        salvaged: 0,
        unreadable: 0,
    };
    let whole = match fs_err::metadata(path) {
        // SQLite would do away with the log of a file without a byte, and the log may hold all of it.
        Ok(metadata) if metadata.len() == 0 => Err(CopyOutError::Empty),
        _ => copy_whole(path, &temporary, &mut recovery),
    };
    if let Err(error) = whole {
        tracing::warn!(%error, "not every table can be read and used; each row that can is taken by itself");
        remove_with_companions(&temporary).map_err(io_error("remove", &temporary))?;
        salvage_into(path, &temporary, &mut recovery)?;
        make_fit(&temporary, path, &recovery)?;
    }
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

/// The first way: every table, if the memory that they make can be opened in the place of the damaged one.
fn copy_whole(damaged: &Path, temporary: &Path, recovery: &mut Recovery) -> Result<(), CopyOutError> {
    recovery.salvaged = copy_out::copy_out(damaged, temporary)?;
    Ok(make_fit(temporary, damaged, recovery)?)
}

/// Completes the new database, and opens it as the next start will, before it takes the place: where that fails there is no end of
/// starts that set aside what the start before them made.
fn make_fit(temporary: &Path, damaged: &Path, recovery: &Recovery) -> Result<(), OpenError> {
    finish_database(temporary, recovery).map_err(OpenError::at(temporary, "write"))?;
    write::rehearse(temporary, damaged, Spared::SetAside)?;
    remove_companions(temporary).map_err(io_error("remove what belongs to", temporary))
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
    recovery.backup = latest_good_copy(damaged).map_err(|source| OpenError::CopiesUnread {
        path: damaged.to_owned(),
        source,
    })?;
    if let Some(backup) = &recovery.backup {
        // With what its log holds: one that a restore replaced may have one.
        FreshCopy::make(backup, temporary, &mut |_| ControlFlow::Continue(()))
            .and_then(|copy| copy.put_at(temporary))
            .map_err(io::Error::other)
            .map_err(io_error("copy", backup))?;
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

fn latest_good_copy(damaged: &Path) -> io::Result<Option<PathBuf>> {
    for copy in fallbacks(damaged)? {
        if is_good(&copy)? {
            return Ok(Some(copy));
        }
    }
    Ok(None)
}

/// Whether a copy is whole, but for what is made anew of its rows, and of a version that this program reads.
///
/// # Errors
/// What keeps it from being looked through now: to pass it over would lose what only it holds.
fn is_good(copy: &Path) -> io::Result<bool> {
    let why = match looked_through(copy)? {
        Ok(version) if version <= LATEST => return Ok(true),
        Ok(_) => "it is of a newer version".to_owned(),
        Err(error) => of_a_copy(error).to_string(),
    };
    tracing::warn!(copy = %copy.display(), why, "a copy can't be used, and is passed over");
    Ok(false)
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
    db.execute("DELETE FROM source_states", [])?;
    Ok(())
}

/// Makes what is made from the tables, and closes the database as one that was closed in order.
fn finish_database(temporary: &Path, recovery: &Recovery) -> rusqlite::Result<()> {
    let mut db = Connection::open_with_flags(temporary, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    write::rebuild_derived(&mut db)?;
    write::forget_machine(&db, &write::FormerSharing::default())?;
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
    for suffix in ["-wal", "-shm", ".lock", ".journal", SUFFIX] {
        remove(&with_suffix(database, suffix))?;
    }
    crate::copy::migration_copies(database)?
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
