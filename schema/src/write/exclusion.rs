//! What the user keeps out: folders and sessions. Their episodes are hidden, not deleted: no index row, no vector.
//! In go folders and sessions, out come counts of episodes. A forgotten episode is the business of `forget.rs`.

use rusqlite::{Connection, named_params};

use super::forget::{forget_words, leave_unscrubbed, remove_episode};
use super::ingest::{hand_over, session_id};
use super::share::pull_again;
use super::{Writer, embeddings, index};
use crate::error::QueryError;
use crate::ids::{EpisodeId, SessionId};
use crate::journal::Choice;
use crate::query::targets::{self, is_under};
use crate::rows::SessionKey;
use crate::units::UnixMillis;

impl Writer {
    /// Keeps a folder out, and what lies below: its turns are not stored any more, and stored episodes are hidden.
    /// Gives how many were hidden.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn exclude_path(&mut self, path: &str, now: UnixMillis) -> Result<u64, QueryError> {
        let choice = Choice::Exclude {
            path: path.to_owned(),
            at: now.0,
        };
        self.decide("exclude a folder", choice, |db| exclude_path(db, path, now))
    }

    /// Whether this very folder was excluded by [`Writer::exclude_path`].
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn excludes_path(&mut self, path: &str) -> Result<bool, QueryError> {
        self.within("look for an exclusion", |db| {
            db.prepare_cached("SELECT 1 FROM exclusions WHERE path = :path")?
                .exists([path])
        })
    }

    /// Lets a folder in again: episodes hidden by it come back, but for those that another exclusion covers. Gives how
    /// many came back; turns that were skipped meanwhile come when their source is read again.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn include_path(&mut self, path: &str) -> Result<u64, QueryError> {
        let choice = Choice::Include { path: path.to_owned() };
        self.decide("include a folder", choice, |db| include_path(db, path))
    }

    /// Keeps a session out, known or not yet. Gives how many of its episodes were hidden.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn exclude_session(&mut self, session: &SessionKey) -> Result<u64, QueryError> {
        let choice = Choice::ExcludeSession {
            agent: session.agent.clone(),
            session: session.external_id.clone(),
        };
        self.decide("exclude a session", choice, |db| exclude_session(db, session))
    }

    /// Deletes what is hidden of an excluded session, without tombstones: it is the exclusion that keeps it out. What another
    /// session has a copy of is that one's now, and shown. Gives how many episodes went.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn erase_excluded_session(&mut self, session: &SessionKey) -> Result<u64, QueryError> {
        let erased = self.within("delete an excluded session", |db| {
            let erased = erase(db, session)?;
            if erased > 0 {
                leave_unscrubbed(db)?;
            }
            Ok(erased)
        })?;
        self.finish_forgetting()?;
        Ok(erased)
    }

    /// Lets a session in again; as [`Writer::include_path`].
    ///
    /// # Errors
    /// What SQLite reports.
    #[cfg(any(test, feature = "testing"))]
    pub fn include_session(&mut self, session: &SessionKey) -> Result<u64, QueryError> {
        let choice = Choice::IncludeSession {
            agent: session.agent.clone(),
            session: session.external_id.clone(),
        };
        self.decide("include a session", choice, |db| include_session(db, session))
    }
}

pub(super) fn exclude_path(db: &Connection, path: &str, now: UnixMillis) -> rusqlite::Result<u64> {
    db.prepare_cached("INSERT OR IGNORE INTO exclusions (path, created_at) VALUES (:path, :now)")?
        .execute(named_params! {":path": path, ":now": now})?;
    hide(db, &targets::under_path(db, path)?)
}

pub(super) fn include_path(db: &Connection, path: &str) -> rusqlite::Result<u64> {
    let included = db
        .prepare_cached("DELETE FROM exclusions WHERE path = :path")?
        .execute([path])?;
    if included > 0 {
        // What others shared of it was passed over.
        pull_again(db)?;
    }
    show_uncovered(db)
}

pub(super) fn exclude_session(db: &Connection, session: &SessionKey) -> rusqlite::Result<u64> {
    let id = session_id(db, session)?;
    db.prepare_cached("UPDATE sessions SET excluded = 1 WHERE id = :id")?
        .execute([id])?;
    let mut statement = db.prepare_cached("SELECT id FROM episodes WHERE session_id = :id")?;
    let ids: Vec<EpisodeId> = statement.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?;
    hide(db, &ids)
}

