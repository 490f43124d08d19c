//! A text as it is read, while its own letters are kept: what can't be seen, and how a letter is spelled in an escape, hides no secret.
//!
//! In goes a text, out comes a view of it in which rules look, with a note of every place at which the two differ. What a rule finds
//! is taken out of the view; the rest is given back as it stood, joiners of scripts, emoji and escapes included. Where nothing is taken
//! out, the text is given back untouched.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr2_iter, memchr3_iter, memmem};

use crate::hidden::first_seen;

/// Longest escape of a letter, in bytes: `&#x0000005f;`.
const LONGEST_ESCAPE: usize = 12;
/// Marks of bold type in Markdown, which may stand in the middle of a word.
const BOLD: &str = "**";
/// Longest tag of HTML that is taken for such a mark, in bytes.
const LONGEST_MARK: usize = 12;

/// Begins a sequence for a terminal.
const ESCAPE: u8 = 0x1b;
/// The first byte in UTF-8 of U+009B, which begins one, too.
const ONE_BYTE_BEGINS: u8 = 0xc2;

/// What is taken out of a view, and the kind of secret whose placeholder stands there; none where nothing does.
pub(super) struct Cut {
    pub(super) range: Range<usize>,
    pub(super) kind: Option<&'static str>,
}

/// A place at which the text is another than its view.
#[derive(Clone, Copy)]
struct Piece<'t> {
    /// Where it stands in the view.
    at: usize,
    /// Bytes of the view: none, or those of one letter.
    len: usize,
    /// What stands there in the text.
    original: &'t str,
}

/// A text as it is read.
pub(super) struct View<'t> {
    original: &'t str,
    text: Cow<'t, str>,
    /// In order.
    pieces: Vec<Piece<'t>>,
    is_changed: bool,
}

impl<'t> View<'t> {
    /// `text` as it is shown: without escape sequences and invisible characters, with a space for every other blank.
    pub(super) fn shown(text: &'t str) -> Self {
        if hides(text) {
            Self::with(text, |_, _| None)
        } else {
            Self::plain(text)
        }
    }

    /// `text` as it is shown once its escapes are read, those of URLs, JSON and HTML, and bold type within words; `None` where it holds
    /// none.
    pub(super) fn unescaped(text: &'t str) -> Option<Self> {
        holds_escape(text).then(|| Self::with(text, unescape))
    }

    /// `text` as it stands, where sequences for a terminal hide letters of it: they are not shown, and kept all the same. `None` where
    /// none does.
    pub(super) fn of_hidden_letters(text: &'t str) -> Option<Self> {
        // By the first bytes of what begins a sequence, many at a time: most texts hold neither.
        memchr2_iter(ESCAPE, ONE_BYTE_BEGINS, text.as_bytes())
            .any(|at| hides_letters(&text[at..]))
            .then(|| Self::plain(text))
    }

    /// `text` in the fullest view of it.
    pub(super) fn read(text: &'t str) -> Self {
        Self::unescaped(text).unwrap_or_else(|| Self::shown(text))
    }

    fn plain(text: &'t str) -> Self {
        Self {
            original: text,
            text: Cow::Borrowed(text),
            pieces: Vec::new(),
            is_changed: false,
        }
    }

