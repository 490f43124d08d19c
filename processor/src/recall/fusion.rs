//! Fusion over precomputed values, with a total order: weighted Reciprocal Rank Fusion, or a convex combination of scores.
//!
//! In: candidates with each leg's raw value. Out: the same candidates with ranks and a fused score, best first. Pure:
//! the same candidates give the same order on any machine, whatever order they came in.

use std::cmp::Ordering;

use remembrancer_schema::{Bm25, CandidateRow, Cosine, Importance, Origin, Rank, UnixMillis};

use super::leg::{Leg, LegRanks};
use super::profile::{ImportanceRule, Profile, RankFusion, Rule};
use super::rank::{Best, dense_ranks};
use crate::feedback::use_level;

/// An episode of the candidate pool with the raw value that each leg gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The stored row.
    pub row: CandidateRow,
    /// The full-text score, if the episode was among the BM25 hits.
    pub bm25: Option<Bm25>,
    /// The cosine with the prompt's embedding, if both have a vector of the same model.
    pub cosine: Option<Cosine>,
    /// The cosine with the conversation so far, if there is one.
    pub expansion: Option<Cosine>,
    /// How near it lies to the best hits, if it is linked to any: higher is nearer.
    pub graph: Option<f64>,
    /// Where it is from the time that the prompt names: how telling that is, 0 to 1.
    pub timely: Option<f64>,
    /// Whether it is of another project than the prompt, where the prompt's own goes first.
    pub foreign: bool,
    /// Its place in what the shared store found, from 1, if it was asked and found it.
    pub remote: Option<u32>,
    /// Whether it holds all of the prompt's terms.
    pub exact: bool,
}

