//! The half of a search that goes by meaning: waits for the prompt's embedding and searches the codes, on a thread of its own,
//! while the caller's thread reads the store for the half that goes by words.

use std::panic::resume_unwind;
use std::sync::{PoisonError, RwLock};
use std::thread;

use remembrancer_schema::EpisodeId;

use super::coarse::CodeIndex;
use super::legs::{self, Bounds, EmbeddingSource};
use super::remote::{self, RemoteSource};
use super::{Degradation, SessionState};
use crate::deadline::Deadline;
use crate::embed::Embedding;

/// What to search by meaning.
pub(super) struct ByMeaning<'a> {
    /// The codes of all embedded episodes.
    pub codes: &'a RwLock<CodeIndex>,
    /// Where to look.
    pub bounds: &'a Bounds<'a>,
    /// What the session was last answered.
    pub session: &'a SessionState,
    /// The cosine with the prompt that was last answered above which the topic is the same, and nothing is searched.
    pub same_topic_cosine: f32,
    /// The conversation's embedding, where the profile counts it: the second query.
    pub conversation: Option<&'a Embedding>,
    /// How long the prompt's embedding is waited for.
    pub until: Deadline,
    /// What the shared store is asked for beside the embedding.
    pub terms: &'a [String],
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Meaning {
    /// The prompt's embedding, or why there is none.
    pub embedding: Result<Embedding, Degradation>,
    /// The cosine with the prompt that was last answered, where there was one.
    pub topic_cosine: Option<f32>,
    /// Whether the prompt stays on the topic that was last answered.
    pub same_topic: bool,
    /// The nearest episodes by their codes.
    pub nearest: Vec<EpisodeId>,
}

impl ByMeaning<'_> {
    /// Searches while `by_words` runs on this thread, and has the shared store asked as soon as it is known by what.
    ///
    /// # Panics
    /// If the embedding or the search does.
    pub(super) fn beside(
        self,
        embedding: &mut EmbeddingSource<'_>,
        remote: Option<&mut RemoteSource<'_>>,
        by_words: impl FnOnce(),
    ) -> Meaning {
        thread::scope(|scope| {
            let started = thread::Builder::new()
                .name("recall-meaning".to_owned())
                .spawn_scoped(scope, move || self.search(embedding, remote));
            by_words();
            match started {
                Ok(searching) => searching.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(error) => {
                    tracing::warn!(%error, "no thread to search by meaning");
                    Meaning::nothing(Err(Degradation::EmbeddingFailed))
                }
            }
        })
    }

    fn search(&self, embedding: &mut EmbeddingSource<'_>, remote: Option<&mut RemoteSource<'_>>) -> Meaning {
        let embedding = embedding(self.until.remaining());
        let prompt = embedding.as_ref().ok();
        let topic_cosine = prompt
            .zip(self.session.answered_topic.as_ref())
            .map(|(prompt, answered)| prompt.cosine(answered));
        if topic_cosine.is_some_and(|cosine| cosine > self.same_topic_cosine) {
            return Meaning {
                topic_cosine,
                same_topic: true,
                ..Meaning::nothing(embedding)
            };
        }
        if let Some(remote) = remote {
            remote::begin(remote, self.terms, prompt, self.until);
        }
        let queries = [prompt, self.conversation].into_iter().flatten();
        let codes = self.codes.read().unwrap_or_else(PoisonError::into_inner);
        let nearest = queries.flat_map(|query| legs::coarse(&codes, query, self.bounds)).collect();
        drop(codes);
        Meaning {
            topic_cosine,
            nearest,
            ..Meaning::nothing(embedding)
        }
    }
}

impl Meaning {
    fn nothing(embedding: Result<Embedding, Degradation>) -> Self {
        Self {
            embedding,
            topic_cosine: None,
            same_topic: false,
            nearest: Vec::new(),
        }
    }
}
