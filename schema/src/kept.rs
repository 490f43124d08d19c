//! Which copies of the database are ours, and how what is forgotten leaves them. The database's path comes in; backups, copies made
//! before migrations, databases that were set aside, and what a crash left of them go out. The user's own copies elsewhere are the
//! user's.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::backup::{is_being_made, open_as_it_is, remove_with_companions};
use crate::copy::{PART, beside, leftovers, migration_copies, with_suffix};
use crate::error::{OpenError, QueryError};
use crate::integrity::look_through;
use crate::migrate::{self, LATEST};
use crate::parting::PARTING;
use crate::recovery::{is_of_recovery, is_unfinished, set_aside_files};
use crate::redaction::RedactionRules;
use crate::restore;
use crate::sqlite_error::SqliteError;
use crate::units::UnixMillis;
use crate::write::{Unwanted, copy_is_due, forget_in_copy, redact_in_copy};

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
pub fn kept_copies(database: &Path) -> Vec<KeptCopy> {
    let kept = |kind| move |path| KeptCopy { path, kind };
    let before = migration_copies(database)
        .into_iter()
        .map(|(version, path)| kept(KeptKind::BeforeMigration(version))(path));
    let mut all: Vec<KeptCopy> = before.collect();
    let whole: Vec<PathBuf> = all.iter().map(|copy| copy.path.clone()).collect();
    let parts = leftovers(database).into_iter().filter(|path| !whole.contains(path));
    all.extend(parts.map(kept(KeptKind::Part)));
    all.extend(set_aside(database).into_iter().map(kept(KeptKind::SetAside)));
    all.extend(in_folder(database));
    all
}

/// The backups, the oldest first; with those of the daemon alone, or with the user's.
pub fn backups(database: &Path, daily_alone: bool) -> Vec<PathBuf> {
    let wanted = |kind| kind == KeptKind::Daily || !daily_alone && kind == KeptKind::Backup;
    let found = kept_copies(database).into_iter().filter(|copy| wanted(copy.kind));
    found.map(|copy| copy.path).collect()
}

/// The backups by the time in their names, the newest first, whoever had them made.
pub fn newest_first(database: &Path) -> Vec<PathBuf> {
    let mut found = backups(database, false);
    found.sort_unstable();
    found.reverse();
    found
}

/// What a memory can be made anew from, the newest first by the times in their names: backups, and what a restore replaced.
pub(crate) fn fallbacks(database: &Path) -> Vec<PathBuf> {
    let stamp = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let after = name.split_once(SET_ASIDE[0]).or_else(|| name.split_once('-'));
        let stamp = after.map_or_else(String::new, |(_, stamp)| stamp.to_owned());
        // What has no time in its name comes last.
        (stamp.starts_with(|char: char| char.is_ascii_digit()), stamp)
    };
    let mut found = backups(database, false);
    found.extend(replaced(database));
    found.sort_by_cached_key(stamp);
    found.reverse();
    found
}

/// The memory that the last restore replaced, if it is still there.
pub(crate) fn newest_set_aside(database: &Path) -> Option<PathBuf> {
    replaced(database).pop()
}

/// What restores replaced, the oldest first.
fn replaced(database: &Path) -> Vec<PathBuf> {
    let of_restores = |path: &PathBuf| path.to_string_lossy().contains(SET_ASIDE[0]);
    set_aside(database).into_iter().filter(of_restores).collect()
}

/// The newest copy that a migration made of a database that this version can open.
pub fn newest_before_migration(database: &Path) -> Option<PathBuf> {
    let copies = migration_copies(database).into_iter().rev();
    copies
        .into_iter()
        .find(|(version, _)| *version <= LATEST)
        .map(|(_, path)| path)
}

fn set_aside(database: &Path) -> Vec<PathBuf> {
    let name = database.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_companion = |name: &str| ["-wal", "-shm", "-journal", ".lock"].iter().any(|end| name.ends_with(end));
    names(database.parent())
        .into_iter()
        .filter(|(found, _)| {
            let rest = found.strip_prefix(&name);
            let is_ours = |rest: &str| SET_ASIDE.iter().any(|begin| rest.starts_with(begin)) && !is_of_recovery(rest);
            rest.is_some_and(is_ours) && !is_companion(found)
        })
        .map(|(_, path)| path)
        .collect()
}

fn in_folder(database: &Path) -> Vec<KeptCopy> {
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
    let found = names(Some(&backups_folder(database))).into_iter();
    found
        .filter_map(|(name, path)| {
            Some(KeptCopy {
                kind: kind(&name)?,
                path,
            })
        })
        .collect()
}

/// The files of a folder by name.
fn names(folder: Option<&Path>) -> Vec<(String, PathBuf)> {
    let folder = folder
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let Ok(entries) = fs_err::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<(String, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.to_owned(), entry.path())))
        .collect();
    found.sort();
    found
}

/// What stays though what is unwanted may be in it, where it can't be rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spared {
    /// Nothing does.
    Nothing,
    /// What a restore or the user set aside.
    Replaced,
    /// All that was set aside, damaged files among it.
    SetAside,
}

