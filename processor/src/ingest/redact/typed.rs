//! Whether what people write beside an everyday word, `pass`, `key`, `data`, is a secret: [`super::judge`] for rules that have less to
//! go by.

use super::judge::{
    Found, is_assigned, is_code_or_path, is_given, is_spoken, is_value, looks_like_a_secret, mixes_case, mixes_digits,
};

/// Words of a sentence about a passphrase, of which a passphrase has none.
const ABOUT_A_PHRASE: &[&str] = &[
    "about",
    "again",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "but",
    "by",
    "can",
    "characters",
    "did",
    "do",
    "does",
    "empty",
    "enter",
    "file",
    "for",
    "from",
    "has",
    "have",
    "if",
    "in",
    "incorrect",
    "invalid",
    "is",
    "it",
    "its",
    "key",
    "least",
    "must",
    "no",
    "none",
    "not",
    "of",
    "on",
    "optional",
    "or",
    "passphrase",
    "password",
    "phrase",
    "please",
    "required",
    "same",
    "should",
    "ssh",
    "that",
    "the",
    "this",
    "to",
    "too",
    "used",
    "using",
    "was",
    "were",
    "when",
    "which",
    "will",
    "with",
    "words",
    "wrong",
    "you",
    "your",
];

/// Fewest words of a passphrase.
const LEAST_WORDS: usize = 3;

/// What stands behind `pass` without a sign between: of both cases or with a symbol, and digits in two places, as no name in code has.
pub(super) fn is_bare(found: &Found<'_>) -> bool {
    let value = found.value.trim_end_matches(['.', '!', '?', ':', ')']);
    let digits = |piece: &&str| piece.bytes().any(|byte| byte.is_ascii_digit());
    let groups = value.split(|c: char| !c.is_ascii_digit()).filter(digits).count();
    let has_symbol = value.bytes().any(|byte| b"!@#$%^&*+".contains(&byte));
    let is_name = value.contains(['_', '.', '/', '-', '=', ':', '(', '\\']);
    value.len() >= 8
        && mixes_digits(value)
        && !is_name
        && is_value(value)
        && ((groups >= 2 && mixes_case(value)) || (has_symbol && value.is_ascii()))
}

/// Beginnings of the names of tests, as runners tell of them behind `PASS:`.
const TESTS: &[&str] = &["test", "benchmark", "example", "fuzz"];

/// A random value of the name `pass`, and no test that passed.
pub(super) fn is_pass(found: &Found<'_>) -> bool {
    let lower = found.value.to_ascii_lowercase();
    looks_like_a_secret(found) && !TESTS.iter().any(|word| lower.starts_with(word))
}

/// What `pw` or `pass=` is given: a password, and no count.
pub(super) fn is_short(found: &Found<'_>) -> bool {
    mixes_digits(found.value) && !found.value.contains(['/', '%']) && is_spoken(found)
}

/// A hexadecimal key, with `0x` before it or without.
pub(super) fn is_hexadecimal(found: &Found<'_>) -> bool {
    let value = found.value;
    let digits = value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")).unwrap_or(value);
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()) && mixes_digits(digits)
}

/// Several words, and no sentence.
pub(super) fn is_phrase(found: &Found<'_>) -> bool {
    let lower = found.value.to_ascii_lowercase();
    let words: Vec<&str> = lower.split([' ', '-']).filter(|word| !word.is_empty()).collect();
    words.len() >= LEAST_WORDS && !words.iter().any(|word| ABOUT_A_PHRASE.contains(word))
}

/// What stands on the lines below a name: judged by the first of them.
pub(super) fn is_assigned_below(found: &Found<'_>) -> bool {
    let value = found.value.lines().next().unwrap_or_default();
    is_assigned(&Found {
        value,
        suffix: found.suffix,
    })
}

/// Entries of a manifest of a secret, of which one has a value of its own: in YAML or JSON.
pub(super) fn is_manifest(found: &Found<'_>) -> bool {
    let entries = found.value.split(['\n', ',']);
    let mut values = entries.filter_map(|entry| entry.split_once(':')).map(|(_, value)| value);
    values.any(|value| {
        let value = value.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\\'));
        value.len() >= 3 && is_value(value)
    })
}

/// A password in a URL that is not spelled as a URL wants it: neither a port with a path behind it, nor a placeholder.
pub(super) fn is_raw_in_a_url(found: &Found<'_>) -> bool {
    let before = found.value.split('/').next().unwrap_or_default();
    let is_port = before.len() <= 5 && before.bytes().all(|byte| byte.is_ascii_digit());
    !is_port && is_value(found.value)
}

/// What is given to a command on its standard input.
pub(super) fn is_piped(found: &Found<'_>) -> bool {
    let value = found.value.trim();
    is_given(&Found { value, suffix: "" }) && !is_code_or_path(value)
}
