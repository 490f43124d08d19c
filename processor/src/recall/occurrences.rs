//! Where a prompt's terms stand in an episode's text: how much of the prompt it holds, by the rarity of the terms, at all, in
//! one passage, and word for word.

use std::collections::HashMap;

use remembrancer_schema::{EpisodeText, for_each_term, terms};

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
    /// The weight of those that the store holds at all.
    pub(super) known: f64,
    /// Which of the terms are names: written with a capital letter inside a sentence, or no plain words.
    names: Vec<usize>,
    /// The prompt word for word, stop words too: where in it each word stands, and what it weighs.
    wording: HashMap<String, Vec<usize>>,
    wording_weights: Vec<f64>,
}

impl TermWeights {
    /// Weighs `terms` by BM25's inverse document frequency in the form that is never negative, `ln(1 + (N − df + ½)/(df + ½))`: a term that
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
            names: distinct(names(prompt).filter_map(|name| place.get(name.as_str())).copied().collect()),
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
    text.lines().flat_map(names_of_line)
}

fn names_of_line(line: &str) -> impl Iterator<Item = String> {
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
        (odd || capital).then(|| terms(bare).into_iter().next()).flatten()
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
    /// Position among all terms, and which of the prompt's.
    places: Vec<(usize, usize)>,
    /// The weight of the longest run of words shared with the prompt.
    pub(super) longest_run: f64,
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