/// Has what is unwanted leave every copy of ours: a copy of this version is rewritten, and one that can't be rewritten goes, but for
/// what is spared. Damaged files are never rewritten. What fails for now, on a full disk or for want of descriptors, costs no copy.
///
/// # Errors
/// Of the first copy that could not be rewritten now, or not be removed; the others are done all the same.
pub(crate) fn forget_in_copies(database: &Path, unwanted: &Unwanted, spared: Spared) -> std::io::Result<()> {
    let damaged = set_aside_files(database);
    let is_damaged = |path: &Path| {
        let name = path.to_string_lossy();
        damaged.iter().any(|file| name.starts_with(&*file.to_string_lossy()))
    };
    // A restore that does not count yet is begun anew.
    let mut outcome = restore::give_up(database);
    for copy in kept_copies(database) {
        let may_be_rewritten = !unwanted.all && !matches!(copy.kind, KeptKind::Part | KeptKind::BeforeMigration(_));
        match if may_be_rewritten {
            rewrite(&copy.path, unwanted)
        } else {
            Ok(false)
        } {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => {
                outcome = outcome.and(Err(error));
                continue;
            }
        }
        let stays = match spared {
            Spared::Nothing => false,
            Spared::Replaced => copy.kind == KeptKind::SetAside,
            Spared::SetAside => copy.kind == KeptKind::SetAside || is_damaged(&copy.path),
        };
        if !stays {
            outcome = outcome.and(remove_with_companions(&copy.path));
        }
    }
    outcome
}

/// Has what is unwanted leave the copy at `path`; `false` where it can't be rewritten at all: it is of another version, or no whole
/// database.
///
/// # Errors
/// What keeps it from being rewritten now.
fn rewrite(path: &Path, unwanted: &Unwanted) -> std::io::Result<bool> {
    if opened(path)?.is_none() {
        return Ok(false);
    }
    match forget_in_copy(path, unwanted).map_err(SqliteError::from) {
        Ok(()) => Ok(true),
        Err(error) if passes(&error) => Err(not_now(path, &error)),
        Err(_) => Ok(false),
    }
}

/// A copy of this version, opened for reading; `None` where it is of another version, or no whole database.
///
/// # Errors
/// What keeps it from being opened now.
fn opened(path: &Path) -> std::io::Result<Option<Connection>> {
    Ok(opened_of_any(path)?
        .filter(|(version, _)| *version == LATEST)
        .map(|(_, db)| db))
}

/// A copy of whatever version, opened for reading, with its version; `None` where it is no whole database.
///
/// # Errors
/// What keeps it from being opened now.
fn opened_of_any(path: &Path) -> std::io::Result<Option<(u32, Connection)>> {
    let version = |db: Connection| Ok((migrate::version(&db).map_err(SqliteError::from)?, db));
    let opened = match open_as_it_is(path) {
        Ok(db) => version(db),
        Err(OpenError::Sqlite { source, .. } | OpenError::Busy { source, .. } | OpenError::Full { source, .. }) => Err(source),
        Err(_) => return Ok(None),
    };
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if passes(&error) => Err(not_now(path, &error)),
        Err(_) => Ok(None),
    }
}

/// Whether an error says nothing of the file: the disk, a lock, descriptors.
fn passes(error: &SqliteError) -> bool {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, OutOfMemory, PermissionDenied, ReadOnly, SystemIoFailure,
    };
    matches!(
        error.code(),
        Some(CannotOpen | DatabaseBusy | DatabaseLocked | DiskFull | OutOfMemory | PermissionDenied | ReadOnly | SystemIoFailure)
    )
}

fn not_now(path: &Path, error: &SqliteError) -> std::io::Error {
    std::io::Error::other(format!("{}: {error}", path.display()))
}

/// What was begun and is not whole: parts of copies, of the journal, of a new database in a damaged one's place, of a restore. Whoever
/// made one may be at it still.
pub fn half_written(database: &Path) -> Vec<PathBuf> {
    let parts = kept_copies(database).into_iter().filter(|copy| copy.kind == KeptKind::Part);
    let is_unfinished = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(PART) || is_unfinished(&name)
    };
    let mut found: Vec<PathBuf> = parts.map(|copy| copy.path).filter(is_unfinished).collect();
    let of_journal = beside(database).into_iter();
    let of_journal = of_journal.filter(|(rest, _)| rest.starts_with(".journal") && rest.ends_with(PART));
    found.extend(of_journal.map(|(_, path)| path));
    found.extend(restore::unfinished(database));
    found
}

