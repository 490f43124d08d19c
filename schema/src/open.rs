//! From a path to a connection: private files, pragmas, and the refusals of files that are not ours to use.
//! The writer's way creates, checks and migrates; the reader's way changes nothing. No row is read here but `_meta`'s.
//!
//! **Locking.** Opening for writing is serialised between processes by an advisory lock on `<database>.lock`, since two
//! processes that switch a fresh file to WAL at once would get "locked" without any wait. The database file itself is
//! never opened but by SQLite: closing another descriptor of it would drop SQLite's locks of the whole process.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::copy::with_suffix;
use crate::error::OpenError;
use crate::facts;
use crate::integrity::check_after_crash;
use crate::kept::newest_before_migration;
use crate::lost;
use crate::migrate::{self, LATEST};
use crate::recovery;
use crate::restore;
use crate::shape;
use crate::system;
use crate::vec_extension;

/// `RMBR` in ASCII: marks the file as ours (SQLite's `application_id`).
pub(crate) const APPLICATION_ID: i32 = 0x524D_4252;
/// How long a statement waits for another process's lock.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes a page: an embedding row of 1.7 KB fills 4,096 badly, and 8,192 well (four a page).
pub(crate) const PAGE_SIZE: u32 = 8192;
/// Pages in the write-ahead log after which a commit moves them into the database: 16 MB.
const CHECKPOINT_PAGES: u32 = 2_000;
/// The write-ahead log is cut to this after a checkpoint, in bytes.
const JOURNAL_SIZE_LIMIT: u32 = 16 << 20;
/// Page cache of the writer and of each reader, in KiB (SQLite counts KiB as negative pages).
const WRITER_CACHE_KIB: i32 = 16 << 10;
const READER_CACHE_KIB: i32 = 8 << 10;
/// Prepared statements kept a connection: more than the store has.
const STATEMENT_CACHE: usize = 96;
/// The folder that is ours by its name, so that its mode may be tightened even if we did not make it.
const OWN_FOLDER: &str = "remembrancer";

/// Key in `_meta`: whether the last writer closed in order.
pub(crate) const CLEAN_SHUTDOWN: &str = "clean_shutdown";

/// What opening for writing found out.
pub(crate) struct OpenedWriter {
    pub(crate) db: Connection,
    /// The full-text index is damaged and has to be rebuilt; all else is whole.
    pub(crate) index_damaged: bool,
    /// Held until all that belongs to an opening is done: what stands beside the file is made by one at a time.
    pub(crate) lock: fs_err::File,
}

/// Opens for writing: creates what is missing, refuses what is not ours, checks after a crash, migrates.
pub(crate) fn open_writer(path: &Path) -> Result<OpenedWriter, OpenError> {
    open_whole(path).map_err(|error| match error {
        // SQLite calls a page damaged that the disk fails to read. Nobody should move a database aside for that.
        OpenError::Corrupt { .. } => match read_through(path) {
            Ok(()) => error,
            Err(source) => OpenError::Io {
                act: "read",
                path: path.to_owned(),
                source,
            },
        },
        error => error,
    })
}

