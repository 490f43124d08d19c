//! Which copies of the database are ours. The database's path comes in; backups, copies made before migrations, databases that were
//! set aside, and what a crash left of them go out. What is in one is not looked at here; the user's own copies elsewhere are the
//! user's.

mod forget;
mod half_written;
mod open;
mod redact;

use std::io;
use std::path::{Path, PathBuf};

pub(crate) use self::forget::{Spared, forget_in_copies};
pub use self::half_written::{half_written, remove_half_written};
pub(crate) use self::open::{is_of_rows, looked_through};
pub(crate) use self::redact::redact_copies;
use crate::copy::{beside, leftovers, migration_copies, names, with_suffix};
use crate::migrate::LATEST;
use crate::parting::PARTING;
use crate::recovery::is_of_recovery;
use crate::system::means_gone;

/// The folder of the backups, beside the database.
const FOLDER: &str = "backups";
/// Ends the name of a backup that the daemon made by itself.
const DAILY: &str = "-daily";
/// What follows the database's name in that of one that was set aside: by a restore, or by the user, for damage or for its version.
/// What a rebuilding set aside is the business of `recovery.rs`.
const SET_ASIDE: [&str; 3] = [".replaced-", ".damaged", ".newer"];

/// Why there is a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeptKind {
    /// Made by a migration, of this version.
    BeforeMigration(u32),
    /// It was the memory, until another took its place.
    SetAside,
    /// A backup that the user asked for.
    Backup,
    /// A backup that the daemon made by itself.
    Daily,
    /// What was left of a copy.
    Part,
}

/// A copy of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCopy {
    /// Where it is.
    pub path: PathBuf,
    /// Why it is there.
    pub kind: KeptKind,
}

/// The folder of the backups of the database at `database`.
pub fn backups_folder(database: &Path) -> PathBuf {
    database.with_file_name(FOLDER)
}

/// Where a backup lies that was begun at `stamp`, a UTC time such as `2026-11-28T210345Z`, which sorts as it passes.
pub fn backup_path(database: &Path, stamp: &str, daily: bool) -> PathBuf {
    let name = database.file_stem().unwrap_or_default().to_string_lossy();
    let by = if daily { DAILY } else { "" };
    backups_folder(database).join(format!("{name}-{stamp}{by}.db"))
}

/// All copies of ours, backups by age, the oldest first.
///
/// # Errors
/// The file system's, where a folder can't be listed: what is in it is not known then.
pub fn kept_copies(database: &Path) -> io::Result<Vec<KeptCopy>> {
    let kept = |kind| move |path| KeptCopy { path, kind };
    let before = migration_copies(database)?
        .into_iter()
        .map(|(version, path)| kept(KeptKind::BeforeMigration(version))(path));
    let mut all: Vec<KeptCopy> = before.collect();
    let whole: Vec<PathBuf> = all.iter().map(|copy| copy.path.clone()).collect();
    let parts = leftovers(database)?.into_iter().filter(|path| !whole.contains(path));
    all.extend(parts.map(kept(KeptKind::Part)));
    all.extend(set_aside(database)?.into_iter().map(kept(KeptKind::SetAside)));
    all.extend(in_folder(database)?);
    Ok(all)
}

/// The backups, the oldest first; with those of the daemon alone, or with the user's.
///
/// # Errors
/// As [`kept_copies`].
pub fn backups(database: &Path, daily_alone: bool) -> io::Result<Vec<PathBuf>> {
    let wanted = |kind| kind == KeptKind::Daily || !daily_alone && kind == KeptKind::Backup;
    let found = in_folder(database)?.into_iter().filter(|copy| wanted(copy.kind));
    Ok(found.map(|copy| copy.path).collect())
}

/// The backups by the time in their names, the newest first, whoever had them made.
///
/// # Errors
/// As [`kept_copies`].
pub fn newest_first(database: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = backups(database, false)?;
    found.sort_unstable();
    found.reverse();
    Ok(found)
}

