//! The rules made ready, and what they find in a text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::alphabet::{Alphabet, Coded};
use super::engine::{Kept, Match, Pattern, Search, Spare};
use super::everyday::{COLUMNS, EVERYDAY};
use super::judge::{self, Found};
use super::rules::{Rule, SHAPED};
use super::tables;
use super::tokens::{KINDS, TOKENS, Token};
use super::view::Cut;
use super::written::WRITTEN;

/// Rules as they are searched: tokens of one kind are one rule, and so are all columns.
const SEARCHED: usize = SHAPED.len() + KINDS.len() + WRITTEN.len() + EVERYDAY.len() + 1;

/// The rules, made ready once; the pattern of each when it is first asked.
struct Ready {
    anchors: Anchors,
    /// Of those that only a text beyond ASCII can hold. Parted, since their bytes would double the table of the others.
    beyond_ascii: Anchors,
    searched: Vec<Searched>,
    alphabet: Alphabet,
    spare: Spare,
}

/// The fixed strings of rules.
struct Anchors {
    /// Finds them, in any ASCII case.
    automaton: AhoCorasick,
    /// Each with the rules that it is of.
    strings: Vec<(&'static str, Vec<usize>)>,
}

/// How a rule finds something.
enum Finder {
    Pattern(Pattern),
    /// In the columns of tables.
    Columns,
}

/// A rule as it is searched.
pub(super) struct Searched {
    kind: &'static str,
    finder: Finder,
    is_secret: fn(&Found<'_>) -> bool,
    /// Whether its fixed strings must stand as they are: `MT` is in few texts, `mt` in most.
    is_cased: bool,
}

impl Searched {
    fn of_shape(rule: &Rule) -> (Vec<&'static str>, Self) {
        let (anchors, mut searched) = Self::of_words(rule);
        searched.is_cased = !rule.pattern.starts_with("(?i");
        (anchors, searched)
    }

    fn of_words(rule: &Rule) -> (Vec<&'static str>, Self) {
        let searched = Self {
            kind: rule.kind,
            finder: Finder::Pattern(Pattern::new(rule.pattern)),
            is_secret: rule.is_secret,
            is_cased: false,
        };
        (rule.anchors.to_vec(), searched)
    }

    fn of_columns(rule: &Rule) -> (Vec<&'static str>, Self) {
        let searched = Self {
            kind: rule.kind,
            finder: Finder::Columns,
            is_secret: rule.is_secret,
            is_cased: false,
        };
        (rule.anchors.to_vec(), searched)
    }

    /// All tokens of a kind.
    fn of_tokens(kind: &'static str) -> (Vec<&'static str>, Self) {
        let tokens = || TOKENS.iter().filter(|token| token.kind == kind);
        let patterns: Vec<String> = tokens().map(Token::pattern).collect();
        let anchors = tokens().flat_map(|token| token.begins.iter().copied()).collect();
        let searched = Self {
            kind,
            finder: Finder::Pattern(Pattern::new(&patterns.join("|"))),
            is_secret: judge::always,
            is_cased: true,
        };
        (anchors, searched)
    }
}

/// A rule of which a fixed string stands in the text.
#[derive(Clone, Copy)]
pub(super) struct Present {
    number: usize,
    rule: &'static Searched,
}

/// A text as rules look at it.
pub(super) struct Sought<'t> {
    text: &'t str,
    coded: Coded<'t>,
}

impl<'t> Sought<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let coded = READY.alphabet.coded(text);
        Self { text, coded }
    }
}

impl Present {
    /// What placeholders call what the rule finds.
    pub(super) fn kind(self) -> &'static str {
        self.rule.kind
    }

    /// What the rule finds in a text, in order.
    pub(super) fn secrets(self, sought: &Sought<'_>, kept: &mut Kept) -> Vec<Cut> {
        let secrets = match &self.rule.finder {
            Finder::Pattern(pattern) => self.matches(pattern, sought, kept),
            Finder::Columns => tables::secrets(sought.text),
        };
        let cut = |range| Cut {
            range,
            kind: Some(self.rule.kind),
        };
        secrets.into_iter().map(cut).collect()
    }

    /// What the rule's pattern meets in a text, and its judgement takes for no secret.
    pub(super) fn let_pass(self, sought: &Sought<'_>, kept: &mut Kept) -> Vec<Range<usize>> {
        let Finder::Pattern(pattern) = &self.rule.finder else {
            return Vec::new();
        };
        let (mut met, mut from) = (Vec::new(), 0);
        while let Some(found) = pattern.first(&sought.coded, from, &mut self.search(kept)) {
            from = found.all.end;
            if !self.is_secret(sought.text, &found) {
                met.push(found.secret);
            }
        }
        met
    }

    fn search(self, kept: &mut Kept) -> Search<'_> {
        Search {
            alphabet: &READY.alphabet,
            kept,
            number: self.number,
        }
    }

    fn is_secret(self, text: &str, found: &Match) -> bool {
        let (value, suffix) = (&text[found.secret.clone()], &text[found.suffix.clone()]);
        (self.rule.is_secret)(&Found { value, suffix })
    }

    fn matches(self, pattern: &Pattern, sought: &Sought<'_>, kept: &mut Kept) -> Vec<Range<usize>> {
        let text = sought.text;
        let (mut secrets, mut from) = (Vec::new(), 0);
        while let Some(found) = pattern.first(&sought.coded, from, &mut self.search(kept)) {
            let (begins, secret) = (found.all.start, found.secret.clone());
            // What was taken out before is told by no word in a placeholder's name, and is no part of another secret.
            if let Some(end) = placeholder_end(text, begins).or_else(|| placeholder_end(text, secret.start)) {
                from = end;
                continue;
            }
            // What closes one secret may open the next.
            from = secret.end;
            let value = &text[secret.clone()];
            let is_name = secret.start == begins && is_in_a_word(text, begins) && !holds_digit(value);
            if !is_name && !is_placeholder(value) && self.is_secret(text, &found) {
                secrets.push(secret);
            }
        }
        secrets
    }
}

