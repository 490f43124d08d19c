//! What of a stored text today's rules would take out, and what they nearly would: kinds and how many, never what stands there.
//!
//! Found is what [`redact`] replaces. Nearly found is what a rule's pattern meets and its judgement lets pass though it looks like a
//! secret all the same: a name that tells of a secret with a UUID or plain hexadecimal behind it. That is mostly none, which is why it
//! is shown to the user and stays where it is.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::judge::{Found, is_given, mixes_letters_and_digits};
use super::redact;
use super::search::{Sought, is_placeholder, present, with_kept};

/// How many of each kind, by the name that a placeholder would have.
pub type Kinds = BTreeMap<String, u64>;

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suspects {
    /// What today's rules take out.
    pub found: Kinds,
    /// What they nearly take out.
    pub nearly: Kinds,
}

impl Suspects {
    /// Whether there is neither.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.nearly.is_empty()
    }

    /// Adds what another text holds.
    pub fn add(&mut self, other: &Self) {
        for (all, more) in [(&mut self.found, &other.found), (&mut self.nearly, &other.nearly)] {
            for (kind, count) in more {
                *all.entry(kind.clone()).or_default() += count;
            }
        }
    }
}

/// What `text` holds.
pub fn suspects(text: &str) -> Suspects {
    let redacted = redact(text);
    let found = match &redacted {
        Cow::Borrowed(_) => Kinds::new(),
        Cow::Owned(after) => added(&placeholders(text), &placeholders(after)),
    };
    Suspects {
        found,
        nearly: nearly(&redacted),
    }
}

/// Placeholders in a text, by kind.
fn placeholders(text: &str) -> Kinds {
    let mut kinds = Kinds::new();
    for (at, begins) in text.match_indices("[redacted:") {
        let rest = &text[at + begins.len()..];
        if let Some((kind, _)) = rest.split_once(']')
            && is_placeholder(&text[at..=at + begins.len() + kind.len()])
        {
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
    }
    kinds
}

fn added(before: &Kinds, after: &Kinds) -> Kinds {
    let more = |(kind, count): (&String, &u64)| {
        let more = count.saturating_sub(before.get(kind).copied().unwrap_or_default());
        (more > 0).then(|| (kind.clone(), more))
    };
    after.iter().filter_map(more).collect()
}

/// What rules meet in a text that holds nothing more for them to take out. One place counts once, whatever meets it.
fn nearly(text: &str) -> Kinds {
    let (mut seen, mut kinds) = (BTreeSet::new(), Kinds::new());
    let sought = Sought::new(text);
    with_kept(|kept| {
        for rule in present(text) {
            for place in rule.let_pass(&sought, kept) {
                if is_nearly(&text[place.clone()]) && seen.insert(place.start) {
                    *kinds.entry(rule.kind().to_owned()).or_default() += 1;
                }
            }
        }
    });
    kinds
}

/// Shortest value that looks like a secret to whoever reads it.
const SHORTEST: usize = 16;

/// Looks like a secret though no rule takes it for one: long, of letters and digits, and neither placeholder, path nor code.
fn is_nearly(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ':', ',', ')']);
    let found = Found { value, suffix: "" };
    value.len() >= SHORTEST
        && !value.contains(char::is_whitespace)
        && !value.contains("::")
        && !value.contains("://")
        && is_given(&found)
        && mixes_letters_and_digits(&found)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn kinds(of: &[(&str, u64)]) -> Kinds {
        of.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
    }

    #[rstest]
    #[case::nothing("why is the sky blue", &[], &[])]
    #[case::a_token(concat!("use gh", "p_0123456789abcdefghijABCDEFGHIJ012345 there"), &["github-token"], &[])]
    #[case::taken_out_before("use [redacted:github-token] there", &[], &[])]
    #[case::a_uuid("api_key_version = 3f2504e0-4f89-11d3-9a0c-0305e82c3301", &[], &["*"])]
    #[case::a_word("the token: string of the parser", &[], &[])]
    #[case::a_placeholder("password = your-password-here-1", &[], &[])]
    fn what_a_text_holds(#[case] text: &str, #[case] found: &[&str], #[case] nearly: &[&str]) {
        let suspects = suspects(text);
        assert_eq!(suspects.found.len(), found.len(), "{suspects:?}");
        assert!(found.iter().all(|kind| suspects.found.contains_key(*kind)), "{suspects:?}");
        assert_eq!(suspects.nearly.len(), nearly.len(), "{suspects:?}");
        assert_eq!(suspects.is_empty(), found.is_empty() && nearly.is_empty());
    }

    #[test]
    fn each_is_counted_and_those_that_were_taken_out_before_are_not() {
        let token = concat!("gh", "p_0123456789abcdefghijABCDEFGHIJ012345");
        let text = format!("[redacted:github-token] {token} and {token}");
        let mut all = suspects(&text);
        assert_eq!(all.found.values().sum::<u64>(), 2, "{all:?}");
        all.add(&suspects(token));
        assert_eq!(all.found.values().sum::<u64>(), 3, "{all:?}");
        assert_eq!(
            placeholders("[redacted:a-b] [redacted:] [redacted:Not this] [redacted:a-b"),
            kinds(&[("a-b", 1), ("", 1)])
        );
    }
}
