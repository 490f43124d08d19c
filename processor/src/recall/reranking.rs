//! The third stage, where there is a reranker: it reads the first of the weighed candidates together with the prompt, and
//! its scores, blended with the order that they had, put them into a new one. The others stay behind them.

use std::time::Duration;

use remembrancer_schema::EpisodeText;

use super::Degradation;
use super::query::Query;
use super::weigh::{Weighed, Weighing};
use crate::embed::passage;
use crate::rerank::Reranking;

/// Candidates that a reranker may read, best first, as many as time allows. Half of those that are weighed: what lies further
/// down is rarely right, and each takes its time.
pub const RERANKED: usize = 20;

/// With less time than this nothing is read. It is about what the first passage takes on two busy processors (110 ms for 250
/// tokens, see docs/performance.md), and the first is begun before any pace is known.
const LEAST_TIME: Duration = Duration::from_millis(100);

/// Bytes of a passage that are read: about the 256 tokens that the embedding model sees of it. A whole window of 512 tokens
/// would take all the time there is.
const READ_BYTES: usize = 1_000;

/// The K of the scores that the blends are made for (seed 003).
const RRF_K: f64 = 60.0;

/// Puts the first [`RERANKED`] of `weighing`, of the prompt's own project if anything is, into a new order, by blended scores that take
/// the place of theirs. `learnt` says whether a second stage ordered them.
///
/// # Errors
/// [`Degradation::RerankerAbsent`] where too little time is left, the reranker fails, or it read nothing; the order is as it was.
pub(super) fn rerank(query: &Query, weighing: &mut Weighing, learnt: bool, reranking: &Reranking<'_>) -> Result<(), Degradation> {
    if reranking.deadline.remaining() < LEAST_TIME {
        return Err(Degradation::RerankerAbsent);
    }
    let first = first_group(&mut weighing.candidates);
    let count = first.len();
    let passages: Vec<String> = first.iter().map(|weighed| read(&weighed.text)).collect();
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    // The blends are made for scores of Reciprocal Rank Fusion; what a second stage learnt is of any size.
    let scores: Vec<f64> = if learnt {
        (0..count).map(|place| 1.0 / (RRF_K + 1.0 + place as f64)).collect()
    } else {
        first.iter().map(|weighed| weighed.score).collect()
    };
    let order = reranking.reorder(&query.text, &scores, &passages).map_err(|error| {
        tracing::warn!(leg = Degradation::RerankerAbsent.as_str(), %error, "a leg failed");
        Degradation::RerankerAbsent
    })?;
    if order.iter().all(|reranked| reranked.rerank_score.is_none()) {
        return Err(Degradation::RerankerAbsent);
    }
    for reranked in order {
        first[reranked.fused_position].score = reranked.blended_score;
    }
    // The order of `reorder`: stable, best first.
    first.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(())
}

/// The first [`RERANKED`] of the prompt's own project; of others where nothing is of it.
fn first_group(candidates: &mut [Weighed]) -> &mut [Weighed] {
    let foreign = |weighed: &Weighed| weighed.fused.candidate.foreign;
    let leading = candidates.first().is_some_and(foreign);
    let count = candidates
        .iter()
        .take(RERANKED)
        .take_while(|weighed| foreign(weighed) == leading)
        .count();
    &mut candidates[..count]
}

/// What a reranker reads of an episode.
fn read(text: &EpisodeText) -> String {
    let mut passage = passage(&text.prompt, &text.answer, text.part);
    passage.truncate(passage.floor_char_boundary(READ_BYTES));
    passage
}