/// What a memory can be made anew from, the newest first by the times in their names: backups, and what a restore replaced.
///
/// # Errors
/// As [`kept_copies`].
pub(crate) fn fallbacks(database: &Path) -> io::Result<Vec<PathBuf>> {
    let stamp = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let after = name.split_once(SET_ASIDE[0]).or_else(|| name.split_once('-'));
        let stamp = after.map_or_else(String::new, |(_, stamp)| stamp.to_owned());
        // What has no time in its name comes last.
        (stamp.starts_with(|char: char| char.is_ascii_digit()), stamp)
    };
    let mut found = backups(database, false)?;
    found.extend(replaced(database)?);
    found.sort_by_cached_key(stamp);
    found.reverse();
    Ok(found)
}

/// The memory that the last restore replaced, if it is still there.
///
/// # Errors
/// As [`kept_copies`].
pub(crate) fn newest_set_aside(database: &Path) -> io::Result<Option<PathBuf>> {
    Ok(replaced(database)?.pop())
}

/// What restores replaced, the oldest first.
fn replaced(database: &Path) -> io::Result<Vec<PathBuf>> {
    let of_restores = |path: &PathBuf| path.to_string_lossy().contains(SET_ASIDE[0]);
    Ok(set_aside(database)?.into_iter().filter(of_restores).collect())
}

/// The newest copy that a migration made of a database that this version can open.
///
/// # Errors
/// As [`kept_copies`].
pub fn newest_before_migration(database: &Path) -> io::Result<Option<PathBuf>> {
    let mut copies = migration_copies(database)?.into_iter().rev();
    Ok(copies.find(|(version, _)| *version <= LATEST).map(|(_, path)| path))
}

fn set_aside(database: &Path) -> io::Result<Vec<PathBuf>> {
    let is_companion = |name: &str| ["-wal", "-shm", "-journal", ".lock"].iter().any(|end| name.ends_with(end));
    let is_ours = |rest: &str| SET_ASIDE.iter().any(|begin| rest.starts_with(begin)) && !is_of_recovery(rest);
    let found = beside(database)?.into_iter();
    Ok(found
        .filter(|(rest, _)| is_ours(rest) && !is_companion(rest))
        .map(|(_, path)| path)
        .collect())
}

fn in_folder(database: &Path) -> io::Result<Vec<KeptCopy>> {
    let stem = format!("{}-", database.file_stem().unwrap_or_default().to_string_lossy());
    let kind = |name: &str| {
        if (name.starts_with('.') && name.contains(".part")) || name.ends_with(PARTING) {
            return Some(KeptKind::Part);
        }
        let stamp = name.strip_prefix(&stem)?.strip_suffix(".db")?;
        Some(if stamp.ends_with(DAILY) {
            KeptKind::Daily
        } else {
            KeptKind::Backup
        })
    };
    let found = names(Some(&backups_folder(database)))?.into_iter();
    Ok(found
        .filter_map(|(name, path)| {
            Some(KeptCopy {
                kind: kind(&name)?,
                path,
            })
        })
        .collect())
}

/// Removes a copy with what SQLite keeps beside it, the log before what the log belongs to.
///
/// # Errors
/// The file system's.
pub fn remove_copy(path: &Path) -> io::Result<()> {
    for suffix in ["-journal", "-shm", "-wal", ".lock", ""] {
        match fs_err::remove_file(with_suffix(path, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// A name of the form `<database><suffix>` at which nothing is.
///
/// # Errors
/// The file system's, where it can't be told whether something is there.
pub(crate) fn free_name(database: &Path, suffix: &str) -> io::Result<PathBuf> {
    let first = with_suffix(database, suffix);
    let others = (2..).map(|number| with_suffix(database, &format!("{suffix}-{number}")));
    let mut names = std::iter::once(first).chain(others);
    let free = names.find_map(|name| match fs_err::symlink_metadata(&name) {
        Ok(_) => None,
        Err(error) if means_gone(&error) => Some(Ok(name)),
        Err(error) => Some(Err(error)),
    });
    free.expect("invariant: there is no end of names")
}

#[cfg(test)]
mod tests;
