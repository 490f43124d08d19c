//! What was read of transcripts into the store: one step of one file, or of several files in one transaction.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use remembrancer_processor::Deadline;
use remembrancer_processor::ingest::{Turn, redact_folder};
use remembrancer_schema::{
    EpisodeId, IngestBatch, IngestOutcome, NewEpisode, ProjectRef, QueryError, Reader, SessionKey, ToldProject, TurnUpsert,
    UnixMillis, Writer,
};

use super::{Ingest, IngestError};
use crate::clock;
use crate::counts::Count;
use crate::progress::Part;
use crate::project::LOOK_PATIENCE;
use crate::scan::KnownFile;
use crate::source_file::ReadStep;
use crate::threads::{Panicked, contained};

/// How long it is not looked again where a folder leads.
const REAL_FOR: Duration = Duration::from_mins(1);

/// What one step in one file brought, ready to be stored.
pub(super) struct Reading {
    /// Bytes that were read.
    pub(super) bytes: usize,
    path: PathBuf,
    at_end: bool,
    /// What is known of the file once it is stored.
    known: KnownFile,
    /// The turns, for what they show to have been used.
    turns: Vec<Turn>,
    compacted: Vec<(SessionKey, UnixMillis)>,
    to_store: Arc<ToStore>,
}

/// What came of the steps that the writer was given.
type Written = Result<Result<Vec<IngestOutcome>, QueryError>, Panicked>;

/// What the writer is given of a step.
struct ToStore {
    batch: IngestBatch,
    /// Whether the file is another one than was read before under its name.
    replaces: bool,
}

/// A turn in a folder that is kept out: where its folder was told late, what was stored of it goes.
fn nothing_of(turn: &Turn) -> TurnUpsert {
    TurnUpsert {
        turn_uid: turn.uid,
        session: SessionKey {
            agent: turn.agent.id().to_owned(),
            external_id: turn.session.clone(),
        },
        cwd: None,
        told_cwd: None,
        git_branch: None,
        project: None,
        episodes: Vec::new(),
    }
}

impl Ingest {
    /// Makes of what a step brought what is stored of it: what tells of the projects is found here. Which they are the store finds, once it
    /// knows that something of them is stored.
    pub(super) fn reading(&mut self, step: ReadStep) -> Reading {
        let ReadStep {
            advance,
            episodes,
            source,
            bytes,
            replaces,
            retire_older_generations,
            at_end,
        } = step;
        self.setup.progress.count(Count::LineShortened, advance.shortened);
        self.setup.progress.count(Count::TimeNotTaken, advance.mistimed);
        let mut turns = Vec::with_capacity(episodes.len());
        let mut kept = Vec::with_capacity(episodes.len());
        for (turn, episodes) in advance.turns.into_iter().zip(episodes) {
            if turn.cwd.as_deref().is_some_and(|cwd| self.is_excluded(cwd)) {
                turns.push(nothing_of(&turn));
            } else {
                turns.push(self.upsert(&turn, episodes));
                kept.push(turn);
            }
        }
        let compacted = advance
            .sessions
            .iter()
            .filter_map(|update| update.compacted_at.map(|at| (update.session.clone(), at)))
            .collect();
        let known = KnownFile::from(&source);
        let batch = IngestBatch {
            now: clock::now(),
            source,
            sessions: advance.sessions,
            turns,
            retire_older_generations,
        };
        Reading {
            bytes,
            path: known.stat.path.clone(),
            at_end,
            known,
            turns: kept,
            compacted,
            to_store: Arc::new(ToStore { batch, replaces }),
        }
    }

    /// Whether the settings keep out a folder, by the name that a transcript has for it or by where that leads.
    fn is_excluded(&mut self, cwd: &str) -> bool {
        self.setup.exclusions.cover(Path::new(cwd))
            || self
                .real(cwd)
                .is_some_and(|real| self.setup.exclusions.cover(Path::new(&real)))
    }

    /// Where a folder leads, where that is another path. Looked for anew after a while, since links change.
    fn real(&mut self, cwd: &str) -> Option<String> {
        if let Some((real, _)) = self.reals.get(cwd).filter(|(_, until)| !until.has_passed()) {
            return real.clone();
        }
        let real = self.setup.folders.real(cwd, LOOK_PATIENCE);
        self.reals.insert(cwd.to_owned(), (real.clone(), Deadline::after(REAL_FOR)));
        real
    }

    fn upsert(&mut self, turn: &Turn, episodes: Vec<NewEpisode>) -> TurnUpsert {
        let project = turn.cwd.as_deref().and_then(|cwd| self.project(cwd)).map(ProjectRef::Told);
        // The folder itself was needed for what is kept out, and for the project.
        let stored = |folder: &str| redact_folder(folder).into_owned();
        let told = turn.cwd.as_deref().map(stored);
        let real = turn.cwd.as_deref().and_then(|cwd| self.real(cwd)).as_deref().map(stored);
        TurnUpsert {
            turn_uid: turn.uid,
            session: SessionKey {
                agent: turn.agent.id().to_owned(),
                external_id: turn.session.clone(),
            },
            told_cwd: real.is_some().then(|| told.clone()).flatten(),
            cwd: real.or(told),
            git_branch: turn.git_branch.clone(),
            project,
            episodes,
        }
    }

