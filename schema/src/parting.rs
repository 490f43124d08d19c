//! Files with a second name (a hard link, as `cp -al` makes): what is written through one name changes what lies under the other.
//! In goes a path, out comes a file of its own under it, with the same bytes; what lies under the other name is never written to.
//! A database is parted only while nobody has it open: a copy of one that is in use is none.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::copy::with_suffix;
use crate::error::OpenError;
use crate::{open, system};

/// Ends the name of a copy that is to take the place of a file with a second name. One that is found was left by a crash.
pub const PARTING: &str = ".parting";
/// What belongs to a database: the file, its logs, and the log's index.
const FILES: [&str; 4] = ["", "-wal", ROLLBACK, INDEX];
/// What pages were before a change without a log, until the change is whole.
const ROLLBACK: &str = "-journal";
/// The log's index, which SQLite makes anew from the log.
const INDEX: &str = "-shm";

/// Whether the file at `path` is the database at `database`, or one that SQLite keeps beside it: what [`part_database`] parts.
pub fn is_written_in_place(path: &Path, database: &Path) -> bool {
    FILES.iter().any(|suffix| with_suffix(database, suffix) == path)
}

/// Gives the file at `path` a copy in its place, of its own, with its bytes and its time; its other names keep what they have.
///
/// # Errors
/// The file system's error; the file is then as it was.
pub fn part_file(path: &Path) -> io::Result<()> {
    copy_in_place(path).map(drop)
}

/// Parts what belongs to the database at `path` from its other names, and gives how many files had any. Who calls has seen to it that
/// all of it is the user's own, and holds what keeps other programs of ours from it.
///
/// # Errors
/// [`OpenError::Busy`] where some other program has the database open; where a change of it was cut short, which opening it would end
/// under all its names; the file system's error. The database is then as it was.
pub fn part_database(path: &Path) -> Result<usize, OpenError> {
    let path = match fs_err::canonicalize(path) {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(cannot_part(path)(error)),
    };
    if linked_files(&path).is_empty() {
        return Ok(0);
    }
    let lock = open::lock_file(&path)?;
    refuse_half_a_change(&path)?;
    let alone = open_alone(&path)?;
    // Until nobody else had it open, they might have come and gone.
    let linked = linked_files(&path);
    // To close a file drops SQLite's locks on it: all stay open until all are in their places.
    let mut copied = Vec::new();
    for suffix in &linked {
        let file = with_suffix(&path, suffix);
        if *suffix == INDEX {
            fs_err::remove_file(&file).map_err(cannot_part(&file))?;
        } else {
            copied.push(copy_in_place(&file).map_err(cannot_part(&file))?);
        }
    }
    drop((alone, copied, lock));
    Ok(linked.len())
}

fn linked_files(path: &Path) -> Vec<&'static str> {
    let linked = FILES.into_iter();
    linked.filter(|suffix| has_other_names(&with_suffix(path, suffix))).collect()
}

/// SQLite rolls back what a rollback journal tells as soon as the database is opened, in place.
fn refuse_half_a_change(path: &Path) -> Result<(), OpenError> {
    let journal = with_suffix(path, ROLLBACK);
    let is_hot = fs_err::symlink_metadata(&journal).is_ok_and(|found| found.len() > 0);
    if !is_hot || !(has_other_names(path) || has_other_names(&journal)) {
        return Ok(());
    }
    let why = "a change of the database was cut short, and to end it would change what lies under its other names: copy the database \
               and this file to another folder (`cp`, not `cp -l`), remove both here, and move the copies back";
    Err(cannot_part(&journal)(io::Error::other(why)))
}

/// Opens the database so that nobody else has it open, and nothing is written to it, at its closing neither; `None` where it is none,
/// and so can't be open.
fn open_alone(path: &Path) -> Result<Option<Connection>, OpenError> {
    let open = || -> rusqlite::Result<Connection> {
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        db.busy_timeout(open::BUSY_TIMEOUT)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // In this mode the first look at a database with a log takes the lock that excludes readers, too.
        db.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
        db.execute_batch("BEGIN EXCLUSIVE")?;
        Ok(db)
    };
    match open().map_err(OpenError::at(path, "be alone with")) {
        Ok(db) => Ok(Some(db)),
        Err(OpenError::Corrupt { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the file that was copied, still open.
fn copy_in_place(path: &Path) -> io::Result<fs_err::File> {
    let from = fs_err::File::open(path)?;
    let temporary = with_suffix(path, PARTING);
    remove_if_there(&temporary)?;
    let copied = fill(&from, &temporary).and_then(|()| fs_err::rename(&temporary, path));
    if let Err(error) = copied {
        // The first error is what counts; what is left is removed by the next one who parts.
        drop(fs_err::remove_file(&temporary));
        return Err(error);
    }
    system::sync_folder_of(path)?;
    Ok(from)
}

fn fill(from: &fs_err::File, temporary: &PathBuf) -> io::Result<()> {
    let to = system::private_file().write(true).create_new(true).open(temporary)?;
    // Of the files themselves: where the file system can, they share their blocks.
    io::copy(&mut from.file(), &mut to.file())?;
    to.file().set_modified(from.metadata()?.modified()?)?;
    to.sync_all()
}

fn has_other_names(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|found| found.is_file() && system::names(&found) > 1)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn cannot_part(path: &Path) -> impl Fn(io::Error) -> OpenError {
    let path = path.to_owned();
    move |source| OpenError::Io {
        act: "part from its other names (hard links)",
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests;
