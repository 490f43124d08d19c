//! Text analysis: the one function that turns text into terms, for what is indexed and for what is asked.
//! In goes any text, out come terms in the order of the text. Nothing is looked up or stored here, and nothing fails.
//!
//! - Letters are folded: compatibility forms (NFKC), lower case, accents off.
//! - Identifiers are kept whole **and** split: `src/main.rs:42` gives itself, `src/main.rs`, `src`, `main.rs`, `main`, …;
//!   `getUserName` gives `getusername`, `get`, `user`, `name`; `utf8` gives `utf8`, `utf`, `8`.
//! - Scripts without spaces give bigrams; a lone character stays.
//! - Plain English words are stemmed (Porter2), here and not by FTS5, so that a query's coverage and document
//!   frequencies can be counted in the very terms of the index.

use std::borrow::Cow;
use std::collections::HashSet;

mod fold;
mod split;
mod stem;
mod stop_words;

/// The version of the rules in this module. Another one means that the index has to be made anew: see
/// [`crate::Writer::reindex_step`].
pub const ANALYSIS_VERSION: u32 = 1;

/// The terms of a text, space-joined: what the full-text index is given.
pub fn index_text(text: &str) -> String {
    let mut joined = String::with_capacity(text.len() + text.len() / 4);
    split::each_term(text, &mut |term| {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(term);
    });
    joined
}

/// The terms of a text in order, as indexed, duplicates kept.
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    split::each_term(text, &mut |term| terms.push(term.to_owned()));
    terms
}

/// Gives the terms of a text to `sink` in order, as indexed, without keeping any: for counting over many texts.
pub fn for_each_term(text: &str, sink: &mut dyn FnMut(&str)) {
    split::each_term(text, sink);
}

/// The terms of a prompt that are worth asking for: each once, without stop words (unless nothing else is left), in
/// the order of their first appearance. Over `max`, those that look like identifiers go before plain words, and longer
/// ones before shorter ones.
pub fn query_terms(prompt: &str, max: usize) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    split::each_term(prompt, &mut |term| {
        if seen.insert(term.to_owned()) {
            all.push(term.to_owned());
        }
    });
    let content: Vec<String> = all.iter().filter(|term| !stop_words::contains(term)).cloned().collect();
    keep_most_telling(if content.is_empty() { all } else { content }, max)
}

/// Keeps the `max` most telling terms, in their order.
fn keep_most_telling(terms: Vec<String>, max: usize) -> Vec<String> {
    if terms.len() <= max {
        return terms;
    }
    let mut places: Vec<usize> = (0..terms.len()).collect();
    places.sort_by_key(|&place| {
        std::cmp::Reverse((is_identifier(&terms[place]), terms[place].chars().count(), usize::MAX - place))
    });
    let kept: HashSet<usize> = places.into_iter().take(max).collect();
    terms
        .into_iter()
        .enumerate()
        .filter(|(place, _)| kept.contains(place))
        .map(|(_, term)| term)
        .collect()
}

/// Whether a term is more than a word: it holds a joining mark, or a digit among letters.
fn is_identifier(term: &str) -> bool {
    term.contains(split::is_joiner) || (term.contains(char::is_numeric) && term.contains(char::is_alphabetic))
}

/// Whether all of a text's bytes may stand in a MATCH string as they are: see [`crate::MatchExpression`].
pub(crate) fn without_controls(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) {
        Cow::Owned(text.replace(char::is_control, " "))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests;
