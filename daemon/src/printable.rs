//! Text that others wrote, into text that a terminal may be shown: none of it does something there, hides something, or orders anew
//! what stands around it. Nothing is lost: what would is spelled as JSON spells it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` with `\u001b` for an escape character, and likewise for every other that would do something or hide something.
pub(crate) fn for_terminal(text: &str) -> Cow<'_, str> {
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

/// The same on one line, for what stands among other things in one.
pub(crate) fn on_one_line(text: &str) -> Cow<'_, str> {
    let shown = for_terminal(text);
    if !shown.contains(['\n', '\r', '\t']) {
        return shown;
    }
    let shown = shown.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    Cow::Owned(shown)
}

/// Whether it stands on one line as it is, with nothing that would have to be spelled.
pub(crate) fn is_plain(text: &str) -> bool {
    matches!(on_one_line(text), Cow::Borrowed(_))
}

/// `text` as a field of several lines has it to be sent again: lines and tabs stay, what would do something or hide something goes. It is
/// not spelled, since whoever sends the field would send the spelling; no bracket or marker of it is broken, since other words would be
/// asked for then.
pub(crate) fn for_lines(text: &str) -> String {
    text.chars().filter(|c| !acts_on_a_terminal(*c)).collect()
}

/// The same for a field of one line.
pub(crate) fn for_field(text: &str) -> String {
    for_lines(text).replace(['\n', '\t'], " ")
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

    #[rstest]
    #[case::plain("/home/ada/ç.jsonl", "/home/ada/ç.jsonl")]
    #[case::lines("a\nb\r\nc\td", "a\\nb\\r\\nc\\td")]
    #[case::title("\u{1b}]0;x\u{7}", "\\u001b]0;x\\u0007")]
    fn what_stands_on_one_line(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(on_one_line(text), expected);
    }

    #[rstest]
    #[case::plain("why <b>?", "why <b>?", true)]
    #[case::lines("a\r\n\tb", "a\n\tb", false)]
    #[case::acting("a\u{1b}[2J\u{202e}b\0", "a[2Jb", false)]
    fn what_a_field_is_given(#[case] text: &str, #[case] expected: &str, #[case] plain: bool) {
        assert_eq!(for_lines(text), expected);
        assert_eq!(for_field(text), expected.replace(['\n', '\t'], " "));
        assert_eq!(is_plain(text), plain);
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
