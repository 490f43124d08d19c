//! Stems plain English words by Porter2; everything else is only lowered.
//! In goes a word, out comes its term. A word is plain if all its letters are ASCII.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;

use rust_stemmers::{Algorithm, Stemmer};

use super::fold::push_lower;

/// Stems remembered a thread: text repeats itself, and stemming a word anew costs about ten times the look-up.
/// At most some 3 MB; when full it begins anew.
const REMEMBERED: usize = 1 << 15;

thread_local! {
    static STEMS: RefCell<HashMap<Box<str>, Box<str>>> = RefCell::new(HashMap::new());
}

fn stemmer() -> &'static Stemmer {
    static STEMMER: OnceLock<Stemmer> = OnceLock::new();
    STEMMER.get_or_init(|| Stemmer::create(Algorithm::English))
}

/// Appends the term of `word` to the empty buffer `out`.
pub(super) fn push_stem(word: &str, out: &mut String) {
    push_lower(word, out);
    // The shortest word that Porter2 changes has three letters.
    if out.len() > 2 && out.bytes().all(|byte| byte.is_ascii_lowercase()) {
        STEMS.with_borrow_mut(|stems| replace_by_stem(stems, out));
    }
}

fn replace_by_stem(stems: &mut HashMap<Box<str>, Box<str>>, word: &mut String) {
    if let Some(stem) = stems.get(word.as_str()) {
        word.clear();
        word.push_str(stem);
        return;
    }
    if stems.len() >= REMEMBERED {
        stems.clear();
    }
    let stem = stemmer().stem(word).into_owned();
    stems.insert(word.as_str().into(), stem.as_str().into());
    *word = stem;
}
