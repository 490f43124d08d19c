//! The copy that is made of the database before it is migrated, and what lies beside the database by name. An open connection comes in,
//! a private, whole, synced file goes out; the original is only read. Backups are made in `backup.rs`.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::error::CopyError;
use crate::kept::remove_copy;
use crate::parting::PARTING;
use crate::recovery::is_of_recovery;
use crate::system::{self, means_gone};

/// Ends the name of a copy that is not complete.
pub(crate) const PART: &str = ".part";

/// Where the copy lies that is made before a database of version `version` is migrated: `<database>.v<version>.bak`.
pub(crate) fn before_migration(database: &Path, version: u32) -> PathBuf {
    with_suffix(database, &format!(".v{version}.bak"))
}

/// The path with `suffix` appended to its file name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The copies that migrations left beside the database, with the versions they hold, oldest first.
///
/// # Errors
/// As [`names`].
pub(crate) fn migration_copies(database: &Path) -> io::Result<Vec<(u32, PathBuf)>> {
    let version = |rest: &str| rest.strip_prefix(".v")?.strip_suffix(".bak")?.parse().ok();
    let mut copies: Vec<(u32, PathBuf)> = beside(database)?
        .into_iter()
        .filter_map(|(rest, path)| Some((version(&rest)?, path)))
        .collect();
    copies.sort_unstable();
    Ok(copies)
}

/// What of our own making beside the database may hold its contents: copies that migrations left, the parts of copies that a crash
/// left, with what SQLite keeps beside a part, and damaged files that were set aside.
///
/// # Errors
/// As [`names`].
pub(crate) fn leftovers(database: &Path) -> io::Result<Vec<PathBuf>> {
    let is_part = |rest: &str| (rest.starts_with(".v") && rest.contains(PART)) || rest.ends_with(PARTING);
    let mut leftovers: Vec<PathBuf> = migration_copies(database)?.into_iter().map(|(_, path)| path).collect();
    let others = beside(database)?;
    let (parts, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|(rest, _)| is_part(rest));
    let of_recovery = others.into_iter().filter(|(rest, _)| is_of_recovery(rest));
    leftovers.extend(parts.into_iter().chain(of_recovery).map(|(_, path)| path));
    Ok(leftovers)
}

/// Files whose names begin with the database's, with the rest of their names.
///
/// # Errors
/// As [`names`].
pub(crate) fn beside(database: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let Some(name) = database.file_name().and_then(|name| name.to_str()) else {
        return Ok(Vec::new());
    };
    let found = names(database.parent())?.into_iter();
    Ok(found
        .filter_map(|(found, path)| Some((found.strip_prefix(name)?.to_owned(), path)))
        .collect())
}

/// What lies in a folder, in the order of the names; nothing where there is no folder. Names that are no text are none of ours.
///
/// # Errors
/// The file system's: what can't be listed may hold anything, and is never taken for empty.
pub(crate) fn names(folder: Option<&Path>) -> io::Result<Vec<(String, PathBuf)>> {
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    let entries = match fs_err::read_dir(folder.unwrap_or(Path::new("."))) {
        Err(error) if means_gone(&error) => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if let Some(name) = entry.file_name().to_str() {
            found.push((name.to_owned(), entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

/// Writes a whole copy of `db` to `target`, 0600, replacing what was there only once it is complete.
///
/// # Errors
/// [`CopyError`], with nothing left behind at `target`'s temporary name.
pub(crate) fn copy_database(db: &Connection, target: &Path) -> Result<(), CopyError> {
    let temporary = with_suffix(target, PART);
    let result = write_copy(db, &temporary, target);
    if result.is_err() {
        // The first error is what counts; a part that can't be removed is overwritten by the next copy.
        drop(remove_copy(&temporary));
    }
    result
}

fn write_copy(db: &Connection, temporary: &Path, target: &Path) -> Result<(), CopyError> {
    let io = |act| move |source| CopyError::Io { act, source };
    // What lies at that name is the rest of an earlier copy, or somebody's link: neither is written to. Nor is a journal of it left,
    // which SQLite would roll back into the new one.
    remove_copy(temporary).map_err(io("replace"))?;
    // VACUUM INTO writes into an empty file as it finds it, modes and all.
    let file = system::private_file()
        .write(true)
        .create_new(true)
        .open(temporary)
        .map_err(io("create"))?;
    let name = temporary.to_str().ok_or_else(|| CopyError::Io {
        act: "name",
        source: io::ErrorKind::InvalidFilename.into(),
    })?;
    db.execute("VACUUM INTO :file", [name]).map_err(CopyError::Sqlite)?;
    file.sync_all().map_err(io("sync"))?;
    fs_err::rename(temporary, target).map_err(io("put in place"))
}
