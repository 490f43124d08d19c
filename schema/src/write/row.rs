//! One whole episode as rows, whoever tells it: a fact that the user had remembered, a line of an import, or a copy that was pulled from a
//! shared store. (What is read from transcripts is stored by `ingest`, in bulk.) In goes an episode with everything resolved, out comes its row id. It is not indexed
//! here, and nothing is asked of what the user decided.

use rusqlite::{Connection, named_params};

use super::content_hash;
use crate::ids::{EpisodeId, EpisodeUid, ProjectId, SessionId, SourceId, TurnUid};
use crate::rows::{Facets, Importance, Origin};
use crate::units::UnixMillis;

/// The generation of an episode that no reading of a file here gave: older than any, so that none takes it for gone.
pub(super) const NO_GENERATION: i64 = -1;
/// The generation of an episode that was pulled from a shared store, and of no other: statements and triggers tell it by the number.
pub(crate) const PULLED: i64 = -2;

/// An episode to store.
pub(super) struct WholeEpisode<'a> {
    pub(super) uid: EpisodeUid,
    pub(super) turn_uid: TurnUid,
    pub(super) session: SessionId,
    pub(super) project: Option<ProjectId>,
    pub(super) source: Option<SourceId>,
    pub(super) generation: i64,
    pub(super) origin: Origin,
    pub(super) turn: u32,
    pub(super) part: u32,
    pub(super) importance: Importance,
    pub(super) importance_rule: &'a str,
    pub(super) created_at: UnixMillis,
    pub(super) updated_at: UnixMillis,
    pub(super) accessed_at: UnixMillis,
    pub(super) access_count: u64,
    pub(super) shown_count: u64,
    pub(super) cwd: Option<&'a str>,
    pub(super) git_branch: Option<&'a str>,
    pub(super) prompt: &'a str,
    pub(super) answer: &'a str,
    pub(super) facets: &'a Facets,
}

/// Stores an episode that is not there; `room` bytes are kept free for its embedding.
pub(super) fn insert(db: &Connection, episode: &WholeEpisode<'_>, room: i64) -> rusqlite::Result<EpisodeId> {
    let facets =
        serde_json::to_string(episode.facets).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    db.prepare_cached(
        "INSERT INTO episodes (uid, turn_uid, session_id, project_id, source_id, generation, origin, turn, part, importance,
             importance_rule, created_at, updated_at, accessed_at, access_count, shown_count, content_hash, room)
         VALUES (:uid, :turn_uid, :session, :project, :source, :generation, :origin, :turn, :part, :importance,
             :rule, :created, :updated, :accessed, :uses, :shown, :hash, zeroblob(:room))",
    )?
    .execute(named_params! {
        ":uid": episode.uid, ":turn_uid": episode.turn_uid, ":session": episode.session, ":project": episode.project,
        ":source": episode.source, ":generation": episode.generation, ":origin": episode.origin, ":turn": episode.turn,
        ":part": episode.part, ":importance": episode.importance, ":rule": episode.importance_rule,
        ":created": episode.created_at, ":updated": episode.updated_at, ":accessed": episode.accessed_at,
        ":uses": episode.access_count as i64, ":shown": episode.shown_count as i64,
        ":hash": content_hash([episode.prompt, episode.answer, &facets]), ":room": room,
    })?;
    let id = EpisodeId(db.last_insert_rowid());
    db.prepare_cached(
        "INSERT INTO episode_texts (episode_id, cwd, git_branch, prompt, answer, facets)
         VALUES (:id, :cwd, :branch, :prompt, :answer, :facets)",
    )?
    .execute(named_params! {
        ":id": id, ":cwd": episode.cwd, ":branch": episode.git_branch, ":prompt": episode.prompt,
        ":answer": episode.answer, ":facets": facets,
    })?;
    Ok(id)
}
