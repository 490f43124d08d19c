//! What the user set and what projects are called: pause, exclusions, instruction files, aliases, counters, tombstones.
//! In go keys, out come values. Each is small and read whole.

use rusqlite::{Connection, OptionalExtension, Row};

use super::Reader;
use crate::error::QueryError;
use crate::ids::{ProjectId, TurnUid};
use crate::journal::Journal;
use crate::migrate::meta;
use crate::recovery::{self, Recovery};
use crate::rows::{InstructionFile, Pause};
use crate::units::UnixMillis;
use crate::write::{PAUSED, current_model, excluded_paths};

impl Reader {
    /// The project that a key names, be it that others alone told of it.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn project_by_key(&self, key: &str) -> Result<Option<ProjectId>, QueryError> {
        self.run("find a project", |db| {
            db.prepare_cached(
                "SELECT coalesce((SELECT project_id FROM project_aliases WHERE key = :key),
                     (SELECT project_id FROM shared_keys WHERE key = :key))",
            )?
            .query_row([key], |row| row.get(0))
        })
    }

    /// The name of a project.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn project_name(&self, project: ProjectId) -> Result<Option<String>, QueryError> {
        self.run("read a project", |db| {
            db.prepare_cached("SELECT name FROM projects WHERE id = :id")?
                .query_row([project], |row| row.get(0))
                .optional()
        })
    }

    /// Projects with their names and roots, by name.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn projects(&self) -> Result<Vec<(ProjectId, String, Option<String>)>, QueryError> {
        self.run("read the projects", |db| {
            db.prepare_cached("SELECT id, name, root FROM projects ORDER BY name, id")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect()
        })
    }

    /// The current embedding model and its dimension, if one was ever set.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn embedding_model(&self) -> Result<Option<(String, usize)>, QueryError> {
        self.run("read the embedding model", current_model)
    }

    /// The excluded folders, by path.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn exclusions(&self) -> Result<Vec<String>, QueryError> {
        self.run("read the exclusions", excluded_paths)
    }

    /// What of ours stands in files of projects, by folder and path.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn instruction_files(&self) -> Result<Vec<InstructionFile>, QueryError> {
        self.run("read the instruction files", stored_instruction_files)
    }

    /// How many of the user's decisions can't be read: damaged lines of the journal beside the database.
    ///
    /// # Errors
    /// The file system's error.
    pub fn damaged_decisions(&self) -> std::io::Result<u64> {
        Journal::damaged_lines(self.path())
    }

    /// Whether and how long ingest and embedding rest. Whether it still holds tells [`Pause::holds_at`].
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn paused(&self) -> Result<Option<Pause>, QueryError> {
        self.run("read the pause", stored_pause)
    }

    /// The named counters, by name.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn counters(&self) -> Result<Vec<(String, u64)>, QueryError> {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64));
        self.run("read the counters", |db| {
            db.prepare_cached("SELECT name, value FROM counters ORDER BY name")?
                .query_map([], read)?
                .collect()
        })
    }

    /// What the database was made of, if it was damaged once and the damaged file is still there.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn recovery(&self) -> Result<Option<Recovery>, QueryError> {
        self.run("read what the database was made of", recovery::noted)
    }

    /// The uids of forgotten turns.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn tombstones(&self) -> Result<Vec<TurnUid>, QueryError> {
        self.run("read the tombstones", stored_tombstones)
    }
}

pub(crate) fn stored_pause(db: &Connection) -> rusqlite::Result<Option<Pause>> {
    Ok(match meta(db, PAUSED)?.as_deref() {
        None | Some("") => None,
        Some(until) => Some(
            until
                .parse()
                .map_or(Pause::Indefinite, |until| Pause::Until(UnixMillis(until))),
        ),
    })
}

pub(crate) fn stored_instruction_files(db: &Connection) -> rusqlite::Result<Vec<InstructionFile>> {
    let read = |row: &Row<'_>| {
        Ok(InstructionFile {
            path: row.get(0)?,
            line: Some(row.get(1)?).filter(|line: &String| !line.is_empty()),
            folder: row.get(2)?,
            made: row.get(3)?,
            tracked: row.get(4)?,
        })
    };
    db.prepare_cached("SELECT path, line, folder, made, tracked FROM instruction_files ORDER BY folder, path, line")?
        .query_map([], read)?
        .collect()
}

pub(crate) fn stored_tombstones(db: &Connection) -> rusqlite::Result<Vec<TurnUid>> {
    db.prepare_cached("SELECT uid FROM tombstones ORDER BY created_at, uid")?
        .query_map([], |row| row.get(0))?
        .collect()
}
