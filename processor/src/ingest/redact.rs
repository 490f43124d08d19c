//! Secrets out of a text, before anything is stored, embedded or cut: each becomes `[redacted:kind]`.
//!
//! A secret that is cut first loses its shape, and its beginning would stay. So every text that is kept goes through
//! [`redact`] before it is cut, or through [`redact_head`] where only a short head of a long text is kept.
//!
//! What the user marked goes first ([`private`]). The other rules are data (see [`rules`], [`tokens`], [`written`], and
//! `docs/redaction.md`): a pattern, the fixed strings one of which must be there for it to match, and a check
//! of what it found. One pass over the text finds which fixed strings occur; only their rules run, so that ordinary text
//! costs one scan. Redacting twice changes nothing.

mod folder;
mod judge;
mod private;
mod rules;
mod stored;
mod suspects;
mod tokens;
mod written;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Captures, Regex};
use remembrancer_schema::RedactionRules;

pub use folder::redact_folder;
use judge::Found;
use private::redact_private;
pub(crate) use private::{after_cut_span, redact_private_across, redact_private_after};
use rules::{Rule, SHAPED};
pub use stored::{redact_episode, redact_stored};
pub use suspects::{Kinds, Suspects, suspects};
use tokens::{KINDS, TOKENS};
use written::WRITTEN;

use super::text;

/// Bytes beyond a cut that are redacted with what is kept: more than a secret is long, but for a key block, of which a
/// beginning is known too.
const AHEAD: usize = 4 * 1024;

/// The version of the rules: raised whenever a rule, a list or a judgement changes what is redacted. By it one can tell what was
/// stored under older rules; 1 were those before it had a number.
pub const REDACTION_VERSION: u32 = 3;

/// These rules, for the store to bring to its rows what older ones left in them.
pub const RULES: RedactionRules = RedactionRules {
    version: REDACTION_VERSION,
    text: redact,
    folder: redact_folder,
};

/// Rules as they are searched: tokens of one kind are one rule.
const SEARCHED: usize = SHAPED.len() + KINDS.len() + WRITTEN.len();

/// The rules, compiled once.
struct Compiled {
    /// Finds the fixed strings of all rules, in any ASCII case.
    anchors: AhoCorasick,
    /// The fixed strings, each with the rule that it is of.
    strings: Vec<(usize, &'static str)>,
    searched: Vec<Searched>,
}

/// A rule as it is searched.
struct Searched {
    kind: &'static str,
    pattern: Regex,
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
        let (kind, pattern, is_secret) = (rule.kind, compiled(rule.pattern), rule.is_secret);
        let is_cased = false;
        (
            rule.anchors.to_vec(),
            Self {
                kind,
                pattern,
                is_secret,
                is_cased,
            },
        )
    }

    /// All tokens of a kind.
    fn of_tokens(kind: &'static str) -> (Vec<&'static str>, Self) {
        let tokens = || TOKENS.iter().filter(|token| token.kind == kind);
        let patterns: Vec<String> = tokens().map(tokens::Token::pattern).collect();
        let (pattern, is_secret) = (compiled(&patterns.join("|")), judge::always as fn(&Found<'_>) -> bool);
        let anchors = tokens().flat_map(|token| token.begins.iter().copied()).collect();
        let is_cased = true;
        (
            anchors,
            Self {
                kind,
                pattern,
                is_secret,
                is_cased,
            },
        )
    }
}

/// A secret is ASCII, and so are its borders; a Unicode `\b` would be slow on any other text.
fn compiled(pattern: &str) -> Regex {
    Regex::new(&pattern.replace(r"\b", r"(?-u:\b)")).expect("invariant: every pattern is checked by the tests")
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let tokens = KINDS.iter().map(|kind| Searched::of_tokens(kind));
    let (shaped, written) = (SHAPED.iter().map(Searched::of_shape), WRITTEN.iter().map(Searched::of_words));
    let (anchors, searched): (Vec<Vec<&'static str>>, Vec<Searched>) = shaped.chain(tokens).chain(written).unzip();
    let of_rules = anchors.into_iter().enumerate();
    let strings: Vec<(usize, &'static str)> = of_rules
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

/// Most passes over a text: what is taken out may let a tag or a secret be seen that was not before.
const MOST_PASSES: usize = 4;

/// `text` with every secret replaced by `[redacted:kind]`; borrowed if there is none.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut text = redact_once(text);
    for _ in 1..MOST_PASSES {
        let Cow::Owned(redacted) = &text else { break };
        match redact_once(redacted) {
            Cow::Owned(again) if again != *redacted => text = Cow::Owned(again),
            _ => break,
        }
    }
    text
}

fn redact_once(text: &str) -> Cow<'_, str> {
    // First, since what is private may hold anything.
    let mut text = redact_private(text);
    let present = present(&text);
    for number in (0..SEARCHED).filter(|number| present[*number]) {
        if let Some(changed) = apply(number, &text) {
            text = Cow::Owned(changed);
        }
    }
    text
}

/// Which rules have a fixed string of theirs in `text`.
fn present(text: &str) -> [bool; SEARCHED] {
    let mut present = [false; SEARCHED];
    for found in COMPILED.anchors.find_overlapping_iter(text) {
        let (number, anchor) = COMPILED.strings[found.pattern().as_usize()];
        if !COMPILED.searched[number].is_cased || text.as_bytes()[found.range()] == *anchor.as_bytes() {
            present[number] = true;
        }
    }
    present
}

/// The head of `text`, redacted, with at least `bytes` bytes of it seen: what is cut to `bytes` then holds no part of a
/// secret. Costs no more however long `text` is.
pub(crate) fn redact_head(text: &str, bytes: usize) -> Cow<'_, str> {
    redact(whole_head(text, bytes + AHEAD))
}

/// At most `bytes` bytes from the head of `text`, ending where no secret can be split: before white space or a quote,
/// else before a character that isn't ASCII.
fn whole_head(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let head = text::head(text, bytes);
    let from = head.ceil_char_boundary(head.len().saturating_sub(AHEAD));
    let end = head[from..]
        .rfind(|c: char| c.is_whitespace() || matches!(c, '"' | '\''))
        .or_else(|| head[from..].rfind(|c: char| !c.is_ascii()));
    end.map_or(head, |end| &head[..from + end])
}

/// `text` after one rule; none if it found nothing.
fn apply(number: usize, text: &str) -> Option<String> {
    let rule = &COMPILED.searched[number];
    let mut changed = String::new();
    let mut kept_to = 0;
    let mut from = 0;
    while let Some(found) = rule.pattern.captures_at(text, from) {
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
        if is_placeholder(value) || !(rule.is_secret)(&Found { value, suffix }) {
            continue;
        }
        changed.push_str(&text[kept_to..secret.start]);
        changed.push_str("[redacted:");
        changed.push_str(rule.kind);
        changed.push(']');
        kept_to = secret.end;
    }
    (kept_to > 0).then(|| {
        changed.push_str(&text[kept_to..]);
        changed
    })
}

/// Whether all of it was taken out before. A text that only holds a placeholder may hold a secret beside it.
fn is_placeholder(value: &str) -> bool {
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
fn secret(found: &Captures<'_>) -> Range<usize> {
    found
        .name("secret")
        .or_else(|| found.get(0))
        .map_or(0..0, |group| group.range())
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod cuts;
#[cfg(any(test, feature = "testing"))]
pub(in crate::ingest) mod examples;
#[cfg(test)]
mod tests;
