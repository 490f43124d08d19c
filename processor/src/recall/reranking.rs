//! The third stage, where there is a reranker: it reads the first of the weighed candidates together with the prompt, and
//! its scores, blended with the order that they had, put them into a new one. The others stay behind them.

use std::time::Duration;

use remembrancer_schema::EpisodeText;

use super::Degradation;
use super::query::Query;
use super::weigh::Weighing;
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

/// Puts the first [`RERANKED`] of `weighing` into a new order, by blended scores that take the place of theirs.
///
/// # Errors
/// [`Degradation::RerankerAbsent`] where too little time is left or the reranker fails; the order is as it was.
pub(super) fn rerank(query: &Query, weighing: &mut Weighing, reranking: &Reranking<'_>) -> Result<(), Degradation> {
    if reranking.deadline.remaining() < LEAST_TIME {
        return Err(Degradation::RerankerAbsent);
    }
    let count = weighing.candidates.len().min(RERANKED);
    let first = &mut weighing.candidates[..count];
    let passages: Vec<String> = first.iter().map(|weighed| read(&weighed.text)).collect();
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    // What is learnt may score below zero, where the blend knows no order.
    let scores: Vec<f64> = first.iter().map(|weighed| weighed.score.max(0.0)).collect();
    let order = reranking.reorder(&query.text, &scores, &passages).map_err(|error| {
        tracing::warn!(leg = Degradation::RerankerAbsent.as_str(), %error, "a leg failed");
        Degradation::RerankerAbsent
    })?;
    for reranked in order {
        first[reranked.fused_position].score = reranked.blended_score;
    }
    // The order of `reorder`: stable, best first.
    first.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(())
}

/// What a reranker reads of an episode.
fn read(text: &EpisodeText) -> String {
    let mut passage = passage(&text.prompt, &text.answer, text.part);
    passage.truncate(passage.floor_char_boundary(READ_BYTES));
    passage
}
