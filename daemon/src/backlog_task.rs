//! The embedding backlog: episodes without a vector of the current model, newest first, in small batches that yield.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use remembrancer_processor::Stopwatch;
use remembrancer_processor::embed::{Embed, Embedding, passage};
use remembrancer_schema::{BacklogRow, EmbeddedEpisode, EpisodeId, QueryError, Reader, Writer};
use tokio_util::sync::CancellationToken;

use crate::causes::with_causes;
use crate::clock;
use crate::codes::SharedCodes;
use crate::counts::Count;
use crate::embedder::{EmbedderHandle, ModelState, NotEmbedded};
use crate::politeness::Politeness;
use crate::progress::{Part, Progress};
use crate::store::{NoAnswer, StoreHandle};

/// Episodes embedded between two looks at the store: a new turn waits for one such batch at most, about a quarter of a
/// second on a slow processor.
const BATCH: usize = 8;
/// How often the backlog is looked at without being woken.
const LOOK: Duration = Duration::from_mins(1);
/// How long the backlog rests after the store refused a write.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

/// What the backlog works with.
pub(crate) struct Backlog {
    /// The one writer.
    pub writer: StoreHandle<Writer>,
    /// A reader that may be kept waiting.
    pub background: StoreHandle<Reader>,
    /// The model.
    pub embedder: EmbedderHandle,
    /// The codes.
    pub codes: SharedCodes,
    /// Where to say what happens.
    pub progress: Arc<Progress>,
    /// How much of the machine may be taken.
    pub politeness: Politeness,
}

/// Why the backlog stopped, for now or for good.
#[derive(Debug, thiserror::Error)]
enum BacklogError {
    /// To be tried again.
    #[error(transparent)]
    Store(#[from] QueryError),
    #[error(transparent)]
    Gone(#[from] NoAnswer),
    #[error("the model's thread has ended")]
    EmbedderGone,
    /// There is a model, and nothing can be done with it.
    #[error("{0}")]
    Unusable(String),
}

/// What one run of the backlog keeps in mind.
#[derive(Default)]
struct Memory {
    /// Whether the store knows which model's vectors are current.
    adopted: bool,
    /// Episodes that can't be embedded: not tried again until the next start.
    failed: HashSet<EpisodeId>,
    /// Episodes whose vectors are stored, and whose codes could not be brought in step yet.
    stale: Vec<EpisodeId>,
}

impl Backlog {
    /// Embeds what there is to embed, until `shutdown`. Without a model there is nothing to do but wait for that.
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        let state = tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            state = self.embedder.loaded() => state,
        };
        if let ModelState::Ready(model) = state {
            match self.work(model.as_ref(), &shutdown).await {
                Ok(()) => return,
                Err(BacklogError::Unusable(reason)) => self.embedder.give_up(reason),
                Err(error) => {
                    tracing::error!(error = %with_causes(&error), "embedding ends");
                    return;
                }
            }
        }
        shutdown.cancelled().await;
    }

