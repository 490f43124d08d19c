//! The ordered list of migrations and the one function that runs them.
//! In goes a connection of any older version, out comes one of [`LATEST`]. Each migration is one exclusive transaction,
//! so that a process killed half way leaves the version before. Nothing here reads episodes.

use std::path::Path;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, Connection, OptionalExtension};

use crate::backup::Contents;
use crate::copy::{self, copy_database};
use crate::error::MigrateError;

/// One numbered step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Migration {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}

macro_rules! migrations {
    ($($name:literal),+ $(,)?) => {
        &[$(Migration { name: $name, sql: include_str!(concat!("../migrations/", $name, ".sql")) }),+]
    };
}

/// All steps; the version of a database is the number of steps it has had. A released file is never edited.
pub(crate) const MIGRATIONS: &[Migration] = migrations![
    "0001_init",
    "0002_episodes",
    "0003_full_text",
    "0004_vectors",
    "0005_recollections",
    "0006_user_choices",
    "0007_problems",
    "0008_accessed_at_index",
    "0009_project_accessed_at_index",
    "0010_recollection_uses",
    "0011_episode_lengths",
    "0012_unread_records",
    "0013_instruction_files",
    "0014_retirement",
    "0015_parser_states",
    "0016_steering",
    "0017_explanations",
    "0018_turns_by_time",
    "0019_shared",
    "0020_share_marks",
];

/// The version that this crate reads and writes.
pub(crate) const LATEST: u32 = MIGRATIONS.len() as u32;

/// Key in `_meta`, while a migration is under way: the version that it began at, of which a copy lies beside the database.
const BEGAN_AT: &str = "migration_began_at";

/// Asked before every statement (migration, 1-based statement); a test answers with an error to fail there.
pub(crate) type BeforeStatement<'a> = &'a mut dyn FnMut(&'static str, usize) -> rusqlite::Result<()>;

/// The version of an open database.
pub(crate) fn version(db: &Connection) -> rusqlite::Result<u32> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings the database at `path`, open as `db`, to [`LATEST`], after copying it aside if it holds an older version.
///
/// # Errors
/// [`MigrateError::Copy`] if the copy can't be made, [`MigrateError::Statement`] if a step fails; the step is undone.
pub(crate) fn migrate(db: &mut Connection, path: &Path, before: BeforeStatement<'_>) -> Result<(), MigrateError> {
    let first = MIGRATIONS[0].name;
    let found = version(db).map_err(|source| MigrateError::Statement {
        name: first,
        statement: 0,
        source,
    })?;
    if found >= LATEST {
        return Ok(());
    }
    let began = match under_way_from(db, path) {
        Some(began) => began,
        None if found == 0 => 0,
        None => {
            let copy = copy::before_migration(path, found);
            copy_database(db, &copy).map_err(|source| MigrateError::Copy { path: copy, source })?;
            found
        }
    };
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(found as usize) {
        step(
            db,
            Step {
                began,
                to: index as u32 + 1,
                migration,
            },
            before,
        )?;
    }
    Ok(())
}

/// The version at which a migration began that was killed between two steps, if the copy that it made then has all that is here now:
/// another of the same is a waste. Not so where an older program has been at work since.
fn under_way_from(db: &Connection, path: &Path) -> Option<u32> {
    let began = meta(db, BEGAN_AT).ok()??.parse().ok()?;
    let copied = Contents::of(&copy::before_migration(path, began)).ok()?;
    let is_all = copied.schema_version == began && copied.state == Contents::in_database(db).ok()?.state;
    is_all.then_some(began)
}

/// A migration within a run of them.
#[derive(Clone, Copy)]
struct Step<'a> {
    /// The version that the run began at; 0 for a new database, of which there is no copy.
    began: u32,
    to: u32,
    migration: &'a Migration,
}

/// Runs one migration in one exclusive transaction, unless another process did so while this one waited for the lock.
fn step(db: &mut Connection, step: Step<'_>, before: BeforeStatement<'_>) -> Result<(), MigrateError> {
    let mut statement = 0;
    run_statements(db, step, before, &mut statement).map_err(|source| {
        // The cause is what the caller needs; the rollback of a lost transaction can only fail because there is none.
        drop(db.execute_batch("ROLLBACK"));
        MigrateError::Statement {
            name: step.migration.name,
            statement,
            source,
        }
    })
}

fn run_statements(
    db: &Connection,
    Step { began, to, migration }: Step<'_>,
    before: BeforeStatement<'_>,
    statement: &mut usize,
) -> rusqlite::Result<()> {
    db.execute_batch("BEGIN EXCLUSIVE")?;
    if version(db)? >= to {
        return db.execute_batch("COMMIT");
    }
    let mut batch = Batch::new(db, migration.sql);
    while let Some(mut prepared) = batch.next()? {
        *statement += 1;
        before(migration.name, *statement)?;
        prepared.execute([])?;
    }
    *statement += 1;
    before(migration.name, *statement)?;
    db.pragma_update(None, "user_version", to)?;
    set_meta(db, "schema_version", &to.to_string())?;
    if to == LATEST {
        db.execute("DELETE FROM _meta WHERE key = :key", [BEGAN_AT])?;
    } else if began > 0 {
        set_meta(db, BEGAN_AT, &began.to_string())?;
    }
    before(migration.name, *statement + 1)?;
    db.execute_batch("COMMIT")
}

/// A fact of `_meta`.
pub(crate) fn meta(db: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT value FROM _meta WHERE key = :key")?
        .query_row([key], |row| row.get(0))
        .optional()
}

/// Sets a fact of `_meta`.
pub(crate) fn set_meta(db: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO _meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    )?
    .execute([key, value])?;
    Ok(())
}

#[cfg(test)]
mod tests;