/// Reads a database and its log from end to end, and throws away what it read. Only where no connection of this process writes it:
/// closing the file drops their locks.
///
/// # Errors
/// The disk's.
pub(crate) fn read_through(path: &Path) -> std::io::Result<()> {
    for suffix in ["", "-wal"] {
        match fs_err::File::open(with_suffix(path, suffix)) {
            Ok(mut file) => drop(std::io::copy(&mut file, &mut std::io::sink())?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn open_whole(path: &Path) -> Result<OpenedWriter, OpenError> {
    vec_extension::register().map_err(OpenError::at(path, "register the vector extension for"))?;
    prepare_folder(path)?;
    refuse_among(&READ, path)?;
    refuse_among(&WRITTEN, path)?;
    let lock = lock_file(path)?;
    finish_restore(path)?;
    recovery::finish(path).map_err(|source| OpenError::Io {
        act: "put the rebuilt database in the place of",
        path: path.to_owned(),
        source,
    })?;
    // Before one is made: an empty memory in the place of one that is gone would be taken for all there ever was.
    lost::refuse_if_gone(path)?;
    create_private(path)?;
    give_back(path)?;
    let mut db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(OpenError::at(path, "open"))?;
    db.busy_timeout(BUSY_TIMEOUT).map_err(OpenError::at(path, "open"))?;
    let found = inspect(&db, path)?;
    if found == 0 {
        lost::refuse_if_beside_others(path)?;
    }
    // Before anything is written: what hangs on a foreign trigger would be done by the first write.
    shape::check(&db, path)?;
    writer_pragmas(&db, found).map_err(OpenError::at(path, "set up"))?;
    let index_damaged = found > 0 && check_after_crash(&db, path)?;
    migrate::migrate(&mut db, path, &mut |_, _| Ok(())).map_err(|source| migrate_error(path, source))?;
    if found < LATEST {
        shape::check(&db, path)?;
    }
    migrate::set_meta(&db, CLEAN_SHUTDOWN, "0").map_err(OpenError::at(path, "write to"))?;
    for suffix in ["", "-wal", "-shm"] {
        tighten(&with_suffix(path, suffix), 0o600)?;
    }
    Ok(OpenedWriter { db, index_damaged, lock })
}

/// Opens for reading only: nothing is created beside SQLite's own `-shm`, nothing migrated.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, OpenError> {
    vec_extension::register().map_err(OpenError::at(path, "register the vector extension for"))?;
    refuse_what_is_no_file(path)?;
    lost::refuse_if_gone(path)?;
    // Where that can't be told, for want of permission, opening says why.
    if matches!(path.try_exists(), Ok(false)) {
        return Err(OpenError::Missing { path: path.to_owned() });
    }
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(OpenError::at(path, "open"))?;
    db.busy_timeout(BUSY_TIMEOUT).map_err(OpenError::at(path, "open"))?;
    let found = inspect(&db, path)?;
    if found < LATEST {
        return Err(OpenError::NeedsMigration {
            path: path.to_owned(),
            found,
            known: LATEST,
        });
    }
    reader_pragmas(&db).map_err(OpenError::at(path, "set up"))?;
    Ok(db)
}

/// What SQLite opens of a database, and what a writer of ours does.
const READ: [&str; 4] = ["", "-wal", "-shm", "-journal"];
const WRITTEN: [&str; 3] = [".lock", ".journal", facts::SUFFIX];

/// A pipe in the place of a file that is read would be waited for without an end.
pub(crate) fn refuse_what_is_no_file(path: &Path) -> Result<(), OpenError> {
    refuse_among(&READ, path)
}

fn refuse_among(suffixes: &[&str], path: &Path) -> Result<(), OpenError> {
    let refused = suffixes.iter().find_map(|suffix| {
        let path = with_suffix(path, suffix);
        let what = system::other_than_a_file(&path)?;
        Some(OpenError::NotAFile { path, what })
    });
    refused.map_or(Ok(()), Err)
}

/// Reads the header: refuses damage, other programs' files and newer versions; gives the schema version.
pub(crate) fn inspect(db: &Connection, path: &Path) -> Result<u32, OpenError> {
    let read = OpenError::at(path, "read");
    let found = migrate::version(db).map_err(&read)?;
    let application: i32 = db
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(&read)?;
    let objects: i64 = db
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(&read)?;
    if application != APPLICATION_ID && (objects > 0 || application != 0) {
        return Err(OpenError::Foreign { path: path.to_owned() });
    }
    if found > LATEST {
        // Only what the refusal names as its remedy hangs on it.
        let backup = newest_before_migration(path).ok().flatten();
        return Err(OpenError::Future {
            path: path.to_owned(),
            found,
            known: LATEST,
            backup,
        });
    }
    Ok(found)
}

pub(crate) fn writer_pragmas(db: &Connection, found: u32) -> rusqlite::Result<()> {
    if found == 0 {
        make_ours(db)?;
    }
    db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    db.pragma_update_and_check(None, "journal_size_limit", JOURNAL_SIZE_LIMIT, |_| Ok(()))?;
    db.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    shared_pragmas(db)
}

/// Sets what only takes hold before the first table is made.
pub(crate) fn make_ours(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "page_size", PAGE_SIZE)?;
    db.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    db.pragma_update(None, "application_id", APPLICATION_ID)
}

fn reader_pragmas(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "query_only", true)?;
    db.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    shared_pragmas(db)
}

fn shared_pragmas(db: &Connection) -> rusqlite::Result<()> {
    // Mapped pages would count against the memory target; sorts stay off the disk, where their bytes could be found.
    db.pragma_update_and_check(None, "mmap_size", 0, |_| Ok(()))?;
    db.pragma_update(None, "temp_store", "MEMORY")?;
    // Plans follow from the query alone: else a query of a range is planned anew for every value.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(())
}

fn migrate_error(path: &Path, source: crate::error::MigrateError) -> OpenError {
    use crate::error::CopyError;
    use crate::error::MigrateError::{Copy, Statement};
    use rusqlite::ErrorCode::{ConstraintViolation, DatabaseBusy, DatabaseCorrupt, DiskFull};
    match source {
        Statement { source, .. } if source.sqlite_error_code() == Some(ConstraintViolation) => {
            OpenError::of_rows(path, "migrate")(source)
        }
        Statement { source, .. } if matches!(source.sqlite_error_code(), Some(DatabaseBusy | DatabaseCorrupt | DiskFull)) => {
            OpenError::sqlite(path, "migrate", source)
        }
        Copy {
            source: CopyError::Sqlite(source),
            ..
        } if source.sqlite_error_code() == Some(DatabaseCorrupt) => OpenError::sqlite(path, "copy before migrating", source),
        Statement { .. } | Copy { .. } => OpenError::Migrate {
            path: path.to_owned(),
            source,
        },
    }
}

/// Makes the database's folder, 0700. One that exists is tightened only if its name says that it is ours: the mode of
/// a home or a shared folder is not for us to change.
fn prepare_folder(path: &Path) -> Result<(), OpenError> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    if folder.is_dir() {
        return if folder.file_name().is_some_and(|name| name == OWN_FOLDER) {
            tighten(folder, 0o700)
        } else {
            Ok(())
        };
    }
    system::create_private_folder(folder).map_err(|source| OpenError::Io {
        act: "create the folder",
        path: folder.to_owned(),
        source,
    })
}

