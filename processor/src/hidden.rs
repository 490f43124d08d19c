//! What can't be seen, or makes a terminal do something, leaves a text. Whatever shows a text or judges what is in it asks here what
//! a reader will see of it, so that a secret is never looked for in another text than the one that is shown.

use unicode_normalization::char::is_combining_mark;

/// Marks on one letter that stay: more are no writing, but a way to swell one character without end. Tibetan stacks have five.
const MARKS: usize = 6;

/// `text` without terminal escape sequences, without control, invisible, bidirectional and private characters, with line ends as
/// `\n` and any other blank as a space.
pub(crate) fn visible(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut marks = 0;
    let mut rest = text;
    while let Some((bytes, seen)) = first_seen(rest) {
        rest = &rest[bytes..];
        match seen {
            // What is hidden between two marks parts them for nobody.
            None => {}
            Some(c) if is_combining_mark(c) => {
                marks += 1;
                if marks <= MARKS {
                    kept.push(c);
                }
            }
            Some(c) => {
                kept.push(c);
                marks = 0;
            }
        }
    }
    kept
}

/// How many bytes of `text` come first that are seen as one character or as none, and as which; `None` at its end.
pub(crate) fn first_seen(text: &str) -> Option<(usize, Option<char>)> {
    let c = text.chars().next()?;
    let rest = &text[c.len_utf8()..];
    let (seen, behind) = match c {
        '\u{1b}' => (None, behind_escape(rest)),
        '\u{9b}' => (None, behind_parameters(rest)),
        '\r' => (Some('\n'), rest.strip_prefix('\n').unwrap_or(rest)),
        '\n' => (Some('\n'), rest),
        c if c.is_whitespace() => (Some(' '), rest),
        c if is_hidden(c) => (None, rest),
        c => (Some(c), rest),
    };
    Some((text.len() - behind.len(), seen))
}

/// What follows an escape sequence of which the escape character is gone. A string without an end hides nothing but its beginning.
fn behind_escape(rest: &str) -> &str {
    match rest.chars().next() {
        Some('[') => behind_parameters(&rest[1..]),
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let body = &rest[1..];
            let line = &body[..body.find('\n').unwrap_or(body.len())];
            match line.find(['\u{7}', '\u{1b}', '\u{9c}']) {
                // Of the two characters ESC \ the second goes here, too.
                Some(end) => {
                    let behind = &body[end..];
                    let behind = behind.strip_prefix(['\u{7}', '\u{9c}']).unwrap_or(behind);
                    behind.strip_prefix("\u{1b}\\").unwrap_or(behind)
                }
                None => body,
            }
        }
        _ => rest,
    }
}

/// What follows the parameters and the last character of a control sequence.
fn behind_parameters(rest: &str) -> &str {
    let rest = rest.trim_start_matches(|c| matches!(c, '\u{20}'..='\u{3f}'));
    rest.strip_prefix(|c| matches!(c, '\u{40}'..='\u{7e}')).unwrap_or(rest)
}

/// Whether a character shows nothing, orders other characters anew, or has no meaning of its own: Unicode's controls, formats,
/// default ignorables, private use and non-characters. Joiners of some scripts are among them: a memory can do without.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || u32::from(c) & 0xfffe == 0xfffe
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{13455}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..)
}
