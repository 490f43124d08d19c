//! A second look at the best candidates: a cross-encoder reads prompt and passage together.
//!
//! In come a prompt, the passages of the best candidates in fused order with their fused scores, and a [`Deadline`]; out
//! comes a new order. No clock but the deadline's is read, and nothing is shown, stored or logged here.
//!
//! [`CrossEncoder`] is a BERT with a classification head, loaded from a folder: `pair` joins prompt and passage, the
//! layers of [`embed`](crate::embed) run over them, `head` makes a logit of the first row, `pace` keeps to the deadline.
//! [`blend`] weighs the reranker against the place that fusion gave.

mod blend;
mod cross_encoder;
mod error;
mod head;
mod pace;
mod pair;

pub use blend::{Blend, blend};
pub use cross_encoder::CrossEncoder;
pub use error::RerankError;
pub use pair::PAIR_TOKENS;

use crate::deadline::Deadline;

/// What judges passages by reading each together with the prompt. Implementations may be called from several threads.
pub trait Rerank: Send + Sync {
    /// Names the model.
    fn model_id(&self) -> &str;

    /// A score in 0 to 1 for each of `passages`, in the order given; none for those that time did not allow.
    ///
    /// Passages are scored from the first on, so that those without a score are the last ones. The deadline is passed by
    /// the work on one passage at most.
    ///
    /// # Errors
    /// [`RerankError`] when a text can't be tokenised or the model fails; no partial result is given.
    fn scores(&self, query: &str, passages: &[&str], deadline: Deadline) -> Result<Vec<Option<f32>>, RerankError>;
}

/// How one prompt's candidates are put into a new order.
#[derive(Clone, Copy)]
pub struct Reranking<'a> {
    /// What judges the passages.
    pub reranker: &'a dyn Rerank,
    /// How its scores meet the fused ones.
    pub rule: Blend,
    /// When the judging ends.
    pub deadline: Deadline,
}

/// A candidate in its new place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reranked {
    /// Its place in the fused order, from 0.
    pub fused_position: usize,
    /// The reranker's score, in 0 to 1; none if time ran out before.
    pub rerank_score: Option<f32>,
    /// What the new order goes by.
    pub blended_score: f64,
}

impl Reranking<'_> {
    /// The candidates, best first. `fused_scores` and `passages` are theirs in fused order: descending and not negative.
    ///
    /// Candidates that time did not allow keep their places, and so do all of them where the deadline has passed.
    ///
    /// # Errors
    /// As [`Rerank::scores`].
    pub fn reorder(&self, query: &str, fused_scores: &[f64], passages: &[&str]) -> Result<Vec<Reranked>, RerankError> {
        let scores = self.reranker.scores(query, passages, self.deadline)?;
        let blended = blend(self.rule, fused_scores, &scores);
        let candidates = scores.into_iter().zip(blended).enumerate();
        let mut order: Vec<_> = candidates
            .map(|(fused_position, (rerank_score, blended_score))| Reranked {
                fused_position,
                rerank_score,
                blended_score,
            })
            .collect();
        // Stable: equals stay in fused order.
        order.sort_by(|left, right| right.blended_score.total_cmp(&left.blended_score));
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;

    use super::*;

    /// Gives the scores it holds.
    struct Fixed(&'static [Option<f32>]);

    impl Rerank for Fixed {
        fn model_id(&self) -> &'static str {
            "fixed"
        }

        fn scores(&self, _: &str, passages: &[&str], _: Deadline) -> Result<Vec<Option<f32>>, RerankError> {
            Ok(self.0[..passages.len()].to_vec())
        }
    }

    #[rstest]
    #[case::better_ones_rise(&[Some(0.1), Some(0.9), Some(0.2)], &[1, 2, 0])]
    #[case::equals_stay(&[Some(0.5), Some(0.5), Some(0.5)], &[0, 1, 2])]
    #[case::not_reached_stays(&[Some(0.0), Some(1.0), None], &[1, 0, 2])]
    #[case::none_reached(&[None, None, None], &[0, 1, 2])]
    fn orders(#[case] scores: &'static [Option<f32>], #[case] expected: &[usize]) {
        let reranking = Reranking {
            reranker: &Fixed(scores),
            rule: Blend::FusedScore,
            deadline: Deadline::after(Duration::from_mins(1)),
        };
        let order = reranking.reorder("lock", &[0.03, 0.03, 0.02], &["a", "b", "c"]).unwrap();
        let places: Vec<usize> = order.iter().map(|candidate| candidate.fused_position).collect();
        assert_eq!(places, expected);
        assert!(
            order
                .iter()
                .all(|candidate| candidate.rerank_score == scores[candidate.fused_position])
        );
    }
}
