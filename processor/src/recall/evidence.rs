//! What speaks for a candidate: how its legs compare to the others', and how its text covers the prompt.
//!
//! In go the first candidates of the fused order with their texts, out come features, each of them free of the scale of a
//! store or a model: shares, reciprocal ranks and distances in standard deviations. The second stage ranks by them, and
//! the relevance gate judges by them. Pure: the same candidates give the same features.

use std::collections::HashMap;

use remembrancer_schema::{EpisodeText, for_each_term, terms};

use super::fusion::Fused;
use super::leg::Leg;

/// The damping of the reciprocal ranks among the features: small, as the first places matter most.
const RANK_K: f64 = 5.0;
/// Terms between the first and the last of a passage that is looked at for proximity.
const WINDOW: usize = 40;
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

/// Words of a prompt that are compared word for word; a longer prompt quotes nothing further down.
const WORDING: usize = 256;

/// How many features there are.
pub const FEATURES: usize = 10;

/// What speaks for one candidate of one prompt. The first ten values are the features of the second stage; the others go
/// into [`super::Support`].
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
    /// Whether it is from the time that the prompt speaks of.
    pub in_time: f64,
    /// The cosine itself; 0 without a vector.
    pub cosine: f64,
    /// BM25 as a share of what a text with every term could get.
    pub bm25_absolute: f64,
    /// The share of the prompt's terms, by rarity, that stand in the store at all.
    pub known_terms: f64,
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
        ]
    }
}

/// The prompt's terms with their rarity in the store.
#[derive(Debug, Clone)]
pub(super) struct TermWeights {
    place: HashMap<String, usize>,
    weights: Vec<f64>,
    total: f64,
    known: f64,
    /// Which of the terms are names: written with a capital letter inside a sentence, or no plain words.
    names: Vec<usize>,
    /// The prompt word for word, stop words too: where in it each word stands, and what it weighs.
    wording: HashMap<String, Vec<usize>>,
    wording_weights: Vec<f64>,
}

impl TermWeights {
    /// Weighs `terms` by the inverse document frequency that BM25 uses, `ln(1 + (N − df + ½)/(df + ½))`: a term that
    /// the store has never seen weighs most, and so a prompt about something unknown is covered by nothing.
    ///
    /// `prompt` is the text that the terms were taken from.
    pub(super) fn new(terms: &[String], document_frequencies: &[u64], documents: u64, prompt: &str) -> Self {
        let weight = |frequency: u64| {
            let df = frequency.min(documents) as f64;
            (1.0 + (documents as f64 - df + 0.5) / (df + 0.5)).ln()
        };
        let weights: Vec<f64> = document_frequencies.iter().map(|frequency| weight(*frequency)).collect();
        let known = weights
            .iter()
            .zip(document_frequencies)
            .filter(|(_, frequency)| **frequency > 0);
        let place: HashMap<String, usize> = terms.iter().cloned().zip(0..).collect();
        let mut wording: HashMap<String, Vec<usize>> = HashMap::new();
        let mut wording_weights = Vec::new();
        for_each_word(prompt, &mut |word| {
            if wording_weights.len() < WORDING {
                wording.entry(word.to_owned()).or_default().push(wording_weights.len());
                let mut weight = 0.0;
                for_each_term(word, &mut |term| weight += place.get(term).map_or(0.0, |term| weights[*term]));
                wording_weights.push(weight);
            }
        });
        Self {
            names: names(prompt).filter_map(|name| place.get(name.as_str())).copied().collect(),
            wording,
            wording_weights,
            place,
            known: known.map(|(weight, _)| weight).sum(),
            total: weights.iter().sum(),
            weights,
        }
    }

    /// How many terms there are.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// The share of the prompt's terms, by rarity, that `found` marks.
    pub(super) fn share_of(&self, found: &[bool]) -> f64 {
        self.share(self.weight_of(found))
    }

    fn share(&self, weight: f64) -> f64 {
        if self.total > 0.0 { weight / self.total } else { 0.0 }
    }

    /// The weight of the terms that `found` marks.
    fn weight_of(&self, found: &[bool]) -> f64 {
        let weighted = self.weights.iter().zip(found).filter(|(_, found)| **found);
        weighted.map(|(weight, _)| weight).sum()
    }

    /// The runs shared with the prompt that end with `word`, given those that end with the word before.
    fn continued(&self, runs: &[(usize, f64)], word: &str) -> Vec<(usize, f64)> {
        let Some(positions) = self.wording.get(word) else {
            return Vec::new();
        };
        let weight_before = |position: usize| {
            let before = position.checked_sub(1)?;
            runs.iter().find(|(end, _)| *end == before).map(|(_, weight)| *weight)
        };
        positions
            .iter()
            .map(|position| {
                (
                    *position,
                    weight_before(*position).unwrap_or_default() + self.wording_weights[*position],
                )
            })
            .collect()
    }

    /// The share of the prompt's names that `found` marks; 1 where it has none.
    pub(super) fn names_in(&self, found: &[bool]) -> f64 {
        if self.names.is_empty() {
            return 1.0;
        }
        self.names.iter().filter(|name| found[**name]).count() as f64 / self.names.len() as f64
    }