/// As [`Writer::erase_excluded_session`], in a transaction; gives how many episodes went.
pub(super) fn erase(db: &Connection, session: &SessionKey) -> rusqlite::Result<u64> {
    let id = session_id(db, session)?;
    let mut statement = db.prepare_cached(
        "SELECT id, (SELECT min(session_id) FROM session_copies WHERE episode_id = episodes.id)
         FROM episodes WHERE session_id = :id AND hidden = 1
             AND EXISTS (SELECT 1 FROM sessions WHERE id = :id AND excluded = 1)",
    )?;
    let hidden: Vec<(EpisodeId, Option<SessionId>)> = statement
        .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let (mut erased, any) = (0, !hidden.is_empty());
    for (episode, heir) in hidden {
        if let Some(heir) = heir {
            hand_over(db, episode, heir)?;
        } else {
            remove_episode(db, episode)?;
            erased += 1;
        }
    }
    if any {
        forget_words(db)?;
        show_uncovered(db)?;
    }
    db.prepare_cached("DELETE FROM recollections WHERE session_id = (SELECT id FROM sessions WHERE id = :id AND excluded = 1)")?
        .execute([id])?;
    db.prepare_cached("UPDATE sessions SET title = NULL, cwd = NULL, git_branch = NULL WHERE id = :id AND excluded = 1")?
        .execute([id])?;
    Ok(erased)
}

pub(super) fn include_session(db: &Connection, session: &SessionKey) -> rusqlite::Result<u64> {
    let included = db
        .prepare_cached("UPDATE sessions SET excluded = 0 WHERE agent = :agent AND external_id = :id AND excluded = 1")?
        .execute(named_params! {":agent": session.agent, ":id": session.external_id})?;
    if included > 0 {
        pull_again(db)?;
    }
    show_uncovered(db)
}

/// The excluded folders.
pub(crate) fn excluded_paths(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.prepare_cached("SELECT path FROM exclusions ORDER BY path")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Whether a working folder or a transcript lies under an excluded folder.
pub(super) fn covers(exclusions: &[String], path: Option<&str>) -> bool {
    path.is_some_and(|path| exclusions.iter().any(|excluded| is_under(path, excluded)))
}

pub(super) fn hide(db: &Connection, ids: &[EpisodeId]) -> rusqlite::Result<u64> {
    let mut hidden = Vec::new();
    for &id in ids {
        let changed = db
            .prepare_cached(
                "UPDATE episodes SET hidden = 1, room = coalesce(room, zeroblob(length(embedding))), embedding = NULL, embedding_model = NULL WHERE id = :id AND hidden = 0",
            )?
            .execute([id])?;
        if changed > 0 {
            embeddings::remove_code(db, id)?;
            hidden.push(id);
        }
    }
    index::remove(db, &hidden)?;
    Ok(hidden.len() as u64)
}

/// Shows hidden episodes that no exclusion covers any more.
fn show_uncovered(db: &Connection) -> rusqlite::Result<u64> {
    let exclusions = excluded_paths(db)?;
    let mut shown = Vec::new();
    for (id, cwd, source) in hidden(db)? {
        if !covers(&exclusions, cwd.as_deref()) && !covers(&exclusions, source.as_deref()) {
            db.prepare_cached("UPDATE episodes SET hidden = 0 WHERE id = :id")?
                .execute([id])?;
            shown.push(id);
        }
    }
    shown.sort_unstable();
    index::insert_stored(db, &shown)?;
    Ok(shown.len() as u64)
}

type Hidden = (EpisodeId, Option<String>, Option<String>);

/// Hidden episodes of sessions that are let in, with their working folders and transcripts; of what others shared the project's folder.
fn hidden(db: &Connection) -> rusqlite::Result<Vec<Hidden>> {
    db.prepare_cached(
        "SELECT episodes.id, coalesce(episode_texts.cwd, iif(episodes.generation = -2, projects.root, NULL), sessions.cwd), sources.path
         FROM episodes
         JOIN episode_texts ON episode_texts.episode_id = episodes.id
         JOIN sessions ON sessions.id = episodes.session_id
         LEFT JOIN projects ON projects.id = episodes.project_id
         LEFT JOIN sources ON sources.id = episodes.source_id
         WHERE episodes.hidden = 1 AND sessions.excluded = 0",
    )?
    .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
    .collect()
}

#[cfg(test)]
mod tests;
