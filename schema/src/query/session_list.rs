//! Sessions, the one that was last at work first, a page at a time.
//! In goes what is asked for and a place to go on from, out come sessions that have a turn of it, hidden ones too. The turns are
//! walked from the latest on by the indexes of migration 0018, and a session is met at its last one; so a page costs the turns
//! between its place and the last turn of its last session.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::Reader;
use super::sharers::sharer_of_session;
use super::timeline::{ids, of_agent};
use crate::error::QueryError;
use crate::ids::EpisodeId;
use crate::rows::{EpisodeFilter, SessionKey, SessionRow, TurnPlace};

macro_rules! latest {
    ($project:literal, $of_the_same:literal) => {
        concat!(
            "SELECT id FROM episodes AS last WHERE ",
            $project,
            "created_at >= :since AND created_at <= :at AND part = 0 AND (created_at < :at OR id < :id) AND ",
            of_agent!(),
            " AND NOT EXISTS (SELECT 1 FROM episodes AS later WHERE later.session_id = last.session_id
                AND later.created_at >= last.created_at AND later.created_at < :until AND later.part = 0 ",
            $of_the_same,
            "AND (later.created_at > last.created_at OR later.id > last.id))
            ORDER BY created_at DESC, part DESC, id DESC LIMIT :limit"
        )
    };
}

pub(super) const LATEST: &str = latest!("", "");
/// A `+` keeps the index of the project out of it: a session is the shorter.
pub(super) const LATEST_OF_PROJECT: &str = latest!("project_id = :project AND ", "AND +later.project_id = last.project_id ");

pub(super) const LAST_OF_SESSION: &str = "SELECT id FROM episodes
    WHERE session_id = (SELECT id FROM sessions WHERE agent = :agent AND external_id = :session) AND part = 0
    ORDER BY created_at DESC, id DESC LIMIT 1";

/// `:id` is the turn by which the session was met.
pub(super) const SESSION: &str = "SELECT last.created_at, last.id, agent, external_id, title,
        (SELECT name FROM projects WHERE projects.id = last.project_id),
        (SELECT min(created_at) FROM episodes WHERE session_id = sessions.id),
        (SELECT max(created_at) FROM episodes WHERE session_id = sessions.id),
        (SELECT count(*) FROM episodes WHERE session_id = sessions.id AND part = 0),
        NOT EXISTS (SELECT 1 FROM episodes WHERE session_id = sessions.id AND hidden = 0),
        (SELECT prompt FROM episodes AS first JOIN episode_texts ON episode_id = first.id
            WHERE first.session_id = sessions.id AND first.part = 0 AND prompt <> '' ORDER BY first.created_at, first.id LIMIT 1)
    FROM episodes AS last JOIN sessions ON sessions.id = last.session_id WHERE last.id = :id";

impl Reader {
    /// The `limit` sessions that were last at work before `place` on what is asked for, latest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn sessions_before(&self, filter: &EpisodeFilter, place: TurnPlace, limit: usize) -> Result<Vec<SessionRow>, QueryError> {
        let place = place.min(TurnPlace::before(filter.end()));
        self.run("list sessions", |db| {
            let ids = match filter.project {
                None => ids(
                    db,
                    LATEST,
                    named_params! {":since": filter.first(), ":until": filter.end(), ":at": place.at, ":id": place.id,
                    ":agent": filter.agent, ":limit": limit as i64},
                ),
                Some(project) => ids(
                    db,
                    LATEST_OF_PROJECT,
                    named_params! {":since": filter.first(), ":until": filter.end(), ":at": place.at, ":id": place.id,
                    ":agent": filter.agent, ":limit": limit as i64, ":project": project},
                ),
            }?;
            sessions(db, &ids)
        })
    }

    /// A session with a turn of its own; `None` for an unknown one.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn session(&self, session: &SessionKey) -> Result<Option<SessionRow>, QueryError> {
        self.run("read a session", |db| {
            let last = ids(
                db,
                LAST_OF_SESSION,
                named_params! {":agent": session.agent, ":session": session.external_id},
            )?;
            Ok(sessions(db, &last)?.pop())
        })
    }
}

fn sessions(db: &Connection, turns: &[EpisodeId]) -> rusqlite::Result<Vec<SessionRow>> {
    let mut statement = db.prepare_cached(SESSION)?;
    let mut found = Vec::with_capacity(turns.len());
    for id in turns {
        if let Some(session) = statement.query_row(named_params! {":id": id}, session).optional()? {
            found.push(SessionRow {
                shared_by: sharer_of_session(db, *id)?,
                ..session
            });
        }
    }
    Ok(found)
}

fn session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        last: TurnPlace {
            at: row.get(0)?,
            id: row.get(1)?,
        },
        session: SessionKey {
            agent: row.get(2)?,
            external_id: row.get(3)?,
        },
        title: row.get(4)?,
        project_name: row.get(5)?,
        begin: row.get(6)?,
        end: row.get(7)?,
        turns: row.get::<_, i64>(8)? as u64,
        hidden: row.get(9)?,
        first_prompt: row.get(10)?,
        shared_by: None,
    })
}

#[cfg(test)]
mod tests;
