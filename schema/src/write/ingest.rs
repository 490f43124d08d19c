//! One pass over one source, stored in one transaction with the source's position; or several passes in one.
//! In go turns as they stand, out comes what changed. Reading the same again changes nothing; what the user forgot or
//! excluded stays out; what another session owns is a copy.

mod content;
mod episodes;
mod retirement;
mod sessions;

use std::collections::BTreeMap;

use rusqlite::Connection;

pub(crate) use content::content_hash;
pub use content::content_hash_of;
use content::{Content, Texts, goes_further, texts_of};
use episodes::{InProject, Stored, is_copied, stored_episodes};
pub(super) use retirement::hand_over;
use sessions::Session;
pub(super) use sessions::session_id;

use super::exclusion::{covers, excluded_paths};
use super::{Writer, embeddings, forget, index, known, projects, sources, steer};
use crate::error::QueryError;
use crate::ids::{ProjectId, SessionId, SourceId, TurnUid};
use crate::rows::{IngestBatch, IngestOutcome, NewEpisode, ProjectRef, SessionKey, ToldProject, TurnUpsert};

impl Writer {
    /// Stores one pass over one source.
    ///
    /// - A turn or an episode that the user forgot, or retention removed, is skipped, and so is a turn whose folder, source or session is
    ///   excluded.
    /// - A known episode of the same session is compared by its text: a change replaces its texts and index row and drops
    ///   its embedding; times and counts stay. It now belongs to this source and generation, and has this importance, unless the
    ///   user boosted its turn.
    /// - A known episode of another session is a copy (a fork or a resume) and is only noted as such, unless the copy
    ///   goes further, as where the fork was made in the middle of a turn: the longer text is kept, whoever was read first.
    /// - An episode that others shared becomes one's own, as it is read here.
    /// - With `retire_older_generations`, episodes of this source that were not seen in this generation are removed, or
    ///   handed to a session that has a copy. Those of a file that was replaced ([`Writer::replace_source`]) stay.
    ///
    /// # Errors
    /// What SQLite reports; nothing is stored then, the position neither.
    pub fn ingest(&mut self, batch: &IngestBatch) -> Result<IngestOutcome, QueryError> {
        self.within("store a batch", |db| {
            let mut index = index::Changes::default();
            let outcome = Pass::store(db, batch, &mut index)?;
            index.write(db)?;
            Ok(outcome)
        })
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
            let mut index = index::Changes::default();
            let outcomes = batches
                .into_iter()
                .map(|batch| Pass::store(db, batch, &mut index))
                .collect::<Result<_, _>>()?;
            index.write(db)?;
            Ok(outcomes)
        })
    }
}

/// A pass while it is stored: `'t` is the transaction's, `'a` that of what was handed in.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something else of the batch, and none depends on another"
)]
struct Pass<'a, 't> {
    db: &'t Connection,
    /// What the transaction changes of the full-text index: written once all of its passes are through.
    index: &'t mut index::Changes<'a>,
    batch: &'a IngestBatch,
    source: SourceId,
    exclusions: Vec<String>,
    source_excluded: bool,
    any_tombstone: bool,
    any_retired: bool,
    any_boosted: bool,
    /// Bytes kept free for the embedding of a new episode.
    room: i64,
    sessions: BTreeMap<&'a SessionKey, Session<'a>>,
    /// What was told of projects, and which they are.
    projects: BTreeMap<&'a [String], ProjectId>,
    outcome: IngestOutcome,
}

impl<'a, 't> Pass<'a, 't> {
    fn store(db: &'t Connection, batch: &'a IngestBatch, index: &'t mut index::Changes<'a>) -> rusqlite::Result<IngestOutcome> {
        let mut pass = Self::begin(db, batch, index)?;
        batch.turns.iter().try_for_each(|turn| pass.turn(turn))?;
        batch.sessions.iter().try_for_each(|update| pass.session_news(update))?;
        pass.finish()
    }

    fn begin(db: &'t Connection, batch: &'a IngestBatch, index: &'t mut index::Changes<'a>) -> rusqlite::Result<Self> {
        let fresh = sources::stored_generation(db, &batch.source.path)?.is_some_and(|stored| stored != batch.source.generation);
        let source = sources::upsert(db, &batch.source)?;
        sources::add_problems(db, source, &batch.source, fresh || batch.source.whole)?;
        let exclusions = excluded_paths(db)?;
        Ok(Self {
            db,
            index,
            batch,
            source,
            source_excluded: covers(&exclusions, Some(&batch.source.path)),
            exclusions,
            any_tombstone: db.prepare_cached("SELECT 1 FROM tombstones")?.exists([])?,
            any_retired: db.prepare_cached("SELECT 1 FROM retired_turns")?.exists([])?,
            any_boosted: steer::any_boosted(db)?,
            room: embeddings::embedding_size(db)?,
            sessions: BTreeMap::new(),
            projects: BTreeMap::new(),
            outcome: IngestOutcome::default(),
        })
    }