    fn with(original: &'t str, unescape: fn(&str, usize) -> Option<(usize, &str)>) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(c) = original[at..].chars().next() {
            let escaped = unescape(original, at);
            let (end, seen) = match escaped {
                Some((bytes, letter)) => (at + bytes, Some(letter)),
                None if !is_odd(c) => (at + c.len_utf8(), None),
                None => match first_seen(&original[at..]) {
                    Some((bytes, Some(_))) => (at + bytes, Some(" ")),
                    Some((bytes, None)) => (at + bytes, Some("")),
                    None => break,
                },
            };
            match seen {
                None => text.push(c),
                Some(letter) => {
                    pieces.push(Piece {
                        at: text.len(),
                        len: letter.len(),
                        original: &original[at..end],
                    });
                    text.push_str(letter);
                }
            }
            at = end;
        }
        Self {
            original,
            text: Cow::Owned(text),
            pieces,
            is_changed: false,
        }
    }

    /// What rules look at.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where in the text stands what stands at `at` in the view, of which nothing was taken out yet.
    pub(super) fn place(&self, at: usize) -> usize {
        let before = self.pieces.iter().take_while(|piece| piece.at + piece.len <= at);
        at + before.map(|piece| piece.original.len() - piece.len).sum::<usize>()
    }

    /// Takes out what was found, in order. What touches a place that is taken out goes along, or stays as it is read.
    pub(super) fn take_out(&mut self, cuts: &[Cut]) {
        if cuts.is_empty() {
            return;
        }
        let mut text = String::with_capacity(self.text.len());
        let mut pieces = Vec::new();
        let mut rest = self.pieces.iter().peekable();
        let mut from = 0;
        let ends = cuts.iter().map(|cut| cut.range.start).chain([self.text.len()]);
        for (number, end) in ends.enumerate() {
            while let Some(piece) = rest.next_if(|piece| number == cuts.len() || piece.at <= end) {
                let is_clear = (number == 0 || piece.at > from) && (number == cuts.len() || piece.at + piece.len < end);
                if is_clear {
                    pieces.push(Piece {
                        at: piece.at - from + text.len(),
                        ..*piece
                    });
                }
            }
            text.push_str(&self.text[from..end]);
            if let Some(cut) = cuts.get(number) {
                if let Some(kind) = cut.kind {
                    text.extend(["[redacted:", kind, "]"]);
                }
                from = cut.range.end;
            }
        }
        (self.text, self.pieces, self.is_changed) = (Cow::Owned(text), pieces, true);
    }

    /// The text, without what was taken out; borrowed if that was nothing.
    pub(super) fn restored(self) -> Cow<'t, str> {
        if !self.is_changed {
            return Cow::Borrowed(self.original);
        }
        if self.pieces.is_empty() {
            return self.text;
        }
        let mut restored = String::with_capacity(self.text.len() + self.pieces.len() * 4);
        let mut from = 0;
        for piece in &self.pieces {
            restored.push_str(&self.text[from..piece.at]);
            restored.push_str(piece.original);
            from = piece.at + piece.len;
        }
        restored.push_str(&self.text[from..]);
        Cow::Owned(restored)
    }
}

/// Whether the sequence that `text` begins with hides letters that may be a secret's: what it says is a text, as the address of a link
/// is, or its last sign may be a word's first, or what parts a word from the one before. Colours and the clearing of lines, which stand before words all the time, hide none.
fn hides_letters(text: &str) -> bool {
    let Some((bytes, None)) = first_seen(text) else {
        return false;
    };
    let (sequence, behind) = text.split_at(bytes);
    let body = sequence.trim_start_matches(['\u{1b}', '\u{9b}']);
    if !body.starts_with('[') && !sequence.starts_with('\u{9b}') {
        return body.contains(|c: char| c.is_ascii_alphanumeric());
    }
    let parameters = |c: char| matches!(c, '0'..='9' | ';' | ':' | '[');
    let ends = body.trim_start_matches(parameters);
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    ends != "m" && ends != "K" && behind.starts_with(is_of_word)
}

/// Whether a character is seen as another, as none, or makes others be seen so. Line ends and tabs are read by the rules themselves.
fn is_odd(c: char) -> bool {
    !matches!(c, '\n' | '\r' | '\t' | ' '..='~') && {
        let mut bytes = [0; 4];
        first_seen(c.encode_utf8(&mut bytes)) != Some((c.len_utf8(), Some(c)))
    }
}