/// Takes the lock that serialises opening; it is released when the file is dropped.
pub(crate) fn lock_file(path: &Path) -> Result<fs_err::File, OpenError> {
    let path = with_suffix(path, ".lock");
    let failed = |act| {
        let path = path.clone();
        move |source| OpenError::Io { act, path, source }
    };
    let file = system::private_file()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(failed("create"))?;
    match file.file().lock() {
        // Some network file systems have no such locks; then only the first opening of a fresh file is not serialised.
        Err(source) if source.kind() != std::io::ErrorKind::Unsupported => Err(failed("lock")(source)),
        _ => Ok(file),
    }
}

/// A restore that was killed when it already counted is finished before anything is made in its place.
fn finish_restore(path: &Path) -> Result<(), OpenError> {
    let finished = restore::finish(path).map_err(|source| OpenError::Io {
        act: "finish the restore of",
        path: path.to_owned(),
        source,
    })?;
    if finished.is_some() {
        tracing::warn!("a restore that had been interrupted is finished; what was there before is beside the database");
    }
    Ok(())
}

/// Makes an empty 0600 file, so that SQLite never makes one by the umask.
pub(crate) fn create_private(path: &Path) -> Result<(), OpenError> {
    match system::private_file().write(true).create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(source) if source.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(OpenError::Io {
            act: "create",
            path: path.to_owned(),
            source,
        }),
    }
}

/// Lets the owner write the log and its index, where the database itself may be written: SQLite makes them of the mode that the database
/// has at that moment, and would call the database unopenable for their sake.
fn give_back(path: &Path) -> Result<(), OpenError> {
    for companion in ["-wal", "-shm"].map(|suffix| with_suffix(path, suffix)) {
        let lacks = |metadata: std::fs::Metadata| system::lacks_owner_rights(&metadata);
        if fs_err::metadata(&companion).is_ok_and(lacks) && !fs_err::metadata(path).is_ok_and(lacks) {
            fs_err::set_permissions(&companion, system::permissions(0o600)).map_err(|source| OpenError::Io {
                act: "make writable for you",
                path: companion.clone(),
                source,
            })?;
        }
    }
    Ok(())
}

/// Takes away from group and others what they may do with `path`, if it exists.
fn tighten(path: &Path, mode: u32) -> Result<(), OpenError> {
    let failed = |source| OpenError::Io {
        act: "make private",
        path: path.to_owned(),
        source,
    };
    let found = match fs_err::metadata(path) {
        Ok(metadata) => metadata,
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(failed(source)),
    };
    if system::is_private(&found) {
        return Ok(());
    }
    fs_err::set_permissions(path, system::permissions(mode)).map_err(failed)
}

#[cfg(test)]
mod tests;
