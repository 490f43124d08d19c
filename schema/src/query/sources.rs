//! Sources as stored: where each was read to, and whether it is gone.
//! In go paths, out come rows. The files themselves are not looked at.

use rusqlite::{OptionalExtension, Row};

use super::Reader;
use crate::error::QueryError;
use crate::rows::{SourcePosition, SourceRow};

const SOURCES: &str = "SELECT id, agent, path, kind, device, inode, size, mtime, read_offset, read_line, committed_offset,
        committed_line, committed_turn, prefix_hash, prefix_len, tail_hash, tail_len, generation, records, skipped, missing,
        state
    FROM sources LEFT JOIN source_states ON source_id = id ORDER BY path";
const SOURCE: &str = "SELECT id, agent, path, kind, device, inode, size, mtime, read_offset, read_line, committed_offset,
        committed_line, committed_turn, prefix_hash, prefix_len, tail_hash, tail_len, generation, records, skipped, missing,
        state
    FROM sources LEFT JOIN source_states ON source_id = id WHERE path = :path";

impl Reader {
    /// The source at a path, if it is known.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn source(&self, path: &str) -> Result<Option<SourceRow>, QueryError> {
        self.run("read a source", |db| {
            db.prepare_cached(SOURCE)?.query_row([path], read).optional()
        })
    }

    /// All sources, by path.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn sources(&self) -> Result<Vec<SourceRow>, QueryError> {
        self.run("read the sources", |db| {
            db.prepare_cached(SOURCES)?.query_map([], read)?.collect()
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<SourceRow> {
    let count = |column| row.get::<_, i64>(column).map(|value| value as u64);
    Ok(SourceRow {
        id: row.get(0)?,
        agent: row.get(1)?,
        path: row.get(2)?,
        kind: row.get(3)?,
        device: count(4)?,
        inode: count(5)?,
        size: count(6)?,
        mtime: row.get(7)?,
        position: SourcePosition {
            read_offset: row.get(8)?,
            read_line: count(9)?,
            committed_offset: row.get(10)?,
            committed_line: count(11)?,
            committed_turn: row.get(12)?,
            parser_state: row.get(21)?,
            prefix_hash: row.get(13)?,
            prefix_len: row.get(14)?,
            tail_hash: row.get(15)?,
            tail_len: row.get(16)?,
        },
        generation: row.get(17)?,
        records: count(18)?,
        skipped: count(19)?,
        missing: row.get(20)?,
    })
}
