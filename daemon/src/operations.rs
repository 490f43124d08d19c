//! What the daemon does for each request of the wire protocol.

mod facts;
mod sharing;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use remembrancer_hooks::clock::monotonic_ns;
use remembrancer_hooks::protocol::{
    Answer, ExplainRequest, ForgetTarget, InstructionFile, Reply, Request, SearchRequest, Steering,
};
use remembrancer_processor::Deadline;
use remembrancer_processor::ingest::Agent;
use remembrancer_processor::recall::Degradation;
use remembrancer_schema::{Damage, OpenError, QueryError, Reader, SessionKey, UnixMillis};
use serde_json::{Value, json};

use crate::backups::{BackupError, Backups};
use crate::causes::with_causes;
use crate::clock;
use crate::control::{self, ControlError, SearchSources};
use crate::conversations::LastAnswer;
use crate::counts::Count;
use crate::embedder::ModelState;
use crate::guarded;
use crate::health;
use crate::instructions::Refresher;
use crate::mailbox::Mailbox;
use crate::mending::{self, Findings, MOST_LOG};
use crate::paths;
use crate::progress::Part;
use crate::reason::Reason;
use crate::recall_task::Recaller;
use crate::recollection_files;
use crate::removals;
use crate::status::DaemonStatus;
use crate::store::{NoAnswer, StoreHandle};
use crate::system;

/// Bytes that are free on a disk that is not full: less is taken by the next write.
const LEAST_ROOM: u64 = 256 * 1024;
/// How long a look at whether anything can be written waits for the writer.
const LOOK_PATIENCE: Duration = Duration::from_secs(1);

/// How long a request to forget waits for what stands in the transcripts and is not read yet.
const CATCH_UP: Duration = Duration::from_secs(3);

/// How long a search waits for its query's embedding, which takes a while where the model is being loaded: less than whoever asks
/// waits for the reply.
const EMBEDDING_PATIENCE: Duration = Duration::from_secs(3);

/// How long a look at a transcript is waited for.
const FILE_PATIENCE: Duration = Duration::from_secs(2);

/// Performs requests.
pub(crate) struct Operations {
    /// Answers prompts.
    pub recaller: Recaller,
    /// A reader that may be kept waiting.
    pub background: StoreHandle<Reader>,
    /// Keeps instruction files up to date.
    pub refresher: Refresher,
    /// Reaches the ingest thread.
    pub mailbox: Arc<Mailbox>,
    /// Makes backups.
    pub backups: Backups,
    /// What `status` tells of the process.
    pub status: DaemonStatus,
    /// Held while a pause begins or ends: what is in force must be what was stored last, or is in it to be stored.
    pub pausing: tokio::sync::Mutex<Unstored>,
    /// The work with the shared store, where there is one.
    #[cfg(feature = "share")]
    pub shared: Option<Arc<crate::share::Shared>>,
}

/// A pause that holds though it could not be stored, until it can.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Unstored {
    /// All is stored.
    #[default]
    Nothing,
    /// A pause until then, or until it is ended.
    Pause(Option<UnixMillis>),
}

