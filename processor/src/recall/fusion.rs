//! Weighted Reciprocal Rank Fusion over precomputed values, with a total order.
//!
//! In: candidates with each leg's raw value. Out: the same candidates with ranks and a fused score, best first. Pure:
//! the same candidates give the same order on any machine, whatever order they came in.

use std::cmp::Ordering;

use remembrancer_schema::{Bm25, CandidateRow, Cosine, Importance, Origin, Rank, UnixMillis};

use super::profile::{ImportanceRule, Leg, Profile};
use super::rank::{Best, dense_ranks};

/// An episode of the candidate pool with the raw value that each leg gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The stored row.
    pub row: CandidateRow,
    /// The full-text score, if the episode was among the BM25 hits.
    pub bm25: Option<Bm25>,
    /// The cosine with the prompt's embedding, if both have a vector of the same model.
    pub cosine: Option<Cosine>,
}

/// A candidate's rank in each leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LegRanks {
    /// Rank by BM25 among the BM25 hits.
    pub bm25: Option<Rank>,
    /// Rank by cosine among those with a vector.
    pub vector: Option<Rank>,
    /// Rank by creation time among all.
    pub recency: Option<Rank>,
    /// Rank by number of uses among all.
    pub access: Option<Rank>,
}

impl LegRanks {
    /// The rank in `leg`.
    pub fn of(&self, leg: Leg) -> Option<Rank> {
        match leg {
            Leg::Bm25 => self.bm25,
            Leg::Vector => self.vector,
            Leg::Recency => self.recency,
            Leg::Access => self.access,
        }
    }
}

/// A candidate with its place in the fused order.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    /// The candidate.
    pub candidate: Candidate,
    /// Its rank in each leg.
    pub ranks: LegRanks,
    /// The fused score: higher is better; only comparable within one recall.
    pub score: f64,
}

/// Ranks the candidates in every leg and orders them by the fused score.
///
/// `score = Σ w/(K + rank) + importance bonus`, over the legs in which the candidate has a rank. A candidate without a
/// BM25 hit gets 0 from that leg; with no hits at all the leg is absent for everyone (seed 004, step 2b). An episode
/// without a vector gets nothing from the vector leg. A creation time after `now` counts as `now` (CASES TC-35).
///
/// Equal scores: the person's own turns before a subagent's, then newer first, then by uid.
pub fn fuse(candidates: Vec<Candidate>, profile: &Profile, now: UnixMillis) -> Vec<Fused> {
    let ranks = rank_all(&candidates, now);
    let mut fused: Vec<Fused> = candidates
        .into_iter()
        .zip(ranks)
        .map(|(candidate, ranks)| {
            let score = score(&ranks, candidate.row.importance, profile);
            Fused { candidate, ranks, score }
        })
        .collect();
    fused.sort_by(best_first);
    fused
}

fn rank_all(candidates: &[Candidate], now: UnixMillis) -> Vec<LegRanks> {
    // One pass for the values, then one stable sort a list.
    let values = |value: fn(&Candidate, UnixMillis) -> Option<f64>| -> Vec<Option<f64>> {
        candidates.iter().map(|candidate| value(candidate, now)).collect()
    };
    let bm25 = dense_ranks(&values(|c, _| c.bm25.map(|score| score.0)), Best::Smallest);
    let vector = dense_ranks(&values(|c, _| c.cosine.map(|cosine| f64::from(cosine.0))), Best::Largest);
    let recency = dense_ranks(&values(|c, now| Some(c.row.created_at.0.min(now.0) as f64)), Best::Largest);
    let access = dense_ranks(&values(|c, _| Some(c.row.access_count as f64)), Best::Largest);
    (0..candidates.len())
        .map(|i| LegRanks {
            bm25: bm25[i],
            vector: vector[i],
            recency: recency[i],
            access: access[i],
        })
        .collect()
}

fn score(ranks: &LegRanks, importance: Importance, profile: &Profile) -> f64 {
    let legs: f64 = profile
        .weights
        .iter()
        .filter_map(|(leg, weight)| ranks.of(*leg).map(|rank| weight / (profile.k + f64::from(rank.get()))))
        .sum();
    legs + importance_bonus(importance, profile)
}

/// The additive bonus of `importance` under `profile`: about 0.0023 at K = 60 and ten positions.
pub fn importance_bonus(importance: Importance, profile: &Profile) -> f64 {
    match (importance, profile.importance) {
        (Importance::High, ImportanceRule::HighBonus { positions }) => {
            1.0 / (profile.k + 1.0) - 1.0 / (profile.k + 1.0 + positions)
        }
        (Importance::Low | Importance::Normal, _) => 0.0,
    }
}

fn best_first(a: &Fused, b: &Fused) -> Ordering {
    let subagent = |fused: &Fused| fused.candidate.row.origin == Origin::Subagent;
    b.score
        .total_cmp(&a.score)
        .then_with(|| subagent(a).cmp(&subagent(b)))
        .then_with(|| b.candidate.row.created_at.cmp(&a.candidate.row.created_at))
        .then_with(|| a.candidate.row.uid.cmp(&b.candidate.row.uid))
}

#[cfg(test)]
mod tests;
