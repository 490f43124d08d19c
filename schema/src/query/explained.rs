//! The logged prompts, for `explain` and `last`.
//! In goes which one is meant, out comes what was logged of it with how it came about; or a list of the latest. What is gone since
//! (an episode, a project's name) is left out.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::Reader;
use super::recollections::{json, read, with_places};
use crate::error::QueryError;
use crate::ids::RecollectionId;
use crate::rows::{ExplainedRecollection, PromptRow, RecollectionLog, SessionKey};

/// The first columns are those of [`read`].
const ONE: &str =
    "SELECT recollections.id, at, agent, external_id, recollections.project_id, prompt_hash, terms, reason, pool, stages,
        degradations, name, trace, (SELECT count(*) FROM recollections AS later WHERE later.id >= recollections.id)
    FROM recollections JOIN sessions ON sessions.id = recollections.session_id
    LEFT JOIN projects ON projects.id = recollections.project_id
    LEFT JOIN recollection_traces ON recollection_id = recollections.id
    WHERE recollections.id = :id";

/// `:shown` is 1 for those for which something was shown that is there still.
const NTH: &str = "SELECT recollections.id FROM recollections JOIN sessions ON sessions.id = recollections.session_id
    WHERE (:session IS NULL OR external_id = :session) AND (:shown = 0 OR EXISTS (
        SELECT 1 FROM recollection_candidates WHERE recollection_id = recollections.id AND position IS NOT NULL))
    ORDER BY recollections.id DESC LIMIT 1 OFFSET :before";

const LIST: &str = "SELECT recollections.id, (SELECT count(*) FROM recollections AS later WHERE later.id >= recollections.id),
        at, agent, external_id, name, reason, pool,
        (SELECT count(*) FROM recollection_candidates WHERE recollection_id = recollections.id AND position IS NOT NULL),
        degradations, terms
    FROM recollections JOIN sessions ON sessions.id = recollections.session_id
    LEFT JOIN projects ON projects.id = recollections.project_id
    WHERE :session IS NULL OR external_id = :session
    ORDER BY recollections.id DESC LIMIT :limit";

impl Reader {
    /// The logged prompt with this id.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn explained(&self, id: RecollectionId) -> Result<Option<ExplainedRecollection>, QueryError> {
        self.run("read how a prompt was answered", |db| explained(db, id))
    }

    /// The `number`-th latest logged prompt (1 is the latest) of the session with this id (of any agent) or of all; with `shown`
    /// only those count for which something was shown.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn nth_explained(
        &self,
        number: u32,
        session: Option<&str>,
        shown: bool,
    ) -> Result<Option<ExplainedRecollection>, QueryError> {
        self.run("find a logged prompt", |db| {
            let before = number.saturating_sub(1);
            let id: Option<RecollectionId> = db
                .prepare_cached(NTH)?
                .query_row(
                    named_params! {":session": session, ":shown": shown, ":before": before},
                    |row| row.get(0),
                )
                .optional()?;
            id.map_or(Ok(None), |id| explained(db, id))
        })
    }

    /// The `limit` latest logged prompts of the session with this id (of any agent) or of all, latest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn logged_prompts(&self, session: Option<&str>, limit: u32) -> Result<Vec<PromptRow>, QueryError> {
        self.run("list the logged prompts", |db| {
            db.prepare_cached(LIST)?
                .query_map(named_params! {":session": session, ":limit": limit}, prompt_row)?
                .collect()
        })
    }
}

fn explained(db: &Connection, id: RecollectionId) -> rusqlite::Result<Option<ExplainedRecollection>> {
    let one = |row: &Row<'_>| {
        let (id, log) = read(row)?;
        // One that cannot be read, as of a version to come, is as none: the log says what it can.
        let trace: Option<String> = row.get(12)?;
        Ok(ExplainedRecollection {
            id,
            number: row.get(13)?,
            project_name: row.get(11)?,
            log,
            places: Vec::new(),
            trace: trace.and_then(|trace| serde_json::from_str(&trace).ok()),
        })
    };
    let found = db.prepare_cached(ONE)?.query_row(named_params! {":id": id}, one).optional()?;
    let Some(found) = found else { return Ok(None) };
    let (places, candidates) = with_places(db, id)?.into_iter().unzip();
    Ok(Some(ExplainedRecollection {
        places,
        log: RecollectionLog { candidates, ..found.log },
        ..found
    }))
}

fn prompt_row(row: &Row<'_>) -> rusqlite::Result<PromptRow> {
    Ok(PromptRow {
        id: row.get(0)?,
        number: row.get(1)?,
        at: row.get(2)?,
        session: SessionKey {
            agent: row.get(3)?,
            external_id: row.get(4)?,
        },
        project_name: row.get(5)?,
        reason: row.get(6)?,
        pool: row.get(7)?,
        shown: row.get(8)?,
        degradations: json(row, 9)?,
        terms: json(row, 10)?,
    })
}

#[cfg(test)]
mod tests;
