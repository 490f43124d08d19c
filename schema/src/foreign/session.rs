//! One session of another program's database: its rows as JSON, in the shape that its agent gave such records in files.

use rusqlite::types::ValueRef;
use rusqlite::{Row, ffi};
use serde_json::Value;

use super::catalogue::Stamp;

/// What is read of one session at most, in bytes: it is held in memory as a whole.
const LARGEST_SESSION: usize = 64 << 20;
/// A row's text that is longer is left out, in bytes: it holds a picture or a file.
pub(super) const LARGEST_ROW: i64 = 8 << 20;

/// A session.
#[derive(Debug, Default)]
pub struct ForeignSession {
    /// How it stands.
    pub stamp: Stamp,
    /// Its own row, as a JSON object.
    pub record: Vec<u8>,
    /// Its messages, in order.
    pub messages: Vec<ForeignMessage>,
}

/// A message of a session.
#[derive(Debug, Default)]
pub struct ForeignMessage {
    /// Its id; empty where it has none.
    pub id: String,
    /// The message, as JSON.
    pub content: Vec<u8>,
    /// What stands in rows of its own, as JSON, in order.
    pub parts: Vec<Vec<u8>>,
}

/// What may still be read of a session.
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new() -> Self {
        Self(LARGEST_SESSION)
    }

    /// Reads a text or a blob; empty where there is neither.
    ///
    /// # Errors
    /// That the session is too large.
    pub(super) fn bytes(&mut self, row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
        let bytes = match row.get_ref(column)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => &[],
        };
        let too_large = || rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None);
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(too_large)?;
        Ok(bytes.to_vec())
    }
}

/// A column by its name as JSON; `null` where the table has no such column.
pub(super) fn value(row: &Row<'_>, column: &str) -> Value {
    match row.get_ref(column) {
        Ok(ValueRef::Text(text)) => String::from_utf8_lossy(text).into(),
        Ok(ValueRef::Integer(number)) => number.into(),
        Ok(ValueRef::Real(number)) => number.into(),
        Ok(ValueRef::Null | ValueRef::Blob(_)) | Err(_) => Value::Null,
    }
}
