//! A database that is gone, or empty, though what lies beside it says that there was one: its journal, the facts that the user had
//! remembered, its backups, what was set aside.
//! In goes a path, out comes a refusal, where else an empty memory would be made in its place and be taken for all there ever was.

use std::io;
use std::path::{Path, PathBuf};

use crate::copy::with_suffix;
use crate::error::OpenError;
use crate::facts::FactsFile;
use crate::journal::Journal;
use crate::kept::{KeptKind, kept_copies};
use crate::recovery::set_aside_files;
use crate::system::means_gone;

/// Refuses a database that is not there, or has no bytes, beside what says that there was one.
///
/// # Errors
/// As [`refuse_if_beside_others`].
pub(crate) fn refuse_if_gone(path: &Path) -> Result<(), OpenError> {
    let is_gone = match fs_err::metadata(path) {
        Ok(metadata) => metadata.len() == 0,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if !is_gone {
        return Ok(());
    }
    refuse_if_beside_others(path)?;
    // SQLite would do away with it: a log says nothing without its database, but that may only have been moved without it.
    let log = with_suffix(path, "-wal");
    match has_bytes(&log) {
        Ok(true) => Err(OpenError::Lost {
            path: path.to_owned(),
            beside: log,
        }),
        _ => Ok(()),
    }
}

/// The same of one that is known to hold nothing.
///
/// # Errors
/// [`OpenError::Lost`]; [`OpenError::CopiesUnread`] where it can't be told.
pub(crate) fn refuse_if_beside_others(path: &Path) -> Result<(), OpenError> {
    let beside = witness(path).map_err(|source| OpenError::CopiesUnread {
        path: path.to_owned(),
        source,
    })?;
    match beside {
        None => Ok(()),
        Some(beside) => Err(OpenError::Lost {
            path: path.to_owned(),
            beside,
        }),
    }
}

/// What says that there was a database.
fn witness(path: &Path) -> io::Result<Option<PathBuf>> {
    for file in [Journal::path_of(path), FactsFile::path_of(path)] {
        if has_bytes(&file)? {
            return Ok(Some(file));
        }
    }
    let mut copies = kept_copies(path)?.into_iter().rev();
    match copies.find(|copy| copy.kind != KeptKind::Part) {
        Some(copy) => Ok(Some(copy.path)),
        None => Ok(set_aside_files(path)?.pop()),
    }
}

fn has_bytes(path: &Path) -> io::Result<bool> {
    match fs_err::metadata(path) {
        Ok(metadata) => Ok(metadata.is_file() && metadata.len() > 0),
        Err(error) if means_gone(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
