//! A rule's pattern, searched in a text of the rules' alphabet, and what such searches keep from one text to the next.
//!
//! A search builds its automaton as it goes and keeps it for the next text: that is what makes it fast, and what took tens of
//! megabytes, once for every pattern and thread. Here all patterns of one who searches share one bound, and what is large and was not
//! used for long goes first; few leave theirs behind (ADR 53). Nothing of a text is kept.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use regex_automata::meta::{BuildError, Cache, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::{Input, Span};
use regex_syntax::hir::Hir;

use super::alphabet::{Alphabet, Coded};

/// Most that each of a pattern's two automata (forwards, and backwards to where a match begins) takes, in bytes, before it is begun anew.
/// Measured: ADR 53.
const LARGEST: usize = 512 * 1024;
/// Most that is kept of all patterns together by one that searches, in bytes, from one text to the next. Measured: ADR 53.
const MOST_KEPT: usize = 2 * 1024 * 1024;
/// How many leave what they kept to the next: of the threads that redact, ingest and a prompt's are at work at the same time.
const MOST_SPARE: usize = 2;

/// A pattern, made ready when a text first holds one of its fixed strings.
#[derive(Debug)]
pub(super) struct Pattern {
    /// As the rules have it.
    written: String,
    regex: OnceLock<Regex>,
}

/// Where a pattern matched, in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) all: Range<usize>,
    /// The group named `secret`, or all of it.
    pub(super) secret: Range<usize>,
    /// The group named `suffix`; empty where there is none.
    pub(super) suffix: Range<usize>,
}

impl Pattern {
    /// A secret is ASCII, and so are its borders.
    pub(super) fn new(written: &str) -> Self {
        Self {
            written: written.replace(r"\b", r"(?-u:\b)"),
            regex: OnceLock::new(),
        }
    }

    /// The pattern as it was parsed.
    pub(super) fn parsed(&self) -> Hir {
        regex_syntax::parse(&self.written).expect("invariant: every pattern is checked by the tests")
    }

    /// Compiled by whoever needs it first: two at the same time both do it, so that a prompt waits for no thread of a lower priority.
    fn regex(&self, alphabet: &Alphabet) -> &Regex {
        self.regex.get().unwrap_or_else(|| {
            let built = built(&alphabet.pattern(&self.parsed())).expect("invariant: every pattern is checked by the tests");
            self.regex.get_or_init(|| built)
        })
    }

    /// The first match that begins at or behind `from`, a place in the text.
    pub(super) fn first(&self, text: &Coded<'_>, from: usize, search: &mut Search<'_>) -> Option<Match> {
        let Search { alphabet, kept, number } = search;
        let regex = self.regex(alphabet);
        let input = Input::new(text.bytes()).range(text.at(from)..);
        let found = kept.search(*number, regex, &input)?;
        let range = |span: Span| text.place(span.start)..text.place(span.end);
        let all = range(found.get_match()?.span());
        Some(Match {
            secret: found.get_group_by_name("secret").map_or(all.clone(), range),
            suffix: found.get_group_by_name("suffix").map_or(0..0, range),
            all,
        })
    }
}

/// Neither of the automata that are built as a whole: what they save in time they take in memory many times over.
fn built(pattern: &Hir) -> Result<Regex, Box<BuildError>> {
    let config = Regex::config()
        .utf8_empty(false)
        .onepass(false)
        .hybrid_cache_capacity(LARGEST);
    Regex::builder().configure(config).build_from_hir(pattern).map_err(Box::new)
}

/// A search by one rule.
#[derive(Debug)]
pub(super) struct Search<'k> {
    pub(super) alphabet: &'static Alphabet,
    pub(super) kept: &'k mut Kept,
    /// The rule's number.
    pub(super) number: usize,
}

/// What searches keep, by the numbers of their rules.
#[derive(Debug, Default)]
pub(super) struct Kept {
    automata: Vec<Option<Automaton>>,
    bytes: usize,
    searches: u64,
}

#[derive(Debug)]
struct Automaton {
    cache: Cache,
    captures: Captures,
    bytes: usize,
    /// By the count of searches.
    last_used: u64,
}

impl Automaton {
    fn of(regex: &Regex) -> Self {
        Self {
            cache: regex.create_cache(),
            captures: regex.create_captures(),
            bytes: 0,
            last_used: 0,
        }
    }
}

/// What those who searched before left behind, of one set of rules: an automaton is of use to its own pattern alone.
#[derive(Debug, Default)]
pub(super) struct Spare(Mutex<Vec<Kept>>);

impl Spare {
    /// Searches with what another left behind, if someone did, and leaves it to the next. Not done where a search panics: who knows
    /// what it left.
    pub(super) fn lend<T>(&self, act: impl FnOnce(&mut Kept) -> T) -> T {
        let mut kept = self.all().pop().unwrap_or_default();
        let done = act(&mut kept);
        kept.shrink(MOST_KEPT);
        let mut spare = self.all();
        if spare.len() < MOST_SPARE {
            spare.push(kept);
        }
        done
    }

    fn all(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn search(&mut self, number: usize, regex: &Regex, input: &Input<'_>) -> Option<&Captures> {
        if self.automata.len() <= number {
            self.automata.resize_with(number + 1, || None);
        }
        self.searches += 1;
        let automaton = self.automata[number].get_or_insert_with(|| Automaton::of(regex));
        regex.search_captures_with(&mut automaton.cache, input, &mut automaton.captures);
        let bytes = automaton.cache.memory_usage();
        self.bytes = self.bytes - automaton.bytes + bytes;
        (automaton.bytes, automaton.last_used) = (bytes, self.searches);
        automaton.captures.is_match().then_some(&automaton.captures)
    }

    /// Drops what is large and was not used for long, until the rest is within `most` bytes.
    pub(super) fn shrink(&mut self, most: usize) {
        while self.bytes > most {
            let cost = |slot: &&mut Option<Automaton>| {
                let of = |automaton: &Automaton| (self.searches - automaton.last_used + 1) * automaton.bytes as u64;
                slot.as_ref().map(of)
            };
            let dearest = self.automata.iter_mut().max_by_key(cost);
            let Some(automaton) = dearest.and_then(Option::take) else {
                break;
            };
            self.bytes -= automaton.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_long_goes_first_and_all_of_it_may() {
        let alphabet: &'static Alphabet = Box::leak(Box::new(Alphabet::of(&[])));
        // Long enough that their automata are built as they are used.
        let patterns = ["a[b-d]{40,90}e", "x[0-9]{40,90}y"].map(Pattern::new);
        let mut kept = Kept::default();
        let text = format!("a{}e x{}y", "bcd".repeat(20), "12".repeat(30));
        let text = alphabet.coded(&text);
        for number in [0, 1, 1, 1] {
            let mut search = Search {
                alphabet,
                kept: &mut kept,
                number,
            };
            assert!(patterns[number].first(&text, 0, &mut search).is_some());
        }
        let both = kept.bytes;
        kept.shrink(both);
        assert_eq!(kept.automata.iter().flatten().count(), 2, "it is within its bound");
        kept.shrink(both - 1);
        assert!(kept.automata[0].is_none() && kept.automata[1].is_some() && kept.bytes < both);
        kept.shrink(0);
        assert!(kept.bytes == 0 && kept.automata.iter().all(Option::is_none));
    }
}
