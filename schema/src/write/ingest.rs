//! One pass over one source, stored in one transaction with the source's position; or several passes in one.
//! In go turns as they stand, out comes what changed. Reading the same again changes nothing; what the user forgot or
//! excluded stays out; what another session owns is a copy.

mod content;

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use content::{Content, Texts, goes_further, texts_of};

use super::exclusion::{covers, excluded_paths};
use super::forget::remove_episode;
use super::index::{self, Indexed};
use super::{Writer, embeddings, sources};
use crate::error::QueryError;
use crate::ids::{EpisodeId, EpisodeUid, ProjectId, SessionId, SourceId, TurnUid};
use crate::rows::{IngestBatch, IngestOutcome, NewEpisode, SessionKey, SessionUpdate, TurnUpsert};

impl Writer {
    /// Stores one pass over one source.
    ///
    /// - A turn or an episode that the user forgot is skipped, and so is a turn whose folder, source or session is
    ///   excluded.
    /// - A known episode of the same session is compared by its text: a change replaces its texts and index row and drops
    ///   its embedding; times and counts stay. It now belongs to this source and generation, and has this importance.
    /// - A known episode of another session is a copy (a fork or a resume) and is only noted as such, unless the copy
    ///   goes further, as where the fork was made in the middle of a turn: the longer text is kept, whoever was read first.
    /// - With `retire_older_generations`, episodes of this source that were not seen in this generation are removed, or
    ///   handed to a session that has a copy. Those of a file that was replaced ([`Writer::replace_source`]) stay.
    ///
    /// # Errors
    /// What SQLite reports; nothing is stored then, the position neither.
    pub fn ingest(&mut self, batch: &IngestBatch) -> Result<IngestOutcome, QueryError> {
        self.within("store a batch", |db| Pass::store(db, batch))
    }

    /// Stores several passes in one transaction, in order, each as [`Writer::ingest`] would: a transaction costs as much as
    /// many small passes. What each did comes in the same order.
    ///
    /// # Errors
    /// What SQLite reports; nothing is stored then, of none of them.
    pub fn ingest_all<'a>(
        &mut self,
        batches: impl IntoIterator<Item = &'a IngestBatch>,
    ) -> Result<Vec<IngestOutcome>, QueryError> {
        self.within("store batches", |db| {
            batches.into_iter().map(|batch| Pass::store(db, batch)).collect()
        })
    }
}

struct Pass<'a> {
    db: &'a Connection,
    batch: &'a IngestBatch,
    source: SourceId,
    exclusions: Vec<String>,
    source_excluded: bool,
    any_tombstone: bool,
    /// Bytes kept free for the embedding of a new episode.
    room: i64,
    sessions: BTreeMap<&'a SessionKey, Session<'a>>,
    outcome: IngestOutcome,
}

#[derive(Clone, Copy)]
struct Session<'a> {
    id: SessionId,
    excluded: bool,
    /// The last turn of this batch: what the session's row is about.
    latest: Option<&'a TurnUpsert>,
}

/// An episode as stored, as far as ingest compares it.
struct Stored {
    id: EpisodeId,
    uid: EpisodeUid,
    session: SessionId,
    project: Option<ProjectId>,
    content_hash: [u8; 32],
    hidden: bool,
}

impl<'a> Pass<'a> {
    fn store(db: &'a Connection, batch: &'a IngestBatch) -> rusqlite::Result<IngestOutcome> {
        let mut pass = Self::begin(db, batch)?;
        batch.turns.iter().try_for_each(|turn| pass.turn(turn))?;
        batch.sessions.iter().try_for_each(|update| pass.session_news(update))?;
        pass.finish()
    }

