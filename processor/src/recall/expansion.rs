//! The expansion leg: the conversation so far as the second query.
//!
//! Seed 003 has a language model write a passage that might answer the question (`HyDE`) and searches with its vector. No
//! model writes here; what was said last in the conversation stands in its place, and its vectors are stored already.

use remembrancer_schema::{EpisodeId, QueryError, Reader};

use crate::embed::Embedding;

/// Episodes of the conversation that count: the last ones.
const LATEST: usize = 3;

/// The mean of the last vectors of a conversation, whose episodes are given oldest first; none while it has none.
pub(super) fn conversation(reader: &Reader, episodes: &[EpisodeId], model_id: &str) -> Result<Option<Embedding>, QueryError> {
    let latest = &episodes[episodes.len().saturating_sub(LATEST)..];
    let rows = reader.candidates(latest, model_id)?;
    let vectors: Vec<Vec<f32>> = rows.into_iter().filter_map(|row| row.embedding).collect();
    Ok(mean_direction(&vectors))
}

fn mean_direction(vectors: &[Vec<f32>]) -> Option<Embedding> {
    let mut sum = vec![0.0; vectors.first()?.len()];
    for vector in vectors {
        for (total, value) in sum.iter_mut().zip(vector) {
            *total += value;
        }
    }
    Embedding::normalised(sum).ok()
}