    fn turn(&mut self, turn: &'a TurnUpsert) -> rusqlite::Result<()> {
        let count = turn.episodes.len() as u64;
        if self.is_tombstone(turn.turn_uid.0)? {
            self.outcome.tombstoned += count;
            // Also that of a fork, and of a store that was made anew with the tombstones of an older one.
            let session = self.session(&turn.session)?.id;
            return forget::leave_untitled(self.db, session);
        }
        if self.is_retired(turn.turn_uid)? {
            self.outcome.tombstoned += count;
            return Ok(());
        }
        let session = self.session(&turn.session)?;
        session.told = Some(turn).filter(|turn| turn.cwd.is_some()).or(session.told);
        let known = *session;
        let (session, session_excluded) = (known.id, known.excluded);
        let path_excluded = self.source_excluded || self.is_in_excluded(known)?;
        let stored = stored_episodes(self.db, turn.turn_uid)?;
        if path_excluded || session_excluded {
            self.outcome.excluded += count;
            self.retire_visible(session, &stored)?;
            return self.claim_turn(turn.turn_uid);
        }
        let project = self.project(turn)?;
        if !turn.episodes.is_empty() {
            let session = self.session(&turn.session)?;
            session.latest = Some((turn, project));
            session.cwd = turn.cwd.as_deref().or(session.cwd);
        }
        for episode in &turn.episodes {
            let turn = InProject { turn, project };
            self.episode(turn, session, episode, stored.iter().find(|stored| stored.uid == episode.uid))?;
        }
        if self.any_boosted {
            steer::boost_again(self.db, turn.turn_uid)?;
        }
        self.retire_parts(turn, session, &stored)
    }

    /// Whether the working folder that was told last is kept out, by either of its names; where none was told, the stored one.
    fn is_in_excluded(&self, session: Session<'_>) -> rusqlite::Result<bool> {
        if self.exclusions.is_empty() {
            return Ok(false);
        }
        let Some(told) = session.told else {
            return Ok(covers(&self.exclusions, sessions::folder(self.db, session.id)?.as_deref()));
        };
        let names = [told.cwd.as_deref(), told.told_cwd.as_deref()];
        Ok(names.into_iter().any(|cwd| covers(&self.exclusions, cwd)))
    }

    /// The project of a turn of which something may be stored: of one that is kept out not even the folder's name is kept.
    fn project(&mut self, turn: &'a TurnUpsert) -> rusqlite::Result<Option<ProjectId>> {
        let told = match &turn.project {
            Some(project) if !turn.episodes.is_empty() => project,
            _ => return Ok(None),
        };
        let project = match told {
            ProjectRef::Known(project) => *project,
            ProjectRef::Told(told) => self.told_project(told)?,
        };
        if !self.outcome.projects.contains(&project) {
            self.outcome.projects.push(project);
        }
        Ok(Some(project))
    }

    /// The project that this tells of, looked for or made once a pass.
    fn told_project(&mut self, told: &'a ToldProject) -> rusqlite::Result<ProjectId> {
        if let Some(project) = self.projects.get(told.keys.as_slice()) {
            return Ok(*project);
        }
        if told.keys.is_empty() {
            return Err(rusqlite::Error::ToSqlConversionFailure("a project needs a key".into()));
        }
        let project = projects::resolve(self.db, &told.keys, &told.name, Some(&told.root), self.batch.now)?;
        self.projects.insert(&told.keys, project);
        Ok(project)
    }

    fn episode(
        &mut self,
        turn: InProject<'_>,
        session: SessionId,
        episode: &'a NewEpisode,
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
            Some(stored) if stored.is_pulled => {
                self.adopt(turn, session, stored, &content)?;
                self.outcome.updated += 1;
            }
            Some(stored) if stored.session != session => self.copy(turn, session, stored, &content)?,
            Some(stored) => {
                if stored.is_unread {
                    self.tell_folder(stored.id, turn.turn)?;
                }
                self.claim(stored.id, episode)?;
                let found_its_project = stored.project.is_none() && turn.project.is_some();
                // A session that was forked in the middle of a turn, and has a longer copy, keeps it.
                if (stored.content_hash == content.hash && !found_its_project)
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

    fn finish(mut self) -> rusqlite::Result<IngestOutcome> {
        self.update_sessions()?;
        if self.batch.retire_older_generations {
            self.retire_older_generations()?;
        }
        Ok(self.outcome)
    }

    fn is_retired(&self, turn: TurnUid) -> rusqlite::Result<bool> {
        Ok(self.any_retired && known::is_retired(self.db, turn)?)
    }

    fn is_tombstone(&self, uid: [u8; 16]) -> rusqlite::Result<bool> {
        Ok(self.any_tombstone && known::is_forgotten(self.db, TurnUid(uid))?)
    }
}

#[cfg(test)]
mod tests;
