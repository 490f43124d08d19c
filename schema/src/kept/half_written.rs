//! What was begun beside the database and is not whole. The database's path comes in, paths go out; what is whole is never named.

use std::io;
use std::path::{Path, PathBuf};

use super::{KeptKind, kept_copies};
use crate::copy::{PART, beside};
use crate::facts::SUFFIX;
use crate::recovery::is_unfinished;
use crate::restore;

/// What was begun and is not whole: parts of copies, of the journal, of the facts, of a new database in a damaged one's place, of a restore. Whoever
/// made one may be at it still.
///
/// # Errors
/// The file system's, where a folder can't be listed.
pub fn half_written(database: &Path) -> io::Result<Vec<PathBuf>> {
    let parts = kept_copies(database)?.into_iter().filter(|copy| copy.kind == KeptKind::Part);
    let is_unfinished = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(PART) || is_unfinished(&name)
    };
    let mut found: Vec<PathBuf> = parts.map(|copy| copy.path).filter(is_unfinished).collect();
    let of_journal = beside(database)?.into_iter();
    let of_journal =
        of_journal.filter(|(rest, _)| [".journal", SUFFIX].iter().any(|begin| rest.starts_with(begin)) && rest.ends_with(PART));
    found.extend(of_journal.map(|(_, path)| path));
    found.extend(restore::unfinished(database)?);
    Ok(found)
}

/// Removes what [`half_written`] found.
///
/// # Errors
/// The file system's.
pub fn remove_half_written(path: &Path) -> io::Result<()> {
    match fs_err::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs_err::remove_dir_all(path),
        Ok(_) => fs_err::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
