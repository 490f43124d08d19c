//! Sources: their positions, counters and problems, stored with what was read from them.
//! In go updates by path, out come row ids. No file is looked at here.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::Writer;
use crate::error::QueryError;
use crate::ids::SourceId;
use crate::rows::SourceUpdate;

impl Writer {
    /// Marks a source's file as gone, or as there again; its episodes stay.
    ///
    /// # Errors
    /// What SQLite reports; an unknown path is none.
    pub fn mark_source_missing(&mut self, path: &str, missing: bool) -> Result<(), QueryError> {
        self.within("mark a source", |db| {
            db.prepare_cached("UPDATE sources SET missing = :missing WHERE path = :path AND missing <> :missing")?
                .execute(named_params! {":path": path, ":missing": missing})?;
            Ok(())
        })
    }

    /// Notes that the file at `path` is another one now: what was read of the old one has no other place any more, so it
    /// stays when the new one is rewritten. To be called before the first batch of the new file, whose generation is the
    /// next; to call it again before that batch is stored changes nothing.
    ///
    /// # Errors
    /// What SQLite reports; an unknown path is none.
    pub fn replace_source(&mut self, path: &str) -> Result<(), QueryError> {
        self.within("replace a source", |db| {
            db.prepare_cached("UPDATE sources SET retire_from = generation + 1 WHERE path = :path")?
                .execute([path])?;
            Ok(())
        })
    }
}

/// Stores a source's position and adds to its counters; a new generation begins them anew, as does what is whole.
pub(super) fn upsert(db: &Connection, source: &SourceUpdate) -> rusqlite::Result<SourceId> {
    let position = &source.position;
    let id = db
        .prepare_cached(
            "INSERT INTO sources (agent, path, kind, device, inode, size, mtime, read_offset, read_line,
                 committed_offset, committed_line, committed_turn, prefix_hash, prefix_len, tail_hash, tail_len,
                 generation, records, skipped)
             VALUES (:agent, :path, :kind, :device, :inode, :size, :mtime, :read_offset, :read_line,
                 :committed_offset, :committed_line, :committed_turn, :prefix_hash, :prefix_len, :tail_hash, :tail_len,
                 :generation, :records, :skipped)
             ON CONFLICT (path) DO UPDATE SET
                 agent = excluded.agent, kind = excluded.kind, device = excluded.device, inode = excluded.inode,
                 size = excluded.size, mtime = excluded.mtime, read_offset = excluded.read_offset,
                 read_line = excluded.read_line, committed_offset = excluded.committed_offset,
                 committed_line = excluded.committed_line, committed_turn = excluded.committed_turn,
                 prefix_hash = excluded.prefix_hash, prefix_len = excluded.prefix_len,
                 tail_hash = excluded.tail_hash, tail_len = excluded.tail_len,
                 records = excluded.records + iif(generation = excluded.generation AND NOT :whole, records, 0),
                 skipped = excluded.skipped + iif(generation = excluded.generation AND NOT :whole, skipped, 0),
                 generation = excluded.generation, missing = 0
             RETURNING id",
        )?
        .query_row(
            named_params! {
                ":agent": source.agent, ":path": source.path, ":kind": source.kind,
                ":device": source.device as i64, ":inode": source.inode as i64,
                ":size": source.size as i64, ":mtime": source.mtime,
                ":read_offset": position.read_offset, ":read_line": position.read_line as i64,
                ":committed_offset": position.committed_offset, ":committed_line": position.committed_line as i64,
                ":committed_turn": position.committed_turn,
                ":prefix_hash": position.prefix_hash, ":prefix_len": position.prefix_len,
                ":tail_hash": position.tail_hash, ":tail_len": position.tail_len,
                ":generation": source.generation, ":whole": source.whole,
                ":records": source.records_delta as i64, ":skipped": source.skipped_delta as i64,
            },
            |row| row.get(0),
        )?;
    store_state(db, id, position.parser_state.as_deref())?;
    Ok(id)
}

/// Stores what the parser takes over at the source's position, with that position: one of another place would be wrong.
fn store_state(db: &Connection, id: SourceId, state: Option<&str>) -> rusqlite::Result<()> {
    match state {
        Some(state) => db
            .prepare_cached(
                "INSERT INTO source_states (source_id, state) VALUES (:id, :state)
                 ON CONFLICT (source_id) DO UPDATE SET state = excluded.state WHERE state <> excluded.state",
            )?
            .execute(named_params! {":id": id, ":state": state})?,
        None => db
            .prepare_cached("DELETE FROM source_states WHERE source_id = :id")?
            .execute([id])?,
    };
    Ok(())
}

/// Adds a batch's problems; with `fresh`, those before are about content that is gone, or was read again.
pub(super) fn add_problems(db: &Connection, id: SourceId, source: &SourceUpdate, fresh: bool) -> rusqlite::Result<()> {
    if fresh {
        db.prepare_cached("DELETE FROM source_problems WHERE source_id = :id")?
            .execute([id])?;
    }
    let mut statement = db.prepare_cached(
        "INSERT INTO source_problems (source_id, kind, count, first_line, first_offset)
         VALUES (:id, :kind, :count, :line, :offset)
         ON CONFLICT (source_id, kind) DO UPDATE SET count = count + excluded.count",
    )?;
    let mut unread_statement = db.prepare_cached(
        "INSERT INTO unread_records (source_id, kind, bytes, version)
         VALUES (:id, :kind, :bytes, :version)
         ON CONFLICT (source_id, kind) DO UPDATE SET
             bytes = bytes + excluded.bytes, version = iif(excluded.version = '', version, excluded.version)",
    )?;
    for problem in &source.problems {
        statement.execute(named_params! {
            ":id": id, ":kind": problem.kind, ":count": problem.count as i64,
            ":line": problem.first_line as i64, ":offset": problem.first_offset,
        })?;
        if let Some(unread) = &problem.unread {
            unread_statement.execute(named_params! {
                ":id": id, ":kind": problem.kind, ":bytes": unread.bytes as i64, ":version": unread.version,
            })?;
        }
    }
    Ok(())
}

/// The generation that is stored for a path.
pub(super) fn stored_generation(db: &Connection, path: &str) -> rusqlite::Result<Option<u32>> {
    db.prepare_cached("SELECT generation FROM sources WHERE path = :path")?
        .query_row([path], |row| row.get(0))
        .optional()
}
