//! Whether a database has the schema that our migrations make, and nothing beside it. In goes an open database, out comes the first
//! difference in words. A trigger of somebody else's would do with every write what it says; a table, a column or an index that is
//! gone lets statements fail one by one, long after the file was taken for whole.
//!
//! What is compared is `sqlite_schema`: that of the database with that of one in memory, which has had as many migrations. Statistics
//! are SQLite's to make. Of the tables in which FTS5 and vec0 keep what is theirs the names are compared and not the texts, which their
//! versions word differently; and of a vector its dimension is not, which the model says.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::error::OpenError;
use crate::migrate::{LATEST, MIGRATIONS, version};
use crate::vec_extension;

/// Tables that SQLite makes by itself, for statistics and for row ids.
const OF_SQLITE: [&str; 5] = [
    "sqlite_stat1",
    "sqlite_stat2",
    "sqlite_stat3",
    "sqlite_stat4",
    "sqlite_sequence",
];
/// Begin the names of tables that belong to a virtual table.
const OF_VIRTUAL_TABLES: [&str; 2] = ["episodes_fts_", "episodes_vec_"];
/// The one of these that is made by a migration.
const VOCABULARY: &str = "episodes_fts_vocab";

/// Kind and name of all that there is, each with its table and its text.
type Shape = BTreeMap<(String, String), (String, String)>;

/// Refuses a database whose schema is not that of its version.
///
/// # Errors
/// [`OpenError::Corrupt`] with the difference; what SQLite reports.
pub(crate) fn check(db: &Connection, path: &Path) -> Result<(), OpenError> {
    match difference(db).map_err(OpenError::at(path, "read"))? {
        None => Ok(()),
        Some(detail) => Err(OpenError::Corrupt {
            path: path.to_owned(),
            detail,
        }),
    }
}

/// What is other than in a database of the same version that our migrations made; nothing is known of a newer version.
///
/// # Errors
/// What SQLite reports.
pub(crate) fn difference(db: &Connection) -> rusqlite::Result<Option<String>> {
    let version = version(db)?;
    if version > LATEST {
        return Ok(None);
    }
    let found = shape(db)?;
    Ok(if version == LATEST {
        between(latest()?, &found)
    } else {
        between(&made_by(version)?, &found)
    })
}

/// The shape of this version: asked for at every start and for every copy.
fn latest() -> rusqlite::Result<&'static Shape> {
    static SHAPE: OnceLock<Shape> = OnceLock::new();
    if let Some(shape) = SHAPE.get() {
        return Ok(shape);
    }
    let made = made_by(LATEST)?;
    Ok(SHAPE.get_or_init(|| made))
}

fn made_by(version: u32) -> rusqlite::Result<Shape> {
    vec_extension::register()?;
    let db = Connection::open_in_memory()?;
    for migration in MIGRATIONS.iter().take(version as usize) {
        db.execute_batch(migration.sql)?;
    }
    shape(&db)
}

fn shape(db: &Connection) -> rusqlite::Result<Shape> {
    let mut statement = db.prepare("SELECT type, name, tbl_name, sql FROM main.sqlite_schema")?;
    let mut rows = statement.query([])?;
    let mut shape = Shape::new();
    while let Some(row) = rows.next()? {
        let (kind, name) = (text(row, 0)?, text(row, 1)?);
        if kind == "table" && OF_SQLITE.contains(&name.as_str()) {
            continue;
        }
        let sql = if is_kept_by_another(&name) {
            String::new()
        } else {
            compared(&text(row, 3)?)
        };
        shape.insert((kind, name), (text(row, 2)?, sql));
    }
    Ok(shape)
}

/// A column as text, whatever it holds.
fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => String::new(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
    })
}

fn is_kept_by_another(name: &str) -> bool {
    let table = name.strip_prefix("sqlite_autoindex_").unwrap_or(name);
    table != VOCABULARY && OF_VIRTUAL_TABLES.iter().any(|begin| table.starts_with(begin))
}

/// A statement without what says nothing: blanks, quotes around names, and the dimension of vectors.
fn compared(sql: &str) -> String {
    let bare: String = sql.chars().filter(|char| !char.is_whitespace() && *char != '"').collect();
    match bare.split_once("bit[") {
        Some((before, after)) if bare.contains("USINGvec0") => {
            format!("{before}bit[{}", after.trim_start_matches(|char: char| char.is_ascii_digit()))
        }
        _ => bare,
    }
}

/// The first difference, what is missing first.
fn between(made: &Shape, found: &Shape) -> Option<String> {
    for ((kind, name), text) in made {
        match found.get(&(kind.clone(), name.clone())) {
            None => return Some(format!("the {kind} `{name}` is missing")),
            Some(other) if other != text => return Some(format!("the {kind} `{name}` is not as this program makes it")),
            Some(_) => {}
        }
    }
    let is_foreign = |(kind, name): &&(String, String)| {
        // A newer version of theirs may keep one more.
        let is_theirs = matches!(kind.as_str(), "table" | "index") && is_kept_by_another(name);
        !is_theirs && !made.contains_key(&(kind.clone(), name.clone()))
    };
    let (kind, name) = found.keys().find(is_foreign)?;
    Some(format!(
        "it has a {} `{}` that this program never makes",
        told(kind),
        told(name)
    ))
}

/// A name of somebody else's, as far as it is fit to be told.
fn told(name: &str) -> String {
    let fit = |char: &char| char.is_ascii_alphanumeric() || "_-. ".contains(*char);
    name.chars().filter(fit).take(40).collect()
}

#[cfg(test)]
mod tests;
