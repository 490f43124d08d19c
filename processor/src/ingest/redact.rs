//! Secrets out of a text, before anything is stored, embedded or cut: each becomes `[redacted:kind]`.
//!
//! Rules are data (see [`rules`]): a pattern, the fixed strings one of which must be there for it to match, and a check
//! of what it found. One pass over the text finds which fixed strings occur; only their rules run, so that ordinary text
//! costs one scan. Redacting twice changes nothing.

mod judge;
mod rules;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

use judge::Found;
use rules::RULES;

/// The rules, compiled once.
struct Compiled {
    /// One pattern a rule: its anchors.
    anchors: RegexSet,
    patterns: Vec<Regex>,
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let anchors = RULES.iter().map(|rule| {
        let any: Vec<String> = rule.anchors.iter().map(|anchor| regex::escape(anchor)).collect();
        format!("(?i-u:{})", any.join("|"))
    });
    Compiled {
        anchors: RegexSet::new(anchors).expect("invariant: escaped literals"),
        patterns: RULES
            .iter()
            // A secret is ASCII, and so are its borders; a Unicode `\b` would be slow on any other text.
            .map(|rule| {
                Regex::new(&rule.pattern.replace(r"\b", r"(?-u:\b)")).expect("invariant: every pattern is checked by the tests")
            })
            .collect(),
    }
});

/// `text` with every secret replaced by `[redacted:kind]`; borrowed if there is none.
pub fn redact(text: &str) -> Cow<'_, str> {
    let present = COMPILED.anchors.matches(text);
    if !present.matched_any() {
        return Cow::Borrowed(text);
    }
    let mut text = Cow::Borrowed(text);
    for number in &present {
        if let Some(changed) = apply(number, &text) {
            text = Cow::Owned(changed);
        }
    }
    text
}

/// `text` after one rule; none if it found nothing.
fn apply(number: usize, text: &str) -> Option<String> {
    let rule = &RULES[number];
    let mut changed = String::new();
    let mut kept_to = 0;
    for found in COMPILED.patterns[number].captures_iter(text) {
        let secret = secret(&found);
        let value = &text[secret.clone()];
        let suffix = found.name("suffix").map_or("", |suffix| suffix.as_str());
        if value.contains("[redacted:") || !(rule.is_secret)(&Found { value, suffix }) {
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

/// The group named `secret`, or all of it.
fn secret(found: &Captures<'_>) -> Range<usize> {
    found
        .name("secret")
        .or_else(|| found.get(0))
        .map_or(0..0, |group| group.range())
}

#[cfg(test)]
mod tests;
