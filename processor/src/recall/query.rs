//! A prompt as it was typed into what the legs ask: cleaned text and content terms.

use std::borrow::Cow;

use remembrancer_schema::QueryTerms;
use remembrancer_schema::trace::TracedQuery;

use super::pasted::without_pastes;
use crate::fence::strip_fenced;
use crate::ingest::{after_cut_span, redact};

/// At most this many terms go to the full-text leg: bounds its work for a prompt of any length.
pub(super) const MAX_TERMS: usize = 32;
/// At most this many bytes of a prompt are looked at; a longer one keeps its head and its tail.
pub(super) const MAX_PROMPT_BYTES: usize = 16 * 1024;

/// At most this many bytes of a prompt are looked through for secrets.
const MAX_REDACTED_BYTES: usize = 4 * MAX_PROMPT_BYTES;

/// At most this many terms of a prompt that are too many are kept, to be shown.
const MAX_BEYOND: usize = 64;

/// How a key block begins and ends, which is kept out as a whole.
const KEY_BLOCK: (&str, &str) = ("-----BEGIN", "-----END");

/// What one prompt asks of the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// The prompt without our own blocks, without a leading slash command, without what was pasted beside a question, and
    /// without secrets, bounded in length.
    pub text: String,
    /// Its content terms as the index has them, deduplicated.
    pub terms: Vec<String>,
    /// Whether the prompt was nothing but a slash command.
    pub bare_command: bool,
    /// What of the prompt is not asked for.
    pub dropped: Dropped,
}

/// What of a prompt is not asked for: counted for the log, and the words themselves for an explanation that is made at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dropped {
    /// What became of the prompt, in numbers.
    pub counts: TracedQuery,
    /// Terms that say nothing of a subject.
    pub stop_words: Vec<String>,
    /// The first of the terms beyond those that are asked for.
    pub beyond: Vec<String>,
}

impl Query {
    /// Reads `prompt`.
    pub fn of(prompt: &str) -> Self {
        let stripped = strip_fenced(prompt);
        let stripped = stripped.trim();
        let (text, bare_command) = without_command(stripped);
        let command = text.len() < stripped.len();
        // Redacted before anything else is made of it: terms are logged, and shown by `why`.
        let bounded = without_cut_secrets(text);
        let text = redact(&bounded);
        let unpasted = without_pastes(&text);
        let (pasted_lines, error_kept) = unpasted
            .as_ref()
            .map_or((0, false), |unpasted| (unpasted.lines as u32, unpasted.error_kept));
        let text = head_and_tail(
            &unpasted.map_or_else(|| text.into_owned(), |unpasted| unpasted.text),
            MAX_PROMPT_BYTES,
        );
        let QueryTerms {
            asked,
            stop_words,
            mut beyond,
        } = QueryTerms::of(&text, MAX_TERMS);
        let counts = TracedQuery {
            characters: prompt.chars().count() as u32,
            asked: text.chars().count() as u32,
            command,
            pasted_lines,
            error_kept,
            stop_words: stop_words.len() as u32,
            beyond: beyond.len() as u32,
        };
        beyond.truncate(MAX_BEYOND);
        Self {
            text,
            terms: asked,
            bare_command,
            dropped: Dropped {
                counts,
                stop_words,
                beyond,
            },
        }
    }
}

/// Drops a leading slash command (`/review`), but not a path (`/usr/bin/env fails`): the words after a command are what
/// the person said.
fn without_command(text: &str) -> (&str, bool) {
    let first = text.split_whitespace().next().unwrap_or("");
    let Some(name) = first.strip_prefix('/') else {
        return (text, false);
    };
    let is_command = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'));
    if !is_command {
        return (text, false);
    }
    let rest = text[first.len()..].trim_start();
    (rest, rest.is_empty())
}

/// A prompt that is short enough to be looked through; of a longer one head and tail, without what the cuts leave of a secret: a
/// word in two, and the rest of a span that began in what is left out.
fn without_cut_secrets(text: &str) -> Cow<'_, str> {
    let Some((head, mut tail)) = ends(text, MAX_REDACTED_BYTES) else {
        return Cow::Borrowed(text);
    };
    let between_words = |c: char| !(c.is_ascii_alphanumeric() || c.is_ascii_punctuation());
    let head = head.rfind(between_words).map_or("", |end| &head[..end]);
    tail = tail.find(between_words).map_or("", |start| &tail[start..]);
    tail = after_cut_span(tail);
    let (opening, closing) = KEY_BLOCK;
    let (opened, closed) = (find_ignoring_case(tail, opening), find_ignoring_case(tail, closing));
    if let Some(at) = closed.filter(|at| opened.is_none_or(|opened| opened > *at)) {
        tail = &tail[at + closing.len()..];
    }
    Cow::Owned(format!("{head}\n{tail}"))
}

fn find_ignoring_case(text: &str, what: &str) -> Option<usize> {
    text.as_bytes()
        .windows(what.len())
        .position(|window| window.eq_ignore_ascii_case(what.as_bytes()))
}