/// Whether what begins at `at` goes on with a word: the name of a function may hold the beginning of a token, and all its letters.
fn is_in_a_word(text: &str, at: usize) -> bool {
    text.as_bytes()[..at].last().is_some_and(u8::is_ascii_alphanumeric)
}

fn holds_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Every rule, with its fixed strings.
fn rules() -> impl Iterator<Item = (Vec<&'static str>, Searched)> {
    let tokens = KINDS.iter().map(|kind| Searched::of_tokens(kind));
    let (shaped, written) = (SHAPED.iter().map(Searched::of_shape), WRITTEN.iter().map(Searched::of_words));
    let everyday = EVERYDAY.iter().map(Searched::of_words);
    let columns = std::iter::once(Searched::of_columns(&COLUMNS));
    shaped.chain(tokens).chain(written).chain(everyday).chain(columns)
}

static READY: LazyLock<Ready> = LazyLock::new(|| {
    let (anchors, searched): (Vec<Vec<&'static str>>, Vec<Searched>) = rules().unzip();
    let mut strings: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
    for (number, anchor) in anchors
        .into_iter()
        .enumerate()
        .flat_map(|(number, anchors)| anchors.into_iter().map(move |anchor| (number, anchor)))
    {
        strings.entry(anchor).or_default().push(number);
    }
    let (ascii, beyond) = strings.into_iter().partition(|(string, _)| string.is_ascii());
    let patterns = searched.iter().filter_map(|rule| match &rule.finder {
        Finder::Pattern(pattern) => Some(pattern.parsed()),
        Finder::Columns => None,
    });
    Ready {
        anchors: Anchors::new(ascii),
        beyond_ascii: Anchors::new(beyond),
        alphabet: Alphabet::of(&patterns.collect::<Vec<_>>()),
        searched,
        spare: Spare::default(),
    }
});

impl Anchors {
    fn new(strings: Vec<(&'static str, Vec<usize>)>) -> Self {
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(strings.iter().map(|(string, _)| string))
            .expect("invariant: some hundred short strings");
        Self { automaton, strings }
    }

    /// Marks the rules of which a fixed string stands in `text`.
    fn mark(&self, text: &str, present: &mut [bool; SEARCHED]) {
        for found in self.automaton.find_overlapping_iter(text) {
            let (string, rules) = &self.strings[found.pattern().as_usize()];
            let stands_as_it_is = || text.as_bytes()[found.range()] == *string.as_bytes();
            for number in rules {
                present[*number] = present[*number] || !READY.searched[*number].is_cased || stands_as_it_is();
            }
        }
    }
}

/// Searches with what searches before have kept.
pub(super) fn with_kept<T>(act: impl FnOnce(&mut Kept) -> T) -> T {
    READY.spare.lend(act)
}

/// The rules of which a fixed string stands in `text`, in order.
pub(super) fn present(text: &str) -> impl Iterator<Item = Present> + use<> {
    let mut present = [false; SEARCHED];
    READY.anchors.mark(text, &mut present);
    if !text.is_ascii() {
        READY.beyond_ascii.mark(text, &mut present);
    }
    let rules = READY.searched.iter().enumerate().zip(present);
    rules.filter_map(|((number, rule), is_present)| is_present.then_some(Present { number, rule }))
}

/// Whether all of it was taken out before. A text that only holds a placeholder may hold a secret beside it.
pub(super) fn is_placeholder(value: &str) -> bool {
    let kind = value.strip_prefix("[redacted:").and_then(|rest| rest.strip_suffix(']'));
    kind.is_some_and(|kind| kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
}

/// The end of the placeholder in whose name `at` stands, if it stands in one.
fn placeholder_end(text: &str, at: usize) -> Option<usize> {
    let is_of_kind = |c: char| c.is_ascii_lowercase() || c == '-';
    let behind = text[at..].trim_start_matches(is_of_kind).strip_prefix(']')?;
    let before = text[..at].trim_end_matches(is_of_kind);
    before.ends_with("[redacted:").then(|| text.len() - behind.len())
}
