//! Counts for `status` and `doctor`.
//! In goes nothing, out comes one snapshot. Not for the prompt's path: some counts walk an index.

use rusqlite::{Connection, Row};

use super::Reader;
use super::backlog::other_models;
use crate::copy::with_suffix;
use crate::error::QueryError;
use crate::integrity::{broken_reference, quick_check};
use crate::migrate::{self, meta};
use crate::rows::{SourceProblem, StoreStats, Unread};
use crate::shape;
use crate::write::{INDEX_ANALYSIS, current_model};

const PROBLEMS: &str = "SELECT path, source_problems.kind, count, first_line, first_offset, agent, mtime, bytes, version
    FROM source_problems JOIN sources ON sources.id = source_problems.source_id
    LEFT JOIN unread_records ON unread_records.source_id = source_problems.source_id
        AND unread_records.kind = source_problems.kind
    ORDER BY count DESC, path, source_problems.kind";
const REMEMBERED: &str = "SELECT count(*) FROM sessions JOIN episodes ON episodes.session_id = sessions.id
    WHERE agent = 'user' AND external_id = 'remembered' AND generation <> -2";
const READ_BYTES: &str = "SELECT agent, sum(read_offset) FROM sources GROUP BY agent ORDER BY agent";

impl Reader {
    /// Counts and sizes, all of one moment.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn stats(&self) -> Result<StoreStats, QueryError> {
        let wal_bytes = fs_err::metadata(with_suffix(&self.path, "-wal")).map_or(0, |metadata| metadata.len());
        self.run("count what is stored", |db| {
            let snapshot = db.unchecked_transaction()?;
            let stats = count_all(&snapshot, wal_bytes)?;
            snapshot.finish()?;
            Ok(stats)
        })
    }
}

impl Reader {
    /// What SQLite's quick check finds, at most eight findings, how the schema differs from ours, and a row that refers to none; nothing
    /// where the database is whole. It reads all of it.
    ///
    /// # Errors
    /// What SQLite reports, of damage too great to go on.
    pub fn damages(&self) -> Result<Vec<String>, QueryError> {
        let mut findings = self.run("look through the database", quick_check)?;
        findings.retain(|finding| finding != "ok");
        findings.extend(self.run("look at the schema", shape::difference)?);
        if findings.is_empty() {
            findings.extend(self.run("look at what rows refer to", broken_reference)?);
        }
        Ok(findings)
    }
}

fn count_all(db: &Connection, wal_bytes: u64) -> rusqlite::Result<StoreStats> {
    let model = current_model(db)?;
    let episodes = count(db, "SELECT count(*) FROM episodes")?;
    let without = count(db, "SELECT count(*) FROM episodes WHERE embedding IS NULL AND hidden = 0")?;
    let with_any = count(db, "SELECT count(*) FROM episodes WHERE embedding_model IS NOT NULL")?;
    let mut of_others = 0;
    for other in other_models(db, model.as_ref().map_or("", |(name, _)| name))? {
        of_others += db
            .prepare_cached("SELECT count(*) FROM episodes WHERE embedding_model = :other")?
            .query_row([other], |row| row.get::<_, i64>(0))? as u64;
    }
    Ok(StoreStats {
        sessions: count(db, "SELECT count(DISTINCT session_id) FROM episodes")?,
        projects: count(db, "SELECT count(*) FROM projects")?,
        episodes,
        hidden: episodes - without - with_any,
        embedded: with_any - of_others,
        backlog: without + of_others,
        sources: count(db, "SELECT count(*) FROM sources")?,
        missing_sources: count(db, "SELECT count(*) FROM sources WHERE missing = 1")?,
        records: count(db, "SELECT coalesce(sum(records), 0) FROM sources")?,
        skipped: count(db, "SELECT coalesce(sum(skipped), 0) FROM sources")?,
        problems: problems(db)?,
        read_bytes: read_bytes(db)?,
        tombstones: count(db, "SELECT count(*) FROM tombstones")?,
        retired: count(db, "SELECT count(*) FROM retired_turns")?,
        muted: count(db, "SELECT count(*) FROM steered_turns WHERE muted_at IS NOT NULL")?,
        boosted: count(db, "SELECT count(*) FROM steered_turns WHERE boosted_at IS NOT NULL")?,
        remembered: count(db, REMEMBERED)?,
        db_bytes: count(db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")?,
        wal_bytes,
        schema_version: migrate::version(db)?,
        meta_schema_version: number(db, "schema_version")?,
        analysis_version: number(db, INDEX_ANALYSIS)?,
        model,
    })
}

fn count(db: &Connection, sql: &str) -> rusqlite::Result<u64> {
    db.prepare_cached(sql)?
        .query_row([], |row| row.get::<_, i64>(0))
        .map(|count| count as u64)
}

/// A number of `_meta`; 0 if there is none.
fn number(db: &Connection, key: &str) -> rusqlite::Result<u32> {
    Ok(meta(db, key)?.and_then(|value| value.parse().ok()).unwrap_or(0))
}

fn read_bytes(db: &Connection) -> rusqlite::Result<Vec<(String, u64)>> {
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64));
    db.prepare_cached(READ_BYTES)?.query_map([], read)?.collect()
}

fn problems(db: &Connection) -> rusqlite::Result<Vec<SourceProblem>> {
    let read = |row: &Row<'_>| {
        Ok(SourceProblem {
            path: row.get(0)?,
            kind: row.get(1)?,
            count: row.get::<_, i64>(2)? as u64,
            first_line: row.get::<_, i64>(3)? as u64,
            first_offset: row.get(4)?,
            agent: row.get(5)?,
            written: row.get(6)?,
            unread: match row.get::<_, Option<i64>>(7)? {
                None => None,
                Some(bytes) => Some(Unread {
                    bytes: bytes as u64,
                    version: row.get(8)?,
                }),
            },
        })
    };
    db.prepare_cached(PROBLEMS)?.query_map([], read)?.collect()
}
