//! What of a text a person would quote: names, titles and phrases, identifiers, errors, commands, numbers that are names.
//!
//! Rules see the shape alone. Whether a quote is rare enough to be worth quoting is the caller's question.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

/// Shorter quotes say too little to be looked for.
const SHORTEST: usize = 4;
/// Longer ones nobody types or copies into a question, in characters.
const LONGEST: usize = 100;

/// Words this short are rare by accident.
const SHORTEST_RARE_WORD: usize = 6;
/// How many words are quoted on either side of a rare one.
const BESIDE: usize = 2;
/// A quote neither begins nor ends with a word this short: `of`, `and`, `I'm`.
const SHORT_WORD: usize = 3;

/// Words that a sentence may capitalise without naming anyone.
const CALENDAR: [&str; 19] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// What is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteKind {
    /// `camelCase`, `snake_case`, `dotted.path`.
    Identifier,
    /// A message that tells of a failure.
    Error,
    /// A command line.
    Command,
    /// A proper name, of one word or several.
    Name,
    /// What stands in quotation marks.
    Phrase,
    /// A number or code that names a thing: `#4711`, `GR-90`.
    Number,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote<'a> {
    pub(super) kind: QuoteKind,
    pub(super) text: &'a str,
}

/// Every quote in `text`; `common` has the words that are no names.
pub(super) fn quotes<'a>(text: &'a str, common: &HashSet<&str>) -> Vec<Quote<'a>> {
    let of = |kind: QuoteKind| move |text: &'a str| Quote { kind, text: text.trim() };
    let mut quotes: Vec<Quote> = commands(text).map(of(QuoteKind::Command)).collect();
    quotes.extend(errors(text).map(of(QuoteKind::Error)));
    quotes.extend(phrases(text).map(|phrase| {
        let kind = if FAILURE.is_match(phrase) {
            QuoteKind::Error
        } else {
            QuoteKind::Phrase
        };
        of(kind)(phrase)
    }));
    quotes.extend(identifiers(text).map(of(QuoteKind::Identifier)));
    quotes.extend(names(text, common).map(of(QuoteKind::Name)));
    quotes.extend(numbers(text).map(of(QuoteKind::Number)));
    quotes.retain(|quote| (SHORTEST..=LONGEST).contains(&quote.text.chars().count()));
    quotes
}

/// A word that stands in no other document, with the words beside it. `frequency` tells in how many documents a word in lower
/// case stands.
pub(super) fn fragment(text: &str, frequency: impl Fn(&str) -> usize) -> Option<Quote<'_>> {
    let clauses = text.split(|c: char| ".,;:!?()[]{}\"“”*|\n".contains(c));
    let words = clauses.flat_map(|clause| words(clause).map(move |word| (clause, word)));
    let (clause, word) = words
        .filter(|(_, word)| word.chars().count() >= SHORTEST_RARE_WORD && word.chars().all(char::is_alphabetic))
        .filter(|(_, word)| frequency(&word.to_lowercase()) == 1)
        .max_by_key(|(_, word)| word.len())?;

    let (before, after) = clause.split_once(word)?;
    let begin = before.rmatch_indices(' ').nth(BESIDE).map_or(0, |(space, _)| space);
    let end = after.match_indices(' ').nth(BESIDE).map_or(after.len(), |(space, _)| space);
    let quote = trim_short_words(&clause[begin..before.len() + word.len() + end]);
    quote.contains(' ').then_some(Quote {
        kind: QuoteKind::Phrase,
        text: quote,
    })
}

fn trim_short_words(text: &str) -> &str {
    let is_short = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count() <= SHORT_WORD;
    let mut text = text.trim();
    while let Some((_, rest)) = text.split_once(' ').filter(|(first, _)| is_short(first)) {
        text = rest.trim();
    }
    while let Some((rest, _)) = text.rsplit_once(' ').filter(|(_, last)| is_short(last)) {
        text = rest.trim();
    }
    text
}