    async fn work(&self, model: &dyn Embed, shutdown: &CancellationToken) -> Result<(), BacklogError> {
        let mut memory = Memory::default();
        loop {
            let rest = match self.round(model, &mut memory, shutdown).await {
                Ok(()) => {
                    self.progress.works(Part::Embedding);
                    LOOK
                }
                Err(BacklogError::Store(error)) => {
                    self.progress.fails(Part::Embedding, with_causes(&error));
                    AFTER_FAILURE
                }
                Err(error) => return Err(error),
            };
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return Ok(()),
                () = self.progress.backlog_grew.notified(), if rest == LOOK => {}
                () = tokio::time::sleep(rest) => {}
            }
        }
    }

    async fn round(&self, model: &dyn Embed, memory: &mut Memory, shutdown: &CancellationToken) -> Result<(), BacklogError> {
        if !memory.adopted {
            self.adopt(model).await?;
            memory.adopted = true;
        }
        self.renew(model, &mut memory.stale).await?;
        self.drain(model, memory, shutdown).await
    }

    /// Brings the codes of `stale` in step with the store. They stay stale where that fails.
    async fn renew(&self, model: &dyn Embed, stale: &mut Vec<EpisodeId>) -> Result<(), BacklogError> {
        if stale.is_empty() {
            return Ok(());
        }
        let (codes, model_id, ids) = (self.codes.clone(), model.model_id().to_owned(), stale.clone());
        self.background
            .call(move |reader| codes.renew(reader, &model_id, &ids))
            .await??;
        stale.clear();
        Ok(())
    }

    /// Tells the store which model's vectors are current, and loads their codes. Before that none can be stored.
    async fn adopt(&self, model: &dyn Embed) -> Result<(), BacklogError> {
        let (model_id, dimension) = (model.model_id().to_owned(), model.dimension());
        self.writer
            .call(move |writer| writer.set_embedding_model(&model_id, dimension))
            .await?
            .map_err(|error| match error {
                QueryError::Invalid { .. } => BacklogError::Unusable(with_causes(&error)),
                other => other.into(),
            })?;
        let codes = self.codes.clone();
        let vectors = self.background.call(move |reader| codes.adopt(reader, dimension)).await??;
        tracing::info!(model = model.model_id(), vectors, "the model is ready");
        Ok(())
    }

    async fn drain(&self, model: &dyn Embed, memory: &mut Memory, shutdown: &CancellationToken) -> Result<(), BacklogError> {
        while !shutdown.is_cancelled() && !self.progress.is_paused(clock::now()) {
            let (model_id, limit) = (model.model_id().to_owned(), BATCH + memory.failed.len());
            let mut rows = self
                .background
                .call(move |reader| reader.embedding_backlog(&model_id, limit))
                .await??;
            rows.retain(|row| !memory.failed.contains(&row.id));
            rows.truncate(BATCH);
            if rows.is_empty() {
                break;
            }
            self.progress.embedding.waits();
            let mut watch = Stopwatch::start();
            let embedded = tokio::select! {
                biased;
                // The batch in hand may take seconds on a busy machine, and is embedded again by the next start.
                () = shutdown.cancelled() => break,
                embedded = self.embed(&rows, &mut memory.failed) => embedded?,
            };
            watch.lap("embed");
            let took: Duration = watch.total();
            let attempted = embedded.len();
            let stored = self.store(model, embedded, memory).await?;
            let rest = self.politeness.rest_after(took);
            self.progress.embedded(stored, took + rest);
            self.progress.embedding.moved();
            if attempted > 0 && stored == 0 {
                // All of them changed meanwhile, and whoever changed them woke this task; nothing else could end it.
                break;
            }
            tokio::select! {
                biased;
                () = shutdown.cancelled() => {}
                () = tokio::time::sleep(rest) => {}
            }
        }
        self.progress.embedding.rests();
        Ok(())
    }

    /// Embeds `rows` together, or one by one where one of them spoils the batch. What can't be embedded stays findable by
    /// its words.
    async fn embed(&self, rows: &[BacklogRow], failed: &mut HashSet<EpisodeId>) -> Result<Vec<EmbeddedEpisode>, BacklogError> {
        let texts: Vec<String> = rows.iter().map(|row| passage(&row.prompt, &row.answer, row.part)).collect();
        if let Ok(embeddings) = self.embed_texts(texts.clone()).await? {
            return Ok(rows
                .iter()
                .zip(embeddings)
                .map(|(row, embedding)| embedded(row, embedding))
                .collect());
        }
        let mut one_by_one = Vec::new();
        for (row, text) in rows.iter().zip(texts) {
            match self.embed_texts(vec![text]).await? {
                Ok(mut single) if !single.is_empty() => one_by_one.push(embedded(row, single.remove(0))),
                Ok(_) => self.leave_out(row.id, "the model gave nothing", failed),
                Err(error) => self.leave_out(row.id, &with_causes(&error), failed),
            }
        }
        Ok(one_by_one)
    }

    /// The inner error is that of these texts, the outer that of all.
    async fn embed_texts(&self, texts: Vec<String>) -> Result<Result<Vec<Embedding>, NotEmbedded>, BacklogError> {
        match self.embedder.embed_passages(texts).await {
            None => Err(BacklogError::EmbedderGone),
            Some(Err(error @ NotEmbedded::NoModel)) => Err(BacklogError::Unusable(error.to_string())),
            Some(embeddings) => Ok(embeddings),
        }
    }

    /// Stores embeddings and brings the codes in step. Returns how many were stored.
    async fn store(&self, model: &dyn Embed, episodes: Vec<EmbeddedEpisode>, memory: &mut Memory) -> Result<usize, BacklogError> {
        let ids: Vec<EpisodeId> = episodes.iter().map(|episode| episode.id).collect();
        let model_id = model.model_id().to_owned();
        let stored = self
            .writer
            .call(move |writer| writer.store_embeddings(&model_id, &episodes))
            .await?;
        let stored = match stored {
            Err(error @ QueryError::Invalid { .. }) => {
                // The model's fault, and so the same the next time.
                for id in ids {
                    self.leave_out(id, &with_causes(&error), &mut memory.failed);
                }
                return Ok(0);
            }
            stored => stored?,
        };
        let count = stored.len();
        // They are no part of the backlog any more, so nothing else would find them where this fails.
        memory.stale.extend(stored);
        self.renew(model, &mut memory.stale).await?;
        Ok(count)
    }

    fn leave_out(&self, id: EpisodeId, why: &str, failed: &mut HashSet<EpisodeId>) {
        tracing::warn!(episode = id.0, %why, "an episode can't be embedded; it is found by its words alone");
        self.progress.count(Count::EpisodeWithoutVector, 1);
        failed.insert(id);
    }
}

fn embedded(row: &BacklogRow, embedding: Embedding) -> EmbeddedEpisode {
    EmbeddedEpisode {
        id: row.id,
        content_hash: row.content_hash,
        vector: embedding.into_vec(),
    }
}

#[cfg(test)]
mod tests;
