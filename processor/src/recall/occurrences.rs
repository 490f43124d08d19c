//! Where a prompt's terms stand in an episode's text: how much of the prompt it holds, by the rarity of the terms, at all, in
//! one passage, and word for word.

use std::collections::HashMap;

use remembrancer_schema::{EpisodeText, for_each_term, terms};

use super::nearness::Nearness;
use super::time_words::Spoken;

/// Terms between the first and the last of a passage that is looked at for proximity.
const WINDOW: usize = 40;
/// Words of a prompt that are compared word for word; a longer prompt quotes nothing further down.
const WORDING: usize = 256;

/// The prompt's terms with their rarity in the store.
#[derive(Debug, Clone)]
pub(super) struct TermWeights {
    place: HashMap<String, usize>,
    weights: Vec<f64>,
    total: f64,
    /// How many of the terms weigh anything.
    asked: usize,
    /// The weight of those that the store holds at all.
    pub(super) known: f64,
    /// Which of the terms are names: written with a capital letter inside a sentence, or no plain words.
    names: Vec<usize>,
    /// Those of them that are proper names: of small letters but for the first.
    proper_names: Vec<usize>,
    /// The prompt word for word, stop words too: where in it each word stands, and what it weighs.
    wording: HashMap<String, Vec<usize>>,
    wording_weights: Vec<f64>,
}

impl TermWeights {
    /// Weighs `terms` by BM25's inverse document frequency in the form that is never negative, `ln(1 + (N − df + ½)/(df + ½))`: a term that
    /// the store has never seen weighs most, and so a prompt about something unknown is covered by nothing.
    ///
    /// `prompt` is the text that the terms were taken from. Those that only name the time it speaks of weigh nothing, unless there are no
    /// others: a text of that time seldom says when it is (ADR 0012).
    pub(super) fn new(
        terms: &[String],
        document_frequencies: &[u64],
        documents: u64,
        prompt: &str,
        time: Option<&Spoken>,
    ) -> Self {
        let weight = |frequency: u64| {
            let df = frequency.min(documents) as f64;
            (1.0 + (documents as f64 - df + 0.5) / (df + 0.5)).ln()
        };
        let mut weights: Vec<f64> = document_frequencies.iter().map(|frequency| weight(*frequency)).collect();
        let of_time = time.map_or_else(Vec::new, |spoken| only_of_time(terms, spoken));
        for place in &of_time {
            weights[*place] = 0.0;
        }
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
        let places_of = |names: &mut dyn Iterator<Item = Name>| {
            let places = names.filter_map(|name| place.get(name.term.as_str()).copied());
            distinct(places.filter(|place| !of_time.contains(place)).collect())
        };
        Self {
            names: places_of(&mut names(prompt)),
            proper_names: places_of(&mut names(prompt).filter(|name| name.is_proper)),
            asked: weights.len() - of_time.len(),
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

    /// How many of them weigh anything: all but what names a time.
    pub(super) fn asked(&self) -> usize {
        self.asked
    }

    /// The share of the prompt's terms, by rarity, each counted for as much as the nearest word comes to it: 1 for the term itself.
    pub(super) fn soft_share(&self, occurrences: &Occurrences) -> f64 {
        let values = occurrences.anywhere.iter().zip(&occurrences.nearest);
        let near = |(found, nearest): (&bool, &f32)| if *found { 1.0 } else { f64::from(nearest.clamp(0.0, 1.0)) };
        self.share(
            self.weights
                .iter()
                .zip(values)
                .map(|(weight, value)| weight * near(value))
                .sum(),
        )
    }

    /// What each term weighs, in their order.
    pub(super) fn into_weights(self) -> Vec<f64> {
        self.weights
    }

    /// The share of the prompt's terms, by rarity, that `found` marks.
    pub(super) fn share_of(&self, found: &[bool]) -> f64 {
        self.share(self.weight_of(found))
    }

    pub(super) fn share(&self, weight: f64) -> f64 {
        // The sum of no weights is -0.0, which would be shown so.
        if self.total > 0.0 { weight / self.total + 0.0 } else { 0.0 }
    }

    /// The weight of the terms that `found` marks.
    pub(super) fn weight_of(&self, found: &[bool]) -> f64 {
        let weighted = self.weights.iter().zip(found).filter(|(_, found)| **found);
        weighted.map(|(weight, _)| weight).sum()
    }

    /// The runs shared with the prompt that end with `word`, given those that end with the word before.
    fn continued(&self, runs: &[(usize, f64)], word: &str) -> Vec<(usize, f64)> {
        let Some(positions) = self.wording.get(word) else {
            return Vec::new();
        };
        // Both are ascending: one pass over the two.
        let mut before = runs.iter().peekable();
        let run = |position: &usize| {
            while before.next_if(|(end, _)| end + 1 < *position).is_some() {}
            let weight = before
                .peek()
                .filter(|(end, _)| end + 1 == *position)
                .map_or(0.0, |(_, weight)| *weight);
            (*position, weight + self.wording_weights[*position])
        };
        positions.iter().map(run).collect()
    }

    /// How many of the terms that weigh anything `found` marks.
    pub(super) fn matched(&self, found: &[bool]) -> usize {
        let weighed = self.weights.iter().zip(found);
        weighed.filter(|(weight, found)| **found && **weight > 0.0).count()
    }

    /// The share of the prompt that a run of words of this weight quotes. Where a time is all that was said beside one term, that term is no
    /// quotation.
    pub(super) fn quoted_share(&self, run: f64) -> f64 {
        if self.asked == 1 && self.len() > 1 {
            return 0.0;
        }
        self.share(run).min(1.0)
    }

    /// The share of the prompt's names that `found` marks; 1 where it has none.
    pub(super) fn names_in(&self, found: &[bool]) -> f64 {
        if self.names.is_empty() {
            return 1.0;
        }
        self.names.iter().filter(|name| found[**name]).count() as f64 / self.names.len() as f64
    }

    /// The share of the prompt's proper names that `found` marks, if it has any. Who asks of Priya where nothing tells of a Priya
    /// asks of something else, whatever else is told.
    pub(super) fn proper_names_in(&self, found: &[bool]) -> Option<f64> {
        let held = self.proper_names.iter().filter(|name| found[**name]).count();
        (!self.proper_names.is_empty()).then(|| held as f64 / self.proper_names.len() as f64)
    }

    /// The rarest of the terms that the store knows is the one that tells most.
    pub(super) fn rarest(&self, found: &[bool]) -> bool {
        let by_weight = |a: &usize, b: &usize| self.weights[*a].total_cmp(&self.weights[*b]).then(b.cmp(a));
        (0..self.weights.len()).max_by(by_weight).is_some_and(|rarest| found[rarest])
    }
}

/// The places of the terms that name a time and stand nowhere else in the prompt; none where no others are left.
fn only_of_time(terms: &[String], spoken: &Spoken) -> Vec<usize> {
    let places_in = |text: &str| {
        let mut places = Vec::new();
        for_each_term(text, &mut |term| places.extend(terms.iter().position(|asked| asked == term)));
        places
    };
    let elsewhere = places_in(&spoken.rest);
    let mut places = distinct(places_in(&spoken.words));
    places.retain(|place| !elsewhere.contains(place));
    if places.len() < terms.len() { places } else { Vec::new() }
}

/// A word that looks like a name.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    /// Its first term.
    term: String,
    /// Whether it is one of somebody or something, and no identifier, number or path.
    is_proper: bool,
}

/// The words that look like names: with a capital letter that no sentence's start explains, or a digit or a joining mark inside.
fn names(text: &str) -> impl Iterator<Item = Name> {
    text.lines().flat_map(names_of_line)
}

fn names_of_line(line: &str) -> impl Iterator<Item = Name> {
    let mut starts = true;
    line.split_whitespace().filter_map(move |word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if bare.is_empty() {
            return None;
        }
        let odd = bare
            .chars()
            .skip(1)
            .any(|c| c.is_uppercase() || c.is_numeric() || matches!(c, '_' | '.' | '/'));
        let capital = !starts && bare.starts_with(char::is_uppercase) && bare.chars().nth(1).is_some_and(char::is_alphabetic);
        starts = word.ends_with(['.', '!', '?', ':']);
        let term = (odd || capital).then(|| terms(bare).into_iter().next()).flatten()?;
        let is_proper = capital && !odd;
        Some(Name { term, is_proper })
    })
}

