//! What is gone from its source: removed, handed to a session that has a copy, or kept because the user excluded it.

use rusqlite::{Connection, named_params};

use super::super::forget::remove_episode;
use super::Pass;
use super::episodes::Stored;
use crate::ids::{EpisodeId, SessionId, TurnUid};
use crate::rows::TurnUpsert;

impl Pass<'_, '_> {
    /// Removes parts that the turn no longer has: this session's episodes, and its notes of another's. What others shared of it stays:
    /// they may have read further.
    pub(super) fn retire_parts(&mut self, turn: &TurnUpsert, session: SessionId, stored: &[Stored]) -> rusqlite::Result<()> {
        for gone in stored
            .iter()
            .filter(|stored| !stored.is_pulled && !turn.episodes.iter().any(|episode| episode.uid == stored.uid))
        {
            if gone.session == session {
                self.retire(gone.id)?;
            } else {
                self.db
                    .prepare_cached("DELETE FROM session_copies WHERE session_id = :session AND episode_id = :episode")?
                    .execute(named_params! {":session": session, ":episode": gone.id})?;
            }
        }
        Ok(())
    }

    /// Removes what was stored of a turn before it was known to be kept out, as a folder may be told late. What was hidden stays,
    /// and comes back with what hid it.
    pub(super) fn retire_visible(&mut self, session: SessionId, stored: &[Stored]) -> rusqlite::Result<()> {
        let visible = stored.iter().filter(|stored| !stored.hidden && stored.session == session);
        visible.map(|stored| stored.id).try_for_each(|id| self.retire(id))
    }

    /// Notes that an excluded turn is still in its source, so that its hidden episodes are not taken for gone.
    pub(super) fn claim_turn(&self, turn: TurnUid) -> rusqlite::Result<()> {
        self.db
            .prepare_cached("UPDATE episodes SET generation = :generation WHERE turn_uid = :turn AND source_id = :source")?
            .execute(named_params! {":turn": turn, ":source": self.source, ":generation": self.batch.source.generation})?;
        Ok(())
    }

    /// Removes the episodes of this source that this generation of it did not have.
    pub(super) fn retire_older_generations(&mut self) -> rusqlite::Result<()> {
        let mut statement = self.db.prepare_cached(
            "SELECT id, (SELECT min(session_id) FROM session_copies WHERE episode_id = episodes.id)
             FROM episodes WHERE source_id = :source AND generation < :generation
                 AND generation >= (SELECT retire_from FROM sources WHERE id = :source)",
        )?;
        let parameters = named_params! {":source": self.source, ":generation": self.batch.source.generation};
        let gone: Vec<(EpisodeId, Option<SessionId>)> = statement
            .query_map(parameters, |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for (id, heir) in gone {
            match heir {
                Some(heir) => hand_over(self.db, id, heir)?,
                None => self.retire(id)?,
            }
        }
        Ok(())
    }

    fn retire(&mut self, id: EpisodeId) -> rusqlite::Result<()> {
        remove_episode(self.db, id)?;
        self.index.remove(id);
        self.outcome.retired += 1;
        self.outcome.removed.push(id);
        Ok(())
    }
}

/// Gives an episode whose source lost it to a session that has a copy.
pub(in crate::write) fn hand_over(db: &Connection, id: EpisodeId, heir: SessionId) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE episodes SET session_id = :heir, source_id = NULL WHERE id = :id")?
        .execute(named_params! {":id": id, ":heir": heir})?;
    db.prepare_cached("DELETE FROM session_copies WHERE session_id = :heir AND episode_id = :id")?
        .execute(named_params! {":id": id, ":heir": heir})?;
    Ok(())
}
