//! How far the rewriting of rows is that older rules of redaction let through.

use super::Reader;
use crate::error::QueryError;
use crate::ids::EpisodeId;
use crate::redaction::{RedactionState, Table, leftover, noted_version, position};

impl Reader {
    /// Where the rewriting of older rows stands.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn redaction(&self) -> Result<RedactionState, QueryError> {
        self.run("read how far rows are redacted", |db| {
            let under_way = position(db)?.map(|(version, table, id)| match table {
                Table::Sessions => (version, EpisodeId(0)),
                Table::Episodes => (version, EpisodeId(id)),
            });
            let last: Option<EpisodeId> = db.query_row("SELECT max(id) FROM episodes", [], |row| row.get(0))?;
            Ok(RedactionState {
                version: noted_version(db)?,
                under_way,
                last: last.unwrap_or(EpisodeId(0)),
                unscrubbed: leftover(db)?.is_some(),
            })
        })
    }
}
