//! Whether what a pattern found is a secret, or a word, a type, a path, a call, a placeholder. Pure string tests: lists
//! of what is none, and entropy.

/// What a rule found.
pub(super) struct Found<'t> {
    /// What would be replaced.
    pub(super) value: &'t str,
    /// What the name that it belongs to ends with, after the telling word: `_name` in `secret_name`.
    pub(super) suffix: &'t str,
}

/// Beginnings of values that stand for a secret and are none.
const PLACEHOLDERS: &[&str] = &[
    "redacted",
    "example",
    "your",
    "my-",
    "my_",
    "xxxx",
    "placeholder",
    "changeme",
    "change-me",
    "dummy",
    "****",
    "....",
    "todo",
    "insert",
    "none",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
    "process.env",
    "import.meta",
    "os.environ",
    "getenv",
    "env.",
    "env:",
    "secrets.",
    "vars.",
    "var.",
    "config.",
    "settings.",
    "self.",
    "this.",
    "request.",
    "req.",
    "args.",
    "options.",
    "params.",
    "data.",
    "string",
    "secret-",
    "base64",
    "sha1",
    "sha2",
    "sha5",
    "md5",
    "argon2",
    "bcrypt",
    "scrypt",
    "pbkdf2",
    "aes-",
    "rsa-",
    "utf-8",
    "utf8",
    "0x",
];

/// Endings of names whose value is about a secret, and none.
const ABOUT: &[&str] = &[
    "name",
    "url",
    "uri",
    "path",
    "file",
    "folder",
    "dir",
    "field",
    "type",
    "length",
    "len",
    "size",
    "limit",
    "count",
    "version",
    "policy",
    "expir",
    "ttl",
    "header",
    "param",
    "prefix",
    "suffix",
    "regex",
    "pattern",
    "iz",
    "s_",
    "budget",
    "usage",
    "endpoint",
    "provider",
    "kind",
    "label",
    "format",
    "index",
    "store",
    "manager",
    "service",
    "class",
    "column",
    "window",
    "scope",
    "hash_algorithm",
    "algorithm",
    "ref",
];

/// What is said of a secret in its place.
const STATES: &[&str] = &[
    "required", "missing", "invalid", "expired", "optional", "rotated", "revoked", "provided", "unset", "empty",
];

/// Shortest text that base64 is told from a path by.
const SHORTEST_BASE64: usize = 32;

/// A rule whose pattern alone decides.
pub(super) fn always(_: &Found<'_>) -> bool {
    true
}

/// Given as a secret outright: anything but a placeholder, a variable, code or a path.
pub(super) fn is_given(found: &Found<'_>) -> bool {
    is_value(found.value) && !is_path(found.value)
}

/// The value of a header about a secret: given outright, and no word of a sentence about the header.
pub(super) fn is_told_in_a_header(found: &Found<'_>) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b'.' | b':');
    is_given(found) && !(found.value.bytes().all(is_word) && entropy(found.value) < 4.0)
}

/// Random letters and digits, or hexadecimal of the length of a key.
pub(super) fn looks_like_a_secret(found: &Found<'_>) -> bool {
    let value = found.value;
    let is_hex = value.len() >= 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit()) && mixes_digits(value);
    is_hex || (mixes_digits(value) && mixes_case(value) && entropy(value) >= 3.7)
}

/// What Azure calls a client secret: of both cases, with digits.
pub(super) fn is_azure_secret(found: &Found<'_>) -> bool {
    mixes_digits(found.value) && mixes_case(found.value) && entropy(found.value) >= 3.5
}

/// What follows a user and a colon: no port, and no group's number.
pub(super) fn is_login(found: &Found<'_>) -> bool {
    is_value(found.value) && !found.value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Letters and digits, and no words between double dashes.
pub(super) fn mixes_letters_and_digits(found: &Found<'_>) -> bool {
    mixes_digits(found.value) && !found.value.contains("--") && entropy(found.value) >= 3.5
}

/// What follows `Bearer`.
pub(super) fn is_header_token(found: &Found<'_>) -> bool {
    is_value(found.value) && mixes_digits(found.value)
}

/// What follows `Basic`: base64 of a user and a password.
pub(super) fn is_basic(found: &Found<'_>) -> bool {
    mixes_digits(found.value) && mixes_case(found.value)
}

/// The value of a secret-like name.
pub(super) fn is_assigned(found: &Found<'_>) -> bool {
    let value = before_parameter(bare(found.value));
    if !is_value(value) || is_code_or_path(value) {
        return false;
    }
    if value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'_'))
    {
        return false;
    }
    // A message in another script, as in a table of translations; but what is typed may hold its letters.
    if !value.is_ascii() && !mixes_digits(value) {
        return false;
    }
    let about = found.suffix.to_ascii_lowercase();
    if ABOUT.iter().any(|word| about.contains(word)) || about == "s" {
        return looks_random(value);
    }
    if value
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.'))
    {
        // A word or an identifier; but a long random string of letters is none.
        return value.len() >= 20 && mixes_case(value) && entropy(value) > 4.0 && !value.contains(['_', '-', '.']);
    }
    !is_numbered_word(value) && entropy(value) >= 2.0
}

