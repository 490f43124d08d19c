//! Episodes of an export, stored as the export has them: with their times, counts and uses, in their projects and sessions, muted,
//! boosted and remembered as they were. (Vectors are made anew.)
//! In go whole episodes, redacted; out comes what became of each. What is here stays as it is, what was forgotten here stays forgotten,
//! and what is kept out here stays out. To import the same again changes nothing.

use std::collections::{BTreeSet, HashSet};

use rusqlite::{Connection, named_params};
use sha2::{Digest, Sha256};

use super::ingest::session_id;
use super::known::{is_forgotten, is_own, is_retired, is_turn_own};
use super::row::{self, NO_GENERATION, WholeEpisode};
use super::{Writer, embeddings, exclusion, index, projects, replay, share, steer};
use crate::error::QueryError;
use crate::ids::{EpisodeId, ProjectId, SessionId, SourceId, TurnUid};
use crate::query::steering::{excluded_session, names_by_folder};
use crate::rows::{Fact, ImportOutcome, ProjectNames, REMEMBERED_SESSION, SessionKey, Steering, StoredEpisode, USER_AGENT};
use crate::units::UnixMillis;

const ACT: &str = "import episodes";

impl Writer {
    /// Stores episodes of an export in one transaction, those that are new here; says of each, in their order, what became of it. With
    /// `dry_run` nothing is stored. A copy of what another shared is no episode that is here. Row ids and ids of projects in `episodes` say nothing here.
    ///
    /// # Errors
    /// What SQLite reports, the journal or the file of facts; nothing is stored then.
    pub fn import(
        &mut self,
        episodes: &[StoredEpisode],
        now: UnixMillis,
        dry_run: bool,
    ) -> Result<Vec<ImportOutcome>, QueryError> {
        let outcomes = judge_all(&self.db, episodes).map_err(QueryError::at(ACT))?;
        let added: Vec<&StoredEpisode> = episodes
            .iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| **outcome == ImportOutcome::Added)
            .map(|(episode, _)| episode)
            .collect();
        if dry_run || added.is_empty() {
            return Ok(outcomes);
        }
        let decisions = decisions(&self.db, &added).map_err(QueryError::at(ACT))?;
        let choices: Vec<_> = decisions
            .iter()
            .map(|(turn, what, at)| replay::steered(*turn, *what, *at))
            .collect();
        let facts: Vec<Fact> = added.iter().filter_map(|episode| fact(episode)).collect();
        self.noting_facts(ACT, &facts, |writer| {
            writer.decide_all(ACT, &choices, |db| {
                store_all(db, &added, now)?;
                let mut decided = decisions.iter();
                decided.try_for_each(|(turn, what, at)| steer::steer(db, *turn, *what, *at))?;
                // A part of a turn that was boosted before, here or by an earlier part.
                let turns: BTreeSet<TurnUid> = added.iter().map(|episode| episode.text.turn_uid).collect();
                turns.into_iter().try_for_each(|turn| steer::boost_again(db, turn))
            })
        })?;
        Ok(outcomes)
    }
}

fn judge_all(db: &Connection, episodes: &[StoredEpisode]) -> rusqlite::Result<Vec<ImportOutcome>> {
    let exclusions = exclusion::excluded_paths(db)?;
    let mut seen = HashSet::new();
    let judged = episodes.iter().map(|episode| match judge(db, episode, &exclusions)? {
        // The same twice in one go.
        ImportOutcome::Added if !seen.insert(episode.text.uid) => Ok(ImportOutcome::Known),
        outcome => Ok(outcome),
    });
    judged.collect()
}

fn judge(db: &Connection, episode: &StoredEpisode, exclusions: &[String]) -> rusqlite::Result<ImportOutcome> {
    let text = &episode.text;
    if is_forgotten(db, text.turn_uid)? {
        return Ok(ImportOutcome::Forgotten);
    }
    if is_own(db, text.uid)? {
        return Ok(ImportOutcome::Known);
    }
    if is_retired(db, text.turn_uid)? {
        return Ok(ImportOutcome::Retired);
    }
    // What was hidden there is taken where it is hidden here as well: nothing else would keep it so.
    let is_covered = is_covered(episode, exclusions);
    if is_covered != episode.hidden || excluded_session(db, &session_of(episode))? {
        return Ok(ImportOutcome::Excluded);
    }
    Ok(ImportOutcome::Added)
}

