//! Forgetting: turns leave the rows, the indexes, the freed pages, the write-ahead log and our own copies.
//! In goes what to forget, out come tombstones, so that no transcript brings it back. Backups elsewhere and transcripts
//! are not touched here.

use rusqlite::{Connection, named_params};

use super::{Unwanted, Writer, embeddings, empty_log, index, replay, steer};
use crate::error::QueryError;
use crate::ids::{EpisodeId, ProjectId, SessionId, TurnUid};
use crate::kept::{Spared, forget_in_copies};
use crate::migrate::{meta, set_meta};
use crate::query::{sharers, targets};
use crate::recovery::set_aside_files;
use crate::rows::{ForgetTarget, Forgotten};
use crate::units::UnixMillis;

/// Key in `_meta`: not `0` from the moment in which turns are forgotten until no byte of them is left in the file and in its copies;
/// says then what stays though it may hold some (see [`note`]).
pub(super) const UNSCRUBBED: &str = "unscrubbed";

impl Writer {
    /// Forgets whole turns for good: their uids become tombstones, and no byte of their text is left in the database, in
    /// its log, or in our copies (`kept.rs`). The terms of logged recollections go too, since they may repeat
    /// what was said, and so do the titles of the sessions touched, for good, and the logged prompts of sessions and projects of
    /// which nothing is left. Facts leave their file.
    ///
    /// # Errors
    /// [`QueryError::Invalid`] for an episode prefix that names no turn, or several; else what SQLite reports.
    pub fn forget(&mut self, target: &ForgetTarget, now: UnixMillis) -> Result<Forgotten, QueryError> {
        let removed = self.remove_for_good(target, now)?;
        Ok(Forgotten {
            log_emptied: self.finish_forgetting()?,
            ..removed
        })
    }

    /// The part of it that is one transaction.
    fn remove_for_good(&mut self, target: &ForgetTarget, now: UnixMillis) -> Result<Forgotten, QueryError> {
        const ACT: &str = "forget";
        let failed = QueryError::at(ACT);
        let ids = targets::of(&self.db, target).map_err(&failed)?;
        let turns = turns_of(&self.db, &ids).map_err(&failed)?;
        if let (ForgetTarget::Episode(prefix), false) = (target, turns.len() == 1) {
            let detail = format!("{prefix} names {} episodes, not one", turns.len());
            return Err(QueryError::Invalid { act: ACT, detail });
        }
        let sharers = sharers::sharers_of(&self.db, &turns).map_err(&failed)?;
        // What can't be listed now is told of once the copies are cleaned.
        let set_aside_removed = set_aside_files(&self.path).map_or(0, |files| files.len());
        let choice = replay::forgotten(&turns, now);
        let episodes = self.decide(ACT, choice, |db| {
            let touched = remove_turns(db, &turns, |turn| bury(db, turn, now))?;
            clean_up(db, target, &touched)?;
            leave_unscrubbed(db)?;
            Ok(touched.episodes.len() as u64)
        })?;
        // Killed before that, the next opening does it.
        self.forget_facts(&turns)?;
        Ok(Forgotten {
            episodes,
            turn_uids: turns,
            sharers,
            log_emptied: false,
            set_aside_removed,
        })
    }

