//! Copies of the database beside it: before a migration, and for backups.
//! In goes an open connection, out comes a private, whole, synced file. The original is only read.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::backup::remove_with_companions;
use crate::error::CopyError;
use crate::parting::PARTING;
use crate::recovery::is_of_recovery;
use crate::system;

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
pub(crate) fn migration_copies(database: &Path) -> Vec<(u32, PathBuf)> {
    let version = |rest: &str| rest.strip_prefix(".v")?.strip_suffix(".bak")?.parse().ok();
    let mut copies: Vec<(u32, PathBuf)> = beside(database)
        .into_iter()
        .filter_map(|(rest, path)| Some((version(&rest)?, path)))
        .collect();
    copies.sort_unstable();
    copies
}

/// What of our own making beside the database may hold its contents: copies, the parts of copies that a crash left,
/// and damaged files that were set aside.
pub(crate) fn leftovers(database: &Path) -> Vec<PathBuf> {
    let of_recovery = beside(database).into_iter().filter(|(rest, _)| is_of_recovery(rest));
    let mut leftovers = copies(database);
    leftovers.extend(of_recovery.map(|(_, path)| path));
    leftovers
}

/// The copies that migrations left, and the parts of copies that a crash left, with what SQLite keeps beside a part.
pub(crate) fn copies(database: &Path) -> Vec<PathBuf> {
    let copies = migration_copies(database).into_iter().map(|(_, path)| path);
    let parts = beside(database)
        .into_iter()
        .filter(|(rest, _)| (rest.starts_with(".v") && rest.contains(PART)) || rest.ends_with(PARTING));
    copies.chain(parts.map(|(_, path)| path)).collect()
}

/// Files whose names begin with the database's, with the rest of their names.
pub(crate) fn beside(database: &Path) -> Vec<(String, PathBuf)> {
    let (Some(folder), Some(name)) = (database.parent(), database.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let Ok(entries) = fs_err::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.file_name().to_str()?.strip_prefix(name)?.to_owned(), entry.path())))
        .collect()
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
        drop(remove_with_companions(&temporary));
    }
    result
}

fn write_copy(db: &Connection, temporary: &Path, target: &Path) -> Result<(), CopyError> {
    let io = |act| move |source| CopyError::Io { act, source };
    // What lies at that name is the rest of an earlier copy, or somebody's link: neither is written to. Nor is a journal of it left,
    // which SQLite would roll back into the new one.
    remove_with_companions(temporary).map_err(io("replace"))?;
    // VACUUM INTO writes into an empty file as it finds it, modes and all.
    let file = system::private_file()
        .write(true)
        .create_new(true)
        .open(temporary)
        .map_err(io("create"))?;
    let name = temporary.to_str().ok_or_else(|| CopyError::Io {
        act: "name",
        source: std::io::ErrorKind::InvalidFilename.into(),
    })?;
    db.execute("VACUUM INTO :file", [name]).map_err(CopyError::Sqlite)?;
    file.sync_all().map_err(io("sync"))?;
    fs_err::rename(temporary, target).map_err(io("put in place"))
}