fn is_covered(episode: &StoredEpisode, exclusions: &[String]) -> bool {
    let places = [&episode.text.cwd, &episode.text.source];
    places
        .into_iter()
        .any(|place| exclusion::covers(exclusions, place.as_deref()))
}

fn session_of(episode: &StoredEpisode) -> SessionKey {
    SessionKey {
        agent: episode.text.agent.clone(),
        external_id: episode.text.session.clone(),
    }
}

/// What was decided there of turns of which nothing is known here.
fn decisions(db: &Connection, added: &[&StoredEpisode]) -> rusqlite::Result<Vec<(TurnUid, Steering, UnixMillis)>> {
    let mut decisions = Vec::new();
    let mut seen = HashSet::new();
    for episode in added {
        let turn = episode.text.turn_uid;
        if !seen.insert(turn) || is_turn_own(db, turn)? {
            continue;
        }
        let (muted, boosted) = steer::stored(db, turn)?;
        let steered = &episode.steered;
        let mute = steered.muted_at.filter(|_| !muted).map(|at| (turn, Steering::Mute, at));
        let boost = steered.boosted_at.filter(|_| !boosted).map(|at| (turn, Steering::Boost, at));
        decisions.extend(mute.into_iter().chain(boost));
    }
    Ok(decisions)
}

/// The fact that an episode is, if it is one.
fn fact(episode: &StoredEpisode) -> Option<Fact> {
    let text = &episode.text;
    is_fact(episode).then(|| Fact {
        turn_uid: text.turn_uid,
        at: text.created_at,
        text: text.prompt.clone(),
        cwd: text.cwd.clone(),
        project: names_of(episode).unwrap_or_else(ProjectNames::everywhere),
    })
}

fn is_fact(episode: &StoredEpisode) -> bool {
    episode.text.agent == USER_AGENT && episode.text.session == REMEMBERED_SESSION
}

/// How the project of an episode is known; an export of an older version tells no keys, and then it is that of its folder.
fn names_of(episode: &StoredEpisode) -> Option<ProjectNames> {
    let text = &episode.text;
    if episode.project_keys.is_empty() {
        if text.cwd.is_none() && is_fact(episode) {
            return Some(ProjectNames::everywhere());
        }
        let by_folder = text.cwd.as_deref().map(names_by_folder)?;
        let name = text.project_name.clone()?;
        return Some(ProjectNames { name, ..by_folder });
    }
    Some(ProjectNames {
        keys: episode.project_keys.clone(),
        name: text.project_name.clone().unwrap_or_default(),
        root: episode.project_root.clone(),
    })
}

fn store_all(db: &Connection, added: &[&StoredEpisode], now: UnixMillis) -> rusqlite::Result<()> {
    let room = embeddings::embedding_size(db)?;
    let (mut visible, mut hidden) = (Vec::new(), Vec::new());
    for episode in added {
        let id = store(db, episode, room, now)?;
        if episode.hidden { hidden.push(id) } else { visible.push(id) }
    }
    index::insert_stored(db, &visible)?;
    exclusion::hide(db, &hidden).map(drop)
}