/// Runs of letters and digits.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The words of `text` that are written in lower case.
pub(super) fn common_words(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter(|word| word.starts_with(char::is_lowercase))
}

/// Lines behind a shell's prompt.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    let commands = text.lines().filter_map(|line| line.trim_start().strip_prefix("$ "));
    commands.filter(|command| command.split_whitespace().count() >= 2)
}

/// Lines that begin as a program reports an error.
fn errors(text: &str) -> impl Iterator<Item = &str> {
    static REPORT: LazyLock<Regex> =
        LazyLock::new(|| regex(r"(?m)^[ \t]*((?:[\w.]*(?:Error|Exception)|error|fatal)(?:\[\w+\])?: \S.{7,})$"));
    REPORT
        .captures_iter(text)
        .filter_map(|found| found.get(1))
        .map(|found| found.as_str())
}

static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)\b(?:error|exception|failed|failure|cannot|could not|unable to|invalid|not found|must be|denied|unsupported)\b")
});

/// What stands in double quotation marks or between backticks and is more than a word.
fn phrases(text: &str) -> impl Iterator<Item = &str> {
    static MARKS: LazyLock<Regex> = LazyLock::new(|| regex(r#""([^"\n]*)"|“([^”\n]*)”|`([^`\n]*)`"#));
    let quoted = MARKS
        .captures_iter(text)
        .filter_map(|found| found.iter().skip(1).flatten().next());
    let phrases = quoted.map(|found| found.as_str().trim_end_matches(['.', ',', ' ']));
    phrases.filter(|phrase| {
        let words = phrase
            .split_whitespace()
            .filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 2);
        words.count() >= 2
    })
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"));
    static CAMEL: LazyLock<Regex> = LazyLock::new(|| regex(r"[a-z][A-Z][a-z]"));
    // `end.Then` is a sentence without its space.
    static DOTTED: LazyLock<Regex> = LazyLock::new(|| regex(r"^\w{2,}(?:\.[a-z_]\w+)+$"));
    let tokens = TOKEN
        .find_iter(text)
        .map(|found| found.as_str().trim_start_matches("self.").trim_matches('_'));
    tokens.filter(|token| {
        token.len() >= 6 && !token.starts_with("www.") && (token.contains('_') || CAMEL.is_match(token) || DOTTED.is_match(token))
    })
}

/// Runs of capitalised words, at least one of them never written in lower case. The first word of a sentence tells nothing.
fn names<'a>(text: &'a str, common: &HashSet<&str>) -> impl Iterator<Item = &'a str> {
    static RUN: LazyLock<Regex> = LazyLock::new(|| {
        let word = r"\p{Lu}[\p{L}\d]+(?:['’&-]\p{L}+)*";
        regex(&format!(r"{word}(?: (?:(?:of|the|and|de|la|von|van|for|in) )?{word})*"))
    });
    let runs = RUN.find_iter(text).filter_map(|run| {
        let before = &text[..run.start()];
        if before.ends_with(|c: char| c.is_alphanumeric() || "_.".contains(c)) {
            return None;
        }
        let goes_on = before
            .trim_end_matches([' ', '*', '"', '“', '('])
            .ends_with(|c: char| c.is_alphanumeric() || ",'’".contains(c));
        if goes_on {
            Some(run.as_str())
        } else {
            run.as_str().split_once(' ').map(|(_, rest)| rest)
        }
    });
    runs.filter(|run| run.starts_with(char::is_uppercase) && run.split([' ', '-']).any(|word| is_name(word, common)))
}

fn is_name(word: &str, common: &HashSet<&str>) -> bool {
    let stem = word.split(['\'', '’', '&']).next().unwrap_or(word).to_lowercase();
    stem.chars().count() >= 3 && !common.contains(stem.as_str()) && !CALENDAR.contains(&stem.as_str())
}

