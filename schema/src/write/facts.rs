//! Facts that the user had remembered, as episodes of one session of the user's own: stored, brought back where a database lacks them,
//! and taken out of their file where they are forgotten.
//! In go facts, redacted; out come episodes. What is said twice of one project is one. What was forgotten and is said again is another.

use rusqlite::{Connection, named_params};
use sha2::{Digest, Sha256};

use super::ingest::session_id;
use super::known::{is_forgotten, is_own, is_retired};
use super::row::{self, NO_GENERATION, WholeEpisode};
use super::{Writer, embeddings, exclusion, index, projects, share, steer};
use crate::error::{OpenError, QueryError};
use crate::facts::FactsFile;
use crate::ids::{EpisodeUid, TurnUid};
use crate::query::steering::{excluded_session, stored_facts};
use crate::rows::{
    Facets, Fact, Importance, Origin, PINNED, ProjectNames, REMEMBERED_SESSION, Remembered, SessionKey, USER_AGENT,
};
use crate::units::UnixMillis;

const ACT: &str = "remember a fact";

impl Writer {
    /// Remembers what the user said, redacted before, of a project; `cwd` is the folder, without secrets in its name.
    ///
    /// # Errors
    /// [`QueryError::Invalid`] for a project without a key; what the file of facts or SQLite reports: nothing is remembered then.
    pub fn remember(
        &mut self,
        text: &str,
        cwd: Option<&str>,
        project: &ProjectNames,
        now: UnixMillis,
    ) -> Result<Remembered, QueryError> {
        let Some(key) = project.keys.first() else {
            let detail = "a project needs a key".to_owned();
            return Err(QueryError::Invalid { act: ACT, detail });
        };
        let turn_uid = turn_of(&self.db, key, text).map_err(QueryError::at(ACT))?;
        let episode = EpisodeUid::of(&turn_uid, 0);
        if is_own(&self.db, episode).map_err(QueryError::at(ACT))? {
            return Ok(Remembered { episode, is_new: false });
        }
        let fact = Fact {
            turn_uid,
            at: now,
            text: text.to_owned(),
            cwd: cwd.map(str::to_owned),
            project: project.clone(),
        };
        self.noting_facts(ACT, std::slice::from_ref(&fact), |writer| {
            writer.within(ACT, |db| insert(db, &fact))
        })?;
        Ok(Remembered { episode, is_new: true })
    }

    /// Writes facts into their file, then does `work`; what that refuses is taken out of the file again.
    pub(super) fn noting_facts<T>(
        &mut self,
        act: &'static str,
        facts: &[Fact],
        work: impl FnOnce(&mut Self) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        if facts.is_empty() {
            return work(self);
        }
        let file = FactsFile::of(&self.path);
        let mark = file.add(facts).map_err(failed(act, &file))?;
        let done = work(self);
        if done.is_err()
            && let Err(error) = file.take_back(mark)
        {
            tracing::warn!(act, %error, "what was refused stays in the file of facts: the next start stores it");
        }
        done
    }

    /// Takes facts of forgotten turns out of their file.
    ///
    /// # Errors
    /// The file system's error: they are out of the database, and leave the file at the next opening.
    pub(super) fn forget_facts(&self, turns: &[TurnUid]) -> Result<(), QueryError> {
        let file = FactsFile::of(&self.path);
        file.remove(turns).map_err(failed("have the forgotten leave", &file))
    }

    /// Brings the file of facts and the database to agree: what only the file has is stored, what only the database has is noted, and
    /// what was forgotten leaves the file.
    ///
    /// # Errors
    /// What SQLite or the file system reports.
    pub(super) fn follow_facts(&mut self) -> Result<(), OpenError> {
        let path = self.path.clone();
        let file = FactsFile::of(&path);
        let (sqlite, io) = (OpenError::of_rows(&path, "bring back facts in"), OpenError::facts(&path));
        file.remove_part().map_err(&io)?;
        let told = file.read().map_err(&io)?;
        let missing = self.missing(&told).map_err(&sqlite)?;
        if !missing.is_empty() {
            let tx = self
                .db
                .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
                .map_err(&sqlite)?;
            missing
                .iter()
                .try_for_each(|fact| insert(&tx, fact))
                .and_then(|()| tx.commit())
                .map_err(&sqlite)?;
            tracing::info!(facts = missing.len(), "what you had remembered was brought back");
        }
        let known: Vec<TurnUid> = told.iter().map(|fact| fact.turn_uid).collect();
        let mut forgotten = Vec::new();
        for turn in &known {
            if is_forgotten(&self.db, *turn).map_err(&sqlite)? {
                forgotten.push(*turn);
            }
        }
        if !forgotten.is_empty() {
            file.remove(&forgotten).map_err(&io)?;
        }
        let mut untold = stored_facts(&self.db).map_err(&sqlite)?;
        untold.retain(|fact| !known.contains(&fact.turn_uid));
        file.add(&untold).map(drop).map_err(&io)
    }