    /// What tells of the project of `cwd`.
    fn project(&mut self, cwd: &str) -> Option<Arc<ToldProject>> {
        if let Some(project) = self.projects.get(cwd) {
            return project.clone();
        }
        // Where the file system does not answer, the folder is its own project until it does, and is asked again with the next turn.
        let (found, is_told) = self.setup.folders.identify(cwd);
        let project = found.map(|identity| {
            Arc::new(ToldProject {
                root: redact_folder(&identity.root.to_string_lossy()).into_owned(),
                keys: identity.keys,
                name: identity.name,
            })
        });
        if is_told {
            self.projects.insert(cwd.to_owned(), project.clone());
        }
        project
    }

    /// Stores steps of different files in one transaction. Where one's content is at fault, each is stored by itself, so
    /// that it fails alone. Returns the files of which there is more to read.
    pub(super) fn store(&mut self, readings: Vec<Reading>) -> Result<Vec<PathBuf>, IngestError> {
        let Some(first) = readings.first().map(|reading| reading.path.clone()) else {
            return Ok(Vec::new());
        };
        match self.write(&readings)?.ok_or(IngestError::Paused)? {
            Ok(Ok(outcomes)) => Ok(self.stored(readings, &outcomes)),
            Ok(Err(error)) if !error.is_of_content() => Err(error.into()),
            _ if readings.len() > 1 => {
                let mut unfinished = Vec::new();
                for reading in readings {
                    unfinished.extend(self.store(vec![reading])?);
                }
                Ok(unfinished)
            }
            Ok(Err(error)) => Ok(if self.refuse(&first, &error) {
                Vec::new()
            } else {
                vec![first]
            }),
            Err(panicked) => {
                self.open.close(&first);
                self.troubles.poison(&first, &panicked.to_string());
                Ok(Vec::new())
            }
        }
    }

    /// `None` where a pause has begun: nothing was written then.
    fn write(&self, readings: &[Reading]) -> Result<Option<Written>, IngestError> {
        let steps: Vec<Arc<ToStore>> = readings.iter().map(|reading| Arc::clone(&reading.to_store)).collect();
        let ingest = move |writer: &mut Writer| {
            for step in steps.iter().filter(|step| step.replaces) {
                writer.replace_source(&step.batch.source.path)?;
            }
            writer.ingest_all(steps.iter().map(|step| &step.batch))
        };
        // A panic inside rolls the transaction back, and leaves the writer as it was.
        let progress = Arc::clone(&self.setup.progress);
        Ok(self.setup.writer.call_blocking(move |writer| {
            // Asked on the writer's thread, so that once a pause was stored nothing is stored after it.
            (!progress.is_paused(clock::now())).then(|| contained(|| ingest(writer)))
        })?)
    }

    /// Takes note of what is stored now.
    fn stored(&mut self, readings: Vec<Reading>, outcomes: &[IngestOutcome]) -> Vec<PathBuf> {
        let mut turns = Vec::new();
        let mut unfinished = Vec::new();
        self.setup.progress.works(Part::Ingest);
        self.remove_codes(outcomes);
        for (reading, outcome) in readings.into_iter().zip(outcomes) {
            for (session, at) in &reading.compacted {
                self.setup.conversations.compacted(session, *at);
            }
            self.setup.progress.ingested(outcome);
            self.troubles.clear(&reading.path);
            let source = &reading.to_store.batch.source;
            self.drift.stored(source);
            let (skipped, is_told) = (source.skipped_delta, source.whole && self.known.contains_key(&reading.path));
            if skipped > 0 && !is_told {
                tracing::warn!(file = %reading.path.display(), skipped, "lines that could not be read were passed over; see `remembrancer status`");
            }
            for project in &outcome.projects {
                self.setup.due.stored(*project);
            }
            self.known.insert(reading.path.clone(), reading.known);
            turns.extend(reading.turns);
            if !reading.at_end {
                unfinished.push(reading.path);
            }
        }
        self.setup.feedback.judge(turns);
        unfinished
    }

    /// Once all is read: says what is not read for its kind.
    pub(super) fn tell_drift(&mut self) -> Result<(), IngestError> {
        if self.drift.take_due() {
            let stats = self.setup.background.call_blocking(|reader| reader.stats())??;
            self.drift.tell(&stats);
        }
        Ok(())
    }

    /// Drops the codes of episodes that were removed; what shows them is due.
    fn remove_codes(&self, outcomes: &[IngestOutcome]) {
        let removed: Vec<EpisodeId> = outcomes.iter().flat_map(|outcome| &outcome.removed).copied().collect();
        if removed.is_empty() {
            return;
        }
        self.setup.due.all();
        let codes = self.setup.codes.clone();
        let job = move |reader: &mut Reader| codes.remove(reader, &removed);
        if let Err(error) = self.setup.background.call_blocking(job) {
            tracing::warn!(%error, "codes of episodes that are gone stay until the next start");
        }
    }
}
