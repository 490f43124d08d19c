//! A database that is gone, or empty, though what lies beside it says that there was one: its journal, its backups, what was set aside.
//! In goes a path, out comes a refusal, where else an empty memory would be made in its place and be taken for all there ever was.

use std::path::Path;

use crate::error::OpenError;
use crate::journal::Journal;
use crate::kept::{KeptKind, kept_copies};
use crate::recovery::set_aside_files;

/// Refuses a database that is not there, or has no bytes, beside what says that there was one.
///
/// # Errors
/// [`OpenError::Lost`].
pub(crate) fn refuse_if_gone(path: &Path) -> Result<(), OpenError> {
    let is_gone = match fs_err::metadata(path) {
        Ok(metadata) => metadata.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if is_gone { refuse_if_beside_others(path) } else { Ok(()) }
}

/// The same of one that is known to hold nothing.
///
/// # Errors
/// [`OpenError::Lost`].
pub(crate) fn refuse_if_beside_others(path: &Path) -> Result<(), OpenError> {
    let journal = Journal::path_of(path);
    let copy = || {
        let copies = kept_copies(path).into_iter().rev();
        let whole = copies.into_iter().find(|copy| copy.kind != KeptKind::Part);
        whole.map(|copy| copy.path).or_else(|| set_aside_files(path).pop())
    };
    let beside = has_bytes(&journal).then_some(journal).or_else(copy);
    match beside {
        None => Ok(()),
        Some(beside) => Err(OpenError::Lost {
            path: path.to_owned(),
            beside,
        }),
    }
}

fn has_bytes(path: &Path) -> bool {
    fs_err::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
}

#[cfg(test)]
mod tests;
