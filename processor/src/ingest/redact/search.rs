//! The rules compiled, and what they find in a text.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Captures, Regex};

use super::columns;
use super::everyday::{COLUMNS, EVERYDAY};
use super::judge::{self, Found};
use super::rules::{Rule, SHAPED};
use super::tokens::{KINDS, TOKENS, Token};
use super::view::Cut;
use super::written::WRITTEN;

/// Rules as they are searched: tokens of one kind are one rule, and so are all columns.
const SEARCHED: usize = SHAPED.len() + KINDS.len() + WRITTEN.len() + EVERYDAY.len() + 1;

/// The rules, compiled once.
struct Compiled {
    /// Finds the fixed strings of all rules, in any ASCII case.
    anchors: AhoCorasick,
    /// The fixed strings, each with the rule that it is of.
    strings: Vec<(usize, &'static str)>,
    searched: Vec<Searched>,
}

/// How a rule finds something.
enum Finder {
    Pattern(Regex),
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
            finder: Finder::Pattern(compiled(rule.pattern)),
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
            finder: Finder::Pattern(compiled(&patterns.join("|"))),
            is_secret: judge::always,
            is_cased: true,
        };
        (anchors, searched)
    }

    /// What the rule finds in `text`, in order.
    pub(super) fn secrets(&self, text: &str) -> Vec<Cut> {
        let secrets = match &self.finder {
            Finder::Pattern(pattern) => self.matches(pattern, text),
            Finder::Columns => columns::secrets(text),
        };
        let cut = |range| Cut {
            range,
            kind: Some(self.kind),
        };
        secrets.into_iter().map(cut).collect()
    }

    /// What placeholders call what the rule finds.
    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }

    /// What the rule's pattern meets in `text`, and its judgement takes for no secret.
    pub(super) fn let_pass(&self, text: &str) -> Vec<Range<usize>> {
        let Finder::Pattern(pattern) = &self.finder else {
            return Vec::new();
        };
        let is_let_pass = |found: &Captures<'_>| {
            let value = &text[secret(found)];
            let suffix = found.name("suffix").map_or("", |suffix| suffix.as_str());
            !(self.is_secret)(&Found { value, suffix })
        };
        let met = pattern.captures_iter(text).filter(is_let_pass);
        met.map(|found| secret(&found)).collect()
    }

    fn matches(&self, pattern: &Regex, text: &str) -> Vec<Range<usize>> {
        let mut secrets = Vec::new();
        let mut from = 0;
        while let Some(found) = pattern.captures_at(text, from) {
            let secret = secret(&found);
            // What was taken out before is told by no word in a placeholder's name, and is no part of another secret.
            let begins = found.get(0).map_or(secret.start, |all| all.start());
            if let Some(end) = placeholder_end(text, begins).or_else(|| placeholder_end(text, secret.start)) {
                from = end;
                continue;
            }
            // What closes one secret may open the next.
            from = secret.end;
            let value = &text[secret.clone()];
            let suffix = found.name("suffix").map_or("", |suffix| suffix.as_str());
            let is_name = secret.start == begins && is_in_a_word(text, begins) && !holds_digit(value);
            if !is_name && !is_placeholder(value) && (self.is_secret)(&Found { value, suffix }) {
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

/// A secret is ASCII, and so are its borders; a Unicode `\b` would be slow on any other text.
pub(super) fn compiled(pattern: &str) -> Regex {
    Regex::new(&pattern.replace(r"\b", r"(?-u:\b)")).expect("invariant: every pattern is checked by the tests")
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let tokens = KINDS.iter().map(|kind| Searched::of_tokens(kind));
    let (shaped, written) = (SHAPED.iter().map(Searched::of_shape), WRITTEN.iter().map(Searched::of_words));
    let everyday = EVERYDAY.iter().map(Searched::of_words);
    let columns = std::iter::once(Searched::of_columns(&COLUMNS));
    let rules = shaped.chain(tokens).chain(written).chain(everyday).chain(columns);
    let (anchors, searched): (Vec<Vec<&'static str>>, Vec<Searched>) = rules.unzip();
    let strings: Vec<(usize, &'static str)> = anchors
        .into_iter()
        .enumerate()
        .flat_map(|(number, anchors)| anchors.into_iter().map(move |anchor| (number, anchor)))
        .collect();
    Compiled {
        anchors: AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(strings.iter().map(|(_, anchor)| anchor))
            .expect("invariant: some hundred short strings"),
        strings,
        searched,
    }
});

/// The rules of which a fixed string stands in `text`, in order.
pub(super) fn present(text: &str) -> impl Iterator<Item = &'static Searched> + use<> {
    let mut present = [false; SEARCHED];
    for found in COMPILED.anchors.find_overlapping_iter(text) {
        let (number, anchor) = COMPILED.strings[found.pattern().as_usize()];
        if !COMPILED.searched[number].is_cased || text.as_bytes()[found.range()] == *anchor.as_bytes() {
            present[number] = true;
        }
    }
    let rules = COMPILED.searched.iter().zip(present);
    rules.filter_map(|(rule, is_present)| is_present.then_some(rule))
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

/// The group named `secret`, or all of it.
pub(super) fn secret(found: &Captures<'_>) -> Range<usize> {
    found
        .name("secret")
        .or_else(|| found.get(0))
        .map_or(0..0, |group| group.range())
}
