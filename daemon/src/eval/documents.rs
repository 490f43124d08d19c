//! A document of a judged set as a turn, so that it goes through the same cutting, redaction and index as a transcript's.

use remembrancer_processor::eval::dataset::Document;
use remembrancer_processor::ingest::{Agent, Step, Turn};
use remembrancer_schema::{Facets, Origin, TurnUid, UnixMillis};
use sha2::{Digest, Sha256};

/// The time of documents without one: all the same, since their age says nothing.
const UNDATED: UnixMillis = UnixMillis(1_700_000_000_000);

/// What a document's text says was asked, and what came of it.
struct Roles<'a> {
    prompt: &'a str,
    answer: &'a str,
}

/// Reads `document`, the `ordinal`-th of its session, as a turn.
pub(super) fn turn(document: &Document, ordinal: u32) -> Turn {
    let at = document.timestamp.unwrap_or(UNDATED);
    let roles = roles(&document.text);
    Turn {
        uid: turn_uid(&document.id),
        agent: Agent::CLAUDE_CODE,
        session: session(document).to_owned(),
        origin: Origin::User,
        ordinal,
        started_at: at,
        cwd: None,
        git_branch: None,
        prompt: roles.prompt.to_owned(),
        steps: vec![Step {
            at,
            text: roles.answer.to_owned(),
            facets: Facets::default(),
        }],
        carried_summary: None,
        committed: false,
        error_fixed: false,
    }
}

/// The session of a document; one without is a session of its own, since nothing stands beside it.
pub(super) fn session(document: &Document) -> &str {
    document.session.as_deref().unwrap_or(&document.id)
}

/// The identity of a document's turn.
pub(super) fn turn_uid(document_id: &str) -> TurnUid {
    let hash = Sha256::digest(document_id);
    let mut uid = [0; 16];
    uid.copy_from_slice(&hash[..16]);
    TurnUid(uid)
}

/// `User: …` and `Assistant: …` are prompt and answer; a line before a shell's `$ ` is the request for it; any other text is
/// an answer to a prompt that is not known.
fn roles(text: &str) -> Roles<'_> {
    if let Some(rest) = text.strip_prefix("User: ") {
        let (prompt, answer) = rest.split_once("\nAssistant: ").unwrap_or((rest, ""));
        return Roles { prompt, answer };
    }
    if let Some((prompt, answer)) = text.split_once('\n')
        && answer.starts_with("$ ")
    {
        return Roles { prompt, answer };
    }
    Roles {
        prompt: "",
        answer: text,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::dialogue("User: Why?\nBecause?\nAssistant: So.\nYes.", "Why?\nBecause?", "So.\nYes.")]
    #[case::unanswered("User: Why?", "Why?", "")]
    #[case::command("list files\n$ ls -l", "list files", "$ ls -l")]
    #[case::text("def f():\n    pass", "", "def f():\n    pass")]
    #[case::chat("Ann: hi\nBen: hello", "", "Ann: hi\nBen: hello")]
    fn a_text_has_roles(#[case] text: &str, #[case] prompt: &str, #[case] answer: &str) {
        let roles = roles(text);
        assert_eq!((roles.prompt, roles.answer), (prompt, answer));
    }
}
