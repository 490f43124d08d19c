//! The turns of one session in order, what stands beside one of them, and the parts of a turn.
//! In goes a turn or a session, out come turns or ids, hidden ones too. What a session shares with another (a fork, a resume) is
//! its own, too.

use rusqlite::{OptionalExtension, named_params};

use super::Reader;
use super::timeline::{ids, turns};
use crate::error::QueryError;
use crate::ids::{EpisodeId, TurnUid};
use crate::rows::{SessionKey, TurnPlace, TurnRow};

pub(super) const OF_SESSION: &str = "SELECT id FROM (
        SELECT id, created_at FROM episodes
        WHERE session_id = (SELECT id FROM sessions WHERE agent = :agent AND external_id = :session)
            AND part = 0 AND created_at >= :at
        UNION
        SELECT episodes.id, created_at FROM session_copies JOIN episodes ON episodes.id = episode_id
        WHERE session_copies.session_id = (SELECT id FROM sessions WHERE agent = :agent AND external_id = :session)
            AND part = 0 AND created_at >= :at)
    WHERE created_at > :at OR id > :id ORDER BY created_at, id LIMIT :limit";

/// A helper's turns stand among themselves, each helper's in a source of its own.
macro_rules! beside {
    ($before:literal, $or:literal, $order:literal) => {
        concat!(
            "SELECT near.id FROM episodes AS this JOIN episodes AS near ON near.session_id = this.session_id
                AND near.part = 0 AND near.origin = this.origin
                AND (this.origin = 'user' OR +near.source_id IS this.source_id)
                AND near.created_at ",
            $before,
            "= this.created_at AND (near.created_at ",
            $before,
            " this.created_at OR near.id ",
            $or,
            " this.id) WHERE this.id = :id ORDER BY ",
            $order,
            " LIMIT 1"
        )
    };
}

pub(super) const PREVIOUS: &str = beside!("<", "<", "near.created_at DESC, near.id DESC");
pub(super) const NEXT: &str = beside!(">", ">", "near.created_at, near.id");

pub(super) const PARTS: &str = "SELECT id FROM episodes WHERE turn_uid = :turn ORDER BY part, id";

impl Reader {
    /// The `limit` first turns of a session behind `place`, earliest first; none of an unknown session.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn session_turns(&self, session: &SessionKey, place: TurnPlace, limit: usize) -> Result<Vec<TurnRow>, QueryError> {
        self.run("read a session's turns", |db| {
            let found = ids(
                db,
                OF_SESSION,
                named_params! {":agent": session.agent, ":session": session.external_id, ":at": place.at, ":id": place.id,
                ":limit": limit as i64},
            )?;
            turns(db, &found)
        })
    }

    /// The turns just before and just after one, given by its first part, in its conversation.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn turns_beside(&self, turn: EpisodeId) -> Result<(Option<TurnRow>, Option<TurnRow>), QueryError> {
        self.run("read neighbouring turns", |db| {
            let beside = |sql: &str| -> rusqlite::Result<Option<TurnRow>> {
                Ok(turns(db, &ids(db, sql, named_params! {":id": turn})?)?.pop())
            };
            Ok((beside(PREVIOUS)?, beside(NEXT)?))
        })
    }

    /// The parts of a turn in order.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn parts_of(&self, turn: &TurnUid) -> Result<Vec<EpisodeId>, QueryError> {
        self.run("read a turn's parts", |db| ids(db, PARTS, named_params! {":turn": turn}))
    }

    /// The turn as it stands in lists; `None` where it is not stored.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn turn(&self, turn: &TurnUid) -> Result<Option<TurnRow>, QueryError> {
        self.run("read a turn", |db| {
            let first: Option<EpisodeId> = db
                .prepare_cached(PARTS)?
                .query_row(named_params! {":turn": turn}, |row| row.get(0))
                .optional()?;
            Ok(turns(db, first.as_slice())?.pop())
        })
    }

    /// The sessions of this id, one an agent, by agent.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn sessions_called(&self, external_id: &str) -> Result<Vec<SessionKey>, QueryError> {
        self.run("look for a session", |db| {
            db.prepare_cached("SELECT agent, external_id FROM sessions WHERE external_id = :id ORDER BY agent")?
                .query_map(named_params! {":id": external_id}, |row| {
                    Ok(SessionKey {
                        agent: row.get(0)?,
                        external_id: row.get(1)?,
                    })
                })?
                .collect()
        })
    }
}

#[cfg(test)]
mod tests;