fn store(db: &Connection, episode: &StoredEpisode, room: i64, now: UnixMillis) -> rusqlite::Result<EpisodeId> {
    let text = &episode.text;
    let project = match names_of(episode) {
        Some(names) => Some(projects::resolve(db, &names.keys, &names.name, names.root.as_deref(), now)?),
        None => None,
    };
    let session = session_id(db, &session_of(episode))?;
    tell_session(db, session, project, episode)?;
    let source = text.source.as_deref().map(|path| source(db, &text.agent, path)).transpose()?;
    let (importance, rule) = match &episode.steered.by_rules {
        Some((importance, rule)) => (*importance, rule.as_str()),
        None => (text.importance, text.importance_rule.as_str()),
    };
    let whole = WholeEpisode {
        uid: text.uid,
        turn_uid: text.turn_uid,
        session,
        project,
        source,
        generation: NO_GENERATION,
        origin: episode.origin,
        turn: text.turn,
        part: text.part,
        importance,
        importance_rule: rule,
        created_at: text.created_at,
        updated_at: episode.updated_at,
        accessed_at: episode.accessed_at,
        access_count: episode.access_count,
        shown_count: episode.shown_count,
        cwd: text.cwd.as_deref(),
        git_branch: episode.git_branch.as_deref(),
        prompt: &text.prompt,
        answer: &text.answer,
        facets: &text.facets,
    };
    // What another shared of it makes way, as for what is read here.
    share::give_way(db, text.uid)?;
    let id = row::insert(db, &whole, room)?;
    add_copies(db, id, episode)?;
    add_uses(db, id, episode)?;
    Ok(id)
}

/// Tells a session's row what it does not know; a title only where none of its turns was forgotten.
fn tell_session(
    db: &Connection,
    session: SessionId,
    project: Option<ProjectId>,
    episode: &StoredEpisode,
) -> rusqlite::Result<()> {
    let title = episode.session_title.as_deref().filter(|_| !episode.hidden);
    db.prepare_cached(
        "UPDATE sessions SET cwd = coalesce(cwd, :cwd), git_branch = coalesce(git_branch, :branch),
             project_id = coalesce(project_id, :project), started_at = min(coalesce(started_at, :at), :at),
             title = CASE WHEN EXISTS (SELECT 1 FROM untitled_sessions WHERE session_id = :id) THEN NULL
                          ELSE coalesce(title, :title) END
         WHERE id = :id",
    )?
    .execute(named_params! {
        ":id": session, ":cwd": episode.text.cwd, ":branch": episode.git_branch, ":project": project,
        ":at": episode.text.created_at, ":title": title,
    })?;
    Ok(())
}

/// The transcript at a path. One that is not known here counts as missing and unread: should there be one, it is read from its
/// beginning, and what it holds is known then.
fn source(db: &Connection, agent: &str, path: &str) -> rusqlite::Result<SourceId> {
    let nothing: [u8; 32] = Sha256::digest(b"").into();
    db.prepare_cached(
        "INSERT INTO sources (agent, path, kind, device, inode, size, mtime, read_offset, read_line, committed_offset,
             committed_line, committed_turn, prefix_hash, prefix_len, tail_hash, tail_len, generation, records, skipped, missing)
         VALUES (:agent, :path, 'imported', 0, 0, 0, 0, 0, 0, 0, 0, 0, :nothing, 0, :nothing, 0, 0, 0, 0, 1)
         ON CONFLICT (path) DO NOTHING",
    )?
    .execute(named_params! {":agent": agent, ":path": path, ":nothing": nothing})?;
    db.prepare_cached("SELECT id FROM sources WHERE path = :path")?
        .query_row([path], |row| row.get(0))
}

/// The forks and resumes that repeat an episode; they are of the agent that it is of.
fn add_copies(db: &Connection, id: EpisodeId, episode: &StoredEpisode) -> rusqlite::Result<()> {
    for external_id in &episode.also_in {
        let key = SessionKey {
            agent: episode.text.agent.clone(),
            external_id: external_id.clone(),
        };
        let session = session_id(db, &key)?;
        db.prepare_cached("INSERT OR IGNORE INTO session_copies (session_id, episode_id) VALUES (:session, :id)")?
            .execute(named_params! {":session": session, ":id": id})?;
    }
    Ok(())
}

fn add_uses(db: &Connection, id: EpisodeId, episode: &StoredEpisode) -> rusqlite::Result<()> {
    for (at, evidence) in &episode.uses {
        db.prepare_cached("INSERT INTO imported_uses (episode_id, at, evidence) VALUES (:id, :at, :evidence)")?
            .execute(named_params! {":id": id, ":at": at, ":evidence": evidence})?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
