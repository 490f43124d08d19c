//! The status line in settings in JSON: a member that names a command. The text comes in, what stands there or the edited text goes out.
//! A line of the user's own is never touched.

use jsonc_parser::cst::{CstInputValue, CstObject};

use super::Document;
use crate::install::text::Problem;
use crate::install::words::first_command;

/// Our program, by whose name and argument a command of ours is known.
const PROGRAM: &str = "remembrancer";
/// What it is asked for.
pub(in crate::install) const ARGUMENT: &str = "statusline";

/// Whose line stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StatusLine {
    /// Nobody's.
    Absent,
    /// Ours, by the program of this path.
    Ours(String),
    /// The user's own.
    Theirs,
}

/// What stands at `key`.
///
/// # Errors
/// The first place at which the text is no JSON, or where the member stands twice.
pub(in crate::install) fn standing(text: &str, key: &str) -> Result<StatusLine, Problem> {
    let document = Document::parse(text)?;
    let Some(root) = document.root.object_value() else {
        return Ok(StatusLine::Absent);
    };
    Ok(match document.only(&root, key)? {
        None => StatusLine::Absent,
        Some(value) => value
            .as_object()
            .and_then(|line| program(&line))
            .map_or(StatusLine::Theirs, StatusLine::Ours),
    })
}

/// The text with `command` at `key`, where nothing stands there, or an older command of ours.
///
/// # Errors
/// As [`standing`].
pub(in crate::install) fn put(text: &str, key: &str, command: &str) -> Result<String, Problem> {
    let is_there = standing(text, key)?;
    let document = Document::parse(text)?;
    let root = document.root.object_value_or_set();
    match is_there {
        StatusLine::Theirs => {}
        StatusLine::Absent => {
            let members = [("type", "command"), ("command", command)];
            let members = members.map(|(name, value)| (name.to_owned(), CstInputValue::String(value.to_owned())));
            root.append(key, CstInputValue::Object(members.into()));
        }
        StatusLine::Ours(_) => {
            if let Some(property) = root.object_value(key).and_then(|line| line.get("command"))
                && property
                    .value()
                    .and_then(|value| value.as_string_lit()?.decoded_value().ok())
                    .as_deref()
                    != Some(command)
            {
                property.set_value(command.to_owned().into());
            }
        }
    }
    Ok(document.text())
}

/// The text without a line of ours at `key`.
///
/// # Errors
/// As [`standing`].
pub(in crate::install) fn take_out(text: &str, key: &str) -> Result<String, Problem> {
    if !matches!(standing(text, key)?, StatusLine::Ours(_)) {
        return Ok(text.to_owned());
    }
    let document = Document::parse(text)?;
    if let Some(property) = document.root.object_value().and_then(|root| root.get(key)) {
        property.remove();
    }
    Ok(document.text())
}

/// The program of a line that is ours; `None` where it runs anything else, or more than that.
fn program(line: &CstObject) -> Option<String> {
    let command = line.get("command")?.value()?.as_string_lit()?.decoded_value().ok()?;
    let (words, end) = first_command(&command);
    let [program, argument] = words.as_slice() else {
        return None;
    };
    let name = program.text.rsplit('/').next()?;
    let is_ours = name.starts_with(PROGRAM) && argument.text == ARGUMENT && command[end..].trim().is_empty();
    is_ours.then(|| program.text.clone())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const KEY: &str = "statusLine";
    const COMMAND: &str = "/opt/r/remembrancer statusline";

    #[rstest]
    #[case::no_file("", StatusLine::Absent)]
    #[case::other_settings(r#"{"model": "opus"}"#, StatusLine::Absent)]
    #[case::ours(r#"{"statusLine": {"type": "command", "command": "/opt/r/remembrancer statusline"}}"#, StatusLine::Ours("/opt/r/remembrancer".to_owned()))]
    #[case::ours_quoted(r#"{"statusLine": {"command": "'/my place/remembrancer' statusline", "padding": 0}}"#, StatusLine::Ours("/my place/remembrancer".to_owned()))]
    #[case::theirs(
        r#"{"statusLine": {"type": "command", "command": "~/.claude/line.sh"}}"#,
        StatusLine::Theirs
    )]
    #[case::theirs_with_ours(r#"{"statusLine": {"command": "git branch; remembrancer statusline"}}"#, StatusLine::Theirs)]
    #[case::ours_and_more(r#"{"statusLine": {"command": "remembrancer statusline; date"}}"#, StatusLine::Theirs)]
    #[case::another_command_of_ours(r#"{"statusLine": {"command": "remembrancer status"}}"#, StatusLine::Theirs)]
    #[case::no_object(r#"{"statusLine": null}"#, StatusLine::Theirs)]
    fn whose_line_stands_there(#[case] text: &str, #[case] expected: StatusLine) {
        assert_eq!(standing(text, KEY).unwrap(), expected);
    }

    #[rstest]
    #[case::none("{\n  // mine\n  \"model\": \"opus\"\n}\n")]
    #[case::one_line("{\"a\":1}")]
    fn it_is_put_there_once_and_taken_out(#[case] text: &str) {
        let with = put(text, KEY, COMMAND).unwrap();
        let values = crate::install::json::values(&with).unwrap();
        assert_eq!(values[KEY], serde_json::json!({"type": "command", "command": COMMAND}));
        assert_eq!(put(&with, KEY, COMMAND).unwrap(), with, "once");
        let moved = put(&with, KEY, "/new/remembrancer statusline").unwrap();
        assert_eq!(moved, with.replace("/opt/r/", "/new/"));
        let without = take_out(&moved, KEY).unwrap();
        assert_eq!(standing(&without, KEY).unwrap(), StatusLine::Absent);
        assert!(!without.contains("statusline"), "{without}");
        let left = crate::install::json::values(&without).unwrap();
        assert_eq!(left, crate::install::json::values(text).unwrap());
    }

    #[test]
    fn the_user_s_own_is_never_touched() {
        let text = r#"{"statusLine": {"type": "command", "command": "~/.claude/line.sh"}}"#;
        assert_eq!(put(text, KEY, COMMAND).unwrap(), text);
        assert_eq!(take_out(text, KEY).unwrap(), text);
    }

    #[test]
    fn a_member_that_stands_twice_is_refused() {
        let twice = r#"{"statusLine": {}, "statusLine": {}}"#;
        assert!(put(twice, KEY, COMMAND).is_err());
    }
}