/// Removes what [`half_written`] found.
///
/// # Errors
/// The file system's.
pub fn remove_half_written(path: &Path) -> std::io::Result<()> {
    match fs_err::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs_err::remove_dir_all(path),
        Ok(_) => fs_err::remove_file(path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// How far the copies are that newer rules of redaction are brought to.
#[derive(Debug, Default)]
pub(crate) struct RedactedCopies {
    /// One was brought further, and more may be to do.
    pub(crate) more: bool,
    /// One is being made; once it is, it is rewritten as the others are.
    pub(crate) waits: bool,
    /// How many were removed.
    pub(crate) removed: u64,
    /// What kept the first of those from being rewritten that could not be now; they are as they were.
    pub(crate) failed: Option<QueryError>,
}

/// What came of a copy.
enum OfCopy {
    /// There is nothing to do, or nothing any more.
    Through,
    /// There may be more to do.
    Further,
    /// It can't be rewritten, now or ever.
    Unfit,
}

/// Brings `rules` to a part of the rows of a copy of ours that has not been through them. Where rows of the database were rewritten
/// (`unscrubbed`), copies of older versions are brought to this one first, and a copy that can't be rewritten goes: it holds what the
/// rows were. Only what was set aside stays, which may be all that is left of something, and what a newer version made, which knows
/// more rules. What fails for now costs no copy, and keeps none from its turn.
pub(crate) fn redact_copies(database: &Path, rules: &RedactionRules, unscrubbed: bool, now: UnixMillis) -> RedactedCopies {
    let mut done = RedactedCopies::default();
    if unscrubbed && let Err(error) = restore::give_up(database) {
        // A restore that does not count yet is begun anew.
        done.failed = Some(copies_failed(&error));
    }
    let damaged = set_aside_files(database);
    for copy in kept_copies(database) {
        if is_being_made(&copy.path) {
            done.waits = true;
            continue;
        }
        let name = copy.path.to_string_lossy();
        let is_set_aside =
            copy.kind == KeptKind::SetAside || damaged.iter().any(|file| name.starts_with(&*file.to_string_lossy()));
        let outcome = redact_copy(database, &copy, rules, unscrubbed, now).and_then(|came| match came {
            OfCopy::Unfit if unscrubbed && !is_set_aside => {
                remove_with_companions(&copy.path)?;
                if copy.kind != KeptKind::Part {
                    tracing::warn!(
                        copy = %copy.path.display(),
                        "a copy of the memory is removed: secrets that were found in the memory may be in it, and it can't be rewritten"
                    );
                    done.removed += 1;
                }
                Ok(false)
            }
            OfCopy::Further => Ok(true),
            OfCopy::Through | OfCopy::Unfit => Ok(false),
        });
        match outcome {
            Ok(false) => {}
            Ok(true) => {
                done.more = true;
                return done;
            }
            Err(error) => {
                done.failed.get_or_insert_with(|| copies_failed(&error));
            }
        }
    }
    done
}

/// # Errors
/// What keeps the copy from being rewritten now.
fn redact_copy(
    database: &Path,
    copy: &KeptCopy,
    rules: &RedactionRules,
    unscrubbed: bool,
    now: UnixMillis,
) -> std::io::Result<OfCopy> {
    if matches!(copy.kind, KeptKind::Part | KeptKind::BeforeMigration(_)) {
        return Ok(OfCopy::Unfit);
    }
    let Some((version, db)) = opened_of_any(&copy.path)? else {
        return Ok(OfCopy::Unfit);
    };
    if version > LATEST || version < LATEST && !unscrubbed {
        return Ok(OfCopy::Through);
    }
    if version < LATEST {
        drop(db);
        return match restore::bring_to_this_version(database, &copy.path) {
            Ok(()) => Ok(OfCopy::Further),
            Err(_) if is_damaged(&copy.path) => Ok(OfCopy::Unfit),
            Err(error) => Err(std::io::Error::other(format!("{}: {error}", copy.path.display()))),
        };
    }
    let due = copy_is_due(&db, rules);
    drop(db);
    let rewritten = due.and_then(|due| {
        if due {
            redact_in_copy(&copy.path, rules, now)?;
        }
        Ok(due)
    });
    match rewritten.map_err(SqliteError::from) {
        Ok(true) => Ok(OfCopy::Further),
        Ok(false) => Ok(OfCopy::Through),
        Err(error) if passes(&error) => Err(not_now(&copy.path, &error)),
        Err(_) => Ok(OfCopy::Unfit),
    }
}

/// Whether a copy that can be opened is not whole.
fn is_damaged(path: &Path) -> bool {
    let looked = open_as_it_is(path).map(|db| look_through(&db).map_err(SqliteError::from));
    match looked {
        Ok(Ok(looked)) => looked.damage.is_some(),
        Ok(Err(error)) => !passes(&error),
        Err(_) => false,
    }
}

fn copies_failed(source: &std::io::Error) -> QueryError {
    QueryError::Invalid {
        act: "redact the copies of the database",
        detail: source.to_string(),
    }
}

/// Removes a copy and what lies beside it.
///
/// # Errors
/// The file system's.
pub fn remove_copy(path: &Path) -> std::io::Result<()> {
    remove_with_companions(path)
}

/// A name of the form `<database><suffix>` at which nothing is.
pub(crate) fn free_name(database: &Path, suffix: &str) -> PathBuf {
    let first = with_suffix(database, suffix);
    let others = (2..).map(|number| with_suffix(database, &format!("{suffix}-{number}")));
    let mut names = std::iter::once(first).chain(others);
    names
        .find(|name| name.symlink_metadata().is_err())
        .expect("invariant: there is no end of names")
}

#[cfg(test)]
mod tests;
