//! What becomes of one episode: its rows made, claimed, replaced, or noted as a copy.
//! In go episodes as they stand, out go statements and changes of the index. Whether an episode is stored at all is decided in
//! the pass.

use rusqlite::{Connection, Row, named_params};

use super::super::embeddings;
use super::super::index::Indexed;
use super::Pass;
use super::content::{Content, Texts, goes_further, texts_of};
use crate::ids::{EpisodeId, EpisodeUid, ProjectId, SessionId, TurnUid};
use crate::rows::{NewEpisode, TurnUpsert};

/// An episode as stored, as far as ingest compares it.
pub(super) struct Stored {
    pub(super) id: EpisodeId,
    pub(super) uid: EpisodeUid,
    pub(super) session: SessionId,
    pub(super) project: Option<ProjectId>,
    pub(super) content_hash: [u8; 32],
    pub(super) hidden: bool,
    /// Whether it is a copy of what another shared.
    pub(super) is_pulled: bool,
    /// Whether no transcript here told it so far: it came by an import, or back from a shared store.
    pub(super) is_unread: bool,
}

/// A turn of which something is stored, and its project.
#[derive(Clone, Copy)]
pub(super) struct InProject<'t> {
    pub(super) turn: &'t TurnUpsert,
    pub(super) project: Option<ProjectId>,
}