fn head_and_tail(text: &str, limit: usize) -> String {
    ends(text, limit).map_or_else(|| text.to_owned(), |(head, tail)| format!("{head}\n{tail}"))
}

/// Three quarters of `limit` bytes from the start of a text and one from its end; `None` of a text no longer than that.
fn ends(text: &str, limit: usize) -> Option<(&str, &str)> {
    (text.len() > limit).then(|| {
        let head = text.floor_char_boundary(limit * 3 / 4);
        let tail = text.ceil_char_boundary(text.len() - limit / 4);
        (&text[..head], &text[tail..])
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn check(prompt: &str, text: &str, bare_command: bool) {
        let query = Query::of(prompt);
        assert_eq!((query.text.as_str(), query.bare_command), (text, bare_command));
    }

    #[test]
    fn a_slash_command_leaves_its_arguments() {
        check("/compact", "", true);
        check("/review the migration code", "the migration code", false);
        check("/plugin:run it", "it", false);
    }

    #[test]
    fn a_path_is_not_a_command() {
        check("/usr/bin/env fails", "/usr/bin/env fails", false);
        check("/etc is full", "is full", false);
    }

    #[test]
    fn our_own_block_is_not_part_of_the_question() {
        check(
            "<remembrancer-recollections>x</remembrancer-recollections> fix it",
            "fix it",
            false,
        );
    }

    #[test]
    fn what_is_not_asked_for_is_told() {
        let query =
            Query::of("/review why does the importer starve?\n```\nlet a = 1;\nlet b = 2;\nreturn a;\n```\nwe moved the cache");
        let Dropped {
            counts,
            stop_words,
            beyond,
        } = &query.dropped;
        assert!(counts.command && !counts.error_kept);
        assert_eq!(
            (counts.pasted_lines, counts.stop_words as usize, counts.beyond),
            (5, stop_words.len(), 0)
        );
        assert!(
            stop_words.iter().any(|word| word == "the") && beyond.is_empty(),
            "{stop_words:?}"
        );
        assert!(query.terms.iter().any(|term| term.starts_with("import")), "{:?}", query.terms);
        let many: Vec<String> = (0..MAX_TERMS + 5)
            .map(|number| format!("word{}", "x".repeat(number)))
            .collect();
        let query = Query::of(&many.join(" "));
        assert_eq!((query.terms.len(), query.dropped.beyond.len()), (MAX_TERMS, 5));
    }

    #[test]
    fn tc_41_a_secret_in_a_prompt_becomes_no_term() {
        let query = Query::of("why is ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789 refused? <private>my cat Mimi</private>");
        assert!(
            !query.text.contains("aBcDeFgHiJ") && !query.text.contains("Mimi"),
            "{}",
            query.text
        );
        assert!(
            query.terms.iter().all(|term| !term.contains("abcdefghij") && term != "mimi"),
            "{:?}",
            query.terms
        );
    }

    #[rstest]
    #[case::a_private_span("<private>", "my cat Mimi", "</private>")]
    #[case::in_capitals("<PRIVATE>", "my cat Mimi", "</PRIVATE>")]
    #[case::with_an_attribute("<private of=\"me\">", "my cat Mimi", "</private>")]
    #[case::one_in_another("<private>", "my <private>cat</private> Mimi", "</private>")]
    #[case::a_key("-----BEGIN EC PRIVATE KEY-----\n", "MHcCAQEEIDtoMimi", "\n-----END EC PRIVATE KEY-----")]
    fn tc_41_a_span_that_began_in_what_is_cut_out_is_kept_out(
        #[case] opening: &str,
        #[case] secret: &str,
        #[case] closing: &str,
    ) {
        let filler = "word ".repeat(MAX_REDACTED_BYTES / 5);
        let query = Query::of(&format!("{filler}{opening}{filler}{secret}{closing} what about the garden"));
        assert!(
            !query.text.contains("Mimi") && query.text.ends_with("what about the garden"),
            "{}",
            query.text
        );
    }

    #[test]
    fn tc_41_a_secret_at_a_cut_leaves_no_half() {
        let secret = "ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789";
        let (head, tail) = (MAX_REDACTED_BYTES * 3 / 4, MAX_REDACTED_BYTES / 4);
        for into in 1..secret.len() {
            let before = format!("{} {secret} ", "x ".repeat(head / 2).split_at(head - 1 - into).0);
            let after = format!(" {secret}{}", " y".repeat(tail / 2).split_at(tail - into).0);
            let prompt = format!("{before}{}{after}", "filler ".repeat(MAX_REDACTED_BYTES / 7));
            let bounded = without_cut_secrets(&prompt);
            assert!(!bounded.contains("ghp_") && !bounded.contains("789"), "{into}");
        }
    }

    proptest! {
        #[test]
        fn any_prompt_gives_a_bounded_query(prompt in "\\PC{0,400}", repeat in 1usize..60) {
            let query = Query::of(&prompt.repeat(repeat));
            prop_assert!(query.text.len() <= MAX_PROMPT_BYTES + 1);
            prop_assert!(query.terms.len() <= MAX_TERMS);
        }
    }
}
