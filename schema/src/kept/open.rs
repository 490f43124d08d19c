//! Opening a copy, and what may be said of one that can't be used: that it is no whole database, or only that it can't be told now.
//! Nothing is written or removed here. Whoever removes a copy since it is unfit has that from here alone.

use std::error::Error;
use std::io;
use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use crate::backup::open_as_it_is;
use crate::error::OpenError;
use crate::migrate::{self, LATEST};
use crate::sqlite_error::SqliteError;
use crate::{integrity, open};

/// A copy of this version, opened for reading; `None` where it is of another version, or no whole database.
///
/// # Errors
/// What keeps it from being opened now.
pub(super) fn opened(path: &Path) -> io::Result<Option<Connection>> {
    Ok(opened_of_any(path)?
        .filter(|(version, _)| *version == LATEST)
        .map(|(_, db)| db))
}

/// A copy of whatever version, opened for reading, with its version; `None` where it is no whole database.
///
/// # Errors
/// What keeps it from being opened now.
pub(super) fn opened_of_any(path: &Path) -> io::Result<Option<(u32, Connection)>> {
    let open = || {
        let db = open_as_it_is(path)?;
        let version = migrate::version(&db).map_err(OpenError::at(path, "read"))?;
        Ok((version, db))
    };
    Ok(judged(path, open)?.ok())
}

/// The version of a copy that was looked through and is whole, or why it is none.
///
/// # Errors
/// What keeps it from being looked through now.
pub(crate) fn looked_through(path: &Path) -> io::Result<Result<u32, OpenError>> {
    judged(path, || {
        let db = open_as_it_is(path)?;
        integrity::check(&db, path)?;
        migrate::version(&db).map_err(OpenError::at(path, "read"))
    })
}

/// Whether a copy is not whole.
///
/// # Errors
/// What keeps it from being looked through now.
pub(super) fn is_damaged(path: &Path) -> io::Result<bool> {
    Ok(looked_through(path)?.is_err())
}

/// What `act` gives of the copy at `path`, or why the copy can't be used for it. That is said of one that is not there, that is no file,
/// and else only after two tries, with a reading of all its bytes between them: SQLite calls a page damaged, too, that the disk fails to
/// read for a moment.
///
/// # Errors
/// Whatever says nothing of the copy itself, such as a lock, a full disk, or too many open files: it is to be tried again.
pub(super) fn judged<T>(path: &Path, mut act: impl FnMut() -> Result<T, OpenError>) -> io::Result<Result<T, OpenError>> {
    match act() {
        Err(error) if is_of_contents(&error) => open::read_through(path)?,
        first => return unless_not_now(first),
    }
    match act() {
        Err(error) if is_of_contents(&error) => Ok(Err(error)),
        second => unless_not_now(second),
    }
}

fn unless_not_now<T>(done: Result<T, OpenError>) -> io::Result<Result<T, OpenError>> {
    match done {
        Err(error @ (OpenError::Missing { .. } | OpenError::NotAFile { .. })) => Ok(Err(error)),
        Err(error) => Err(not_now(&error)),
        Ok(value) => Ok(Ok(value)),
    }
}

/// Whether an error speaks of what is in the file.
fn is_of_contents(error: &OpenError) -> bool {
    match error {
        OpenError::Corrupt { .. } | OpenError::Foreign { .. } => true,
        OpenError::Sqlite { source, .. } => is_of_rows(source),
        _ => false,
    }
}

/// Whether SQLite speaks of schema or rows. All else (the disk, a lock, descriptors, memory) says nothing of the file.
pub(crate) fn is_of_rows(error: &SqliteError) -> bool {
    use ErrorCode::{ConstraintViolation, DatabaseCorrupt, NotADatabase, TooBig, TypeMismatch, Unknown};
    matches!(
        error.code(),
        None | Some(ConstraintViolation | DatabaseCorrupt | NotADatabase | TooBig | TypeMismatch | Unknown)
    )
}

fn not_now(error: &OpenError) -> io::Error {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    io::Error::other(text)
}

#[cfg(test)]
mod tests;