impl<'a> Pass<'a, '_> {
    /// Notes that a session has a copy of another's episode.
    pub(super) fn copy(
        &mut self,
        turn: InProject<'_>,
        session: SessionId,
        stored: &Stored,
        content: &Content<'a>,
    ) -> rusqlite::Result<()> {
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
    pub(super) fn claim(&self, id: EpisodeId, episode: &NewEpisode) -> rusqlite::Result<()> {
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

    /// Tells the folder of an episode that has none: what keeps it out is told by that.
    pub(super) fn tell_folder(&self, id: EpisodeId, turn: &TurnUpsert) -> rusqlite::Result<()> {
        self.db
            .prepare_cached("UPDATE episode_texts SET cwd = :cwd WHERE episode_id = :id AND cwd IS NULL")?
            .execute(named_params! {":id": id, ":cwd": turn.cwd})?;
        Ok(())
    }

    /// Stores an episode that is new.
    pub(super) fn insert(&mut self, turn: InProject<'_>, session: SessionId, content: &Content<'a>) -> rusqlite::Result<()> {
        let (InProject { turn, project }, episode) = (turn, content.episode);
        // Without RETURNING, for which SQLite makes a table of its own at each call.
        self.db
            .prepare_cached(
                "INSERT INTO episodes (uid, turn_uid, session_id, project_id, source_id, generation, origin, turn, part,
                     importance, importance_rule, created_at, updated_at, accessed_at, content_hash, room)
                 VALUES (:uid, :turn_uid, :session, :project, :source, :generation, :origin, :turn, :part,
                     :importance, :rule, :created, :now, :created, :hash, zeroblob(:room))",
            )?
            .execute(named_params! {
                ":uid": episode.uid, ":turn_uid": turn.turn_uid, ":session": session, ":project": project,
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
        self.index.insert(id, indexed(episode, project));
        Ok(())
    }

    /// Makes a pulled episode one that was read here, in all that is told of it: uses and, where the text is the same, the vector stay.
    /// What hid it was about where the copy was: whoever reads it here has looked whether it is kept out.
    pub(super) fn adopt(
        &mut self,
        turn: InProject<'_>,
        session: SessionId,
        stored: &Stored,
        content: &Content<'a>,
    ) -> rusqlite::Result<()> {
        let (InProject { turn, project }, episode) = (turn, content.episode);
        self.db
            .prepare_cached(
                "UPDATE episodes SET session_id = :session, project_id = :project, source_id = :source, generation = :generation,
                     origin = :origin, turn = :turn, importance = :importance, importance_rule = :rule, created_at = :created,
                     updated_at = :now, content_hash = :hash,
                     room = iif(content_hash = :hash, room, coalesce(room, zeroblob(length(embedding)))),
                     embedding = iif(content_hash = :hash, embedding, NULL),
                     embedding_model = iif(content_hash = :hash, embedding_model, NULL), hidden = 0
                 WHERE id = :id",
            )?
            .execute(named_params! {
                ":id": stored.id, ":session": session, ":project": project, ":source": self.source,
                ":generation": self.batch.source.generation, ":origin": episode.origin, ":turn": episode.turn,
                ":importance": episode.importance, ":rule": episode.importance_rule, ":created": episode.created_at,
                ":now": self.batch.now, ":hash": content.hash,
            })?;
        self.write_texts(turn, stored.id, content)?;
        self.db
            .prepare_cached("DELETE FROM session_copies WHERE session_id = :session AND episode_id = :episode")?
            .execute(named_params! {":session": session, ":episode": stored.id})?;
        if stored.content_hash != content.hash {
            embeddings::remove_code(self.db, stored.id)?;
        }
        if !stored.hidden {
            self.index.remove(stored.id);
        }
        self.index.insert(stored.id, indexed(episode, project));
        Ok(())
    }

    fn write_texts(&self, turn: &TurnUpsert, id: EpisodeId, content: &Content<'a>) -> rusqlite::Result<()> {
        let episode = content.episode;
        self.db
            .prepare_cached(
                "UPDATE episode_texts SET cwd = :cwd, git_branch = :branch, prompt = :prompt, answer = :answer, facets = :facets
                 WHERE episode_id = :id",
            )?
            .execute(named_params! {
                ":id": id, ":cwd": turn.cwd, ":branch": turn.git_branch,
                ":prompt": episode.prompt, ":answer": episode.answer, ":facets": content.facets,
            })?;
        Ok(())
    }

    /// Replaces an episode's text, whosever it is; its project only where it had none, since its folder may be told late.
    pub(super) fn replace(&mut self, turn: InProject<'_>, stored: &Stored, content: &Content<'a>) -> rusqlite::Result<()> {
        let (InProject { turn, project }, episode) = (turn, content.episode);
        self.db
            .prepare_cached(
                "UPDATE episodes SET importance = :importance, importance_rule = :rule, updated_at = :now, content_hash = :hash,
                     project_id = coalesce(project_id, :project),
                     room = coalesce(room, zeroblob(length(embedding))), embedding = NULL, embedding_model = NULL
                 WHERE id = :id",
            )?
            .execute(named_params! {
                ":id": stored.id, ":importance": episode.importance, ":rule": episode.importance_rule,
                ":now": self.batch.now, ":hash": content.hash, ":project": project,
            })?;
        self.write_texts(turn, stored.id, content)?;
        embeddings::remove_code(self.db, stored.id)?;
        if stored.hidden {
            return Ok(());
        }
        self.index.remove(stored.id);
        self.index.insert(stored.id, indexed(episode, stored.project.or(project)));
        Ok(())
    }
}

/// The episodes that are stored of a turn.
pub(super) fn stored_episodes(db: &Connection, turn: TurnUid) -> rusqlite::Result<Vec<Stored>> {
    let read = |row: &Row<'_>| {
        Ok(Stored {
            id: row.get(0)?,
            uid: row.get(1)?,
            session: row.get(2)?,
            project: row.get(3)?,
            content_hash: row.get(4)?,
            hidden: row.get(5)?,
            is_pulled: row.get(6)?,
            is_unread: row.get(7)?,
        })
    };
    db.prepare_cached(
        "SELECT id, uid, session_id, project_id, content_hash, hidden, generation = -2, generation = -1
         FROM episodes WHERE turn_uid = :turn",
    )?
    .query_map([turn], read)?
    .collect()
}

/// Whether another session has a copy of an episode.
pub(super) fn is_copied(db: &Connection, id: EpisodeId) -> rusqlite::Result<bool> {
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
