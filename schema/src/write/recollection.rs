//! The log of recollections, and what showing and using do to the episodes shown.
//! In goes one prompt's outcome, out comes its id; later what of it was used. The prompt's text never gets here.

use rusqlite::{Connection, named_params};

use super::Writer;
use super::ingest::session_id;
use crate::error::QueryError;
use crate::ids::{EpisodeId, RecollectionId, SessionId};
use crate::rows::{LoggedCandidate, RecollectionLog, RecollectionTrace, RecollectionUse};
use crate::units::UnixMillis;

/// Prompts kept.
const KEPT_PROMPTS: i64 = 1_000;
/// Candidates kept a prompt, in fused order; any that was shown is kept beside.
const KEPT_CANDIDATES: usize = 20;

impl Writer {
    /// Logs what happened to one prompt. Showing sets `accessed_at` and counts in `shown_count`; it is no use, so that
    /// showing can't feed itself. Candidates that are gone by now are left out.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn record_recollection(&mut self, log: &RecollectionLog) -> Result<RecollectionId, QueryError> {
        self.record_explained(log, None)
    }

    /// As [`Writer::record_recollection`], with how it came about, where that is known: kept for as long as the prompt. One that is
    /// longer than [`RecollectionTrace::MOST_BYTES`] is left out.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn record_explained(
        &mut self,
        log: &RecollectionLog,
        trace: Option<&RecollectionTrace>,
    ) -> Result<RecollectionId, QueryError> {
        self.within("log a recollection", |db| {
            let session = session_id(db, &log.session)?;
            let id = insert(db, session, log)?;
            if let Some(trace) = trace {
                insert_trace(db, id, trace)?;
            }
            for (place, candidate) in log.candidates.iter().enumerate() {
                if place < KEPT_CANDIDATES || candidate.position.is_some() {
                    insert_candidate(db, id, place, candidate)?;
                }
                if candidate.position.is_some() {
                    mark_shown(db, session, log, candidate)?;
                }
            }
            db.prepare_cached("DELETE FROM recollections WHERE id <= :id")?
                .execute([id.0 - KEPT_PROMPTS])?;
            Ok(id)
        })
    }

    /// Counts what turned out to be used, in one transaction, and gives how many uses were new. A showing counts once,
    /// however often its turn is read; what was never shown, or is gone by now, counts for nothing.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn record_recollection_uses(&mut self, uses: &[RecollectionUse], now: UnixMillis) -> Result<u64, QueryError> {
        self.within("record what was used", |db| {
            let mut counted = 0;
            for shown in uses {
                if insert_use(db, shown)? {
                    count_use(db, shown.episode, now)?;
                    counted += 1;
                }
            }
            Ok(counted)
        })
    }
}

/// Notes a use unless it is noted already, and says whether it was.
fn insert_use(db: &Connection, shown: &RecollectionUse) -> rusqlite::Result<bool> {
    let inserted = db
        .prepare_cached(
            "INSERT OR IGNORE INTO recollection_uses (recollection_id, episode_id, evidence)
             SELECT recollection_id, episode_id, :evidence FROM recollection_candidates
             WHERE recollection_id = :id AND episode_id = :episode AND position IS NOT NULL",
        )?
        .execute(named_params! {":id": shown.recollection, ":episode": shown.episode, ":evidence": shown.evidence})?;
    Ok(inserted > 0)
}

/// Raises an episode's count of uses.
pub(super) fn count_use(db: &Connection, id: EpisodeId, now: UnixMillis) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE episodes SET access_count = access_count + 1, accessed_at = max(accessed_at, :now) WHERE id = :id",
    )?
    .execute(named_params! {":id": id, ":now": now})?;
    Ok(())
}

fn insert(db: &Connection, session: SessionId, log: &RecollectionLog) -> rusqlite::Result<RecollectionId> {
    db.prepare_cached(
        "INSERT INTO recollections (at, session_id, project_id, prompt_hash, terms, reason, pool, stages, degradations)
         VALUES (:at, :session, (SELECT id FROM projects WHERE id = :project), :hash, :terms, :reason, :pool, :stages, :degradations)
         RETURNING id",
    )?
    .query_row(
        named_params! {
            ":at": log.at, ":session": session, ":project": log.project, ":hash": log.prompt_hash,
            ":terms": to_json(&log.terms)?, ":reason": log.reason, ":pool": log.pool,
            ":stages": to_json(&log.stages)?, ":degradations": to_json(&log.degradations)?,
        },
        |row| row.get(0),
    )
}

fn insert_trace(db: &Connection, id: RecollectionId, trace: &RecollectionTrace) -> rusqlite::Result<()> {
    let trace = to_json(trace)?;
    if trace.len() <= RecollectionTrace::MOST_BYTES {
        db.prepare_cached("INSERT INTO recollection_traces (recollection_id, trace) VALUES (:id, :trace)")?
            .execute(named_params! {":id": id, ":trace": trace})?;
    }
    Ok(())
}

fn insert_candidate(db: &Connection, id: RecollectionId, place: usize, candidate: &LoggedCandidate) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO recollection_candidates (recollection_id, place, episode_id, fused, bm25, cosine,
             bm25_rank, vector_rank, recency_rank, access_rank, gate, position)
         SELECT :id, :place, :episode, :fused, :bm25, :cosine, :bm25_rank, :vector_rank, :recency_rank, :access_rank, :gate, :position
         WHERE EXISTS (SELECT 1 FROM episodes WHERE id = :episode)",
    )?
    .execute(named_params! {
        ":id": id, ":place": place as i64, ":episode": candidate.episode, ":fused": candidate.fused,
        ":bm25": candidate.bm25, ":cosine": candidate.cosine, ":bm25_rank": candidate.bm25_rank,
        ":vector_rank": candidate.vector_rank, ":recency_rank": candidate.recency_rank,
        ":access_rank": candidate.access_rank, ":gate": candidate.gate, ":position": candidate.position,
    })?;
    Ok(())
}

fn mark_shown(db: &Connection, session: SessionId, log: &RecollectionLog, candidate: &LoggedCandidate) -> rusqlite::Result<()> {
    let changed = db
        .prepare_cached("UPDATE episodes SET shown_count = shown_count + 1, accessed_at = max(accessed_at, :at) WHERE id = :id")?
        .execute(named_params! {":id": candidate.episode, ":at": log.at})?;
    if changed > 0 {
        db.prepare_cached(
            "INSERT INTO session_shown (session_id, episode_id, at) VALUES (:session, :episode, :at)
             ON CONFLICT (session_id, episode_id) DO UPDATE SET at = max(at, excluded.at)",
        )?
        .execute(named_params! {":session": session, ":episode": candidate.episode, ":at": log.at})?;
    }
    Ok(())
}

fn to_json<T: serde::Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

#[cfg(test)]
mod tests;