    fn begin(db: &'a Connection, batch: &'a IngestBatch) -> rusqlite::Result<Self> {
        let fresh = sources::stored_generation(db, &batch.source.path)?.is_some_and(|stored| stored != batch.source.generation);
        let source = sources::upsert(db, &batch.source)?;
        sources::add_problems(db, source, &batch.source, fresh)?;
        let exclusions = excluded_paths(db)?;
        Ok(Self {
            db,
            batch,
            source,
            source_excluded: covers(&exclusions, Some(&batch.source.path)),
            exclusions,
            any_tombstone: db.query_row("SELECT EXISTS (SELECT 1 FROM tombstones)", [], |row| row.get(0))?,
            room: embeddings::embedding_size(db)?,
            sessions: BTreeMap::new(),
            outcome: IngestOutcome::default(),
        })
    }

    fn session(&mut self, key: &'a SessionKey) -> rusqlite::Result<&mut Session<'a>> {
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
                },
            );
        }
        Ok(self.sessions.get_mut(key).expect("invariant: the session was inserted above"))
    }

    /// A title says what a session was about: it is kept only beside an episode that may be seen, so that neither what is
    /// excluded nor what was forgotten comes back by it.
    fn session_news(&mut self, update: &'a SessionUpdate) -> rusqlite::Result<()> {
        let session = *self.session(&update.session)?;
        let title = update.title.as_ref().filter(|_| !session.excluded && !self.source_excluded);
        self.db
            .prepare_cached(
                "UPDATE sessions SET
                     title = CASE WHEN EXISTS (SELECT 1 FROM episodes WHERE session_id = :id AND hidden = 0)
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

    fn turn(&mut self, turn: &'a TurnUpsert) -> rusqlite::Result<()> {
        let count = turn.episodes.len() as u64;
        if self.is_tombstone(turn.turn_uid.0)? {
            self.outcome.tombstoned += count;
            return Ok(());
        }
        let path_excluded = self.source_excluded || covers(&self.exclusions, turn.cwd.as_deref());
        let session = self.session(&turn.session)?;
        if path_excluded || session.excluded {
            self.outcome.excluded += count;
            return self.claim_turn(turn.turn_uid);
        }
        session.latest = Some(turn);
        let session = session.id;
        let stored = stored_episodes(self.db, turn.turn_uid)?;
        for episode in &turn.episodes {
            self.episode(turn, session, episode, stored.iter().find(|stored| stored.uid == episode.uid))?;
        }
        self.retire_parts(turn, session, &stored)
    }

    fn episode(
        &mut self,
        turn: &TurnUpsert,
        session: SessionId,
        episode: &NewEpisode,
        stored: Option<&Stored>,
    ) -> rusqlite::Result<()> {
        if self.is_tombstone(episode.uid.0)? {
            self.outcome.tombstoned += 1;
            return Ok(());
        }
        let content = Content::of(episode)?;
        match stored {
            None => {
                self.insert(turn, session, &content)?;
                self.outcome.added += 1;
            }
            Some(stored) if stored.session != session => self.copy(turn, session, stored, &content)?,
            Some(stored) => {
                self.claim(stored.id, episode)?;
                // A session that was forked in the middle of a turn, and has a longer copy, keeps it.
                if stored.content_hash == content.hash
                    || (is_copied(self.db, stored.id)? && goes_further(&texts_of(self.db, stored.id)?, &Texts::of(episode)))
                {
                    self.outcome.unchanged += 1;
                } else {
                    self.replace(turn, stored, &content)?;
                    self.outcome.updated += 1;
                }
            }
        }
        Ok(())
    }

    /// Notes that a session has a copy of another's episode.
    fn copy(&mut self, turn: &TurnUpsert, session: SessionId, stored: &Stored, content: &Content<'_>) -> rusqlite::Result<()> {
        self.db
            .prepare_cached("INSERT OR IGNORE INTO session_copies (session_id, episode_id) VALUES (:session, :episode)")?
            .execute(named_params! {":session": session, ":episode": stored.id})?;
        if stored.content_hash != content.hash && goes_further(&Texts::of(content.episode), &texts_of(self.db, stored.id)?) {
            self.replace(turn, stored, content)?;
            self.outcome.updated += 1;
        } else {
            self.outcome.copies += 1;
        }
        Ok(())
    }

    /// Makes an episode one of this source and generation. Written only where that says something new: an open turn
    /// comes again with every line, and its frozen parts are as they were.
    fn claim(&self, id: EpisodeId, episode: &NewEpisode) -> rusqlite::Result<()> {
        self.db
            .prepare_cached(
                "UPDATE episodes SET source_id = :source, generation = :generation, turn = :turn, importance = :importance,
                     importance_rule = :rule
                 WHERE id = :id AND (source_id, generation, turn, importance, importance_rule)
                     IS NOT (:source, :generation, :turn, :importance, :rule)",
            )?
            .execute(named_params! {
                ":id": id, ":source": self.source, ":generation": self.batch.source.generation, ":turn": episode.turn,
                ":importance": episode.importance, ":rule": episode.importance_rule,
            })?;
        Ok(())
    }

    fn insert(&self, turn: &TurnUpsert, session: SessionId, content: &Content<'_>) -> rusqlite::Result<()> {
        let episode = content.episode;
        // Without RETURNING, for which SQLite makes a table of its own at each call.
        self.db
            .prepare_cached(
                "INSERT INTO episodes (uid, turn_uid, session_id, project_id, source_id, generation, origin, turn, part,
                     importance, importance_rule, created_at, updated_at, accessed_at, content_hash, room)
                 VALUES (:uid, :turn_uid, :session, :project, :source, :generation, :origin, :turn, :part,
                     :importance, :rule, :created, :now, :created, :hash, zeroblob(:room))",
            )?
            .execute(named_params! {
                ":uid": episode.uid, ":turn_uid": turn.turn_uid, ":session": session, ":project": turn.project,
                ":source": self.source, ":generation": self.batch.source.generation, ":origin": episode.origin,
                ":turn": episode.turn, ":part": episode.part, ":importance": episode.importance,
                ":rule": episode.importance_rule, ":created": episode.created_at, ":now": self.batch.now,
                ":hash": content.hash, ":room": self.room,
            })?;
        let id = EpisodeId(self.db.last_insert_rowid());
        self.db
            .prepare_cached(
                "INSERT INTO episode_texts (episode_id, cwd, git_branch, prompt, answer, facets)
                 VALUES (:id, :cwd, :branch, :prompt, :answer, :facets)",
            )?
            .execute(named_params! {
                ":id": id, ":cwd": turn.cwd, ":branch": turn.git_branch,
                ":prompt": episode.prompt, ":answer": episode.answer, ":facets": content.facets,
            })?;
        index::insert(self.db, id, &indexed(episode, turn.project))
    }

    /// Replaces an episode's text, whosever it is.
    fn replace(&self, turn: &TurnUpsert, stored: &Stored, content: &Content<'_>) -> rusqlite::Result<()> {
        let episode = content.episode;
        self.db
            .prepare_cached(
                "UPDATE episodes SET importance = :importance, importance_rule = :rule, updated_at = :now, content_hash = :hash,
                     room = coalesce(room, zeroblob(length(embedding))), embedding = NULL, embedding_model = NULL
                 WHERE id = :id",
            )?
            .execute(named_params! {
                ":id": stored.id, ":importance": episode.importance, ":rule": episode.importance_rule,
                ":now": self.batch.now, ":hash": content.hash,
            })?;
        self.db
            .prepare_cached(
                "UPDATE episode_texts SET cwd = :cwd, git_branch = :branch, prompt = :prompt, answer = :answer, facets = :facets
                 WHERE episode_id = :id",
            )?
            .execute(named_params! {
                ":id": stored.id, ":cwd": turn.cwd, ":branch": turn.git_branch,
                ":prompt": episode.prompt, ":answer": episode.answer, ":facets": content.facets,
            })?;
        embeddings::remove_code(self.db, stored.id)?;
        if stored.hidden {
            return Ok(());
        }
        index::remove(self.db, stored.id)?;
        index::insert(self.db, stored.id, &indexed(episode, stored.project))
    }

    /// Removes parts that the turn no longer has: this session's episodes, and its notes of another's.
    fn retire_parts(&mut self, turn: &TurnUpsert, session: SessionId, stored: &[Stored]) -> rusqlite::Result<()> {
        for gone in stored
            .iter()
            .filter(|stored| !turn.episodes.iter().any(|episode| episode.uid == stored.uid))
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

    /// Notes that an excluded turn is still in its source, so that its hidden episodes are not taken for gone.
    fn claim_turn(&self, turn: TurnUid) -> rusqlite::Result<()> {
        self.db
            .prepare_cached("UPDATE episodes SET generation = :generation WHERE turn_uid = :turn AND source_id = :source")?
            .execute(named_params! {":turn": turn, ":source": self.source, ":generation": self.batch.source.generation})?;
        Ok(())
    }

    fn finish(mut self) -> rusqlite::Result<IngestOutcome> {
        for session in self.sessions.values() {
            if let Some(turn) = session.latest {
                update_session(self.db, session.id, turn)?;
            }
        }
        if self.batch.retire_older_generations {
            self.retire_older_generations()?;
        }
        Ok(self.outcome)
    }

    fn retire_older_generations(&mut self) -> rusqlite::Result<()> {
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
        self.outcome.retired += 1;
        self.outcome.removed.push(id);
        Ok(())
    }

    fn is_tombstone(&self, uid: [u8; 16]) -> rusqlite::Result<bool> {
        if !self.any_tombstone {
            return Ok(false);
        }
        self.db
            .prepare_cached("SELECT 1 FROM tombstones WHERE uid = :uid")?
            .exists([uid])
    }
}

/// The row of a session, made if it is new.
pub(super) fn session_id(db: &Connection, key: &SessionKey) -> rusqlite::Result<SessionId> {
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

fn update_session(db: &Connection, id: SessionId, turn: &TurnUpsert) -> rusqlite::Result<()> {
    let first = turn.episodes.iter().map(|episode| episode.created_at).min();
    db.prepare_cached(
        "UPDATE sessions SET cwd = coalesce(:cwd, cwd), git_branch = coalesce(:branch, git_branch),
             project_id = coalesce(:project, project_id), started_at = coalesce(started_at, :first)
         WHERE id = :id",
    )?
    .execute(named_params! {
        ":id": id, ":cwd": turn.cwd, ":branch": turn.git_branch, ":project": turn.project, ":first": first,
    })?;
    Ok(())
}

/// Gives an episode whose source lost it to a session that has a copy.
fn hand_over(db: &Connection, id: EpisodeId, heir: SessionId) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE episodes SET session_id = :heir, source_id = NULL WHERE id = :id")?
        .execute(named_params! {":id": id, ":heir": heir})?;
    db.prepare_cached("DELETE FROM session_copies WHERE session_id = :heir AND episode_id = :id")?
        .execute(named_params! {":id": id, ":heir": heir})?;
    Ok(())
}

fn stored_episodes(db: &Connection, turn: TurnUid) -> rusqlite::Result<Vec<Stored>> {
    let read = |row: &Row<'_>| {
        Ok(Stored {
            id: row.get(0)?,
            uid: row.get(1)?,
            session: row.get(2)?,
            project: row.get(3)?,
            content_hash: row.get(4)?,
            hidden: row.get(5)?,
        })
    };
    db.prepare_cached("SELECT id, uid, session_id, project_id, content_hash, hidden FROM episodes WHERE turn_uid = :turn")?
        .query_map([turn], read)?
        .collect()
}

/// Whether another session has a copy of an episode.
fn is_copied(db: &Connection, id: EpisodeId) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM session_copies WHERE episode_id = :id")?
        .exists([id])
}

fn indexed(episode: &NewEpisode, project: Option<ProjectId>) -> Indexed<'_> {
    Indexed {
        prompt: &episode.prompt,
        answer: &episode.answer,
        facets: &episode.facets,
        project,
    }
}

#[cfg(test)]
mod tests;
