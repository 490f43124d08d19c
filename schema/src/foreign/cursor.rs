//! Cursor's store of what its windows hold (`state.vscdb`): keys with values, most of them JSON. A conversation is the value at
//! `composerData:<id>`, its messages are those at `bubbleId:<id>:<id of the message>`. Newer versions also have a table with a
//! row for each conversation.
//!
//! A value that is written again is a new row (`UNIQUE ON CONFLICT REPLACE`), so that row numbers tell every change. The file may
//! hold gigabytes: values are looked into only where a conversation is read; all else is answered by the index of keys. Of a
//! message only what is asked for is taken, by SQLite, since what Cursor keeps beside it is many times as large.

use rusqlite::{Connection, OptionalExtension, named_params};
use serde_json::Value;

use super::layout::{Generation, Rows};
use super::session::{Budget, ForeignMessage, ForeignSession, LARGEST_ROW, value};

pub(super) const GENERATIONS: &[Generation] = &[
    Generation {
        tables: &["cursorDiskKV", "composerHeaders"],
        sessions: "SELECT composerId, lastUpdatedAt FROM composerHeaders
                   WHERE EXISTS (SELECT 1 FROM cursorDiskKV WHERE key = 'composerData:' || composerId)",
        session: "SELECT lastUpdatedAt FROM composerHeaders WHERE composerId = :id",
        rows: ROWS,
        read: |db, id| read(db, id, &header(db, id)?),
    },
    Generation {
        tables: &["cursorDiskKV"],
        sessions: "SELECT substr(key, 14), 0 FROM cursorDiskKV WHERE key > 'composerData:' AND key < 'composerData;'",
        session: "SELECT 0 FROM cursorDiskKV WHERE key = 'composerData:' || :id",
        rows: ROWS,
        read: |db, id| read(db, id, &Header::default()),
    },
];

/// The rows of messages, and the conversations' own, which name the messages. (`;` is what follows `:`; a `+` keeps SQLite from
/// going through all keys for the few rows that are new.)
const ROWS: &[Rows] = &[
    Rows {
        table: "cursorDiskKV",
        all: "SELECT substr(key, 10, instr(substr(key, 10), ':') - 1), count(*), max(rowid), 0 FROM cursorDiskKV
              WHERE key > 'bubbleId:' AND key < 'bubbleId;' GROUP BY 1",
        of_session: "SELECT count(*), max(rowid), 0 FROM cursorDiskKV
                     WHERE key > 'bubbleId:' || :id || ':' AND key < 'bubbleId:' || :id || ';'",
        newer: "SELECT substr(key, 10, instr(substr(key, 10), ':') - 1) FROM cursorDiskKV
                WHERE rowid > :mark AND +key > 'bubbleId:' AND +key < 'bubbleId;'",
        last: "SELECT max(rowid) FROM cursorDiskKV",
    },
    Rows {
        table: "cursorDiskKV",
        all: "SELECT substr(key, 14), 1, rowid, 0 FROM cursorDiskKV WHERE key > 'composerData:' AND key < 'composerData;'",
        of_session: "SELECT count(*), max(rowid), 0 FROM cursorDiskKV WHERE key = 'composerData:' || :id",
        newer: "SELECT substr(key, 14) FROM cursorDiskKV
                WHERE rowid > :mark AND +key > 'composerData:' AND +key < 'composerData;'",
        last: "SELECT max(rowid) FROM cursorDiskKV",
    },
];

/// What is asked for of a conversation; what is no JSON is handed on as it stands.
const CONVERSATION: &str = "
    SELECT iif(json_valid(text), json_object(
        'name', text -> '$.name', 'createdAt', text -> '$.createdAt', 'subagentInfo', text -> '$.subagentInfo',
        'fullConversationHeadersOnly', text -> '$.fullConversationHeadersOnly', 'conversation', text -> '$.conversation'), text)
    FROM (SELECT CAST(value AS TEXT) AS text FROM cursorDiskKV
        WHERE key = 'composerData:' || :id AND octet_length(value) <= :most)";
/// The same of its messages, with their ids.
const MESSAGES: &str = "
    SELECT substr(key, 11 + length(:id)), iif(json_valid(text), json_object(
        'type', text -> '$.type', 'text', text -> '$.text', 'createdAt', text -> '$.createdAt',
        'workspaceUris', text -> '$.workspaceUris', 'toolFormerData', text -> '$.toolFormerData'), text)
    FROM (SELECT key, CAST(value AS TEXT) AS text FROM cursorDiskKV
        WHERE key > 'bubbleId:' || :id || ':' AND key < 'bubbleId:' || :id || ';' AND octet_length(value) <= :most)";

/// A conversation's row in the table of newer versions.
#[derive(Default)]
struct Header {
    is_subagent: Value,
    /// As JSON.
    value: Value,
}

fn header(db: &Connection, id: &str) -> rusqlite::Result<Header> {
    db.prepare_cached("SELECT * FROM composerHeaders WHERE composerId = :id")?
        .query_row([id], |row| {
            let json = value(row, "value");
            Ok(Header {
                is_subagent: value(row, "isSubagent"),
                value: json
                    .as_str()
                    .and_then(|json| serde_json::from_str(json).ok())
                    .unwrap_or_default(),
            })
        })
}

/// A conversation with its header, and its messages in the order of their ids: their own order is the conversation's to tell.
fn read(db: &Connection, id: &str, header: &Header) -> rusqlite::Result<Option<ForeignSession>> {
    let mut budget = Budget::new();
    let parameters = named_params! {":id": id, ":most": LARGEST_ROW};
    let conversation = db
        .prepare_cached(CONVERSATION)?
        .query_row(parameters, |row| budget.bytes(row, 0))
        .optional()?;
    let Some(conversation) = conversation else { return Ok(None) };
    let tail = format!(",\"isSubagent\":{},\"header\":{}}}", header.is_subagent, header.value);
    let mut statement = db.prepare_cached(MESSAGES)?;
    let messages = statement.query_map(parameters, |row| {
        Ok(ForeignMessage {
            id: row.get(0)?,
            content: budget.bytes(row, 1)?,
            parts: Vec::new(),
        })
    })?;
    Ok(Some(ForeignSession {
        messages: messages.collect::<rusqlite::Result<_>>()?,
        record: [b"{\"composer\":", conversation.as_slice(), tail.as_bytes()].concat(),
        ..ForeignSession::default()
    }))
}