/// What a sentence gives as a password: no ordinary word.
pub(super) fn is_spoken(found: &Found<'_>) -> bool {
    let value = before_parameter(bare(found.value));
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let has_symbol = value.bytes().any(|byte| b"!@#$%^&*+=".contains(&byte));
    let has_inner_capital = value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase()) && mixes_case(value);
    // In another script a sentence goes on where it has no digit; code after it has symbols of its own.
    value.len() >= 5
        && (value.is_ascii() || has_digit)
        && is_value(value)
        && !is_code_or_path(value)
        && (has_digit || has_symbol || has_inner_capital)
}

/// Looks random, beside a secret-like name.
pub(super) fn is_random(found: &Found<'_>) -> bool {
    looks_random(found.value)
}

/// Letters of both cases and digits at high entropy; neither a hash, a UUID nor a path.
fn looks_random(value: &str) -> bool {
    let value = value.trim_end_matches(['.', '=']);
    let hex = value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    value.len() >= 20
        && is_value(value)
        && !hex
        && !is_path(value)
        && mixes_digits(value)
        && mixes_case(value)
        && entropy(value) >= 3.7
}

/// Not a placeholder, a variable or code.
pub(super) fn is_value(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.len() >= 3
        && !value.starts_with(['\\', '$', '<', '{', '%', '[', '(', '*', '&', '#', '@', '~', '|'])
        && (!value.starts_with('/') || is_base64(value))
        && !STATES.contains(&lower.as_str())
        && !PLACEHOLDERS.iter().any(|word| lower.starts_with(word))
        && !lower.contains("${")
        && !value.contains(['(', '<', '>', '{', '['])
}

/// Without what closes a sentence or a string around it.
fn bare(value: &str) -> &str {
    value.trim_end_matches(['.', ':', '!', '?', ')', '\\'])
}

/// Without the parameters that follow in a URL's query.
fn before_parameter(value: &str) -> &str {
    match value.split_once('&') {
        Some((before, after)) if after.contains('=') => before,
        _ => value,
    }
}

/// Random bytes in base64, which may begin like a path.
fn is_base64(value: &str) -> bool {
    value.len() >= SHORTEST_BASE64
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
        && mixes_digits(value)
        && mixes_case(value)
        && entropy(value) >= 4.0
        && value
            .split('/')
            .all(|piece| !piece.chars().all(char::is_alphabetic) || piece.len() < 6)
}

pub(super) fn is_code_or_path(value: &str) -> bool {
    value.contains("::") || value.contains("://") || value.starts_with('.') || is_path(value) || value.ends_with("()")
}

/// A path or a file name.
fn is_path(value: &str) -> bool {
    let pieces: Vec<&str> = value.split(['/', '\\']).collect();
    let worded = |piece: &&str| {
        piece
            .split(['-', '_', '.'])
            .all(|word| word.len() <= 16 && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
    };
    (value.starts_with(['/', '.', '~']) && pieces.len() > 1 && !is_base64(value))
        || (pieces.len() > 2 && pieces.iter().filter(|piece| worded(piece)).count() * 2 > pieces.len())
        || (pieces.len() > 1 && pieces.iter().all(worded))
}

/// `sha256`, `token2`, `gpt-4`: a short lowercase name that ends with a few digits.
fn is_numbered_word(value: &str) -> bool {
    let stem = value.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    value.len() - stem.len() <= 3
        && (1..=5).contains(&stem.len())
        && stem.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

pub(super) fn mixes_digits(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit()) && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

pub(super) fn mixes_case(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_lowercase()) && value.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Shannon entropy in bits a byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = value.len() as f64;
    let shares = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total);
    shares.map(|share| -share * share.log2()).sum()
}