fn distinct(mut places: Vec<usize>) -> Vec<usize> {
    places.sort_unstable();
    places.dedup();
    places
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
    /// Which of them stand in what was asked.
    pub(super) in_prompt: Vec<bool>,
    /// Which of the prompt's terms stand in the text at all.
    pub(super) anywhere: Vec<bool>,
    /// How near the nearest word of the text comes to each of them: a cosine, at least 0.
    nearest: Vec<f32>,
    /// Position among all terms, and which of the prompt's.
    places: Vec<(usize, usize)>,
    /// The weight of the longest run of words shared with the prompt.
    pub(super) longest_run: f64,
}

impl Occurrences {
    pub(super) fn of(text: &EpisodeText, terms: &TermWeights, nearness: &mut Nearness) -> Self {
        let mut found = Self {
            in_prompt: vec![false; terms.len()],
            anywhere: vec![false; terms.len()],
            nearest: vec![0.0; terms.len()],
            places: Vec::new(),
            longest_run: 0.0,
        };
        let mut position = 0;
        found.look_through(&text.prompt, terms, nearness, &mut position);
        found.in_prompt.clone_from(&found.anywhere);
        // What stands in another field is no passage of this one.
        position += WINDOW;
        found.look_through(&text.answer, terms, nearness, &mut position);
        let facets = &text.facets;
        for value in facets.files.iter().chain(&facets.commands).chain(&facets.errors) {
            position += WINDOW;
            found.look_through(value, terms, nearness, &mut position);
        }
        found
    }

    fn look_through(&mut self, text: &str, terms: &TermWeights, nearness: &mut Nearness, position: &mut usize) {
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
            nearness.meet(term, &mut self.nearest);
            *position += 1;
        });
    }

    /// Which of the prompt's terms stand in the text, the first as the lowest bit. There are at most 32 of them.
    pub(super) fn mask(&self) -> u64 {
        let marks = self.anywhere.iter().take(u64::BITS as usize).enumerate();
        marks.map(|(place, found)| u64::from(*found) << place).sum()
    }

    /// The weight of the terms in the best passage.
    pub(super) fn best_passage(&self, terms: &TermWeights) -> f64 {
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

#[cfg(test)]
pub(super) mod tests;
