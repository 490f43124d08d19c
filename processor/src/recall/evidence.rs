//! What speaks for a candidate: how its legs compare to the others', and how its text covers the prompt.
//!
//! In go the first candidates of the fused order with their texts, out come features, each of them free of the scale of a
//! store or a model: shares, reciprocal ranks and distances in standard deviations. The second stage ranks by them, and
//! the relevance gate judges by them. Pure: the same candidates give the same features.

use super::fusion::Fused;
use super::leg::Leg;
use super::occurrences::{Occurrences, TermWeights};

/// The damping of the reciprocal ranks among the features: small, as the first places matter most.
const RANK_K: f64 = 5.0;
/// The cosines that make up the background against which one is measured: the best of the pool.
const BACKGROUND: usize = 200;
/// A small store has no background of its own yet: so many cosines of what is unrelated are thought added to it.
const PRIOR_COUNT: f64 = 20.0;
/// The mean and the standard deviation of cosines between unrelated texts, by all-MiniLM-L6-v2.
const PRIOR_MEAN: f64 = 0.1;
/// See [`PRIOR_MEAN`].
const PRIOR_DEVIATION: f64 = 0.1;
/// What BM25 gives a term at most, as a multiple of its inverse document frequency: `k1 + 1`.
const BM25_SATURATION: f64 = 2.2;

/// How many features there are.
pub const FEATURES: usize = 11;

/// What speaks for one candidate of one prompt. The first eleven values are the features of the second stage; the others go
/// into [`super::Support`].
///
/// The pool of which it has a share is what it is held against: where the prompt's own project goes first, the candidates of that alone,
/// or of the others (ADR 8).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// BM25 as a share of the best of the pool.
    pub bm25_share: f64,
    /// Cosine plus one, as a share of the best of the pool.
    pub cosine_share: f64,
    /// Cosine in standard deviations above the background of the pool.
    pub cosine_deviation: f64,
    /// `1/(5 + rank)` by BM25; 0 without one.
    pub bm25_reciprocal: f64,
    /// `1/(5 + rank)` by cosine; 0 without one.
    pub vector_reciprocal: f64,
    /// The share of the prompt's terms found, each weighted by its rarity.
    pub coverage: f64,
    /// The same in what was asked then alone.
    pub prompt_coverage: f64,
    /// The same in the best passage of forty terms.
    pub passage_coverage: f64,
    /// The square of the same in the longest run of words that prompt and text share word for word: a word by itself says
    /// little, a quotation nearly all.
    pub quoted: f64,
    /// How telling it is that it is from the time that the prompt names; 0 where it isn't.
    pub in_time: f64,
    /// The share of the prompt's terms found, where a word that is near in meaning counts for as much as it is near.
    pub soft_coverage: f64,
    /// The cosine itself; 0 without a vector.
    pub cosine: f64,
    /// BM25 as a share of what a text with every term could get.
    pub bm25_absolute: f64,
    /// The share of the prompt's terms, by rarity, that stand in the store at all.
    pub known_terms: f64,
    /// The share of the prompt's proper names that it holds; 0 where it has none.
    pub proper_names: f64,
    /// How many of the prompt's terms were found.
    pub matched: usize,
}

impl Evidence {
    /// The names of the features, in the order of [`Evidence::features`].
    pub const NAMES: [&'static str; FEATURES] = [
        "bm25_share",
        "cosine_share",
        "cosine_deviation",
        "bm25_reciprocal",
        "vector_reciprocal",
        "coverage",
        "prompt_coverage",
        "passage_coverage",
        "quoted",
        "in_time",
        "soft_coverage",
    ];

    /// The features in a row.
    pub fn features(&self) -> [f64; FEATURES] {
        [
            self.bm25_share,
            self.cosine_share,
            self.cosine_deviation,
            self.bm25_reciprocal,
            self.vector_reciprocal,
            self.coverage,
            self.prompt_coverage,
            self.passage_coverage,
            self.quoted,
            self.in_time,
            self.soft_coverage,
        ]
    }
}

/// What a candidate's vector says of it.
#[derive(Debug, Clone, Copy, Default)]
struct Meaning {
    share: f64,
    deviation: f64,
    reciprocal: f64,
}

/// The pool as a whole: what a candidate's values are held against.
#[derive(Debug)]
pub(super) struct Background {
    best_bm25: f64,
    best_cosine: f64,
    mean: f64,
    deviation: f64,
}

