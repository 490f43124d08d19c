//! Of every rule what it finds, texts that hold such a secret, and texts that look like it and hold none. The tests walk the
//! table, and `docs/redaction.md` is made from it.
//!
//! No secret stands here, real or made up: `{A36}` is filled in when a test runs, with 36 characters of the class `A`.

mod everyday;
mod services;
mod shaped;
#[cfg(test)]
mod tests;
mod tokens;
#[cfg(test)]
mod words;
mod written;

/// What there is to say and to show of one rule.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the tests here read all of it, those of the whole system the secrets")
)]
pub(super) struct Example {
    /// The rule's name.
    rule: &'static str,
    /// What it finds, for people.
    finds: &'static str,
    /// Texts with a secret.
    positives: &'static [&'static str],
    /// Texts without.
    negatives: &'static [&'static str],
}

const fn of(
    rule: &'static str,
    finds: &'static str,
    positives: &'static [&'static str],
    negatives: &'static [&'static str],
) -> Example {
    Example {
        rule,
        finds,
        positives,
        negatives,
    }
}

/// One of each rule, in the order of the rules.
fn all() -> Vec<&'static Example> {
    let tables = [
        shaped::EXAMPLES,
        tokens::EXAMPLES,
        services::EXAMPLES,
        written::EXAMPLES,
        everyday::EXAMPLES,
    ];
    tables.into_iter().flatten().collect()
}

/// Of every rule its name, a text that holds such a secret, and what of it was made up.
pub(in crate::ingest) fn secrets() -> Vec<(&'static str, String, Vec<String>)> {
    let of_rule = |example: &&'static Example| {
        let (text, made) = filled(example.positives.first()?);
        Some((example.rule, text, made))
    };
    all().iter().filter_map(of_rule).collect()
}

/// Every text of the table.
#[cfg(test)]
pub(super) fn texts() -> Vec<String> {
    let of_rule = |example: &'static Example| example.positives.iter().chain(example.negatives);
    all().into_iter().flat_map(of_rule).map(|text| filled(text).0).collect()
}

/// The classes of characters: letter, characters, and what people call them.
const CLASSES: &[(char, &str, &str)] = &[
    (
        'A',
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "letters and digits",
    ),
    ('a', "abcdefghijklmnopqrstuvwxyz0123456789", "small letters and digits"),
    ('U', "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "capitals and digits"),
    ('l', "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "letters"),
    ('h', "0123456789abcdef", "hexadecimal digits"),
    ('d', "0123456789", "digits"),
    (
        'b',
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "characters of base64",
    ),
    (
        'w',
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        "characters of base64 for URLs",
    ),
    (
        's',
        "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
        "characters of base58",
    ),
];

/// A part of a text of the table.
enum Part<'t> {
    /// As it stands.
    Literal(&'t str),
    /// Made up: a place in [`CLASSES`], and how many of it.
    Made(usize, usize),
    /// A made-up UUID.
    Uuid,
    /// A password as people type one.
    Typed,
}

/// The parts of a text of the table.
fn parts(mut text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    while let Some((at, end, part)) = next_made(text) {
        parts.push(Part::Literal(&text[..at]));
        parts.push(part);
        text = &text[end..];
    }
    parts.push(Part::Literal(text));
    parts
}

/// The first made-up part: where it begins, where it ends. Other braces are text.
fn next_made(text: &str) -> Option<(usize, usize, Part<'static>)> {
    text.match_indices('{').find_map(|(at, _)| {
        let end = at + text[at..].find('}')?;
        let inside = &text[at + 1..end];
        let made = match inside {
            "uuid" => Part::Uuid,
            "typed" => Part::Typed,
            _ => {
                let class = CLASSES.iter().position(|(letter, ..)| inside.starts_with(*letter))?;
                Part::Made(class, inside.get(1..)?.parse().ok()?)
            }
        };
        Some((at, end + 1, made))
    })
}

/// Made-up characters, the same at every run: a linear congruential generator with the constants of Knuth's MMIX.
struct Maker(u64);

impl Maker {
    fn of(text: &str) -> Self {
        Self(
            text.bytes()
                .fold(17, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte))),
        )
    }

    fn characters(&mut self, class: usize, count: usize) -> String {
        let characters = CLASSES[class].1.as_bytes();
        let mut next = || {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from(characters[(self.0 >> 33) as usize % characters.len()])
        };
        let mut made: String = (0..count).map(|_| next()).collect();
        // A token ends as a word does, which a dash would not.
        if made.ends_with(['-', '_', '+', '/']) {
            made.replace_range(count - 1.., "k");
        }
        made
    }
}

/// A text of the table filled in, and what was made up for it.
pub(super) fn filled(text: &str) -> (String, Vec<String>) {
    let mut maker = Maker::of(text);
    let (mut whole, mut made) = (String::new(), Vec::new());
    for part in parts(text) {
        let new = match part {
            Part::Literal(literal) => {
                whole.push_str(literal);
                continue;
            }
            Part::Made(class, count) => maker.characters(class, count),
            Part::Uuid => uuid(&mut maker),
            Part::Typed => format!("{}{}", maker.characters(3, 6), maker.characters(5, 4)),
        };
        whole.push_str(&new);
        made.push(new);
    }
    (whole, made)
}

fn uuid(maker: &mut Maker) -> String {
    let [first, second, third, fourth, fifth] = [8, 4, 3, 3, 12].map(|count| maker.characters(4, count));
    format!("{first}-{second}-4{third}-a{fourth}-{fifth}")
}
