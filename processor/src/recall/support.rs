//! Whether the store holds an answer at all: what the weighed candidates, taken together, say of a prompt.
//!
//! Nearest neighbours always exist. That a prompt is about something in the store shows in the whole: how near the best comes
//! and how far it stands out, whether one text holds the prompt's rare words together, whether the words that no candidate
//! holds are the telling ones, and whether words and meaning name the same candidate.

use super::evidence::Evidence;
use super::occurrences::TermWeights;

/// How many features there are.
pub const SUPPORT_FEATURES: usize = 16;

/// Terms of a prompt beyond which more of them say nothing more.
const MOST_TERMS: f64 = 12.0;

/// From this cosine on what is from the time that the prompt speaks of is evidence …
const TIMELY_FROM: f64 = 0.25;
/// … and in full from this one on. Chosen on the judged sets: between what is unrelated and what is near (ADR 0012).
const TIMELY_TO: f64 = 0.5;

/// What all the candidates together say.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Support {
    /// The best cosine.
    pub best_cosine: f64,
    /// The best share of the prompt's terms in one text, by rarity: what a candidate's is held against, no feature.
    pub best_coverage: f64,
    /// The best share in one passage.
    pub best_passage: f64,
    /// The share of the prompt's terms that any of the candidates holds.
    pub pool_coverage: f64,
    /// Whether any of them holds the rarest.
    pub rarest_in_pool: f64,
    /// The share of the prompt's names that any of them holds; 1 where it has none.
    pub names_in_pool: f64,
    /// The share of the prompt's terms that the store holds at all.
    pub known_terms: f64,
    /// The lesser of a candidate's reciprocal ranks by words and by meaning, at the best: whether both name the same one.
    pub agreement: f64,
    /// BM25 as a share of what a text with every term could get, at the best.
    pub bm25_absolute: f64,
    /// How many terms the prompt has, up to twelve.
    pub terms: f64,
    /// The share of the prompt's terms in the first candidate.
    pub first_coverage: f64,
    /// How near the nearest comes of those from the time that the prompt speaks of: 0 at a cosine of 0.25, 1 at 0.5. A time by itself is
    /// no evidence: any store has something of any month.
    pub in_time: f64,
    /// The best share of the prompt's terms where words near in meaning count.
    pub best_soft_coverage: f64,
    /// That share of the first candidate.
    pub first_soft_coverage: f64,
    /// The share of the prompt's proper names that any of them holds; 1 where it has none.
    pub proper_names_in_pool: f64,
    /// The share of them that one of the first three holds, on average; 0 where it has none. A store of any size has some John.
    pub three_proper_names: f64,
    /// Whether the prompt asks for what was, in so many words.
    pub asks_past: f64,
}

impl Support {
    /// The names of the features, in the order of [`Support::features`].
    pub const NAMES: [&'static str; SUPPORT_FEATURES] = [
        "best_cosine",
        "best_passage",
        "pool_coverage",
        "rarest_in_pool",
        "names_in_pool",
        "known_terms",
        "agreement",
        "bm25_absolute",
        "terms",
        "first_coverage",
        "in_time",
        "best_soft_coverage",
        "first_soft_coverage",
        "proper_names_in_pool",
        "three_proper_names",
        "asks_past",
    ];

    /// Sums up the candidates' evidence, best first; `found` marks the terms that stand in any of their texts.
    pub(super) fn of(evidence: &[Evidence], terms: &TermWeights, found: &[bool], asks_past: bool) -> Self {
        let best = |value: fn(&Evidence) -> f64| evidence.iter().map(value).fold(0.0, f64::max);
        let first = |value: fn(&Evidence) -> f64| evidence.first().map_or(0.0, value);
        let three = &evidence[..evidence.len().min(3)];
        Self {
            best_cosine: best(|one| one.cosine),
            best_coverage: best(|one| one.coverage),
            best_passage: best(|one| one.passage_coverage),
            pool_coverage: terms.share_of(found),
            rarest_in_pool: f64::from(u8::from(terms.rarest(found))),
            names_in_pool: terms.names_in(found),
            known_terms: first(|one| one.known_terms),
            agreement: best(|one| one.bm25_reciprocal.min(one.vector_reciprocal)),
            bm25_absolute: best(|one| one.bm25_absolute),
            terms: (terms.asked() as f64).min(MOST_TERMS),
            first_coverage: first(|one| one.coverage),
            in_time: best(timely),
            best_soft_coverage: best(|one| one.soft_coverage),
            first_soft_coverage: first(|one| one.soft_coverage),
            proper_names_in_pool: terms.proper_names_in(found).unwrap_or(1.0),
            three_proper_names: mean(three, |one| one.proper_names),
            asks_past: f64::from(u8::from(asks_past)),
        }
    }

    /// The features in a row.
    pub fn features(&self) -> [f64; SUPPORT_FEATURES] {
        [
            self.best_cosine,
            self.best_passage,
            self.pool_coverage,
            self.rarest_in_pool,
            self.names_in_pool,
            self.known_terms,
            self.agreement,
            self.bm25_absolute,
            self.terms,
            self.first_coverage,
            self.in_time,
            self.best_soft_coverage,
            self.first_soft_coverage,
            self.proper_names_in_pool,
            self.three_proper_names,
            self.asks_past,
        ]
    }
}

/// How much being of the time that the prompt speaks of is worth. What waits for its vector is thought as near as its words cover.
fn timely(one: &Evidence) -> f64 {
    let nearness = if one.cosine == 0.0 {
        one.coverage
    } else {
        (one.cosine - TIMELY_FROM) / (TIMELY_TO - TIMELY_FROM)
    };
    one.in_time * nearness.clamp(0.0, 1.0)
}

fn mean(evidence: &[Evidence], value: fn(&Evidence) -> f64) -> f64 {
    evidence.iter().map(value).sum::<f64>() / evidence.len().max(1) as f64
}