    /// The rarest of the terms that the store knows is the one that tells most.
    pub(super) fn rarest(&self, found: &[bool]) -> bool {
        let by_weight = |a: &usize, b: &usize| self.weights[*a].total_cmp(&self.weights[*b]).then(b.cmp(a));
        (0..self.weights.len()).max_by(by_weight).is_some_and(|rarest| found[rarest])
    }
}

/// The first term of each word that looks like a name: a capital letter that no sentence's start explains, or a digit or a
/// joining mark inside.
fn names(text: &str) -> impl Iterator<Item = String> {
    let mut starts = true;
    text.split_whitespace().filter_map(move |word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let odd = bare
            .chars()
            .skip(1)
            .any(|c| c.is_uppercase() || c.is_numeric() || matches!(c, '_' | '.' | '/'));
        let capital = !starts && bare.starts_with(char::is_uppercase) && bare.chars().nth(1).is_some_and(char::is_alphabetic);
        starts = word.ends_with(['.', '!', '?', ':']);
        (odd || capital).then(|| terms(bare).into_iter().next()).flatten()
    })
}

/// Gives each word of a text as it is written, but for its case and the marks around it.
fn for_each_word(text: &str, sink: &mut dyn FnMut(&str)) {
    let mut lower = String::new();
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if !bare.is_empty() {
            lower.clear();
            lower.extend(bare.chars().flat_map(char::to_lowercase));
            sink(&lower);
        }
    }
}

/// Where the prompt's terms stand in a text.
pub(super) struct Occurrences {
    in_prompt: Vec<bool>,
    /// Which of the prompt's terms stand in the text at all.
    pub(super) anywhere: Vec<bool>,
    /// Position among all terms, and which of the prompt's.
    places: Vec<(usize, usize)>,
    /// The weight of the longest run of words shared with the prompt.
    longest_run: f64,
}

impl Occurrences {
    pub(super) fn of(text: &EpisodeText, terms: &TermWeights) -> Self {
        let mut found = Self {
            in_prompt: vec![false; terms.len()],
            anywhere: vec![false; terms.len()],
            places: Vec::new(),
            longest_run: 0.0,
        };
        let mut position = 0;
        found.look_through(&text.prompt, terms, &mut position);
        found.in_prompt.clone_from(&found.anywhere);
        // What stands in another field is no passage of this one.
        position += WINDOW;
        found.look_through(&text.answer, terms, &mut position);
        let facets = &text.facets;
        for value in facets.files.iter().chain(&facets.commands).chain(&facets.errors) {
            position += WINDOW;
            found.look_through(value, terms, &mut position);
        }
        found
    }

    fn look_through(&mut self, text: &str, terms: &TermWeights, position: &mut usize) {
        // The weight of the run that ends at a position of the prompt and at the word before.
        let mut runs: Vec<(usize, f64)> = Vec::new();
        for_each_word(text, &mut |word| {
            runs = terms.continued(&runs, word);
            self.longest_run = runs.iter().map(|(_, weight)| *weight).fold(self.longest_run, f64::max);
        });
        for_each_term(text, &mut |term| {
            if let Some(place) = terms.place.get(term) {
                self.anywhere[*place] = true;
                self.places.push((*position, *place));
            }
            *position += 1;
        });
    }

    /// The weight of the terms in the best passage.
    fn best_passage(&self, terms: &TermWeights) -> f64 {
        let mut counts = vec![0_u32; terms.len()];
        let (mut weight, mut best, mut first) = (0.0, 0.0_f64, 0);
        for (position, term) in &self.places {
            counts[*term] += 1;
            if counts[*term] == 1 {
                weight += terms.weights[*term];
            }
            while self.places[first].0 + WINDOW < *position {
                let left = self.places[first].1;
                counts[left] -= 1;
                if counts[left] == 0 {
                    weight -= terms.weights[left];
                }
                first += 1;
            }
            best = best.max(weight);
        }
        best
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
    /// Sums up the whole pool.
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

    /// What speaks for `fused`, whose text is `text`; `in_time` says whether it is from the time that the prompt speaks of.
    pub(super) fn evidence(&self, fused: &Fused, occurrences: &Occurrences, terms: &TermWeights, in_time: bool) -> Evidence {
        let cosine = cosine_of(fused);
        let bm25 = bm25_of(fused);
        let coverage = terms.share_of(&occurrences.anywhere);
        let meaning = match cosine {
            Some(cosine) => Meaning {
                share: (cosine + 1.0) / (self.best_cosine + 1.0),
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
            quoted: terms.share(occurrences.longest_run).min(1.0).powi(2),
            in_time: f64::from(u8::from(in_time)),
            cosine: cosine.unwrap_or_default(),
            bm25_absolute: if ideal > 0.0 { bm25 / ideal } else { 0.0 },
            known_terms: terms.share(terms.known),
            matched: occurrences.anywhere.iter().filter(|found| **found).count(),
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
