//! A prompt as it was typed into what the legs ask: cleaned text and content terms.

use remembrancer_schema::query_terms;

use super::pasted::without_pastes;
use crate::fence::strip_fenced;
use crate::ingest::redact;

/// At most this many terms go to the full-text leg: bounds its work for a prompt of any length.
pub(super) const MAX_TERMS: usize = 32;
/// At most this many bytes of a prompt are looked at; a longer one keeps its head and its tail.
pub(super) const MAX_PROMPT_BYTES: usize = 16 * 1024;

/// At most this many bytes of a prompt are looked through for secrets, so that none is cut in two before it is known.
const MAX_REDACTED_BYTES: usize = 4 * MAX_PROMPT_BYTES;

/// What one prompt asks of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The prompt without our own blocks, without a leading slash command, without what was pasted beside a question, and
    /// without secrets, bounded in length.
    pub text: String,
    /// Its content terms as the index has them, deduplicated.
    pub terms: Vec<String>,
    /// Whether the prompt was nothing but a slash command.
    pub bare_command: bool,
}

impl Query {
    /// Reads `prompt`.
    pub fn of(prompt: &str) -> Self {
        let stripped = strip_fenced(prompt);
        let (text, bare_command) = without_command(stripped.trim());
        // Redacted before anything else is made of it: terms are logged, and shown by `why`.
        let bounded = head_and_tail(text, MAX_REDACTED_BYTES);
        let text = redact(&bounded);
        let text = head_and_tail(&without_pastes(&text).unwrap_or_else(|| text.into_owned()), MAX_PROMPT_BYTES);
        let terms = query_terms(&text, MAX_TERMS);
        Self {
            text,
            terms,
            bare_command,
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

fn head_and_tail(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit * 3 / 4);
    let tail = text.ceil_char_boundary(text.len() - limit / 4);
    format!("{}\n{}", &text[..head], &text[tail..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn any_prompt_gives_a_bounded_query(prompt in "\\PC{0,400}", repeat in 1usize..60) {
            let query = Query::of(&prompt.repeat(repeat));
            prop_assert!(query.text.len() <= MAX_PROMPT_BYTES + 1);
            prop_assert!(query.terms.len() <= MAX_TERMS);
        }
    }
}