fn numbers(text: &str) -> impl Iterator<Item = &str> {
    static CODE: LazyLock<Regex> = LazyLock::new(|| regex(r"[#$€£]?\b(?:\p{Lu}{1,6}-?)?\d\w*(?:[.,:-]\d\w*)*"));
    static YEAR: LazyLock<Regex> = LazyLock::new(|| regex(r"^(?:19|20)\d\d(?:-\d\d)*s?$"));
    let codes = CODE.find_iter(text).map(|found| found.as_str());
    codes.filter(|code| {
        let digits = code.chars().filter(char::is_ascii_digit).count();
        let capitals = code.chars().filter(|c| c.is_uppercase()).count();
        (digits >= 4 || digits >= 2 && capitals >= 2) && !YEAR.is_match(code)
    })
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("invariant: the patterns of this file are valid, as its tests show")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::camel("we call getUserName there", &[(QuoteKind::Identifier, "getUserName")])]
    #[case::snake("set max_retry_count to 5", &[(QuoteKind::Identifier, "max_retry_count")])]
    #[case::dotted("look at wave.getparams now", &[(QuoteKind::Identifier, "wave.getparams")])]
    #[case::no_space_after_a_stop("that was it.Then we left", &[])]
    #[case::command("delete them\n$ find . -name '*.tmp' -delete", &[(QuoteKind::Command, "find . -name '*.tmp' -delete")])]
    #[case::report("then\nValueError: bad magic in header\nand", &[
        (QuoteKind::Error, "ValueError: bad magic in header"), (QuoteKind::Identifier, "ValueError"),
    ])]
    #[case::message("raise \"the header is not found\" here", &[(QuoteKind::Error, "the header is not found")])]
    #[case::phrase("I read \"the long way home\" twice", &[(QuoteKind::Phrase, "the long way home")])]
    #[case::one_word_in_marks("a so-called \"friend\" of mine", &[])]
    #[case::name("we met Aurelia near Lake Bled", &[(QuoteKind::Name, "Aurelia"), (QuoteKind::Name, "Lake Bled")])]
    #[case::name_with_a_small_word("in the Tower of Babel", &[(QuoteKind::Name, "Tower of Babel")])]
    #[case::sentence_start("Surely not. Perhaps so.", &[])]
    #[case::name_at_sentence_start("Dear Aurelia", &[(QuoteKind::Name, "Aurelia")])]
    #[case::month("see you in March", &[])]
    #[case::common_word("a photo of the Table", &[])]
    #[case::number("ticket #47110 and flight LH-430 for $1,250", &[
        (QuoteKind::Number, "#47110"), (QuoteKind::Number, "LH-430"), (QuoteKind::Number, "$1,250"),
    ])]
    #[case::year("since 1998", &[])]
    #[case::small_number("for 12 people", &[])]
    fn what_is_quoted(#[case] text: &str, #[case] expected: &[(QuoteKind, &str)]) {
        let common = HashSet::from(["table", "lake"]);
        let found: Vec<_> = quotes(text, &common).iter().map(|quote| (quote.kind, quote.text)).collect();
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case::within(
        "I like it, but we bought two didgeridoos yesterday evening in town",
        Some("bought two didgeridoos yesterday evening")
    )]
    #[case::short_neighbours("she is one of the didgeridoos and I", None)]
    #[case::alone("the bottle was empty: didgeridoos", None)]
    #[case::at_the_start("Didgeridoos everywhere in there", Some("Didgeridoos everywhere"))]
    #[case::hyphenated("a didgeridoos-like sound came", Some("didgeridoos-like sound came"))]
    #[case::nothing_rare("the bottle was empty", None)]
    fn a_rare_word_is_quoted_with_its_neighbours(#[case] text: &str, #[case] expected: Option<&str>) {
        let found = fragment(text, |word| if word == "didgeridoos" { 1 } else { 50 });
        assert_eq!(found.map(|quote| quote.text), expected);
    }

    #[test]
    fn common_words_are_written_small() {
        assert_eq!(
            common_words("We met Aurelia at the lake.").collect::<Vec<_>>(),
            ["met", "at", "the", "lake"]
        );
    }
}
