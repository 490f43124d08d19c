//! The model and its two lanes: `embedder-query` for prompts and `embedder-backlog` for episodes. Neither waits for the
//! other; they share the weights alone.
//!
//! The model is loaded in the background. Until it is there, and where it can't be loaded, recall goes on by words alone,
//! and `status` says so. A panic of the model is a failed embedding, and its thread goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use remembrancer_processor::Deadline;
use remembrancer_processor::embed::{BertEmbedder, DeviceChoice, Embed, EmbedError, Embedding, Lane};
use remembrancer_processor::recall::Degradation;
use tokio::sync::{oneshot, watch};

use crate::causes::with_causes;
use crate::health::{Finding, State};
use crate::system;
use crate::threads::{Panicked, Threads, contained};

/// Prompts that may wait for the model. One more is answered by words alone.
const WAITING_PROMPTS: usize = 16;
/// Threads of the query lane at most: beyond four a short prompt gains nothing.
const MOST_QUERY_THREADS: usize = 4;

/// The model as it stands.
#[derive(Clone)]
pub(crate) enum ModelState {
    /// Being loaded.
    Loading,
    /// Ready to embed.
    Ready(Arc<dyn Embed>),
    /// Not to be had; the reason, for people.
    Failed(String),
}

impl ModelState {
    /// The state for `status`.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Loading => "loading".to_owned(),
            Self::Ready(model) => model.model_id().to_owned(),
            Self::Failed(reason) => format!("none: {reason}"),
        }
    }

    /// What is not well where there is no model.
    pub(crate) fn finding(&self) -> Option<Finding> {
        match self {
            Self::Loading | Self::Ready(_) => None,
            Self::Failed(reason) => Some(Finding::new(
                State::Degraded,
                "recall",
                format!("by words alone, without a model: {reason}"),
            )),
        }
    }
}

struct QueryJob {
    text: String,
    deadline: Deadline,
    reply: SyncSender<Result<Embedding, Degradation>>,
}

struct BacklogJob {
    texts: Vec<String>,
    reply: oneshot::Sender<Result<Vec<Embedding>, NotEmbedded>>,
}

/// Why texts have no embeddings.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotEmbedded {
    /// The model's error.
    #[error(transparent)]
    Model(#[from] EmbedError),
    /// The model panicked.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// There is no model, or no thread for it.
    #[error("there is no model to embed with")]
    NoModel,
}

/// Reaches the model's threads.
#[derive(Clone)]
pub(crate) struct EmbedderHandle {
    queries: SyncSender<QueryJob>,
    backlog: tokio::sync::mpsc::Sender<BacklogJob>,
    state: watch::Sender<ModelState>,
}

/// Starts to load the model: the built-in one, or that of `model_dir`. So many threads embed in the background.
///
/// # Errors
/// Where a thread can't be started.
pub(crate) fn start(
    model_dir: Option<PathBuf>,
    device: DeviceChoice,
    background: usize,
) -> std::io::Result<(EmbedderHandle, Threads)> {
    start_with(move || loaded(model_dir.as_deref(), device), background)
}

/// Starts the threads with the model that `load` gives.
///
/// # Errors
/// Where a thread can't be started.
pub(crate) fn start_with(
    load: impl FnOnce() -> ModelState + Send + 'static,
    background: usize,
) -> std::io::Result<(EmbedderHandle, Threads)> {
    let (queries, query_jobs) = sync_channel::<QueryJob>(WAITING_PROMPTS);
    let (backlog, backlog_jobs) = tokio::sync::mpsc::channel::<BacklogJob>(1);
    let state = watch::Sender::new(ModelState::Loading);
    let (set_state, for_backlog) = (state.clone(), state.subscribe());
    let mut threads = Threads::default();
    threads.spawn("embedder-query", move || {
        let loaded = contained(load).unwrap_or_else(|panicked| ModelState::Failed(panicked.to_string()));
        if let ModelState::Failed(reason) = &loaded {
            tracing::warn!(%reason, "recall goes on by words alone");
        }
        set_state.send_replace(loaded.clone());
        serve_queries(&query_jobs, &loaded);
    })?;
    threads.spawn("embedder-backlog", move || {
        serve_backlog(backlog_jobs, &for_backlog, background);
    })?;
    Ok((EmbedderHandle { queries, backlog, state }, threads))
}

/// Loads the model: the built-in one, or that of `model_dir`.
///
/// # Errors
/// The model's error, with its remedy.
pub(crate) fn load(model_dir: Option<&Path>, device: DeviceChoice) -> Result<BertEmbedder, EmbedError> {
    match model_dir {
        None => BertEmbedder::embedded_on(device),
        Some(folder) => BertEmbedder::from_dir(folder, device),
    }
}

