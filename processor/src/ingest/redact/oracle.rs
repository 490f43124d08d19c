//! What the rules' patterns find by the regex crate in a text as it stands, and that the search finds the same in the alphabet of the
//! rules, with what it keeps from text to text.

use std::ops::Range;

use proptest::prelude::*;
use regex::{Captures, Regex};

use super::alphabet::Alphabet;
use super::engine::{Kept, Match, Pattern, Search};
use super::everyday::EVERYDAY;
use super::examples;
use super::rules::SHAPED;
use super::tokens::{KINDS, TOKENS, Token};
use super::written::WRITTEN;

/// A pattern of the rules. A secret is ASCII, and so are its borders; a Unicode `\b` would be slow on any other text.
pub(super) fn compiled(pattern: &str) -> Regex {
    Regex::new(&pattern.replace(r"\b", r"(?-u:\b)")).expect("a pattern")
}

/// The group named `secret`, or all of it.
pub(super) fn secret(found: &Captures<'_>) -> Range<usize> {
    found
        .name("secret")
        .or_else(|| found.get(0))
        .map_or(0..0, |group| group.range())
}

/// Every pattern twice: as the search has it, and by the regex crate.
struct Both {
    alphabet: &'static Alphabet,
    patterns: Vec<(Pattern, Regex)>,
}

impl Both {
    fn new() -> Self {
        let rules = SHAPED
            .iter()
            .chain(WRITTEN)
            .chain(EVERYDAY)
            .map(|rule| rule.pattern.to_owned());
        // All tokens of a kind are searched for together.
        let of_a_kind = |kind: &&str| {
            let tokens = TOKENS.iter().filter(|token| token.kind == *kind);
            tokens.map(Token::pattern).collect::<Vec<_>>().join("|")
        };
        let tokens = KINDS.iter().map(of_a_kind);
        let both = |pattern: String| (Pattern::new(&pattern), compiled(&pattern));
        let patterns: Vec<(Pattern, Regex)> = rules.chain(tokens).map(both).collect();
        let parsed: Vec<_> = patterns.iter().map(|(pattern, _)| pattern.parsed()).collect();
        Self {
            alphabet: Box::leak(Box::new(Alphabet::of(&parsed))),
            patterns,
        }
    }

    /// All matches of each pattern in `text` are the same both ways.
    fn check(&self, text: &str, kept: &mut Kept) {
        let coded = self.alphabet.coded(text);
        for (number, (pattern, regex)) in self.patterns.iter().enumerate() {
            let expected: Vec<Match> = regex.captures_iter(text).map(|found| of(&found)).collect();
            let mut search = Search {
                alphabet: self.alphabet,
                kept,
                number,
            };
            let mut from = 0;
            let found = std::iter::from_fn(|| {
                let found = pattern.first(&coded, from, &mut search)?;
                from = found.all.end;
                Some(found)
            });
            assert_eq!(found.collect::<Vec<_>>(), expected, "{regex} in {text:?}");
        }
    }
}

fn of(found: &Captures<'_>) -> Match {
    Match {
        all: found.get(0).map_or(0..0, |all| all.range()),
        secret: secret(found),
        suffix: found.name("suffix").map_or(0..0, |suffix| suffix.range()),
    }
}

/// What stands around an example: among it what looks like ASCII in another case, blanks of Unicode, and letters of several bytes.
const AROUND: &[(&str, &str)] = &[
    ("", ""),
    ("é", "é"),
    ("密码\u{a0}", "\u{3000}が"),
    ("ſKк ", "\u{2028}ſ"),
    ("\u{85}🎉", "٣٤"),
];

#[test]
fn the_search_finds_what_the_regex_crate_finds_in_every_example() {
    let (both, mut kept) = (Both::new(), Kept::default());
    for (number, text) in examples::texts().into_iter().enumerate() {
        let (before, after) = AROUND[number % AROUND.len()];
        both.check(&format!("{before}{text}{after}"), &mut kept);
        // Some of what is kept goes from time to time.
        kept.shrink(64 * 1024);
        // Letters that are others in the eyes of a pattern that knows no case.
        both.check(
            &text.replace('k', "\u{212a}").replace('s', "ſ").replace(' ', "\u{a0}"),
            &mut kept,
        );
    }
}

#[test]
fn no_pattern_has_a_border_of_words_of_unicode() {
    for (pattern, written) in &Both::new().patterns {
        let looks = pattern.parsed().properties().look_set();
        assert!(!looks.contains_word_unicode(), "{written}");
    }
}

/// Pieces of what patterns look for.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "password",
        "token",
        "secret",
        "api_key",
        "pass",
        "pw",
        "user",
        "basic ",
        "bearer ",
        "Cookie: ",
        "curl ",
        "-u ",
        "://",
        "https",
        "login(",
        "пароль",
        "Пароль",
        "密码",
        "für",
        "é",
        "is",
        "=",
        ":",
        ": ",
        " = ",
        "\"",
        "'",
        "`",
        "\\",
        "\n",
        " ",
        "\u{a0}",
        "\t",
        "@",
        "-----BEGIN RSA PRIVATE KEY-----",
        "AKIA",
        "eyJ",
        "SK",
        "MT",
        "[redacted:",
        "]",
        "kind: Secret",
        "data:\n  ",
        "→",
        "：",
        "sudo -S",
        "<<<",
        "|",
        "echo ",
        "seed phrase: ",
    ];
    prop_oneof![
        4 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        2 => "[A-Za-z0-9+/_-]{1,60}",
        1 => "[a-z ]{1,30}",
        1 => "[\\PC\\s]{1,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_search_finds_what_the_regex_crate_finds_in_any_text(texts in prop::collection::vec(prop::collection::vec(piece(), 1..12), 1..6)) {
        static BOTH: std::sync::LazyLock<Both> = std::sync::LazyLock::new(Both::new);
        let mut kept = Kept::default();
        for text in texts {
            BOTH.check(&text.concat(), &mut kept);
        }
    }
}
