//! What a session has in its own context, and what it was shown: both are no news to it; and what was asked last.
//! In goes a session's key, out come episode ids. Compaction empties the context, so only what came after counts.

use rusqlite::{OptionalExtension, named_params};

use super::Reader;
use crate::error::QueryError;
use crate::ids::{EpisodeId, ProjectId};
use crate::rows::SessionKey;

const LIVE: &str = "WITH session AS (
        SELECT id, coalesce(compacted_at, -9223372036854775807) AS since FROM sessions WHERE agent = :agent AND external_id = :id)
    SELECT episodes.id FROM session JOIN episodes ON episodes.session_id = session.id AND episodes.created_at >= session.since
    UNION
    SELECT episodes.id FROM session
    JOIN session_copies ON session_copies.session_id = session.id
    JOIN episodes ON episodes.id = session_copies.episode_id AND episodes.created_at >= session.since
    ORDER BY 1";

const SHOWN: &str = "SELECT episode_id FROM sessions JOIN session_shown ON session_shown.session_id = sessions.id
    WHERE agent = :agent AND external_id = :id AND (compacted_at IS NULL OR at >= compacted_at) ORDER BY episode_id";

/// Parts of a turn beyond the first may have no prompt.
const LAST_PROMPT: &str = "SELECT prompt FROM (
        SELECT episodes.id, episodes.created_at FROM sessions JOIN episodes ON episodes.session_id = sessions.id
        WHERE agent = :agent AND external_id = :id AND hidden = 0 ORDER BY episodes.created_at DESC LIMIT 20)
    JOIN episode_texts ON episode_texts.episode_id = id WHERE prompt <> '' ORDER BY created_at DESC, id DESC LIMIT 1";

/// Parts of a turn are neighbours here, so forty episodes hold some prompts.
const LAST_OF_PROJECT: &str = "SELECT prompt FROM (
        SELECT id, created_at FROM episodes
        WHERE project_id = :project AND origin = 'user' AND hidden = 0 ORDER BY created_at DESC, id DESC LIMIT 40) AS last
    JOIN episode_texts ON episode_texts.episode_id = last.id WHERE prompt <> '' ORDER BY created_at DESC, last.id DESC LIMIT :limit";

impl Reader {
    /// What the user asked last in a project, the latest first. What an agent asked a helper of its own is left out.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn last_prompts(&self, project: ProjectId, limit: usize) -> Result<Vec<String>, QueryError> {
        self.run("read a project's last prompts", |db| {
            db.prepare_cached(LAST_OF_PROJECT)?
                .query_map(named_params! {":project": project, ":limit": limit as i64}, |row| row.get(0))?
                .collect()
        })
    }

    /// What was asked last in a session, as far as it is remembered; `None` for an unknown session, and where it is kept out.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn last_prompt(&self, session: &SessionKey) -> Result<Option<String>, QueryError> {
        self.run("read a session's last prompt", |db| {
            db.prepare_cached(LAST_PROMPT)?
                .query_row(named_params! {":agent": session.agent, ":id": session.external_id}, |row| {
                    row.get(0)
                })
                .optional()
        })
    }

    /// Episodes that still stand in a session's own context: its own and its copies, created at or after its last
    /// compaction. None for an unknown session.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn live_context(&self, session: &SessionKey) -> Result<Vec<EpisodeId>, QueryError> {
        self.of_session("read a session's context", LIVE, session)
    }

    /// Episodes that a session was shown since its last compaction.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn shown_in_session(&self, session: &SessionKey) -> Result<Vec<EpisodeId>, QueryError> {
        self.of_session("read what a session was shown", SHOWN, session)
    }

    /// Whether an agent has, or had, a session of this id of its own.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn knows_session(&self, external_id: &str) -> Result<bool, QueryError> {
        self.run("look for a session", |db| {
            db.prepare_cached("SELECT 1 FROM sessions WHERE external_id = :id")?
                .exists([external_id])
        })
    }

    /// Whether the user keeps a session out. An unknown one is not.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn is_session_excluded(&self, session: &SessionKey) -> Result<bool, QueryError> {
        self.run("read whether a session is excluded", |db| {
            db.prepare_cached("SELECT excluded FROM sessions WHERE agent = :agent AND external_id = :id")?
                .query_row(named_params! {":agent": session.agent, ":id": session.external_id}, |row| {
                    row.get(0)
                })
                .optional()
                .map(Option::unwrap_or_default)
        })
    }

    fn of_session(&self, act: &'static str, sql: &str, session: &SessionKey) -> Result<Vec<EpisodeId>, QueryError> {
        self.run(act, |db| {
            db.prepare_cached(sql)?
                .query_map(named_params! {":agent": session.agent, ":id": session.external_id}, |row| {
                    row.get(0)
                })?
                .collect()
        })
    }
}
