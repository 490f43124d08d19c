//! Asks a stored set as the daemon would ask its own store: the same recall, with a deadline that never passes and the
//! prompts' vectors made beforehand, so that profiles are compared on the same ground.

use std::collections::HashMap;
use std::time::Duration;

use remembrancer_processor::Deadline;
use remembrancer_processor::embed::{Embed, Embedding};
use remembrancer_processor::eval::dataset::JudgedQuery;
use remembrancer_processor::recall::{
    Candidate, Degradation, EmbeddingSource, Fused, Header, Query, Question, Recall, RecallSettings, ScopeRule, SessionState,
    Sources, candidate_pool, recall,
};
use remembrancer_processor::rerank::Rerank;
use remembrancer_schema::{SessionKey, UnixMillis};

use super::error::EvalError;
use super::store::{AGENT, EvalStore};

/// Long enough for any recall.
const PATIENCE: Duration = Duration::from_mins(1);

/// A prompt, where and when it is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) text: &'a str,
    pub(crate) project: Option<&'a str>,
    pub(crate) at: Option<UnixMillis>,
}

impl<'a> Asked<'a> {
    /// A query of a set, asked where and when the set says.
    pub(crate) fn of(query: &'a JudgedQuery) -> Self {
        Self {
            text: &query.text,
            project: query.project.as_deref(),
            at: query.timestamp,
        }
    }
}

/// The models that take part in a recall.
#[derive(Clone, Copy)]
pub(crate) struct Models<'a> {
    /// What embeds documents and prompts.
    pub(crate) embedder: &'a dyn Embed,
    /// What reads the best candidates together with the prompt, if anything does.
    pub(crate) reranker: Option<&'a dyn Rerank>,
}

/// Asks one store.
pub(crate) struct Asker<'a> {
    store: &'a EvalStore,
    models: Models<'a>,
    embeddings: HashMap<String, Embedding>,
    now: UnixMillis,
}

impl<'a> Asker<'a> {
    /// Asks `store`, at `now` where a prompt has no time of its own.
    pub(crate) fn new(store: &'a EvalStore, models: Models<'a>, now: UnixMillis) -> Self {
        Self {
            store,
            models,
            embeddings: HashMap::new(),
            now,
        }
    }

    /// What would be recalled.
    ///
    /// # Errors
    /// Where the prompt can't be embedded.
    pub(crate) fn recall(&mut self, asked: Asked<'_>, settings: &RecallSettings) -> Result<Recall, EvalError> {
        let (question, embedding) = self.question(asked)?;
        let mut source = |_| Ok::<_, Degradation>(embedding.clone());
        Ok(recall(
            &question,
            &SessionState::default(),
            self.sources(&mut source),
            &within_the_project(settings),
            Deadline::after(PATIENCE),
        ))
    }

    /// The candidate pool, to be fused in many ways.
    ///
    /// # Errors
    /// Where the prompt can't be embedded.
    pub(crate) fn pool(&mut self, asked: Asked<'_>, settings: &RecallSettings) -> Result<Vec<Candidate>, EvalError> {
        let (question, embedding) = self.question(asked)?;
        let mut source = |_| Ok::<_, Degradation>(embedding.clone());
        let pool = candidate_pool(
            &question,
            &SessionState::default(),
            self.sources(&mut source),
            &within_the_project(settings),
            Deadline::after(PATIENCE),
        );
        Ok(pool.unwrap_or_default())
    }

    /// The documents in the order of `fused`, each once: parts of one document count as its best.
    pub(crate) fn documents(&self, fused: &[Fused]) -> Vec<usize> {
        let turns = fused.iter().map(|fused| &fused.candidate.row.turn_uid);
        let mut ranked = Vec::new();
        for document in turns.filter_map(|turn| self.store.document(turn)) {
            if !ranked.contains(&document) {
                ranked.push(document);
            }
        }
        ranked
    }

    /// The documents recalled, best first.
    pub(crate) fn recalled(&self, recall: &Recall) -> Vec<usize> {
        let recalled = recall.recollections.iter();
        recalled
            .filter_map(|recollection| self.store.document(&recollection.episode.turn_uid))
            .collect()
    }

    /// When a prompt is asked that may have a time of its own.
    pub(crate) fn now(&self, own: Option<UnixMillis>) -> UnixMillis {
        own.unwrap_or(self.now)
    }

    fn question(&mut self, asked: Asked<'_>) -> Result<(Question, Embedding), EvalError> {
        let query = Query::of(asked.text);
        let embedding = if let Some(known) = self.embeddings.get(&query.text) {
            known.clone()
        } else {
            let embedding = self.models.embedder.embed_query(&query.text)?;
            self.embeddings.insert(query.text.clone(), embedding.clone());
            embedding
        };
        let at = self.now(asked.at);
        let question = Question {
            session: SessionKey {
                agent: AGENT.to_owned(),
                external_id: String::new(),
            },
            project: self.store.project(asked.project),
            query,
            logged_hash: [0; 32],
            header: Header {
                prompt_hash: String::new(),
                written: at,
            },
            now: at,
        };
        Ok((question, embedding))
    }

    fn sources<'s>(&'s self, embedding: &'s mut EmbeddingSource<'s>) -> Sources<'s> {
        Sources {
            reader: &self.store.reader,
            codes: &self.store.codes,
            model_id: &self.store.model_id,
            embedding,
            remote: None,
            reranker: self.models.reranker,
            afterwards: None,
        }
    }
}

/// A set is judged within each query's project.
fn within_the_project(settings: &RecallSettings) -> RecallSettings {
    RecallSettings {
        scope: ScopeRule::Project,
        ..settings.clone()
    }
}