impl Candidate {
    /// The value by which `leg` ranks it, and which end of the values is the best.
    pub(super) fn value(&self, leg: Leg, now: UnixMillis) -> (Option<f64>, Best) {
        let cosine = |cosine: Option<Cosine>| cosine.map(|cosine| f64::from(cosine.0));
        match leg {
            Leg::Bm25 => (self.bm25.map(|score| score.0), Best::Smallest),
            Leg::Vector => (cosine(self.cosine), Best::Largest),
            Leg::Recency => (Some(self.row.created_at.0.min(now.0) as f64), Best::Largest),
            Leg::Access => (Some(f64::from(use_level(self.row.access_count))), Best::Largest),
            Leg::Expansion => (cosine(self.expansion), Best::Largest),
            Leg::Graph => (self.graph, Best::Largest),
            // What waits for its vector comes last.
            Leg::Time => (self.timely.map(|_| cosine(self.cosine).unwrap_or(-1.0)), Best::Largest),
            Leg::Remote => (self.remote.map(f64::from), Best::Smallest),
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

/// Ranks the candidates in every leg and orders them by the fused score of `profile`.
///
/// A candidate without a BM25 hit gets 0 from that leg; with no hits at all the leg is absent for everyone (seed 004,
/// step 2b). An episode without a vector gets nothing from the vector leg. A creation time after `now` counts as `now`
/// (CASES TC-35).
///
/// Equal scores: the person's own turns before a subagent's, then newer first, then by uid.
pub fn fuse(candidates: Vec<Candidate>, profile: &Profile, now: UnixMillis) -> Vec<Fused> {
    let ranks = rank_all(&candidates, profile.counts(Leg::Remote), now);
    let best = BestValues::of(&candidates);
    let mut fused: Vec<Fused> = candidates
        .into_iter()
        .zip(ranks)
        .map(|(candidate, ranks)| {
            let score = match &profile.rule {
                Rule::Ranks(fusion) => fusion.score(&ranks, candidate.row.importance, candidate.exact),
                Rule::Convex { alpha } => best.convex(&candidate, *alpha),
            };
            Fused { candidate, ranks, score }
        })
        .collect();
    fused.sort_by(best_first);
    fused
}

/// The same where some candidates are of another project than the prompt: its own first, and each of the two by itself, so that what
/// others have changes nothing about the own project's ranks and scores (ADR 8).
pub(super) fn fuse_own_first(candidates: Vec<Candidate>, profile: &Profile, now: UnixMillis) -> Vec<Fused> {
    let (others, own): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|candidate| candidate.foreign);
    let mut fused = fuse(own, profile, now);
    fused.extend(fuse(others, profile, now));
    fused
}

/// How many of `fused` are of the prompt's own project, which stand first.
pub(super) fn own_among(fused: &[Fused]) -> usize {
    fused.partition_point(|fused| !fused.candidate.foreign)
}

/// One pass for the values of each leg, then one stable sort a list. The shared store's is ranked where it counts alone.
fn rank_all(candidates: &[Candidate], with_remote: bool, now: UnixMillis) -> Vec<LegRanks> {
    let mut all = vec![LegRanks::default(); candidates.len()];
    for leg in Leg::ALL.into_iter().filter(|leg| with_remote || *leg != Leg::Remote) {
        let Some((_, best)) = candidates.first().map(|first| first.value(leg, now)) else {
            break;
        };
        let values: Vec<Option<f64>> = candidates.iter().map(|candidate| candidate.value(leg, now).0).collect();
        for (ranks, rank) in all.iter_mut().zip(dense_ranks(&values, best)) {
            ranks.set(leg, rank);
        }
    }
    all
}

impl RankFusion {
    /// `Σ weight / (k + rank)` and what the profile adds to it.
    fn score(&self, ranks: &LegRanks, importance: Importance, exact: bool) -> f64 {
        let legs: f64 = self
            .weights
            .iter()
            .filter_map(|(leg, weight)| ranks.of(*leg).map(|rank| weight / (self.k + f64::from(rank.get()))))
            .sum();
        let exact = if exact { self.worth(self.exact_match_positions) } else { 0.0 };
        self.weighed(legs + self.top_rank_bonus(ranks) + exact, importance)
    }

    /// What [`RankFusion::score`] is the sum of: each leg that counts, then what the profile adds, by [`RankFusion::part_names`].
    pub(super) fn parts(&self, ranks: &LegRanks, importance: Importance, exact: bool) -> Vec<f64> {
        let leg = |(leg, weight): &(Leg, f64)| ranks.of(*leg).map_or(0.0, |rank| weight / (self.k + f64::from(rank.get())));
        let mut parts: Vec<f64> = self.weights.iter().map(leg).collect();
        parts.push(self.top_rank_bonus(ranks));
        parts.push(if exact { self.worth(self.exact_match_positions) } else { 0.0 });
        let so_far: f64 = parts.iter().sum();
        parts.push(self.weighed(so_far, importance) - so_far);
        parts
    }

    /// The names of [`RankFusion::parts`].
    pub(super) fn part_names(&self) -> Vec<&'static str> {
        let legs = self.weights.iter().map(|(leg, _)| leg.as_str());
        legs.chain(["top-rank", "all-terms", "importance"]).collect()
    }

    /// What a rise by `positions` to the first place of one list of weight 1 adds.
    fn worth(&self, positions: f64) -> f64 {
        1.0 / (self.k + 1.0) - 1.0 / (self.k + 1.0 + positions)
    }

    fn top_rank_bonus(&self, ranks: &LegRanks) -> f64 {
        ranks
            .best_of(self.weights.iter().map(|(leg, _)| *leg))
            .and_then(|rank: Rank| self.top_rank_bonus.get(rank.get() as usize - 1))
            .copied()
            .unwrap_or(0.0)
    }

    fn weighed(&self, score: f64, importance: Importance) -> f64 {
        match self.importance {
            ImportanceRule::HighBonus { positions } if importance == Importance::High => score + self.worth(positions),
            ImportanceRule::None | ImportanceRule::HighBonus { .. } => score,
            ImportanceRule::Multiplier { base, span } => score * (base + span * importance.weight()),
        }
    }
}

/// The best values of the pool, to which a convex combination brings scores into proportion.
struct BestValues {
    bm25: f64,
    cosine: f64,
}

impl BestValues {
    fn of(candidates: &[Candidate]) -> Self {
        let hits = candidates.iter().filter_map(|candidate| candidate.bm25);
        let cosines = candidates.iter().filter_map(|candidate| candidate.cosine);
        Self {
            bm25: hits.map(|hit| hit.0).fold(0.0, f64::min),
            cosine: cosines.map(|cosine| f64::from(cosine.0)).fold(-1.0, f64::max),
        }
    }

    /// `TM2C2`: a missing value counts as its theoretical minimum.
    fn convex(&self, candidate: &Candidate, alpha: f64) -> f64 {
        let share = |value: f64, best: f64| if best > 0.0 { value / best } else { 0.0 };
        let words = candidate.bm25.map_or(0.0, |hit| share(-hit.0, -self.bm25));
        let meaning = candidate
            .cosine
            .map_or(0.0, |cosine| share(f64::from(cosine.0) + 1.0, self.cosine + 1.0));
        alpha * meaning + (1.0 - alpha) * words
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
