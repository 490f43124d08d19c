//! Raw text of a transcript into text that a memory can hold: our own blocks, terminal escapes, control characters and
//! embedded data go, line ends become `\n`. Nothing is judged here. Where data go, secrets go before them: one whose
//! middle is taken for data would keep its ends.

use std::borrow::Cow;

use memchr::memmem;

use super::redact::redact;
use crate::fence::strip_fenced;

/// Longer runs of base64 or hexadecimal characters are data and no words (CASES TC-07).
const DATA_RUN: usize = 256;

/// Cleans a text; borrowed if it is clean already.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let text = strip_fenced(text);
    let text = if holds_controls(text.as_bytes()) {
        Cow::Owned(drop_controls(&text))
    } else {
        text
    };
    if holds_data(text.as_bytes()) {
        Cow::Owned(drop_data(&redact(&text)))
    } else {
        text
    }
}

/// `text` without terminal escape sequences and control characters; `\r\n` and a lone `\r` become `\n`.
fn drop_controls(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\r' => {
                chars.next_if_eq(&'\n');
                kept.push('\n');
            }
            '\n' | '\t' => kept.push(c),
            c if c.is_control() => {}
            c => kept.push(c),
        }
    }
    kept
}

/// Skips what follows an escape character: a CSI sequence, an OSC string, or one character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next_if(|c| matches!(c, '[' | ']')) {
        Some('[') => {
            while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
            chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
        }
        Some(_) => {
            // OSC: ends at BEL or at the next escape, and never beyond its line.
            while chars.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\n')).is_some() {}
            chars.next_if_eq(&'\u{7}');
        }
        None => {}
    }
}

fn is_data(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

/// Whether there is a control character to drop; no early end, so that the compiler can take many bytes at once.
fn holds_controls(text: &[u8]) -> bool {
    let is_control = |byte: &u8| (*byte < 0x20 && *byte != b'\n' && *byte != b'\t') || *byte == 0x7F;
    text.iter().fold(false, |found, byte| found | is_control(byte))
}

/// Whether there is a run of data longer than [`DATA_RUN`]. Looks at the end of each place for one first, and goes on from
/// behind the last byte that is no data: most bytes are never looked at.
fn holds_data(text: &[u8]) -> bool {
    let mut start = 0;
    while let Some(window) = text.get(start..=start + DATA_RUN) {
        match window.iter().rposition(|byte| !is_data(*byte)) {
            Some(other) => start += other + 1,
            None => return true,
        }
    }
    false
}

/// `text` with every long run of data replaced by its length.
fn drop_data(text: &str) -> String {
    let mut kept = String::with_capacity(text.len() / 2);
    let mut rest = text;
    while !rest.is_empty() {
        let run = rest.bytes().take_while(|byte| is_data(*byte)).count();
        if run > DATA_RUN && !is_ruler(&rest[..run]) {
            kept.push_str("[data: ");
            kept.push_str(&run.to_string());
            kept.push_str(" characters]");
        } else {
            kept.push_str(&rest[..run]);
        }
        let gap = rest[run..]
            .find(|c: char| c.is_ascii() && is_data(c as u8))
            .unwrap_or(rest.len() - run);
        kept.push_str(&rest[run..run + gap]);
        rest = &rest[run + gap..];
    }
    kept
}

/// Whether a run is one character repeated, as in a line of dashes.
fn is_ruler(run: &str) -> bool {
    run.bytes().all(|byte| byte == run.as_bytes()[0])
}

/// Whether there are three backticks. The standard library's search is slow for a needle of one character repeated.
pub(crate) fn holds_fence(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"```").is_some()
}

/// The longest prefix of `text` of at most `bytes` bytes that ends on a character border.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The longest suffix of `text` of at most `bytes` bytes that begins on a character border.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// At most `bytes` bytes from the head of `text`, ending with a whole word where there is one, and `…` if it was cut.
pub(crate) fn head_words(text: &str, bytes: usize) -> Cow<'_, str> {
    let text = text.trim();
    if text.len() <= bytes {
        return Cow::Borrowed(text);
    }
    let cut = head(text, bytes);
    let word = cut
        .rfind(char::is_whitespace)
        .filter(|at| *at > bytes / 2)
        .map_or(cut, |at| &cut[..at]);
    Cow::Owned(format!(
        "{}…",
        word.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '-'))
    ))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("a b\n\tc", "a b\n\tc")]
    #[case::crlf("a\r\nb\rc", "a\nb\nc")]
    #[case::colours("\u{1b}[1mbold\u{1b}[22m and \u{1b}[38;2;1;2;3mred", "bold and red")]
    #[case::title("\u{1b}]0;title\u{7}text", "text")]
    #[case::controls("a\u{0}b\u{c}c\u{7f}d\u{85}e", "abcde")]
    #[case::our_block("<remembrancer-recollections a>x</remembrancer-recollections>fix it", "fix it")]
    #[case::lone_escape("\u{1b}", "")]
    fn tc_06_tc_17_texts_are_cleaned(#[case] raw: &str, #[case] expected: &str) {
        assert_eq!(clean(raw), expected);
    }

    #[test]
    fn tc_07_data_is_replaced_by_its_length() {
        let raw = format!("look: {} — and {} done", "QUJD".repeat(100), "-".repeat(300));
        assert_eq!(
            clean(&raw),
            format!("look: [data: 400 characters] — and {} done", "-".repeat(300))
        );
        let short = format!("sha256 {}", "a1".repeat(32));
        assert_eq!(clean(&short), short);
    }

    #[rstest]
    #[case::short("a few words", 40, "a few words")]
    #[case::on_a_word("a few words, and more", 13, "a few words…")]
    #[case::no_spaces("aaaaaaaaaaaaaaaaaaaa", 5, "aaaaa…")]
    #[case::characters("ééééé", 5, "éé…")]
    fn heads_end_on_words(#[case] text: &str, #[case] bytes: usize, #[case] expected: &str) {
        assert_eq!(head_words(text, bytes), expected);
    }
}
