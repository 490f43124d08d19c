//! A damaged file whose tables can all be read: copied table by table into a fresh database. What is made from the tables (the
//! full-text index, the codes of the vectors, every index) is not copied, whatever state it is in, but made anew by who asked.
//! In goes a path, out comes a database that lacks nothing, or an error: then each row has to be taken by itself.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::integrity::broken_reference;
use crate::migrate::{LATEST, version};
use crate::open;
use crate::sqlite_error::SqliteError;
use crate::write::content_hash;

/// Tables that are not copied: made anew, or SQLite's own.
const DERIVED: [&str; 4] = ["episodes_fts", "episodes_vec", "episode_lengths", "sqlite_"];

/// Why a file can't be copied whole.
#[derive(Debug, thiserror::Error)]
pub(super) enum CopyOutError {
    #[error("a table can't be read")]
    Sqlite(#[from] SqliteError),
    #[error("a fresh database can't be made")]
    Open(#[from] crate::error::OpenError),
    #[error("there is nothing in it")]
    Empty,
    #[error("it is of another version")]
    Version,
    #[error("the texts of an episode are not what they were")]
    Texts,
    #[error("{0}")]
    Reference(String),
}

impl From<rusqlite::Error> for CopyOutError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error.into())
    }
}

/// Copies the tables of `damaged` into a new database at `temporary`, and gives how many episodes it has.
///
/// # Errors
/// [`CopyOutError`]; what is at `temporary` then is of no use.
pub(super) fn copy_out(damaged: &Path, temporary: &Path) -> Result<u64, CopyOutError> {
    drop(open::open_writer(temporary)?);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let mut db = Connection::open_with_flags(temporary, flags)?;
    db.execute("ATTACH :damaged AS damaged", [read_only(damaged)])?;
    let found: u32 = db.query_row("PRAGMA damaged.user_version", [], |row| row.get(0))?;
    if found != LATEST || version(&db)? != LATEST {
        return Err(CopyOutError::Version);
    }
    // What refers to what is as it was: the order of the tables says nothing.
    db.pragma_update(None, "foreign_keys", false)?;
    let tx = db.transaction()?;
    for table in tables(&tx)? {
        // Columns stand in the same order in both, which are of one version. Names of tables can't be parameters; these are ours.
        tx.execute_batch(&format!(
            "DELETE FROM main.\"{table}\"; INSERT INTO main.\"{table}\" SELECT * FROM damaged.\"{table}\" NOT INDEXED;"
        ))?;
    }
    let episodes = episodes_as_they_were(&tx)?;
    if let Some(broken) = broken_reference(&tx)? {
        return Err(CopyOutError::Reference(broken));
    }
    tx.commit()?;
    db.execute_batch("DETACH damaged")?;
    Ok(episodes)
}

/// The file's name for SQLite, such that it is not changed by being closed.
fn read_only(path: &Path) -> String {
    let escaped = path
        .to_string_lossy()
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    format!("file:{escaped}?mode=ro")
}

fn tables(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY name")?;
    let names: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let is_derived = |name: &String| DERIVED.iter().any(|begin| name.starts_with(begin));
    Ok(names.into_iter().filter(|name| !is_derived(name)).collect())
}

/// How many episodes there are, if each has its texts and they agree with their hash.
fn episodes_as_they_were(db: &Connection) -> Result<u64, CopyOutError> {
    let mut statement = db.prepare(
        "SELECT content_hash, prompt, answer, facets FROM main.episodes
         LEFT JOIN main.episode_texts ON episode_texts.episode_id = episodes.id",
    )?;
    let mut rows = statement.query([])?;
    let mut episodes = 0;
    while let Some(row) = rows.next()? {
        let hash: [u8; 32] = row.get(0)?;
        let texts = [row.get_ref(1)?, row.get_ref(2)?, row.get_ref(3)?].map(|text| text.as_str_or_null());
        let [Ok(Some(prompt)), Ok(Some(answer)), Ok(Some(facets))] = texts else {
            return Err(CopyOutError::Texts);
        };
        if hash != content_hash([prompt, answer, facets]) {
            return Err(CopyOutError::Texts);
        }
        episodes += 1;
    }
    Ok(episodes)
}
