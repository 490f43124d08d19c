//! The embedding backlog: episodes without a vector of the current model, newest first, in small batches that yield.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use remembrancer_processor::Stopwatch;
use remembrancer_processor::embed::{Embed, Embedding, passage};
use remembrancer_processor::recall::CodeIndex;
use remembrancer_schema::{BacklogRow, EmbeddedEpisode, EpisodeId, QueryError, Reader, Writer};
use tokio_util::sync::CancellationToken;

use crate::clock;
use crate::embedder::{EmbedderHandle, ModelState};
use crate::politeness::Politeness;
use crate::progress::Progress;
use crate::store::{StoreGone, StoreHandle};

/// Episodes embedded between two looks at the store: a new turn waits for one such batch at most, about a quarter of a
/// second on a slow processor.
const BATCH: usize = 8;
/// How often the backlog is looked at without being woken.
const LOOK: Duration = Duration::from_mins(1);
/// How long the backlog rests after the store refused a write.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

/// The codes of all embedded episodes, shared by the prompts and the backlog. Held for writing for a few instructions.
pub(crate) type SharedCodes = Arc<RwLock<CodeIndex>>;

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

/// Why the backlog stopped for now.
#[derive(Debug, thiserror::Error)]
enum BacklogError {
    #[error(transparent)]
    Store(#[from] QueryError),
    #[error(transparent)]
    Gone(#[from] StoreGone),
}

impl Backlog {
    /// Embeds what there is to embed, until `shutdown`. Without a model there is nothing to do but wait for that.
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        let state = tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            state = self.embedder.loaded() => state,
        };
        let ModelState::Ready(model) = state else {
            shutdown.cancelled().await;
            return;
        };
        if let Err(error) = self.adopt(model.as_ref()).await {
            tracing::warn!(%error, "the stored vectors can't be used; recall goes on by words alone");
        }
        let mut failed = HashSet::new();
        loop {
            let pause = match self.drain(model.as_ref(), &mut failed, &shutdown).await {
                Ok(()) => LOOK,
                Err(BacklogError::Gone(_)) => return,
                Err(BacklogError::Store(error)) => {
                    tracing::warn!(%error, "embedding rests, and tries again");
                    AFTER_FAILURE
                }
            };
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                () = self.progress.backlog_grew.notified() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Tells the store which model's vectors are current, and loads their codes.
    async fn adopt(&self, model: &dyn Embed) -> Result<(), BacklogError> {
        let (model_id, dimension) = (model.model_id().to_owned(), model.dimension());
        self.writer
            .call(move |writer| writer.set_embedding_model(&model_id, dimension))
            .await??;
        let codes = load_codes(&self.background, dimension).await??;
        tracing::info!(model = model.model_id(), vectors = codes.len(), "the model is ready");
        *self.codes.write().unwrap_or_else(PoisonError::into_inner) = codes;
        Ok(())
    }

    async fn drain(
        &self,
        model: &dyn Embed,
        failed: &mut HashSet<EpisodeId>,
        shutdown: &CancellationToken,
    ) -> Result<(), BacklogError> {
        while !shutdown.is_cancelled() && !self.progress.is_paused(clock::now()) {
            let (model_id, limit) = (model.model_id().to_owned(), BATCH + failed.len());
            let mut rows = self
                .background
                .call(move |reader| reader.embedding_backlog(&model_id, limit))
                .await??;
            rows.retain(|row| !failed.contains(&row.id));
            rows.truncate(BATCH);
            if rows.is_empty() {
                return Ok(());
            }
            let mut watch = Stopwatch::start();
            let embedded = self.embed(&rows, failed).await;
            watch.lap("embed");
            let took: Duration = watch.laps().iter().map(|(_, took)| *took).sum();
            self.progress.embedded(embedded.len(), took);
            self.store(model, embedded).await?;
            tokio::select! {
                biased;
                () = shutdown.cancelled() => {}
                () = tokio::time::sleep(self.politeness.rest_after(took)) => {}
            }
        }
        Ok(())
    }

    /// Embeds `rows` together, or one by one where one of them spoils the batch. What can't be embedded stays findable by
    /// its words.
    async fn embed(&self, rows: &[BacklogRow], failed: &mut HashSet<EpisodeId>) -> Vec<EmbeddedEpisode> {
        let texts: Vec<String> = rows.iter().map(|row| passage(&row.prompt, &row.answer, row.part)).collect();
        if let Some(Ok(embeddings)) = self.embedder.embed_passages(texts.clone()).await {
            return rows
                .iter()
                .zip(embeddings)
                .map(|(row, embedding)| embedded(row, embedding))
                .collect();
        }
        let mut one_by_one = Vec::new();
        for (row, text) in rows.iter().zip(texts) {
            match self.embedder.embed_passages(vec![text]).await {
                Some(Ok(mut single)) if !single.is_empty() => one_by_one.push(embedded(row, single.remove(0))),
                _ => {
                    tracing::warn!(
                        episode = row.id.0,
                        "an episode can't be embedded; it is found by its words alone"
                    );
                    failed.insert(row.id);
                }
            }
        }
        one_by_one
    }

    async fn store(&self, model: &dyn Embed, episodes: Vec<EmbeddedEpisode>) -> Result<(), BacklogError> {
        let model_id = model.model_id().to_owned();
        let stored = self
            .writer
            .call(move |writer| writer.store_embeddings(&model_id, &episodes))
            .await??;
        let model_id = model.model_id().to_owned();
        let rows = self
            .background
            .call(move |reader| reader.candidates(&stored, &model_id))
            .await??;
        let mut codes = self.codes.write().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            if let Some(embedding) = row.embedding.map(Embedding::from_unit) {
                codes.insert(row.id, row.project, &embedding.bit_code());
            }
        }
        Ok(())
    }
}

fn embedded(row: &BacklogRow, embedding: Embedding) -> EmbeddedEpisode {
    EmbeddedEpisode {
        id: row.id,
        content_hash: row.content_hash,
        vector: embedding.into_vec(),
    }
}

/// Reads all codes of the current model.
///
/// # Errors
/// The store's error.
pub(crate) async fn load_codes(
    background: &StoreHandle<Reader>,
    dimension: usize,
) -> Result<Result<CodeIndex, QueryError>, StoreGone> {
    background
        .call(move |reader| {
            let mut codes = CodeIndex::new(dimension);
            reader.for_each_code(|id, project, code| codes.insert(id, project, code))?;
            Ok(codes)
        })
        .await
}
