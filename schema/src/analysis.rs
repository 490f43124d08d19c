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

/// The terms of a prompt that are worth asking for: [`QueryTerms::asked`].
pub fn query_terms(prompt: &str, max: usize) -> Vec<String> {
    QueryTerms::of(prompt, max).asked
}

/// The terms of a prompt, told apart by whether they are worth asking for; each once, in the order of their first appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryTerms {
    /// Those that are: no stop words (unless nothing else is left), and as many as were wanted. Over that, those that look like
    /// identifiers go before plain words, and longer ones before shorter ones.
    pub asked: Vec<String>,
    /// Those that say nothing of a subject.
    pub stop_words: Vec<String>,
    /// Those that are too many.
    pub beyond: Vec<String>,
}

impl QueryTerms {
    /// The terms of `prompt`, at most `max` of them to ask for.
    pub fn of(prompt: &str, max: usize) -> Self {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        split::each_term(prompt, &mut |term| {
            if seen.insert(term.to_owned()) {
                all.push(term.to_owned());
            }
        });
        let (mut stop_words, mut content): (Vec<String>, Vec<String>) =
            all.into_iter().partition(|term| stop_words::contains(term));
        if content.is_empty() {
            std::mem::swap(&mut stop_words, &mut content);
        }
        let (asked, beyond) = most_telling(content, max);
        Self {
            asked,
            stop_words,
            beyond,
        }
    }
}

/// The `max` most telling terms and the others, both in their order.
fn most_telling(terms: Vec<String>, max: usize) -> (Vec<String>, Vec<String>) {
    if terms.len() <= max {
        return (terms, Vec::new());
    }
    let mut places: Vec<usize> = (0..terms.len()).collect();
    places.sort_by_key(|&place| {
        std::cmp::Reverse((is_identifier(&terms[place]), terms[place].chars().count(), usize::MAX - place))
    });
    let mut kept = vec![false; terms.len()];
    for place in places.into_iter().take(max) {
        kept[place] = true;
    }
    let mut kept = kept.into_iter();
    terms.into_iter().partition(|_| kept.next() == Some(true))
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
