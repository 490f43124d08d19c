//! Goose's database (1.20 on). A message is one row with its content as JSON. A session's row is changed with each message, by
//! the second; a message's time is in epoch seconds. Rows of messages are never numbered twice, and are all written anew where
//! a conversation is compacted.

use rusqlite::{Connection, OptionalExtension, named_params};
use serde_json::json;

use super::layout::{Generation, rows_of};
use super::session::{Budget, ForeignMessage, ForeignSession, LARGEST_ROW, value};

pub(super) const GENERATIONS: &[Generation] = &[Generation {
    tables: &["sessions", "messages"],
    sessions: "SELECT id, unixepoch(updated_at) * 1000 FROM sessions",
    session: "SELECT unixepoch(updated_at) * 1000 FROM sessions WHERE id = :id",
    // Their number and their count tell all, and stand in an index.
    rows: &[rows_of!("messages", "session_id", "0")],
    read,
}];

/// A session as its file began, and its messages as the lines of that file.
fn read(db: &Connection, id: &str) -> rusqlite::Result<Option<ForeignSession>> {
    let record = db
        .prepare_cached("SELECT * FROM sessions WHERE id = :id")?
        .query_row([id], |row| {
            // Before it was called a name it was a description.
            let name = Some(value(row, "name")).filter(|name| name.as_str().is_some_and(|name| !name.is_empty()));
            let record = json!({
                "working_dir": value(row, "working_dir"),
                "description": name.unwrap_or_else(|| value(row, "description")),
                "session_type": value(row, "session_type"),
                "parent_session_id": value(row, "parent_session_id"),
            });
            Ok(record.to_string().into_bytes())
        })
        .optional()?;
    let Some(record) = record else { return Ok(None) };
    let mut budget = Budget::new();
    let mut statement =
        db.prepare_cached("SELECT * FROM messages WHERE session_id = :id AND octet_length(content_json) <= :most ORDER BY id")?;
    let (content, metadata) = (
        statement.column_index("content_json")?,
        statement.column_index("metadata_json").ok(),
    );
    let rows = statement.query_map(named_params! {":id": id, ":most": LARGEST_ROW}, |row| {
        let content = or_null(budget.bytes(row, content)?);
        let metadata = or_null(
            metadata
                .map(|column| budget.bytes(row, column))
                .transpose()?
                .unwrap_or_default(),
        );
        let (role, created) = (value(row, "role"), value(row, "created_timestamp"));
        let head = format!("{{\"role\":{role},\"created\":{created},\"content\":");
        Ok(ForeignMessage {
            id: String::new(),
            content: [head.as_bytes(), &content, b",\"metadata\":", &metadata, b"}"].concat(),
            parts: Vec::new(),
        })
    })?;
    Ok(Some(ForeignSession {
        messages: rows.collect::<rusqlite::Result<_>>()?,
        record,
        ..ForeignSession::default()
    }))
}

fn or_null(json: Vec<u8>) -> Vec<u8> {
    if json.is_empty() { b"null".to_vec() } else { json }
}
