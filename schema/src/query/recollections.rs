//! The log of recollections, for `why` and for feedback.
//! In goes a session or none, out comes what was logged last, or what was shown and is not known to be used.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, named_params};
use serde::de::DeserializeOwned;

use super::Reader;
use crate::error::QueryError;
use crate::ids::RecollectionId;
use crate::rows::{LoggedCandidate, LoggedRecollection, RecollectionLog, SessionKey, Showing};
use crate::units::UnixMillis;

const LAST: &str =
    "SELECT recollections.id, at, agent, external_id, recollections.project_id, prompt_hash, terms, reason, pool, stages,
        degradations
    FROM recollections JOIN sessions ON sessions.id = recollections.session_id
    WHERE :id IS NULL OR external_id = :id
    ORDER BY recollections.id DESC LIMIT 1";

const CANDIDATES: &str =
    "SELECT episode_id, fused, bm25, cosine, bm25_rank, vector_rank, recency_rank, access_rank, gate, position, place
    FROM recollection_candidates WHERE recollection_id = :id ORDER BY place";

const UNUSED: &str = "SELECT recollections.id, at, episode_id
    FROM sessions JOIN recollections ON recollections.session_id = sessions.id
    JOIN recollection_candidates ON recollection_candidates.recollection_id = recollections.id AND position IS NOT NULL
    WHERE agent = :agent AND external_id = :id AND at BETWEEN :from AND :to AND NOT EXISTS (
        SELECT 1 FROM recollection_uses AS uses
        WHERE uses.recollection_id = recollections.id AND uses.episode_id = recollection_candidates.episode_id)
    ORDER BY recollections.id, position";

impl Reader {
    /// What a session was shown from one moment to another, both included, and is not known to have used.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn unused_showings(&self, session: &SessionKey, from: UnixMillis, to: UnixMillis) -> Result<Vec<Showing>, QueryError> {
        self.run("read what was shown", |db| {
            db.prepare_cached(UNUSED)?
                .query_map(
                    named_params! {":agent": session.agent, ":id": session.external_id, ":from": from, ":to": to},
                    |row| {
                        Ok(Showing {
                            recollection: row.get(0)?,
                            at: row.get(1)?,
                            episode: row.get(2)?,
                        })
                    },
                )?
                .collect()
        })
    }

    /// The last recollection that was logged, of the session with this id (of any agent) or of all.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn last_recollection(&self, session: Option<&str>) -> Result<Option<LoggedRecollection>, QueryError> {
        self.run("read the last recollection", |db| {
            let last = db
                .prepare_cached(LAST)?
                .query_row(named_params! {":id": session}, read)
                .optional()?;
            last.map(|(id, log)| {
                Ok(LoggedRecollection {
                    id,
                    log: RecollectionLog {
                        candidates: candidates(db, id)?,
                        ..log
                    },
                })
            })
            .transpose()
        })
    }
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<(RecollectionId, RecollectionLog)> {
    let log = RecollectionLog {
        at: row.get(1)?,
        session: SessionKey {
            agent: row.get(2)?,
            external_id: row.get(3)?,
        },
        project: row.get(4)?,
        prompt_hash: row.get(5)?,
        terms: json(row, 6)?,
        reason: row.get(7)?,
        pool: row.get(8)?,
        stages: json(row, 9)?,
        degradations: json(row, 10)?,
        candidates: Vec::new(),
    };
    Ok((row.get(0)?, log))
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

fn candidates(db: &Connection, id: RecollectionId) -> rusqlite::Result<Vec<LoggedCandidate>> {
    let rows = with_places(db, id)?;
    Ok(rows.into_iter().map(|(_, candidate)| candidate).collect())
}

/// The candidates of a log that are still there, each with its 0-based place among all that were logged.
pub(super) fn with_places(db: &Connection, id: RecollectionId) -> rusqlite::Result<Vec<(u32, LoggedCandidate)>> {
    let read = |row: &Row<'_>| {
        let candidate = LoggedCandidate {
            episode: row.get(0)?,
            fused: row.get(1)?,
            bm25: row.get(2)?,
            cosine: row.get(3)?,
            bm25_rank: row.get(4)?,
            vector_rank: row.get(5)?,
            recency_rank: row.get(6)?,
            access_rank: row.get(7)?,
            gate: row.get(8)?,
            position: row.get(9)?,
        };
        Ok((row.get(10)?, candidate))
    };
    db.prepare_cached(CANDIDATES)?.query_map([id], read)?.collect()
}
