//! The sessions that a pass is about: found or made by the agent's own id, and what the pass tells of them.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::Pass;
use crate::ids::{ProjectId, SessionId};
use crate::rows::{SessionKey, SessionUpdate, TurnUpsert};

/// A session of this pass.
#[derive(Clone, Copy)]
pub(super) struct Session<'a> {
    pub(super) id: SessionId,
    pub(super) excluded: bool,
    /// The last turn of this batch and its project: what the session's row is about.
    pub(super) latest: Option<(&'a TurnUpsert, Option<ProjectId>)>,
    /// The last turn that named a folder, whatever became of it: that is the folder of those that follow and name none.
    pub(super) told: Option<&'a TurnUpsert>,
    /// The folder of the last of those of which something is stored.
    pub(super) cwd: Option<&'a str>,
}

impl<'a> Pass<'a, '_> {
    /// The session of that key, looked up once a pass.
    pub(super) fn session(&mut self, key: &'a SessionKey) -> rusqlite::Result<&mut Session<'a>> {
        if !self.sessions.contains_key(key) {
            let id = session_id(self.db, key)?;
            let excluded = self
                .db
                .prepare_cached("SELECT excluded FROM sessions WHERE id = :id")?
                .query_row([id], |row| row.get(0))?;
            self.sessions.insert(
                key,
                Session {
                    id,
                    excluded,
                    latest: None,
                    told: None,
                    cwd: None,
                },
            );
        }
        Ok(self.sessions.get_mut(key).expect("invariant: the session was inserted above"))
    }

    /// A title says what a session was about: it is kept only beside an episode that may be seen, so that neither what is
    /// excluded nor what was forgotten comes back by it; and where one of several turns was forgotten, never again.
    pub(super) fn session_news(&mut self, update: &'a SessionUpdate) -> rusqlite::Result<()> {
        let session = *self.session(&update.session)?;
        let title = update.title.as_ref().filter(|_| !session.excluded && !self.source_excluded);
        self.db
            .prepare_cached(
                "UPDATE sessions SET
                     title = CASE WHEN EXISTS (SELECT 1 FROM episodes WHERE session_id = :id AND hidden = 0)
                                       AND NOT EXISTS (SELECT 1 FROM untitled_sessions WHERE session_id = :id)
                                  THEN coalesce(:title, title) END,
                     compacted_at = max(coalesce(:compacted, compacted_at), coalesce(compacted_at, :compacted)),
                     started_at = min(coalesce(:started, started_at), coalesce(started_at, :started))
                 WHERE id = :id",
            )?
            .execute(named_params! {
                ":id": session.id, ":title": title, ":compacted": update.compacted_at, ":started": update.started_at,
            })?;
        Ok(())
    }

    /// Tells the sessions' rows of their last turns.
    pub(super) fn update_sessions(&self) -> rusqlite::Result<()> {
        for session in self.sessions.values() {
            if let Some((turn, project)) = session.latest {
                let place = (session.cwd, project);
                update_session(self.db, session.id, turn, place)?;
            }
        }
        Ok(())
    }
}

/// The row of a session, made if it is new.
pub(in crate::write) fn session_id(db: &Connection, key: &SessionKey) -> rusqlite::Result<SessionId> {
    let known = db
        .prepare_cached("SELECT id FROM sessions WHERE agent = :agent AND external_id = :id")?
        .query_row(named_params! {":agent": key.agent, ":id": key.external_id}, |row| row.get(0))
        .optional()?;
    match known {
        Some(id) => Ok(id),
        None => db
            .prepare_cached("INSERT INTO sessions (agent, external_id) VALUES (:agent, :id) RETURNING id")?
            .query_row(named_params! {":agent": key.agent, ":id": key.external_id}, |row| row.get(0)),
    }
}

/// The working folder that is stored of a session.
pub(super) fn folder(db: &Connection, session: SessionId) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT cwd FROM sessions WHERE id = :id")?
        .query_row([session], |row| row.get(0))
}

fn update_session(
    db: &Connection,
    id: SessionId,
    turn: &TurnUpsert,
    place: (Option<&str>, Option<ProjectId>),
) -> rusqlite::Result<()> {
    let (cwd, project) = place;
    let first = turn.episodes.iter().map(|episode| episode.created_at).min();
    db.prepare_cached(
        "UPDATE sessions SET cwd = coalesce(:cwd, cwd), git_branch = coalesce(:branch, git_branch),
             project_id = coalesce(:project, project_id), started_at = coalesce(started_at, :first)
         WHERE id = :id",
    )?
    .execute(named_params! {
        ":id": id, ":cwd": cwd, ":branch": turn.git_branch, ":project": project, ":first": first,
    })?;
    Ok(())
}
