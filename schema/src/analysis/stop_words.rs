//! English words that say nothing of a prompt's subject. They are indexed, but not asked for.
//! In goes a term, out comes whether to leave it out. The list is of words as written; it is compared by their stems.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::stem::push_stem;

/// Pronouns, auxiliaries, prepositions, conjunctions, the pieces of contractions, and the courtesies of prompts.
const WORDS: &str = "\
    a about after again all also am an and any are as at be because been before being both but by can cannot could \
    d did do does doing don done each few for from get give got had has have having he her here hers him his how \
    i if in into is isn it its itself just let like ll m make may me might more most must my need no nor not now of \
    off ok okay on once only or other our ours out over own please re s same shall she should so some such sure t \
    thank thanks than that the their theirs them then there these they this those through to too under until up us \
    ve very want was wasn we were what when where which while who whom whose why will with without would yes yet \
    you your yours";

/// Whether a term is the stem of a stop word.
pub(super) fn contains(term: &str) -> bool {
    static STEMS: OnceLock<HashSet<String>> = OnceLock::new();
    STEMS
        .get_or_init(|| WORDS.split_whitespace().map(stem).collect())
        .contains(term)
}

fn stem(word: &str) -> String {
    let mut stem = String::new();
    push_stem(word, &mut stem);
    stem
}
