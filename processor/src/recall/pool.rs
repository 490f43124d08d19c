//! The union candidate pool: BM25 hits, recently accessed episodes, coarse neighbours and what a profile's further legs
//! find, each once, with the values that the legs give them.

use std::collections::{HashMap, HashSet};

use remembrancer_schema::{Bm25, Cosine, EpisodeId, ProjectId, QueryError, Reader};

use super::ScopeRule;
use super::fusion::Candidate;
use super::legs::{Bounds, Words};
use crate::embed::Embedding;

/// What the legs found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Full-text hits.
    pub words: Words,
    /// Recently accessed episodes.
    pub recent: Vec<EpisodeId>,
    /// How many of these were passed over, as in [`Words::passed_over`].
    pub recent_passed_over: u32,
    /// Coarse vector neighbours of the prompt, and of the conversation where the profile asks for these.
    pub coarse: Vec<EpisodeId>,
    /// The nearest by their codes of what is from the time that the prompt names.
    pub timely: Vec<EpisodeId>,
    /// What the shared store finds, best first, where it was to be asked.
    pub remote: Option<Vec<EpisodeId>>,
    /// How many of these were passed over, as in [`Words::passed_over`].
    pub remote_passed_over: u32,
}

impl Found {
    /// The ids of all legs, each once: the vector pool first, then the BM25 hits that it lacks (seed 004, step 2a).
    pub(super) fn union(&self) -> Union {
        let mut union = Union::default();
        let mut seen = HashSet::new();
        let mut add = |ids: &mut dyn Iterator<Item = EpisodeId>| {
            let before = union.ids.len();
            union.ids.extend(ids.filter(|id| seen.insert(*id)));
            (union.ids.len() - before) as u32
        };
        let recent = add(&mut self.recent.iter().copied());
        let meaning = add(&mut self.coarse.iter().copied());
        let words = add(&mut self.words.hits.iter().map(|(id, _)| *id));
        let timely = add(&mut self.timely.iter().copied());
        let remote = add(&mut self.remote.iter().flatten().copied());
        Union {
            recent,
            meaning,
            words,
            timely,
            remote,
            ..union
        }
    }
}

/// What the legs found, each once, and how many of each no leg before had found.
#[derive(Debug, Default)]
pub(super) struct Union {
    /// The ids.
    pub ids: Vec<EpisodeId>,
    /// New by the recently accessed, which come first.
    pub recent: u32,
    /// New by meaning.
    pub meaning: u32,
    /// New by words.
    pub words: u32,
    /// New by the time that the prompt names, which comes last of what is asked here.
    pub timely: u32,
    /// New by the shared store.
    pub remote: u32,
}

/// The vectors to which candidates are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compared<'a> {
    /// The model whose vectors may be compared.
    pub model_id: &'a str,
    /// The prompt's.
    pub prompt: Option<&'a Embedding>,
    /// The conversation's, where the profile counts it.
    pub conversation: Option<&'a Embedding>,
}

/// Fetches the rows of `ids` and computes every leg's value once a candidate, in one O(N) pass. `foreign` tells which projects are not
/// the prompt's own, where that goes first.
///
/// # Errors
/// The store's error, [`QueryError::Interrupted`] when the deadline passed.
pub(super) fn candidates(
    reader: &Reader,
    ids: &[EpisodeId],
    words: &Words,
    compared: Compared<'_>,
    foreign: impl Fn(Option<ProjectId>) -> bool,
) -> Result<Vec<Candidate>, QueryError> {
    let hits: HashMap<EpisodeId, Bm25> = words.hits.iter().copied().collect();
    let rows = reader.candidates(ids, compared.model_id)?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let cosine_with = |query: Option<&Embedding>| {
                query
                    .zip(row.embedding.as_deref())
                    .map(|(query, stored)| Cosine(query.cosine_with(stored)))
            };
            Candidate {
                bm25: hits.get(&row.id).copied(),
                cosine: cosine_with(compared.prompt),
                expansion: cosine_with(compared.conversation),
                graph: None,
                timely: None,
                foreign: foreign(row.project),
                remote: None,
                exact: words.exact.contains(&row.id),
                row,
            }
        })
        .collect())
}

/// Notes the places of what the shared store found. It knows nothing of scopes: where only the prompt's own project takes part, the
/// others' go.
pub(super) fn place_remote(pool: &mut Vec<Candidate>, found: &Found, bounds: &Bounds<'_>) {
    let Some(remote) = &found.remote else { return };
    let places: HashMap<EpisodeId, u32> = remote.iter().copied().zip(1..).collect();
    for candidate in pool.iter_mut() {
        candidate.remote = places.get(&candidate.row.id).copied();
    }
    if bounds.scope == ScopeRule::Project {
        pool.retain(|candidate| candidate.remote.is_none() || bounds.is_own(candidate.row.project));
    }
}

/// Drops what is of another project, where the prompt's own goes first, and whose cosine is not strong, before any ranking.
pub(super) fn drop_weak_foreigners(pool: &mut Vec<Candidate>, least_cosine: f64) {
    pool.retain(|candidate| !candidate.foreign || candidate.cosine.is_some_and(|cosine| f64::from(cosine.0) >= least_cosine));
}