impl Background {
    /// Sums up `pool`: all that a candidate is held against.
    pub(super) fn of(pool: &[Fused]) -> Self {
        let mut cosines: Vec<f64> = pool.iter().filter_map(cosine_of).collect();
        cosines.sort_by(|a, b| b.total_cmp(a));
        cosines.truncate(BACKGROUND);
        let count = cosines.len() as f64 + PRIOR_COUNT;
        let mean = (cosines.iter().sum::<f64>() + PRIOR_COUNT * PRIOR_MEAN) / count;
        let squares: f64 = cosines.iter().map(|cosine| (cosine - mean).powi(2)).sum();
        let prior = PRIOR_DEVIATION.powi(2) + (PRIOR_MEAN - mean).powi(2);
        Self {
            best_bm25: pool.iter().map(bm25_of).fold(0.0, f64::max),
            best_cosine: cosines.first().copied().unwrap_or_default(),
            mean,
            deviation: ((squares + PRIOR_COUNT * prior) / count).sqrt(),
        }
    }

    /// The best cosine of the pool; 0 where nothing has a vector.
    pub(super) fn best_cosine(&self) -> f64 {
        self.best_cosine
    }

    fn share_of_bm25(&self, bm25: f64) -> f64 {
        if self.best_bm25 > 0.0 { bm25 / self.best_bm25 } else { 0.0 }
    }

    /// What is thought of an episode that waits for its vector beside others that have theirs: that it is as near to the
    /// best as its words cover the prompt. Else what was said a second ago would stand below every older twin.
    fn meaning_by_words(&self, coverage: f64) -> Meaning {
        if self.best_cosine <= 0.0 {
            return Meaning::default();
        }
        Meaning {
            share: coverage,
            deviation: coverage * self.deviations(self.best_cosine),
            reciprocal: coverage / (RANK_K + 1.0),
        }
    }

    /// How far a cosine stands out.
    fn deviations(&self, cosine: f64) -> f64 {
        (cosine - self.mean) / self.deviation
    }

    /// What speaks for `fused`, in whose text the terms occur so.
    pub(super) fn evidence(&self, fused: &Fused, occurrences: &Occurrences, terms: &TermWeights) -> Evidence {
        let cosine = cosine_of(fused);
        let bm25 = bm25_of(fused);
        let coverage = terms.share_of(&occurrences.anywhere);
        let meaning = match cosine {
            Some(cosine) => Meaning {
                share: (cosine + 1.0) / (self.best_cosine + 1.0).max(f64::EPSILON),
                deviation: self.deviations(cosine),
                reciprocal: reciprocal(fused, Leg::Vector),
            },
            None => self.meaning_by_words(coverage),
        };
        let ideal = BM25_SATURATION * terms.known;
        Evidence {
            bm25_share: self.share_of_bm25(bm25),
            cosine_share: meaning.share,
            cosine_deviation: meaning.deviation,
            bm25_reciprocal: reciprocal(fused, Leg::Bm25),
            vector_reciprocal: meaning.reciprocal,
            coverage,
            prompt_coverage: terms.share_of(&occurrences.in_prompt),
            passage_coverage: terms.share(occurrences.best_passage(terms)),
            // A prompt that says a word twice would count it twice.
            quoted: terms.quoted_share(occurrences.longest_run).powi(2),
            in_time: fused.candidate.timely.unwrap_or_default(),
            soft_coverage: terms.soft_share(occurrences),
            cosine: cosine.unwrap_or_default(),
            bm25_absolute: if ideal > 0.0 { (bm25 / ideal).min(1.0) } else { 0.0 },
            known_terms: terms.share(terms.known),
            proper_names: terms.proper_names_in(&occurrences.anywhere).unwrap_or_default(),
            matched: terms.matched(&occurrences.anywhere),
        }
    }
}

fn reciprocal(fused: &Fused, leg: Leg) -> f64 {
    fused.ranks.of(leg).map_or(0.0, |rank| 1.0 / (RANK_K + f64::from(rank.get())))
}

fn cosine_of(fused: &Fused) -> Option<f64> {
    fused.candidate.cosine.map(|cosine| f64::from(cosine.0))
}

fn bm25_of(fused: &Fused) -> f64 {
    fused.candidate.bm25.map_or(0.0, |score| -score.0)
}

#[cfg(test)]
mod tests;