fn loaded(model_dir: Option<&Path>, device: DeviceChoice) -> ModelState {
    match load(model_dir, device) {
        Ok(model) => ModelState::Ready(Arc::new(model)),
        Err(error) => ModelState::Failed(with_causes(&error)),
    }
}

fn serve_queries(jobs: &Receiver<QueryJob>, state: &ModelState) {
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MOST_QUERY_THREADS);
    let lane = Lane::new("embed-query", threads, || ());
    while let Ok(job) = jobs.recv() {
        if job.deadline.has_passed() {
            continue;
        }
        let embedding = match (state, &lane) {
            (ModelState::Ready(model), Ok(lane)) => contained(|| lane.run(|| model.embed_query(&job.text)))
                .map_err(NotEmbedded::from)
                .and_then(|embedding| Ok(embedding?))
                .map_err(|error| {
                    tracing::warn!(error = %with_causes(&error), "a prompt could not be embedded");
                    Degradation::EmbeddingFailed
                }),
            _ => Err(Degradation::NoModel),
        };
        // Whoever asked may have given up waiting.
        job.reply.try_send(embedding).ok();
    }
}

fn serve_backlog(mut jobs: tokio::sync::mpsc::Receiver<BacklogJob>, state: &watch::Receiver<ModelState>, threads: usize) {
    let lane = Lane::new("embed-backlog", threads, system::lower_this_thread);
    while let Some(job) = jobs.blocking_recv() {
        let model = state.borrow().clone();
        let texts: Vec<&str> = job.texts.iter().map(String::as_str).collect();
        let embeddings = match (model, &lane) {
            (ModelState::Ready(model), Ok(lane)) => contained(|| lane.run(|| model.embed_passages(&texts)))
                .map_err(NotEmbedded::from)
                .and_then(|embeddings| Ok(embeddings?)),
            _ => Err(NotEmbedded::NoModel),
        };
        // Whoever asked may be gone: the daemon is stopping then.
        job.reply.send(embeddings).ok();
    }
}

/// A prompt's embedding on its way.
pub(crate) struct PendingEmbedding(Result<Receiver<Result<Embedding, Degradation>>, Degradation>);

impl PendingEmbedding {
    /// Waits at most `patience` for it.
    ///
    /// # Errors
    /// The degradation that names why there is none.
    pub(crate) fn wait(&mut self, patience: Duration) -> Result<Embedding, Degradation> {
        let receiver = self.0.as_ref().map_err(|degradation| *degradation)?;
        // Late, or passed over because its deadline had gone by: the same to whoever waits.
        receiver.recv_timeout(patience).unwrap_or(Err(Degradation::EmbeddingLate))
    }
}

impl EmbedderHandle {
    /// Begins to embed a prompt; never waits.
    pub(crate) fn ask(&self, text: String, deadline: Deadline) -> PendingEmbedding {
        if matches!(*self.state.borrow(), ModelState::Failed(_)) {
            return PendingEmbedding(Err(Degradation::NoModel));
        }
        let (reply, answer) = sync_channel(1);
        let sent = self.queries.try_send(QueryJob { text, deadline, reply });
        PendingEmbedding(sent.map(|()| answer).map_err(|_| Degradation::EmbeddingLate))
    }

    /// Embeds episodes in the background lane.
    ///
    /// Gives `None` where the thread has ended.
    ///
    /// # Errors
    /// [`NotEmbedded`].
    pub(crate) async fn embed_passages(&self, texts: Vec<String>) -> Option<Result<Vec<Embedding>, NotEmbedded>> {
        let (reply, answer) = oneshot::channel();
        self.backlog.send(BacklogJob { texts, reply }).await.ok()?;
        answer.await.ok()
    }

    /// The model as it stands.
    pub(crate) fn state(&self) -> ModelState {
        self.state.borrow().clone()
    }

    /// Goes on without a model, for `reason`: the store can't hold its vectors.
    pub(crate) fn give_up(&self, reason: String) {
        tracing::warn!(%reason, "recall goes on by words alone");
        self.state.send_replace(ModelState::Failed(reason));
    }

    /// Waits until the model is loaded or has failed.
    pub(crate) async fn loaded(&self) -> ModelState {
        let mut state = self.state.subscribe();
        match state.wait_for(|state| !matches!(state, ModelState::Loading)).await {
            Ok(state) => state.clone(),
            Err(_) => ModelState::Failed("its thread has ended".to_owned()),
        }
    }
}
