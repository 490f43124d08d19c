//! Forgetting: turns leave the rows, the indexes, the freed pages, the write-ahead log and our own copies.
//! In goes what to forget, out come tombstones, so that no transcript brings it back. Backups elsewhere and transcripts
//! are not touched here.

use rusqlite::{Connection, named_params};

use super::{Writer, embeddings, empty_log, index};
use crate::choices::tombstones;
use crate::error::QueryError;
use crate::ids::{EpisodeId, ProjectId, SessionId, TurnUid};
use crate::kept::forget_in_copies;
use crate::query::targets;
use crate::rows::{ForgetTarget, Forgotten};
use crate::units::UnixMillis;

impl Writer {
    /// Forgets whole turns for good: their uids become tombstones, and no byte of their text is left in the database, in
    /// its log, or in the copies that migrations made. The terms of logged recollections go too, since they may repeat
    /// what was said, and so do the titles of the sessions touched.
    ///
    /// # Errors
    /// [`QueryError::Invalid`] for an episode prefix that names no turn, or several; else what SQLite reports.
    pub fn forget(&mut self, target: &ForgetTarget, now: UnixMillis) -> Result<Forgotten, QueryError> {
        const ACT: &str = "forget";
        let failed = QueryError::at(ACT);
        let ids = targets::of(&self.db, target).map_err(&failed)?;
        let turns = turns_of(&self.db, &ids).map_err(&failed)?;
        if let (ForgetTarget::Episode(prefix), false) = (target, turns.len() == 1) {
            let detail = format!("{prefix} names {} episodes, not one", turns.len());
            return Err(QueryError::Invalid { act: ACT, detail });
        }
        let episodes = self.within(ACT, |db| {
            let touched = remove_turns(db, &turns, now)?;
            clean_up(db, target, &touched)?;
            Ok(touched.episodes.len() as u64)
        })?;
        self.scrub().map_err(&failed)?;
        let log_emptied = empty_log(&self.db).map_err(&failed)?;
        let all = matches!(target, ForgetTarget::All);
        forget_in_copies(&self.path, &tombstones(&self.db).map_err(&failed)?, all).map_err(|source| QueryError::Invalid {
            act: "remove an old copy of the database",
            detail: source.to_string(),
        })?;
        Ok(Forgotten {
            episodes,
            turn_uids: turns,
            log_emptied,
        })
    }

    /// Removes what deleting alone leaves: tokens in the index's segments, and freed pages.
    pub(super) fn scrub(&self) -> rusqlite::Result<()> {
        scrub(&self.db)
    }
}

/// As [`Writer::scrub`], of a copy.
pub(super) fn scrub(db: &Connection) -> rusqlite::Result<()> {
    db.execute("INSERT INTO episodes_fts (episodes_fts) VALUES ('optimize')", [])?;
    let mut vacuum = db.prepare("PRAGMA incremental_vacuum")?;
    let mut rows = vacuum.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Removes turns that were forgotten elsewhere, and what repeats them. Gives how many episodes that were.
pub(super) fn remove_for_good(db: &Connection, turns: &[TurnUid], now: UnixMillis) -> rusqlite::Result<u64> {
    let touched = remove_turns(db, turns, now)?;
    if !touched.episodes.is_empty() {
        clean_up(db, &ForgetTarget::Path(String::new()), &touched)?;
    }
    Ok(touched.episodes.len() as u64)
}

/// What removing turns touched.
#[derive(Default)]
struct Touched {
    episodes: Vec<EpisodeId>,
    sessions: Vec<SessionId>,
    projects: Vec<ProjectId>,
}

/// The turns of episodes, each once, in the order of their uids.
fn turns_of(db: &Connection, ids: &[EpisodeId]) -> rusqlite::Result<Vec<TurnUid>> {
    let mut statement = db.prepare_cached("SELECT turn_uid FROM episodes WHERE id = :id")?;
    let mut turns: Vec<TurnUid> = ids
        .iter()
        .map(|id| statement.query_row([id], |row| row.get(0)))
        .collect::<Result<_, _>>()?;
    turns.sort_unstable();
    turns.dedup();
    Ok(turns)
}

/// Makes a turn a tombstone.
pub(super) fn bury(db: &Connection, turn: TurnUid, now: UnixMillis) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO tombstones (uid, created_at) VALUES (:turn, :now)")?
        .execute(named_params! {":turn": turn, ":now": now})?;
    Ok(())
}

fn remove_turns(db: &Connection, turns: &[TurnUid], now: UnixMillis) -> rusqlite::Result<Touched> {
    let mut touched = Touched::default();
    for &turn in turns {
        bury(db, turn, now)?;
        let mut statement = db.prepare_cached("SELECT id, session_id, project_id FROM episodes WHERE turn_uid = :turn")?;
        let rows: Vec<(EpisodeId, SessionId, Option<ProjectId>)> = statement
            .query_map([turn], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        for (id, session, project) in rows {
            remove_episode(db, id)?;
            touched.episodes.push(id);
            touched.sessions.push(session);
            touched.projects.extend(project);
        }
    }
    index::remove(db, &touched.episodes)?;
    touched.sessions.sort_unstable();
    touched.sessions.dedup();
    touched.projects.sort_unstable();
    touched.projects.dedup();
    Ok(touched)
}

/// Removes one episode and the rows that hang on it: all but its index row.
pub(super) fn remove_episode(db: &Connection, id: EpisodeId) -> rusqlite::Result<()> {
    embeddings::remove_code(db, id)?;
    db.prepare_cached("DELETE FROM episodes WHERE id = :id")?.execute([id])?;
    Ok(())
}

/// Removes what repeats the forgotten, or is about nothing any more.
fn clean_up(db: &Connection, target: &ForgetTarget, touched: &Touched) -> rusqlite::Result<()> {
    db.execute("UPDATE recollections SET terms = '[]'", [])?;
    for session in &touched.sessions {
        db.prepare_cached("UPDATE sessions SET title = NULL WHERE id = :id")?
            .execute([session])?;
        db.prepare_cached(
            "UPDATE sessions SET cwd = NULL, git_branch = NULL
             WHERE id = :id AND NOT EXISTS (SELECT 1 FROM episodes WHERE session_id = :id)",
        )?
        .execute([session])?;
    }
    let mut projects = touched.projects.clone();
    if let ForgetTarget::Project(project) = target {
        projects.push(*project);
    }
    if matches!(target, ForgetTarget::Project(_) | ForgetTarget::Path(_) | ForgetTarget::All) {
        for project in projects {
            db.prepare_cached(
                "DELETE FROM projects WHERE id = :id AND NOT EXISTS (SELECT 1 FROM episodes WHERE project_id = :id)",
            )?
            .execute([project])?;
        }
    }
    if matches!(target, ForgetTarget::All) {
        // Of sessions and projects nothing is left to know but that a session is kept out.
        db.execute(
            "UPDATE sessions SET title = NULL, cwd = NULL, git_branch = NULL, project_id = NULL",
            [],
        )?;
        db.execute("DELETE FROM projects", [])?;
    }
    // Statistics hold samples of indexed values; `optimize` gathers them anew.
    if db.table_exists(None, "sqlite_stat4")? {
        db.execute("DELETE FROM sqlite_stat4", [])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