/// Why a request was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Control(#[from] ControlError),
    #[error(transparent)]
    Gone(#[from] NoAnswer),
    #[error(transparent)]
    Backup(#[from] BackupError),
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl From<QueryError> for Refusal {
    fn from(error: QueryError) -> Self {
        Self::Control(error.into())
    }
}

impl Operations {
    /// Performs one request, received at the monotonic instant `received_ns`.
    pub(crate) async fn perform(&self, request: Request, received_ns: u64) -> Reply {
        let done = match request {
            Request::Recall(request) => return self.recaller.answer(request, received_ns).await.into(),
            Request::Ping => Ok(self.ping()),
            Request::Status => self.status().await,
            Request::Flush => self.flush().await,
            Request::Why { session } => self.read(move |reader| control::why(reader, session.as_deref())).await,
            Request::Explain(request) => self.explain(request, received_ns).await,
            Request::Explanations { session, limit } => {
                self.read(move |reader| control::explanations(reader, session.as_deref(), limit))
                    .await
            }
            Request::LastAnswer { session } => Ok(self.last_answer(session.as_deref())),
            Request::Show { id } => self.show(id).await,
            Request::Session { id, after } => self.read(move |reader| control::session(reader, &id, after.as_deref())).await,
            Request::Search(request) => self.search(request).await,
            Request::Sessions(request) => self.read(move |reader| control::sessions(reader, &request)).await,
            Request::Timeline(request) => self.read(move |reader| control::timeline(reader, &request)).await,
            Request::Pause { until_ms } => self.pause(until_ms.map(UnixMillis)).await,
            Request::Resume => self.resume().await,
            Request::PauseSharing => self.pause_sharing(true).await,
            Request::ResumeSharing => self.pause_sharing(false).await,
            Request::ShareLeave => self.leave_sharing().await,
            Request::Changed { agent, transcript } => {
                match Agent::parse(&agent) {
                    Some(agent) => self.mailbox.named(agent, transcript.into()),
                    None => self.mailbox.changed(transcript.into()),
                }
                Ok(Value::Null)
            }
            Request::ExcludeSession { agent, session } => self.exclude_session(agent, session).await,
            Request::Exclude { path } => self.exclude(path).await,
            Request::Include { path } => self.include(path).await,
            Request::Forget { target } => self.forget(target).await,
            Request::Remember { text, project } => self.remember(text, project).await,
            Request::Steer { how, ids } => self.steer(how, ids).await,
            Request::Import { lines, dry_run } => self.import(lines, dry_run).await,
            Request::Backup { path } => self.backups.make(path.map(Into::into)).await.map_err(Refusal::from),
            Request::Mend { dry_run } => self.mend(dry_run).await,
            Request::Instruct(file) => self.instruct(file).await,
            Request::Uninstruct { path, line } => self.uninstruct(path, line).await,
        };
        match done {
            Ok(data) => Answer::done(data).into(),
            Err(refusal) => {
                if let Refusal::Control(ControlError::Store(error)) = &refusal
                    && error.is_of_room()
                {
                    self.recaller.progress.fails(Part::Store, with_causes(error));
                }
                Answer::refused(with_causes(&refusal)).into()
            }
        }
    }

    /// Who answers, and of which memory.
    fn ping(&self) -> Value {
        json!({
            "pid": std::process::id(),
            "version": remembrancer_hooks::VERSION,
            "log": system::standard_error(),
            "database": paths::one_name(&self.recaller.places.database_file()),
        })
    }

    async fn status(&self) -> Result<Value, Refusal> {
        self.look_whether_it_writes().await;
        let mut status = self.read(|reader| control::store_status(reader, clock::now())).await?;
        let Recaller {
            progress,
            embedder,
            reranker,
            ..
        } = &self.recaller;
        self.status.add_to(&mut status, progress, &embedder.state(), reranker);
        #[cfg(feature = "share")]
        self.add_sharing(&mut status);
        // One that could not be stored is not in what the store tells.
        if status["paused"].is_null()
            && let Some(pause) = progress.pause_at(clock::now())
        {
            status["paused"] = format!(
                "{}, or until the daemon stops, since it can't be stored",
                control::described(pause)
            )
            .into();
        }
        Ok(status)
    }

    /// From memory alone: an editor waits for it, and asks often.
    fn last_answer(&self, session: Option<&str>) -> Value {
        let Recaller {
            progress,
            conversations,
            embedder,
            ..
        } = &self.recaller;
        let answer = conversations.last_answer(session);
        let mut findings = progress.findings(monotonic_ns(), 0);
        findings.extend(embedder.state().finding());
        let answer_of = |of: fn(&LastAnswer) -> Value| answer.as_ref().map_or(Value::Null, of);
        json!({
            "answered": answer.is_some(),
            "shown": answer_of(|answer| answer.shown.into()),
            "millis": answer_of(|answer| ((answer.took.as_secs_f64() * 10_000.0).round() / 10.0).into()),
            "reason": answer_of(|answer| answer.reason.clone().into()),
            "failed": answer_of(|answer| Reason::is_failure(answer.reason.as_deref()).into()),
            "degradations": answer_of(|answer| answer.degradations.clone().into()),
            "paused": progress.is_paused(clock::now()),
            "state": health::told(findings)["state"],
        })
    }

    /// What keeps from being written is told though nothing was to be written lately, and no longer than it lasts.
    async fn look_whether_it_writes(&self) {
        let Recaller { progress, places, .. } = &self.recaller;
        let folder = places.data_dir();
        if let Some(free) = system::room(&folder).filter(|free| *free < LEAST_ROOM) {
            progress.fails(
                Part::Store,
                format!("the disk of {} is full, {free} bytes are free", folder.display()),
            );
            return;
        }
        if progress.is_failing(Part::Recollections) && recollection_files::can_be_written(&places.recollections_dir()) {
            progress.works(Part::Recollections);
        }
        if !progress.is_failing(Part::Store) {
            return;
        }
        let mut unstored = self.pausing.lock().await;
        let pause = *unstored;
        let writing = self.recaller.writer.call(move |writer| match pause {
            Unstored::Pause(until) => control::pause(writer, until, clock::now()).map(drop),
            Unstored::Nothing => Ok(writer.try_to_write()?),
        });
        // Whoever asks waits no longer than a moment for the one writer.
        match tokio::time::timeout(LOOK_PATIENCE, writing).await {
            Ok(Ok(Ok(()) | Err(ControlError::Senseless(_)))) => {
                *unstored = Unstored::Nothing;
                progress.works(Part::Store);
            }
            Ok(Ok(Err(error))) => progress.fails(Part::Store, with_causes(&error)),
            Ok(Err(_)) | Err(_) => {}
        }
    }

    async fn flush(&self) -> Result<Value, Refusal> {
        let (done, receipt) = tokio::sync::oneshot::channel();
        self.mailbox.flush(done);
        receipt.await.map_err(|_| NoAnswer::Closed)?;
        self.refresher.catch_up().await;
        // A pause, or a store that refuses writes, lets those who wait go, too.
        let paused = self.recaller.progress.is_paused(clock::now());
        let problem = self.recaller.progress.ingest_problem();
        Ok(json!({"flushed": !paused && problem.is_none(), "paused": paused, "problem": problem}))
    }

    /// How the answer to a prompt came about: of one that was logged, or of one that is recalled for now.
    async fn explain(&self, request: ExplainRequest, received_ns: u64) -> Result<Value, Refusal> {
        let explanation = match control::recall_of(&request) {
            None => self.read(move |reader| control::explain(reader, &request)).await?,
            Some(recall) => {
                let settings = control::in_scope(&self.recaller.settings, recall.all_projects);
                let (outcome, took) = self.recaller.explain(recall, received_ns).await;
                let told = move |reader: &Reader| {
                    let outcome = outcome.as_deref().map_err(|reason| *reason);
                    control::explain_now(reader, &request, outcome, &settings, Some(took))
                };
                self.read(told).await?
            }
        };
        Ok(serde_json::to_value(explanation).map_err(ControlError::from)?)
    }

    async fn show(&self, id: String) -> Result<Value, Refusal> {
        let shown = self.read(move |reader| control::show(reader, &id)).await?;
        let id = shown.id;
        // To look at an episode is to use it.
        let used = self
            .recaller
            .writer
            .call(move |writer| writer.record_use(id, clock::now()))
            .await?;
        if let Err(error) = used {
            tracing::warn!(error = %with_causes(&error), "a use could not be counted");
        }
        // The file system may take its time, and holds up nobody here, not even who asked.
        let origin = shown.origin.clone();
        let looked = tokio::time::timeout(FILE_PATIENCE, tokio::task::spawn_blocking(move || origin.look())).await;
        let transcript = match looked {
            Ok(Ok(transcript)) => transcript,
            Ok(Err(_)) | Err(_) => shown.origin.unseen(),
        };
        Ok(shown.with(transcript))
    }

    /// Searches as a person asks for it, and leaves no trace.
    async fn search(&self, request: SearchRequest) -> Result<Value, Refusal> {
        let embedding = match control::to_embed(&request) {
            None => Err(Degradation::NoModel),
            Some(text) => {
                let mut pending = self.recaller.embedder.ask(text, Deadline::after(EMBEDDING_PATIENCE));
                tokio::task::spawn_blocking(move || pending.wait(EMBEDDING_PATIENCE))
                    .await
                    .map_err(|_| NoAnswer::Closed)?
            }
        };
        let model_id = match self.recaller.embedder.state() {
            ModelState::Ready(model) => model.model_id().to_owned(),
            ModelState::Loading | ModelState::Failed(_) => String::new(),
        };
        let codes = self.recaller.codes.clone();
        self.read(move |reader| {
            let sources = SearchSources {
                reader,
                codes: codes.index(),
                model_id: &model_id,
                embedding,
                now: clock::now(),
            };
            control::search(&sources, &request)
        })
        .await
    }

    async fn pause(&self, until: Option<UnixMillis>) -> Result<Value, Refusal> {
        let mut unstored = self.pausing.lock().await;
        let pause = control::pause_until(until, clock::now())?;
        // Before the store is told: what the writer was given before that is stored when it answers, and what it is given from
        // now on is put off (`ingest_task`), so that nothing more is stored once this is answered.
        let before = self.recaller.progress.set_paused(Some(pause));
        let stored = self
            .recaller
            .writer
            .call(move |writer| control::pause(writer, until, clock::now()))
            .await;
        match stored {
            Ok(Ok(value)) => {
                *unstored = Unstored::Nothing;
                Ok(value)
            }
            // Whoever asks for silence gets it: the want of room must not have things remembered that were to be kept out.
            Ok(Err(ControlError::Store(error))) if error.is_of_room() => {
                self.recaller.progress.fails(Part::Store, with_causes(&error));
                *unstored = Unstored::Pause(until);
                Ok(json!({"paused": true, "until": until.map(control::rfc3339), "stored": false, "problem": with_causes(&error)}))
            }
            failed => {
                self.recaller.progress.set_paused(before);
                Ok(failed??)
            }
        }
    }

    async fn resume(&self) -> Result<Value, Refusal> {
        let mut unstored = self.pausing.lock().await;
        let resumed = self.recaller.writer.call(control::resume).await?;
        let value = match resumed {
            // What was never stored ends where it holds.
            Err(ControlError::Store(error)) if error.is_of_room() && *unstored != Unstored::Nothing => json!({"paused": false}),
            resumed => resumed?,
        };
        *unstored = Unstored::Nothing;
        self.recaller.progress.set_paused(None);
        self.mailbox.rescan();
        Ok(value)
    }

    async fn exclude(&self, path: String) -> Result<Value, Refusal> {
        let writer = &self.recaller.writer;
        let value = writer
            .call(move |writer| control::exclude(writer, &path, clock::now()))
            .await??;
        self.episodes_went().await?;
        Ok(value)
    }

    async fn exclude_session(&self, agent: String, external_id: String) -> Result<Value, Refusal> {
        let session = SessionKey { agent, external_id };
        let writer = &self.recaller.writer;
        let key = session.clone();
        let excluded = writer.call(move |writer| control::exclude_session(writer, &key)).await?;
        if let Err(error) = &excluded {
            // Nobody waits for the answer who could say so.
            tracing::warn!(agent = session.agent, error = %with_causes(error), "a guarded session could not be kept out; the next start tries again");
            self.recaller.progress.count(Count::GuardFailed, 1);
            guarded::note(&self.recaller.places.guarded_file(), &session);
        }
        // Nearly always it begins only now, and nothing of it was shown to anyone: their files stay.
        if let Ok((value, 0)) = excluded {
            return Ok(value);
        }
        // Whatever of it failed: what came to an error may have been deleted before that.
        self.recaller.progress.forgetting_unfinished.notify_one();
        let followed = self.episodes_went().await;
        let (value, _) = excluded?;
        followed?;
        Ok(value)
    }

    async fn forget(&self, target: ForgetTarget) -> Result<Value, Refusal> {
        // What stands in a transcript and is not read yet would come in afterwards. An episode that can be named is in.
        let caught_up = matches!(target, ForgetTarget::Episode(_)) || self.caught_up().await;
        let target = self.read(move |reader| control::forget_target(reader, target)).await?;
        let forgotten = self
            .recaller
            .writer
            .call(move |writer| control::forget(writer, &target, clock::now()))
            .await?;
        // A project may be gone with its last episode.
        self.mailbox.forget_projects();
        // Whatever of it failed: what came to an error may have been forgotten before that.
        self.recaller.conversations.forget_topics();
        let is_finished = forgotten.as_ref().is_ok_and(|value| value["log_emptied"] == true);
        if !is_finished {
            self.recaller.progress.forgetting_unfinished.notify_one();
        }
        let followed = self.episodes_went().await;
        let mut value = forgotten?;
        followed?;
        value["caught_up"] = caught_up.into();
        Ok(value)
    }

    async fn steer(&self, how: Steering, ids: Vec<String>) -> Result<Value, Refusal> {
        let targets = self.read(move |reader| control::steer_targets(reader, how, &ids)).await?;
        let writer = &self.recaller.writer;
        let value = writer
            .call(move |writer| control::steer(writer, &targets, how, clock::now()))
            .await??;
        // What a topic was answered with may not be the answer any more.
        self.recaller.conversations.forget_topics();
        match how {
            Steering::Mute => self.files_tell_no_more(self.remove_recollection_files().await).await?,
            Steering::Unmute | Steering::Boost | Steering::Unboost => self.refresher.due.all(),
        }
        Ok(value)
    }

    async fn import(&self, lines: Vec<String>, dry_run: bool) -> Result<Value, Refusal> {
        self.read(|reader| control::refuse_if_paused(reader, clock::now())).await?;
        let writer = &self.recaller.writer;
        let value = writer
            .call(move |writer| control::import(writer, &lines, clock::now(), dry_run))
            .await??;
        if !dry_run {
            self.something_came();
        }
        Ok(value)
    }

    /// Has what came by a command embedded, and what else tells of memories look for it.
    fn something_came(&self) {
        self.recaller.progress.memory_changed.notify_one();
        self.recaller.conversations.forget_topics();
        self.recaller.progress.backlog_grew.notify_one();
        // A project may be known by more than before.
        self.mailbox.forget_projects();
        self.refresher.due.all();
    }

    /// Whether all that stands in the transcripts is in the store, waiting for it for a moment.
    async fn caught_up(&self) -> bool {
        let (done, receipt) = tokio::sync::oneshot::channel();
        self.mailbox.flush(done);
        let flushed = matches!(tokio::time::timeout(CATCH_UP, receipt).await, Ok(Ok(())));
        let progress = &self.recaller.progress;
        flushed && !progress.is_paused(clock::now()) && progress.ingest_problem().is_none()
    }

    /// Looks through the memory and mends what can be mended while prompts are answered. What can't is noted, so that the next start
    /// looks through it, too.
    async fn mend(&self, dry_run: bool) -> Result<Value, Refusal> {
        // A connection of its own: the look may take long, and nobody should wait behind it.
        let look = |path: PathBuf| Findings::of(&Reader::open(&path)?).map_err(Refusal::from);
        let path = self.background.call(|reader| reader.path().to_owned()).await?;
        let findings = tokio::task::spawn_blocking(move || look(path))
            .await
            .map_err(|_| NoAnswer::Closed)??;
        if let Some(damage) = findings.damage() {
            let repairs = [mending::of_next_start(damage)];
            if !dry_run {
                self.recaller.progress.found_damage(Damage::Database);
            }
            return Ok(json!({"repairs": repairs}));
        }
        if dry_run {
            return Ok(json!({"repairs": findings.planned(MOST_LOG)}));
        }
        let writer = &self.recaller.writer;
        let repairs = writer
            .call(move |writer| findings.mend(writer, MOST_LOG))
            .await?
            .map_err(ControlError::from)?;
        if !repairs.is_empty() {
            tracing::info!(repairs = repairs.len(), "the memory was looked through and mended");
            self.reload().await;
            self.recaller.progress.backlog_grew.notify_one();
        }
        Ok(json!({"repairs": repairs}))
    }

    async fn instruct(&self, file: InstructionFile) -> Result<Value, Refusal> {
        let writer = &self.recaller.writer;
        let value = writer
            .call(move |writer| control::instruct(writer, file, clock::now()))
            .await??;
        self.refresher.due.all();
        self.refresher.catch_up().await;
        Ok(value)
    }

    async fn uninstruct(&self, path: String, line: Option<String>) -> Result<Value, Refusal> {
        let (writer, removed) = (&self.recaller.writer, path.clone());
        let value = writer
            .call(move |writer| control::uninstruct(writer, &removed, line.as_deref()))
            .await??;
        self.refresher.let_go(Path::new(&path)).await;
        Ok(value)
    }

    /// Brings what else holds episodes in step with a store that lost some: the codes in memory, the instruction files, and the
    /// recollection files.
    async fn episodes_went(&self) -> Result<(), ControlError> {
        self.recaller.progress.memory_changed.notify_one();
        let removed = self.remove_recollection_files().await;
        self.reload().await;
        self.files_tell_no_more(removed).await
    }

    /// Has the files that a host may read tell nothing more that is not recalled any more; what came of the first removal of the
    /// recollection files is given.
    async fn files_tell_no_more(&self, removed: std::io::Result<()>) -> Result<(), ControlError> {
        let folder = self.recaller.places.recollections_dir();
        Ok(removals::files_tell_no_more(&self.refresher, &folder, removed).await?)
    }

    async fn remove_recollection_files(&self) -> std::io::Result<()> {
        removals::remove_recollection_files(&self.recaller.places.recollections_dir()).await
    }

    async fn include(&self, path: String) -> Result<Value, Refusal> {
        let value = self
            .recaller
            .writer
            .call(move |writer| control::include(writer, &path))
            .await??;
        // What was written while it was excluded is read now.
        self.mailbox.reread(1);
        self.recaller.progress.backlog_grew.notify_one();
        self.reload().await;
        self.refresher.due.all();
        Ok(value)
    }

    async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Reader) -> Result<T, ControlError> + Send + 'static,
    ) -> Result<T, Refusal> {
        Ok(self.background.call(move |reader| job(reader)).await??)
    }

    /// Brings the codes in memory in step with the store. Where that fails the change is done all the same, and nothing of
    /// it can be shown, since every candidate is read from the store.
    async fn reload(&self) {
        let codes = self.recaller.codes.clone();
        match self.background.call(move |reader| codes.reload(reader)).await {
            Ok(Ok(())) | Err(_) => {}
            Ok(Err(error)) => {
                tracing::warn!(error = %with_causes(&error), "the vectors in memory are behind the store until the next start");
            }
        }
    }
}
