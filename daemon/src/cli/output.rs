//! Writing for people: a reader that went away (`| head`) ends the output quietly, a full disk is an error at the end.
//!
//! What is printed may hold the text of a transcript, a file's name, an answer of another program. A terminal does what it is told by
//! control characters, so that none leaves here but the end of a line and a tab: the others are printed as JSON spells them. JSON
//! has them in strings alone, and stays the same to who reads it.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

/// Rises when a member of what `--json` prints goes, or changes its meaning.
const JSON_VERSION: u32 = 1;

/// The first failure to write, but for a reader that went away.
static FAILURE: Mutex<Option<String>> = Mutex::new(None);

/// Whether the reader of standard output went away.
static IS_UNREAD: AtomicBool = AtomicBool::new(false);

/// Prints a line as `println!` does, without its panic.
macro_rules! say {
    ($($argument:tt)*) => { $crate::cli::output::write(format_args!("{}\n", format_args!($($argument)*))) };
}

/// Prints as `print!` does, without its panic.
macro_rules! tell {
    ($($argument:tt)*) => { $crate::cli::output::write(format_args!($($argument)*)) };
}

/// Prints a line to standard error as `eprintln!` does, without its panic: where nobody can be told, the exit code has to do.
macro_rules! complain {
    ($($argument:tt)*) => { $crate::cli::output::write_error(format_args!("{}\n", format_args!($($argument)*))) };
}

pub(in crate::cli) use {complain, say, tell};

/// Prints what a command found as one JSON object, whose member `schema` names its form: `remembrancer/COMMAND/VERSION`. A member
/// may be added without a new version; `docs/json.md` tells of them all.
pub(in crate::cli) fn say_json(command: &str, value: &Value) {
    let mut value = value.clone();
    if let Value::Object(members) = &mut value {
        members.insert("schema".to_owned(), format!("remembrancer/{command}/{JSON_VERSION}").into());
    }
    say!("{value:#}");
}

/// Writes to standard output what a terminal may be shown.
pub(in crate::cli) fn write(text: fmt::Arguments<'_>) {
    write_raw(format_args!("{}", for_terminal(&text.to_string())));
}

/// Writes to standard error what a terminal may be shown.
pub(in crate::cli) fn write_error(text: fmt::Arguments<'_>) {
    std::io::stderr().write_all(for_terminal(&text.to_string()).as_bytes()).ok();
}

/// `text` with `\u001b` for an escape character, and likewise for every other that would do something or hide something.
pub(in crate::cli) fn for_terminal(text: &str) -> Cow<'_, str> {
    if !text.contains(acts_on_a_terminal) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_a_line = c == '\r' && chars.peek() == Some(&'\n');
        if !acts_on_a_terminal(c) || ends_a_line {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string can't fail.
            write!(shown, "\\u{unit:04x}").ok();
        }
    }
    Cow::Owned(shown)
}

/// Controls, what orders text anew (a file may then seem to have another name), and what can't be seen.
fn acts_on_a_terminal(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Writes to standard output as it is: for our own words alone.
pub(in crate::cli) fn write_raw(text: fmt::Arguments<'_>) {
    let mut stdout = std::io::stdout().lock();
    let Err(error) = stdout.write_fmt(text).and_then(|()| stdout.flush()) else {
        return;
    };
    if error.kind() == ErrorKind::BrokenPipe {
        IS_UNREAD.store(true, Ordering::Relaxed);
    } else if let Ok(mut failure) = FAILURE.lock() {
        failure.get_or_insert_with(|| error.to_string());
    }
}

/// Whether there is nobody left to write to: what goes on for ever ends then.
pub(in crate::cli) fn is_unread() -> bool {
    IS_UNREAD.load(Ordering::Relaxed) || failure().is_some()
}

/// Why the output is not whole, if it is not.
pub(in crate::cli) fn failure() -> Option<String> {
    FAILURE.lock().ok().and_then(|failure| failure.clone())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("a\tb\nç 日本 👩\u{200d}🚀\u{fe0f}", "a\tb\nç 日本 👩\u{200d}🚀\u{fe0f}")]
    #[case::escape("\u{1b}[2J", "\\u001b[2J")]
    #[case::one_byte_escape("\u{9b}2J\u{7f}", "\\u009b2J\\u007f")]
    #[case::back_to_the_start("safe\rrm", "safe\\u000drm")]
    #[case::line_end_of_windows("a\r\nb", "a\r\nb")]
    #[case::order("a\u{202e}b", "a\\u202eb")]
    #[case::tag("a\u{e0041}", "a\\udb40\\udc41")]
    fn what_a_terminal_is_shown(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(for_terminal(text), expected);
    }

    proptest! {
        #[test]
        fn json_stays_what_it_is(text in any::<String>()) {
            let json = format!("{:#}", serde_json::json!({"text": text, "list": [text]}));
            let shown = for_terminal(&json).into_owned();
            prop_assert!(!shown.chars().any(|c| c != '\n' && c.is_control()));
            let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
            prop_assert_eq!(read["text"].as_str(), Some(text.as_str()));
        }
    }
}