    /// What of the file the database lacks and may have.
    fn missing<'f>(&self, told: &'f [Fact]) -> rusqlite::Result<Vec<&'f Fact>> {
        let mut missing = Vec::new();
        for fact in told {
            let turn = fact.turn_uid;
            if !is_own(&self.db, EpisodeUid::of(&turn, 0))? && !is_forgotten(&self.db, turn)? && !is_retired(&self.db, turn)? {
                missing.push(fact);
            }
        }
        Ok(missing)
    }
}

fn failed(act: &'static str, file: &FactsFile) -> impl FnOnce(std::io::Error) -> QueryError {
    let path = file.path().to_owned();
    move |source| QueryError::Journal { act, path, source }
}

/// The turn that a fact makes: of a project's key and the text, so that saying it twice is once. One that was forgotten never comes
/// back, so that the same words said again are the first of their numbers that was not.
fn turn_of(db: &Connection, key: &str, text: &str) -> rusqlite::Result<TurnUid> {
    let mut number = 0_u32;
    loop {
        let turn = numbered(key, text, number);
        if !is_forgotten(db, turn)? {
            return Ok(turn);
        }
        number += 1;
    }
}

fn numbered(key: &str, text: &str, number: u32) -> TurnUid {
    let mut hash = Sha256::new();
    hash.update(USER_AGENT);
    hash.update(number.to_le_bytes());
    for part in [key, text] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut uid = [0; 16];
    uid.copy_from_slice(&hash.finalize()[..16]);
    TurnUid(uid)
}

/// Stores a fact that is not there, in a transaction; what is kept out is hidden at once.
pub(super) fn insert(db: &Connection, fact: &Fact) -> rusqlite::Result<()> {
    let ProjectNames { keys, name, root } = &fact.project;
    let project = projects::resolve(db, keys, name, root.as_deref(), fact.at)?;
    let key = SessionKey {
        agent: USER_AGENT.to_owned(),
        external_id: REMEMBERED_SESSION.to_owned(),
    };
    let session = session_id(db, &key)?;
    let episode = WholeEpisode {
        uid: EpisodeUid::of(&fact.turn_uid, 0),
        turn_uid: fact.turn_uid,
        session,
        project: Some(project),
        source: None,
        generation: NO_GENERATION,
        origin: Origin::User,
        // No fact follows another: what stands beside a turn in a conversation says something of it.
        turn: 0,
        part: 0,
        importance: Importance::High,
        importance_rule: PINNED,
        created_at: fact.at,
        updated_at: fact.at,
        accessed_at: fact.at,
        access_count: 0,
        shown_count: 0,
        cwd: fact.cwd.as_deref(),
        git_branch: None,
        prompt: &fact.text,
        answer: "",
        facets: &Facets::default(),
    };
    // Another may have said the same of the same project.
    share::give_way(db, episode.uid)?;
    let id = row::insert(db, &episode, embeddings::embedding_size(db)?)?;
    index::insert_stored(db, &[id])?;
    db.prepare_cached("UPDATE sessions SET started_at = min(coalesce(started_at, :at), :at) WHERE id = :id")?
        .execute(named_params! {":id": session, ":at": fact.at})?;
    let exclusions = exclusion::excluded_paths(db)?;
    if exclusion::covers(&exclusions, fact.cwd.as_deref()) || excluded_session(db, &key)? {
        exclusion::hide(db, &[id])?;
    }
    steer::boost_again(db, fact.turn_uid)
}

#[cfg(test)]
mod tests;