    /// Ends what [`Writer::forget`] began, where it did not come to its end: a reader kept the log, a backup was being made,
    /// or the process was killed. Gives whether nothing of the forgotten is left on the disk. Nothing to do is `true`.
    ///
    /// # Errors
    /// What SQLite reports; a copy of the database that can neither be rewritten nor removed. The database itself and the other
    /// copies are cleaned all the same. It can be called again.
    pub fn finish_forgetting(&mut self) -> Result<bool, QueryError> {
        let failed = QueryError::at("clean up after forgetting");
        let Some(spared) = unscrubbed(&self.db).map_err(&failed)? else {
            return Ok(true);
        };
        let unwanted = Unwanted::of(&self.db).map_err(&failed)?;
        // What is in use comes first: a copy that can't be rewritten now keeps nothing in the database.
        let log_emptied = self.scrub().and_then(|()| empty_log(&self.db)).map_err(&failed)?;
        let out_of_copies = forget_in_copies(&self.path, &unwanted, spared).map_err(|source| QueryError::Invalid {
            act: "have the forgotten leave the copies of the database; it is tried again",
            detail: source.to_string(),
        })?;
        let finished = log_emptied && out_of_copies;
        if finished {
            note(&self.db, None).map_err(&failed)?;
            empty_log(&self.db).map_err(&failed)?;
        }
        Ok(finished)
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

/// What removing turns touched.
#[derive(Default)]
pub(super) struct Touched {
    pub(super) episodes: Vec<EpisodeId>,
    pub(super) sessions: Vec<SessionId>,
    pub(super) projects: Vec<ProjectId>,
}

/// Notes, in the transaction that removes something, that bytes of it are left in the file.
pub(super) fn leave_unscrubbed(db: &Connection) -> rusqlite::Result<()> {
    note(db, Some(Spared::Nothing))
}

/// Notes what is left to clean up, and what of the copies stays as it is; `None` once it is done.
pub(super) fn note(db: &Connection, left: Option<Spared>) -> rusqlite::Result<()> {
    let note = match left {
        None => "0",
        Some(Spared::Nothing) => "1",
        Some(Spared::Replaced) => "2",
        Some(Spared::SetAside) => "3",
    };
    set_meta(db, UNSCRUBBED, note)
}

/// What [`note`] noted.
pub(super) fn unscrubbed(db: &Connection) -> rusqlite::Result<Option<Spared>> {
    Ok(match meta(db, UNSCRUBBED)?.as_deref() {
        Some("1") => Some(Spared::Nothing),
        Some("2") => Some(Spared::Replaced),
        Some("3") => Some(Spared::SetAside),
        _ => None,
    })
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

/// Makes a turn a tombstone; what else was decided of it goes.
pub(super) fn bury(db: &Connection, turn: TurnUid, now: UnixMillis) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO tombstones (uid, created_at) VALUES (:turn, :now)")?
        .execute(named_params! {":turn": turn, ":now": now})?;
    steer::drop_decisions(db, turn)
}

/// Gives a session no title, now and when it is read again.
pub(super) fn leave_untitled(db: &Connection, session: SessionId) -> rusqlite::Result<()> {
    let added = db
        .prepare_cached("INSERT OR IGNORE INTO untitled_sessions (session_id) VALUES (:id)")?
        .execute([session])?;
    if added > 0 {
        db.prepare_cached("UPDATE sessions SET title = NULL WHERE id = :id")?
            .execute([session])?;
    }
    Ok(())
}

/// Removes turns that the journal says were forgotten, with what repeats them; gives how many episodes went.
pub(super) fn forget_again(db: &Connection, turns: &[TurnUid], now: UnixMillis) -> rusqlite::Result<u64> {
    let touched = remove_turns(db, turns, |turn| bury(db, turn, now))?;
    if !touched.episodes.is_empty() {
        // By what they were named is not known any more: projects that are left empty go, as with a folder's.
        clean_up(db, &ForgetTarget::Path(String::new()), &touched)?;
    }
    Ok(touched.episodes.len() as u64)
}

/// Removes turns; `bury` keeps each from coming back.
pub(super) fn remove_turns(
    db: &Connection,
    turns: &[TurnUid],
    bury: impl Fn(TurnUid) -> rusqlite::Result<()>,
) -> rusqlite::Result<Touched> {
    let mut touched = Touched::default();
    for &turn in turns {
        bury(turn)?;
        let mut statement = db.prepare_cached("SELECT id, session_id, project_id FROM episodes WHERE turn_uid = :turn")?;
        let rows: Vec<(EpisodeId, SessionId, Option<ProjectId>)> = statement
            .query_map([turn], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        // A folder or a branch that was told is carried on from what was read.
        db.prepare_cached(
            "UPDATE source_states SET state = '' WHERE source_id IN (SELECT source_id FROM episodes WHERE turn_uid = :turn)",
        )?
        .execute([turn])?;
        for (id, session, project) in rows {
            touched.sessions.extend(sessions_with_a_copy(db, id)?);
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

/// The forks and resumes that repeat an episode of another session.
fn sessions_with_a_copy(db: &Connection, id: EpisodeId) -> rusqlite::Result<Vec<SessionId>> {
    db.prepare_cached("SELECT session_id FROM session_copies WHERE episode_id = :id")?
        .query_map([id], |row| row.get(0))?
        .collect()
}

/// Removes one episode and the rows that hang on it: all but its index row.
pub(super) fn remove_episode(db: &Connection, id: EpisodeId) -> rusqlite::Result<()> {
    embeddings::remove_code(db, id)?;
    db.prepare_cached("DELETE FROM episodes WHERE id = :id")?.execute([id])?;
    Ok(())
}

/// Takes out what parsers carry on. No parser can read what is left, so that each transcript is read from its beginning, where all of
/// that is told: without a row it would go on where it was, with what its first line says, which may be another folder.
pub(super) fn empty_states(db: &Connection) -> rusqlite::Result<()> {
    db.execute("UPDATE source_states SET state = ''", []).map(drop)
}

/// Removes what repeats the forgotten, or is about nothing any more.
pub(super) fn clean_up(db: &Connection, target: &ForgetTarget, touched: &Touched) -> rusqlite::Result<()> {
    forget_words(db)?;
    forget_prompts(db, target, touched)?;
    for &session in &touched.sessions {
        leave_untitled(db, session)?;
    }
    tidy_emptied(db, touched)?;
    // An empty project was named all the same.
    for project in projects_of(target) {
        remove_if_empty(db, project)?;
    }
    if matches!(target, ForgetTarget::All) {
        // Of sessions and projects nothing is left to know but that a session is kept out.
        db.execute(
            "UPDATE sessions SET title = NULL, cwd = NULL, git_branch = NULL, project_id = NULL",
            [],
        )?;
        db.execute("DELETE FROM projects", [])?;
        empty_states(db)?;
    }
    Ok(())
}

/// Removes words that may repeat what was said in turns that go: the terms of logged prompts, whoever asked, and the samples of indexed
/// values in the statistics, which `optimize` gathers anew.
pub(super) fn forget_words(db: &Connection) -> rusqlite::Result<()> {
    db.execute("UPDATE recollections SET terms = '[]'", [])?;
    if db.table_exists(None, "sqlite_stat4")? {
        db.execute("DELETE FROM sqlite_stat4", [])?;
    }
    Ok(())
}

/// Removes the logged prompts of sessions and projects of which nothing is left, with how they were answered. Of the others the numbers
/// stay: what they say of the forgotten goes with its row.
fn forget_prompts(db: &Connection, target: &ForgetTarget, touched: &Touched) -> rusqlite::Result<()> {
    if matches!(target, ForgetTarget::All) {
        return db.execute("DELETE FROM recollections", []).map(drop);
    }
    for session in &touched.sessions {
        db.prepare_cached(
            "DELETE FROM recollections
             WHERE session_id = :id AND NOT EXISTS (SELECT 1 FROM episodes WHERE session_id = :id)
                 AND NOT EXISTS (SELECT 1 FROM session_copies WHERE session_id = :id)",
        )?
        .execute([session])?;
    }
    for project in touched.projects.iter().copied().chain(projects_of(target)) {
        db.prepare_cached(
            "DELETE FROM recollections
             WHERE project_id = :id AND NOT EXISTS (SELECT 1 FROM episodes WHERE project_id = :id)",
        )?
        .execute([project])?;
    }
    Ok(())
}

/// Removes what sessions and projects tell that have no episode any more.
pub(super) fn tidy_emptied(db: &Connection, touched: &Touched) -> rusqlite::Result<()> {
    for session in &touched.sessions {
        db.prepare_cached(
            "UPDATE sessions SET title = NULL, cwd = NULL, git_branch = NULL
             WHERE id = :id AND NOT EXISTS (SELECT 1 FROM episodes WHERE session_id = :id)",
        )?
        .execute([session])?;
    }
    touched.projects.iter().try_for_each(|project| remove_if_empty(db, *project))
}

fn remove_if_empty(db: &Connection, project: ProjectId) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM projects WHERE id = :id AND NOT EXISTS (SELECT 1 FROM episodes WHERE project_id = :id)")?
        .execute([project])?;
    Ok(())
}

/// The projects that a target names.
fn projects_of(target: &ForgetTarget) -> Vec<ProjectId> {
    match target {
        ForgetTarget::Project(project) => vec![*project],
        ForgetTarget::AllOf(targets) | ForgetTarget::AnyOf(targets) => targets.iter().flat_map(projects_of).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
