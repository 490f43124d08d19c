//! Whether a database is whole: its pages, the schema, and that what a row refers to is there. In goes an open database, out comes what
//! is damaged, the full-text index apart from all else, since that is made anew of the rows. Nothing is mended here.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::ffi::SQLITE_CORRUPT_VTAB;

use crate::error::OpenError;
use crate::migrate;
use crate::open::CLEAN_SHUTDOWN;
use crate::shape;

/// After a writer that did not close in order: looks through the file. Says whether only the full-text index is damaged.
pub(crate) fn check_after_crash(db: &Connection, path: &Path) -> Result<bool, OpenError> {
    let check = OpenError::at(path, "check");
    if migrate::meta(db, CLEAN_SHUTDOWN).map_err(&check)?.as_deref() != Some("0") {
        return Ok(false);
    }
    self::check(db, path)
}

/// Looks through the file, and says whether the full-text index is damaged.
///
/// # Errors
/// [`OpenError::Corrupt`] where anything else is.
pub(crate) fn check(db: &Connection, path: &Path) -> Result<bool, OpenError> {
    let found = look_through(db).map_err(OpenError::at(path, "check"))?;
    match found.damage {
        Some(detail) => Err(OpenError::Corrupt {
            path: path.to_owned(),
            detail,
        }),
        None => Ok(found.index_damaged),
    }
}

/// What a look through a database found.
pub(crate) struct Looked {
    /// The full-text index is damaged, which is made anew of the rows.
    pub(crate) index_damaged: bool,
    /// What else is damaged, in SQLite's words; nothing makes that anew.
    pub(crate) damage: Option<String>,
}

/// Looks through a database, on past what is found of the full-text index.
///
/// # Errors
/// What SQLite reports.
pub(crate) fn look_through(db: &Connection) -> rusqlite::Result<Looked> {
    let (findings, mut index_damaged) = match quick_check(db) {
        Err(error) if is_of_index(&error) => (Vec::new(), true),
        findings => (findings?, false),
    };
    index_damaged |= findings.iter().any(|finding| is_about_index(finding));
    let is_other = |finding: &String| finding != "ok" && !is_about_index(finding);
    let mut damage = findings.into_iter().find(is_other);
    if index_damaged && damage.is_none() {
        // The check ended at the index, or had no room for more than its faults.
        for table in tables_but_the_index(db)? {
            damage = damage.or(check_table(db, &table)?);
        }
    }
    if damage.is_none() {
        damage = shape::difference(db)?;
    }
    if damage.is_none() {
        damage = broken_reference(db)?;
    }
    Ok(Looked { index_damaged, damage })
}

/// A row that refers to one that is not there: none of ours writes such a one, and what is written beside it may fail.
///
/// # Errors
/// What SQLite reports.
pub(crate) fn broken_reference(db: &Connection) -> rusqlite::Result<Option<String>> {
    let mut statement = db.prepare("PRAGMA main.foreign_key_check")?;
    let mut rows = statement.query([])?;
    Ok(match rows.next()? {
        None => None,
        Some(row) => {
            let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
            Some(format!("a row of `{table}` refers to one of `{parent}` that is not there"))
        }
    })
}

/// The tables with rows, but for those in which FTS5 keeps its index.
fn tables_but_the_index(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.prepare(
        r"SELECT name FROM sqlite_schema
          WHERE type = 'table' AND name NOT LIKE 'episodes\_fts%' ESCAPE '\' AND sql NOT LIKE 'CREATE VIRTUAL%'",
    )?
    .query_map([], |row| row.get(0))?
    .collect()
}

/// What is damaged in a table and its indexes.
fn check_table(db: &Connection, table: &str) -> rusqlite::Result<Option<String>> {
    let mut found = None;
    db.pragma(None, "quick_check", table, |row| {
        let finding: String = row.get(0)?;
        if finding != "ok" {
            found.get_or_insert(finding);
        }
        Ok(())
    })?;
    Ok(found)
}

/// The first findings of SQLite's quick check; `ok` alone if there are none.
pub(crate) fn quick_check(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.prepare("PRAGMA quick_check(8)")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Whether a check failed on the full-text index.
pub(crate) fn is_of_index(error: &rusqlite::Error) -> bool {
    error.sqlite_extended_error_code() == Some(SQLITE_CORRUPT_VTAB)
}

/// Whether a finding is about the full-text index, in either of the forms that FTS5 gives it.
pub(crate) fn is_about_index(finding: &str) -> bool {
    finding.contains("FTS5 table") || finding.starts_with("fts5:")
}
