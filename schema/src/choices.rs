//! What the user has decided: forgotten turns, folders and sessions kept out, a pause, files with something of ours. A database comes
//! in, of whatever version and damaged or not; what can be read of it goes out.

use std::path::Path;

use rusqlite::{Connection, Row};

use crate::backup::open_as_it_is;
use crate::ids::TurnUid;
use crate::migrate::meta;
use crate::rows::{InstructionFile, SessionKey};
use crate::write::PAUSED;

/// The user's decisions; `None` for those that could not be read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Choices {
    pub(crate) tombstones: Option<Vec<TurnUid>>,
    pub(crate) folders: Option<Vec<String>>,
    pub(crate) sessions: Option<Vec<SessionKey>>,
    pub(crate) pause: Option<String>,
    pub(crate) instruction_files: Option<Vec<InstructionFile>>,
    /// Names of those that could not be read.
    pub(crate) unread: Vec<&'static str>,
}

/// What came of taking decisions over.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Episodes that were forgotten.
    pub(crate) forgotten: u64,
    /// Folders and sessions that are no longer kept out.
    pub(crate) let_in: u64,
}

impl Choices {
    /// Those of the database at `database`; all unread where it can't be opened, none where there is no database.
    pub(crate) fn of(database: &Path) -> Self {
        if !database.exists() {
            return Self::default();
        }
        let db = open_as_it_is(database).ok();
        let mut unread = Vec::new();
        let db = db.as_ref();
        Self {
            tombstones: read(db, tombstones, "what was forgotten", &mut unread),
            folders: read(db, folders, "the excluded folders", &mut unread),
            sessions: read(db, sessions, "the excluded sessions", &mut unread),
            pause: read(db, |db| Ok(meta(db, PAUSED)?.unwrap_or_default()), "the pause", &mut unread),
            instruction_files: read(db, instruction_files, "the instruction files", &mut unread),
            unread,
        }
    }
}

fn read<T>(
    db: Option<&Connection>,
    query: fn(&Connection) -> rusqlite::Result<T>,
    name: &'static str,
    unread: &mut Vec<&'static str>,
) -> Option<T> {
    let found = db.and_then(|db| query(db).ok());
    if found.is_none() {
        unread.push(name);
    }
    found
}

pub(crate) fn tombstones(db: &Connection) -> rusqlite::Result<Vec<TurnUid>> {
    rows(db, "SELECT uid FROM tombstones ORDER BY created_at, uid", |row| row.get(0))
}

pub(crate) fn folders(db: &Connection) -> rusqlite::Result<Vec<String>> {
    rows(db, "SELECT path FROM exclusions ORDER BY path", |row| row.get(0))
}

pub(crate) fn sessions(db: &Connection) -> rusqlite::Result<Vec<SessionKey>> {
    let sql = "SELECT agent, external_id FROM sessions WHERE excluded = 1 ORDER BY agent, external_id";
    rows(db, sql, |row| {
        Ok(SessionKey {
            agent: row.get(0)?,
            external_id: row.get(1)?,
        })
    })
}

pub(crate) fn instruction_files(db: &Connection) -> rusqlite::Result<Vec<InstructionFile>> {
    // An older version had none.
    if !db.table_exists(None, "instruction_files")? {
        return Ok(Vec::new());
    }
    let sql = "SELECT path, line, folder, made, tracked FROM instruction_files ORDER BY path, line";
    rows(db, sql, |row| {
        Ok(InstructionFile {
            path: row.get(0)?,
            line: Some(row.get(1)?).filter(|line: &String| !line.is_empty()),
            folder: row.get(2)?,
            made: row.get(3)?,
            tracked: row.get(4)?,
        })
    })
}

fn rows<T>(db: &Connection, sql: &str, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<Vec<T>> {
    db.prepare(sql)?.query_map([], read)?.collect()
}