/// Whether a text is shown otherwise than it stands. Plain ASCII is gone through once, many bytes at a time.
fn hides(text: &str) -> bool {
    let is_suspect = |byte: &u8| (*byte < 0x20 && !matches!(*byte, b'\n' | b'\r' | b'\t')) || *byte == 0x7F || *byte >= 0x80;
    let found = text.bytes().fold(false, |found, byte| found | is_suspect(&byte));
    found && text.chars().any(is_odd)
}

/// Whether a letter is spelled by an escape somewhere.
fn holds_escape(text: &str) -> bool {
    memchr3_iter(b'%', b'\\', b'&', text.as_bytes())
        .chain(memchr2_iter(b'<', b'`', text.as_bytes()))
        .chain(memmem::find_iter(text.as_bytes(), BOLD))
        .any(|at| unescape(text, at).is_some())
}

/// The letter that an escape at `at` spells, and the bytes of that; an empty one where there is nothing to read. Visible ASCII alone: a
/// secret has no other.
fn unescape(text: &str, at: usize) -> Option<(usize, &str)> {
    let rest = &text.as_bytes()[at..];
    let (bytes, code) = match rest {
        // Once more in itself.
        [b'%', b'2', b'5', first @ b'0'..=b'7', second, ..] if second.is_ascii_hexdigit() => (5, from_hex(&[*first, *second])?),
        [b'%', first, second, ..] => (3, from_hex(&[*first, *second])?),
        [b'\\', b'u', b'0', b'0', first, second, ..] => (6, from_hex(&[*first, *second])?),
        [b'\\', b'x', first, second, ..] => (4, from_hex(&[*first, *second])?),
        [b'&', ..] => entity(rest)?,
        [b'\\', sign @ (b'_' | b'-'), ..] => (2, u32::from(*sign)),
        [b'*' | b'`' | b'<', ..] => return mark(text, at).map(|bytes| (bytes, "")),
        _ => return None,
    };
    Some((bytes, letter(code)?))
}

/// The bytes of a mark of type in the midst of a word, of Markdown or HTML: one that ends there stands behind a beginning such as `ghp_`.
fn mark(text: &str, at: usize) -> Option<usize> {
    let (before, rest) = (text.as_bytes()[..at].last()?, &text.as_bytes()[at..]);
    let ends_a_beginning = matches!(before, b'_' | b'-');
    let bytes = match rest[0] {
        b'*' if rest.starts_with(BOLD.as_bytes()) && (ends_a_beginning || before.is_ascii_alphanumeric()) => BOLD.len(),
        b'`' if ends_a_beginning => 1,
        b'<' if ends_a_beginning => rest.iter().take(LONGEST_MARK).position(|byte| *byte == b'>')? + 1,
        _ => return None,
    };
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    rest.get(bytes).is_some_and(is_of_word).then_some(bytes)
}

fn from_hex(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    are_digits.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// An element of HTML that stands for one letter: its bytes, and the letter's code.
fn entity(rest: &[u8]) -> Option<(usize, u32)> {
    let end = 1 + rest[1..].iter().take(LONGEST_ESCAPE).position(|byte| *byte == b';')?;
    if &rest[1..end] == b"amp"
        && let Some((bytes, code)) = entity(&rest[end..])
    {
        // Once more in itself.
        return Some((end + bytes, code));
    }
    let code = match &rest[1..end] {
        b"lt" => u32::from(b'<'),
        b"gt" => u32::from(b'>'),
        b"amp" => u32::from(b'&'),
        b"quot" => u32::from(b'"'),
        b"apos" => u32::from(b'\''),
        [b'#', b'x' | b'X', digits @ ..] if !digits.is_empty() => from_hex(digits)?,
        [b'#', digits @ ..] => std::str::from_utf8(digits).ok()?.parse().ok()?,
        _ => return None,
    };
    Some((end + 1, code))
}

/// The characters of visible ASCII and the space, in order.
const VISIBLE: &str = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

fn letter(code: u32) -> Option<&'static str> {
    let at = usize::try_from(code.checked_sub(0x20)?).ok()?;
    VISIBLE.get(at..=at)
}

#[cfg(test)]
mod tests;
