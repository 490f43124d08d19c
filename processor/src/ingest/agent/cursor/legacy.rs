//! Cursor's older transcripts: text, in which a line `user:` or `assistant:` begins a message, and `[Thinking]`, `[Tool call]`
//! and `[Tool result]` begin parts of the agent's. Its parts have no end that could be told from text, so that of a message
//! nothing is taken for words after its first call.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::workspace;
use crate::ingest::conversation::Conversation;
use crate::ingest::tool::Arguments;

const USER: &str = "user:";
const ASSISTANT: &str = "assistant:";
const THINKING: &str = "[Thinking]";
const CALL: &str = "[Tool call]";
const RESULT: &str = "[Tool result]";

/// Whether this is such a transcript.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    let first = bytes
        .trim_ascii_start()
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let first = first.trim_ascii_end();
    first == USER.as_bytes() || first == ASSISTANT.as_bytes()
}

/// The messages, in order: whether it is the person's, and its text.
pub(super) fn messages(transcript: &str) -> Vec<(bool, String)> {
    let mut messages: Vec<(bool, String)> = Vec::new();
    for line in transcript.lines() {
        match (line.trim_end(), messages.last_mut()) {
            (USER, _) => messages.push((true, String::new())),
            (ASSISTANT, _) => messages.push((false, String::new())),
            (line, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (_, None) => {}
        }
    }
    messages
}

/// Tells the conversation of a message of the agent.
pub(super) fn tell(slug: &str, conversation: &mut Conversation, message: &str) {
    let at_call = [CALL, RESULT].iter().filter_map(|mark| start_of(message, mark)).min();
    let (words, acts) = message.split_at(at_call.unwrap_or(message.len()));
    conversation.say("", &without_thinking(words));
    let mut lines = acts.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(tool) = line.strip_prefix(CALL) else { continue };
        let mut arguments = Map::new();
        while let Some((key, value)) = lines
            .next_if(|line| line.starts_with(' '))
            .and_then(|line| line.split_once(": "))
        {
            arguments.insert(key.trim().to_owned(), Value::from(value.trim()));
        }
        let arguments = Value::Object(arguments);
        let arguments = Arguments::deserialize(&arguments).unwrap_or_default();
        workspace::note(slug, conversation, &arguments);
        conversation.call("", tool.trim(), &arguments);
    }
}

/// Where a line begins with `mark`.
fn start_of(message: &str, mark: &str) -> Option<usize> {
    let mut places = message.match_indices(mark).map(|(at, _)| at);
    places.find(|at| message[..*at].bytes().next_back().is_none_or(|before| before == b'\n'))
}

/// The paragraphs that are no thoughts.
fn without_thinking(words: &str) -> String {
    let paragraphs: Vec<&str> = words
        .split("\n\n")
        .filter(|paragraph| !paragraph.trim_start().starts_with(THINKING))
        .collect();
    paragraphs.join("\n\n")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::person("user:\n<user_query>\nfix it\n", true)]
    #[case::agent("\n assistant:\r\nyes\n", true)]
    #[case::lines(r#"{"role":"user"}"#, false)]
    #[case::words("user: fix it", false)]
    #[case::empty("", false)]
    fn a_transcript_is_known_by_its_first_line(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_one(text.as_bytes()), expected);
    }

    #[test]
    fn messages_are_told_apart_by_lines() {
        let found = messages("lost\nuser:\nsay user: twice\n\nassistant:\nuser: user:\n");
        let expected = [(true, "say user: twice\n\n"), (false, "user: user:\n")];
        assert_eq!(found, expected.map(|(is_person, text)| (is_person, text.to_owned())));
    }

    #[test]
    fn a_mark_begins_a_line() {
        assert_eq!(start_of("a [Tool call] b\n[Tool call] c", CALL), Some(16));
        assert_eq!(start_of("no [Tool call]", CALL), None);
    }
}
