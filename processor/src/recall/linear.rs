//! Linear models over the evidence: the learnt second stage of the default profile, and the learnt relevance floor.
//!
//! Two rows of weights, between which the nearness of the best cosine decides: where something in the store means nearly
//! the same as the prompt, meaning is worth more; where nothing does, words are. The weights come from
//! `packaging/ranking/train.py`, which says on what they were trained; ADR 0012 says why so.

use super::evidence::{Evidence, FEATURES};
use super::support::{SUPPORT_FEATURES, Support};

/// Weights over [`Evidence::features`], blended by how near the best candidate is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearModel {
    /// The weights where the best cosine is `far_cosine` or less.
    pub far: [f64; FEATURES],
    /// The weights where it is `near_cosine` or more.
    pub near: [f64; FEATURES],
    /// See `far`.
    pub far_cosine: f64,
    /// See `near`.
    pub near_cosine: f64,
}

impl LinearModel {
    /// The score of a candidate: higher is better; only comparable within one recall.
    pub fn score(&self, evidence: &Evidence, best_cosine: f64) -> f64 {
        let nearness = self.nearness(best_cosine);
        let features = evidence.features();
        let dot =
            |weights: &[f64; FEATURES]| -> f64 { weights.iter().zip(&features).map(|(weight, value)| weight * value).sum() };
        (1.0 - nearness) * dot(&self.far) + nearness * dot(&self.near)
    }

    /// What each feature adds to the score.
    pub fn parts(&self, evidence: &Evidence, best_cosine: f64) -> [f64; FEATURES] {
        let nearness = self.nearness(best_cosine);
        let features = evidence.features();
        std::array::from_fn(|at| ((1.0 - nearness) * self.far[at] + nearness * self.near[at]) * features[at])
    }

    fn nearness(&self, best_cosine: f64) -> f64 {
        ((best_cosine - self.far_cosine) / (self.near_cosine - self.far_cosine)).clamp(0.0, 1.0)
    }
}

/// A logistic regression of whether the store holds an answer to a prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerModel {
    /// The weights of [`Support::features`].
    pub weights: [f64; SUPPORT_FEATURES],
    /// Added to their sum.
    pub bias: f64,
}

impl AnswerModel {
    /// The probability, 0 to 1.
    pub fn probability(&self, support: &Support) -> f64 {
        let sum: f64 = self
            .weights
            .iter()
            .zip(support.features())
            .map(|(weight, value)| weight * value)
            .sum();
        1.0 / (1.0 + (-(sum + self.bias)).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(bm25_share: f64, cosine_deviation: f64) -> Evidence {
        Evidence {
            bm25_share,
            cosine_share: 0.0,
            cosine_deviation,
            bm25_reciprocal: 0.0,
            vector_reciprocal: 0.0,
            coverage: 0.0,
            prompt_coverage: 0.0,
            passage_coverage: 0.0,
            quoted: 0.0,
            in_time: 0.0,
            soft_coverage: 0.0,
            cosine: 0.0,
            bm25_absolute: 0.0,
            known_terms: 0.0,
            proper_names: 0.0,
            matched: 0,
        }
    }

    /// Words count where nothing is near, meaning where something is.
    const MODEL: LinearModel = LinearModel {
        far: [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        near: [0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        far_cosine: 0.4,
        near_cosine: 0.6,
    };

    #[test]
    fn weights_are_blended_by_nearness() {
        let score = |best| MODEL.score(&evidence(0.5, 2.0), best);
        for (best, expected) in [(0.1, 1.0), (0.4, 1.0), (0.5, 0.5 * 1.0 + 0.5 * 6.0), (0.6, 6.0), (0.9, 6.0)] {
            assert!((score(best) - expected).abs() < 1e-9, "{best}");
            let parts = MODEL.parts(&evidence(0.5, 2.0), best);
            assert!((parts.iter().sum::<f64>() - expected).abs() < 1e-9, "{best}: {parts:?}");
        }
    }

    #[test]
    fn a_probability_lies_between_0_and_1() {
        let model = AnswerModel {
            weights: [1.0; SUPPORT_FEATURES],
            bias: -1.0,
        };
        let empty = Support::default();
        assert!((model.probability(&empty) - 1.0 / (1.0 + 1.0_f64.exp())).abs() < 1e-12);
        let sure = Support { terms: 1e6, ..empty };
        assert!((model.probability(&sure) - 1.0).abs() < 1e-12);
    }
}
