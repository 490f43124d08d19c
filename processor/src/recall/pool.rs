//! The union candidate pool: BM25 hits, recently accessed episodes and coarse neighbours, each once, with the values
//! that the legs give them.

use std::collections::{HashMap, HashSet};

use remembrancer_schema::{Bm25, Cosine, EpisodeId, ProjectId, QueryError, Reader};

use super::fusion::Candidate;
use crate::embed::Embedding;

/// What the legs found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Full-text hits, best first.
    pub bm25: Vec<(EpisodeId, Bm25)>,
    /// Recently accessed episodes.
    pub recent: Vec<EpisodeId>,
    /// Coarse vector neighbours.
    pub coarse: Vec<EpisodeId>,
}

impl Found {
    /// The ids of all legs, each once: the vector pool first, then the BM25 hits that it lacks (seed 004, step 2a).
    pub(super) fn union(&self) -> Vec<EpisodeId> {
        let mut seen = HashSet::new();
        self.recent
            .iter()
            .chain(&self.coarse)
            .chain(self.bm25.iter().map(|(id, _)| id))
            .copied()
            .filter(|id| seen.insert(*id))
            .collect()
    }
}

/// Fetches the pool's rows and computes every leg's value once a candidate, in one O(N) pass.
///
/// # Errors
/// The store's error, [`QueryError::Interrupted`] when the deadline passed.
pub(super) fn candidates(
    reader: &Reader,
    found: &Found,
    embedding: Option<&Embedding>,
    model_id: &str,
) -> Result<Vec<Candidate>, QueryError> {
    let hits: HashMap<EpisodeId, Bm25> = found.bm25.iter().copied().collect();
    let rows = reader.candidates(&found.union(), model_id)?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let cosine = embedding
                .zip(row.embedding.as_deref())
                .map(|(prompt, stored)| prompt.cosine_with(stored));
            Candidate {
                bm25: hits.get(&row.id).copied(),
                cosine: cosine.map(Cosine),
                row,
            }
        })
        .collect())
}

/// Drops candidates of other projects whose cosine is not strong, before any ranking.
pub(super) fn drop_weak_foreigners(pool: &mut Vec<Candidate>, project: Option<ProjectId>, least_cosine: f32) {
    pool.retain(|candidate| candidate.row.project == project || candidate.cosine.is_some_and(|cosine| cosine.0 >= least_cosine));
}
