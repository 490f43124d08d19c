//! `OpenCode`'s database. Up to 1.x a message has its parts in rows of their own; from 2.x on one row has all of it, and the
//! tables of before stay as they were. Times are epoch milliseconds, and move with every write.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, named_params};
use serde_json::json;

use super::catalogue::text;
use super::layout::{Generation, rows_of};
use super::session::{Budget, ForeignMessage, ForeignSession, LARGEST_ROW, value};

pub(super) const GENERATIONS: &[Generation] = &[
    Generation {
        tables: &["session_v2", "session_message"],
        sessions: "SELECT id, time_updated FROM session_v2",
        session: "SELECT time_updated FROM session_v2 WHERE id = :id",
        rows: &[rows_of!("session_message", "session_id", "time_updated")],
        read: read_second,
    },
    Generation {
        tables: &["session", "message", "part"],
        sessions: "SELECT id, time_updated FROM session",
        session: "SELECT time_updated FROM session WHERE id = :id",
        rows: &[
            rows_of!("message", "session_id", "time_updated"),
            rows_of!("part", "session_id", "time_updated"),
        ],
        read: read_first,
    },
];

/// A session with its messages, and their parts.
fn read_first(db: &Connection, id: &str) -> rusqlite::Result<Option<ForeignSession>> {
    let mut budget = Budget::new();
    let Some(record) = record(db, "SELECT * FROM session WHERE id = :id", id)? else {
        return Ok(None);
    };
    let mut messages = messages(
        db,
        "SELECT id, data FROM message WHERE session_id = :id AND octet_length(data) <= :most ORDER BY time_created, id",
        id,
        &mut budget,
    )?;
    let places: HashMap<String, usize> = messages
        .iter()
        .enumerate()
        .map(|(at, message)| (message.id.clone(), at))
        .collect();
    let mut statement = db.prepare_cached(
        "SELECT message_id, data FROM part WHERE session_id = :id AND octet_length(data) <= :most ORDER BY message_id, id",
    )?;
    let mut rows = statement.query(named_params! {":id": id, ":most": LARGEST_ROW})?;
    while let Some(row) = rows.next()? {
        if let Some(at) = places.get(&text(row, 0)?) {
            messages[*at].parts.push(budget.bytes(row, 1)?);
        }
    }
    Ok(Some(ForeignSession {
        record,
        messages,
        ..ForeignSession::default()
    }))
}

/// A session with its messages, of which each stands below `data`, with its `type` beside it.
fn read_second(db: &Connection, id: &str) -> rusqlite::Result<Option<ForeignSession>> {
    let Some(record) = record(db, "SELECT * FROM session_v2 WHERE id = :id", id)? else {
        return Ok(None);
    };
    let messages = messages(
        db,
        "SELECT id, '{\"type\":' || json_quote(type) || ',\"data\":' || data || '}'
         FROM session_message WHERE session_id = :id AND octet_length(data) <= :most ORDER BY seq",
        id,
        &mut Budget::new(),
    )?;
    Ok(Some(ForeignSession {
        record,
        messages,
        ..ForeignSession::default()
    }))
}

/// A session's own row, named as in a file of it.
fn record(db: &Connection, query: &str, id: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    db.prepare_cached(query)?
        .query_row([id], |row| {
            let record = json!({
                "id": value(row, "id"),
                "parentID": value(row, "parent_id"),
                "directory": value(row, "directory"),
                "title": value(row, "title"),
                "time": {"created": value(row, "time_created")},
            });
            Ok(record.to_string().into_bytes())
        })
        .optional()
}

fn messages(db: &Connection, query: &str, id: &str, budget: &mut Budget) -> rusqlite::Result<Vec<ForeignMessage>> {
    let mut statement = db.prepare_cached(query)?;
    let rows = statement.query_map(named_params! {":id": id, ":most": LARGEST_ROW}, |row| {
        Ok(ForeignMessage {
            id: text(row, 0)?,
            content: budget.bytes(row, 1)?,
            parts: Vec::new(),
        })
    })?;
    rows.collect()
}
