//! Turns by time, of all projects or of one, a page at a time.
//! In goes what is asked for and a place to go on from, out come turns in order, hidden ones too. Served by the indexes of
//! migration 0018: a page costs what it gives, and where an agent is asked for, a look at the index's entries between.

use rusqlite::{Connection, Row, named_params};

use super::Reader;
use super::episodes::by_ids;
use super::sharers::{shared_by, shared_by_columns};
use crate::error::QueryError;
use crate::ids::EpisodeId;
use crate::rows::{EpisodeFilter, SessionKey, TurnPlace, TurnRow};

/// Turns of this agent, or of all. In no index's terms, so that time alone chooses the index.
macro_rules! of_agent {
    () => {
        "(:agent IS NULL OR session_id IN (SELECT id FROM sessions WHERE agent = :agent))"
    };
}
pub(super) use of_agent;

macro_rules! older {
    ($project:literal) => {
        concat!(
            "SELECT id FROM episodes WHERE ",
            $project,
            "created_at >= :since AND created_at <= :at AND part = 0 AND (created_at < :at OR id < :id) AND ",
            of_agent!(),
            " ORDER BY created_at DESC, part DESC, id DESC LIMIT :limit"
        )
    };
}

macro_rules! newer {
    ($project:literal) => {
        concat!(
            "SELECT id FROM episodes WHERE ",
            $project,
            "created_at >= :at AND created_at < :until AND part = 0 AND (created_at > :at OR id > :id) AND ",
            of_agent!(),
            " ORDER BY created_at, part, id LIMIT :limit"
        )
    };
}

pub(super) const OLDER: &str = older!("");
pub(super) const OLDER_OF_PROJECT: &str = older!("project_id = :project AND ");
pub(super) const NEWER: &str = newer!("");
pub(super) const NEWER_OF_PROJECT: &str = newer!("project_id = :project AND ");

/// `?1` is null: [`by_ids`] has a first parameter.
const TURNS: &str = concat!(
    "SELECT episodes.id, uid, turn_uid, created_at, sessions.agent, sessions.external_id, origin, hidden,
        (SELECT name FROM projects WHERE projects.id = episodes.project_id),
        (SELECT count(*) FROM episodes AS parts WHERE parts.turn_uid = episodes.turn_uid),
        prompt, CASE WHEN prompt = '' THEN answer END, ",
    shared_by_columns!(),
    " FROM episodes
    JOIN episode_texts ON episode_texts.episode_id = episodes.id
    JOIN sessions ON sessions.id = episodes.session_id
    LEFT JOIN shared_episodes ON shared_episodes.episode_id = episodes.id
    WHERE ?1 IS NULL AND episodes.id IN "
);

impl Reader {
    /// The `limit` latest turns before `place`, latest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn older_turns(&self, filter: &EpisodeFilter, place: TurnPlace, limit: usize) -> Result<Vec<TurnRow>, QueryError> {
        let place = place.min(TurnPlace::before(filter.end()));
        self.run("list turns", |db| {
            let ids = match filter.project {
                None => ids(
                    db,
                    OLDER,
                    named_params! {":since": filter.first(), ":at": place.at, ":id": place.id, ":agent": filter.agent,
                    ":limit": limit as i64},
                ),
                Some(project) => ids(
                    db,
                    OLDER_OF_PROJECT,
                    named_params! {":since": filter.first(), ":at": place.at, ":id": place.id, ":agent": filter.agent,
                    ":limit": limit as i64, ":project": project},
                ),
            }?;
            turns(db, &ids)
        })
    }

    /// The `limit` first turns behind `place`, earliest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn newer_turns(&self, filter: &EpisodeFilter, place: TurnPlace, limit: usize) -> Result<Vec<TurnRow>, QueryError> {
        let place = place.max(TurnPlace::before(filter.first()));
        self.run("list turns", |db| {
            let ids = match filter.project {
                None => ids(
                    db,
                    NEWER,
                    named_params! {":until": filter.end(), ":at": place.at, ":id": place.id, ":agent": filter.agent,
                    ":limit": limit as i64},
                ),
                Some(project) => ids(
                    db,
                    NEWER_OF_PROJECT,
                    named_params! {":until": filter.end(), ":at": place.at, ":id": place.id, ":agent": filter.agent,
                    ":limit": limit as i64, ":project": project},
                ),
            }?;
            turns(db, &ids)
        })
    }
}

/// The ids that a statement gives.
pub(super) fn ids(db: &Connection, sql: &str, parameters: impl rusqlite::Params) -> rusqlite::Result<Vec<EpisodeId>> {
    db.prepare_cached(sql)?.query_map(parameters, |row| row.get(0))?.collect()
}

/// The turns of these first parts, in their order.
pub(super) fn turns(db: &Connection, ids: &[EpisodeId]) -> rusqlite::Result<Vec<TurnRow>> {
    by_ids(db, TURNS, None, ids, |row| Ok((row.get(0)?, turn(row)?)))
}

fn turn(row: &Row<'_>) -> rusqlite::Result<TurnRow> {
    Ok(TurnRow {
        place: TurnPlace {
            at: row.get(3)?,
            id: row.get(0)?,
        },
        uid: row.get(1)?,
        turn_uid: row.get(2)?,
        session: SessionKey {
            agent: row.get(4)?,
            external_id: row.get(5)?,
        },
        origin: row.get(6)?,
        hidden: row.get(7)?,
        project_name: row.get(8)?,
        parts: row.get(9)?,
        prompt: row.get(10)?,
        answer: row.get(11)?,
        shared_by: shared_by(row, 12)?,
    })
}

#[cfg(test)]
mod tests;
