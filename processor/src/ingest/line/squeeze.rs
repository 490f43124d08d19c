//! One long JSON line, as it streams past, into a short one that is still JSON: runs of base64 are cut to their
//! beginning, and a string over its cap keeps its head, up to white space so that no secret is split. What stays over [`LINE_CAP`] is given up.
//!
//! A state machine over bytes: it knows strings and escapes and nothing else of JSON, and gives the same whatever the
//! chunks. The raw offsets of what follows a cut can be found again by its [`Elision`]s.

use memchr::{memchr, memchr2};

/// Longest line kept after squeezing, in bytes.
const LINE_CAP: usize = 8 * 1024 * 1024;
/// Longest string kept within a line, in bytes.
const STRING_CAP: usize = 4 * 1024 * 1024;
/// Bytes beyond the cap within which white space is waited for.
const SPACE_REACH: usize = 64 * 1024;
/// Longest run of base64 characters kept within a string. No word, path or identifier is near it.
const RUN_CAP: usize = 1024;
/// A string is not cut within this many characters after an escape, which could be its hex digits.
const ESCAPE_REACH: usize = 5;

/// Bytes that were dropped before a place of the squeezed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Elision {
    /// Place in the squeezed line.
    pub(super) at: usize,
    /// All bytes dropped before it.
    pub(super) total: u64,
}

/// Where in a JSON text a byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    /// Between strings.
    #[default]
    Structure,
    /// In a string.
    String,
    /// In a string, after a backslash.
    Escape,
}

/// Squeezes one line.
#[derive(Debug, Default)]
pub(super) struct Squeezer {
    out: Vec<u8>,
    elisions: Vec<Elision>,
    elided: u64,
    within: Within,
    /// Base64 characters since the last other byte of this string.
    run: usize,
    /// Bytes of this string so far.
    string: usize,
    /// Whether the rest of this string is dropped.
    cut: bool,
    overflowed: bool,
}

impl Squeezer {
    /// Takes the next bytes of the line.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.overflowed {
            return;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = &rest[self.plain_bytes(rest)..];
            if let [byte, after @ ..] = rest {
                self.byte(*byte);
                rest = after;
            }
        }
        if self.out.len() > LINE_CAP {
            self.overflowed = true;
            self.out = Vec::new();
            self.elisions = Vec::new();
        }
    }

    /// The line as squeezed; empty if it overflowed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Where bytes were dropped, in order.
    pub(super) fn elisions(&self) -> &[Elision] {
        &self.elisions
    }

    /// Whether the line was too long to keep.
    pub(super) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Takes those bytes at once of which none changes more than counts, and says how many they were: most are such.
    fn plain_bytes(&mut self, bytes: &[u8]) -> usize {
        match self.within {
            Within::Structure => {
                let plain = memchr(b'"', bytes).unwrap_or(bytes.len());
                self.out.extend_from_slice(&bytes[..plain]);
                plain
            }
            Within::String if self.run > RUN_CAP => {
                let data = bytes.iter().take_while(|byte| is_base64(**byte)).count();
                self.run += data;
                self.string += data;
                self.drop_bytes(data);
                data
            }
            Within::String if self.cut => {
                let plain = memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
                self.drop_bytes(plain);
                plain
            }
            // No run can pass its cap within so few bytes.
            Within::String => {
                let near = &bytes[..bytes.len().min(RUN_CAP.saturating_sub(self.run))];
                let plain = memchr2(b'"', b'\\', near).unwrap_or(near.len());
                if self.string + plain > STRING_CAP {
                    return 0;
                }
                let plain_bytes = &near[..plain];
                let run = plain_bytes.iter().rev().take_while(|byte| is_base64(**byte)).count();
                self.run = if run == plain { self.run + run } else { run };
                self.string += plain;
                self.out.extend_from_slice(plain_bytes);
                plain
            }
            Within::Escape => 0,
        }
    }

    fn byte(&mut self, byte: u8) {
        match self.within {
            Within::Structure => self.structure_byte(byte),
            Within::String => self.string_byte(byte),
            Within::Escape => {
                self.within = Within::String;
                self.put(byte);
                self.cut |= self.string > STRING_CAP && matches!(byte, b'n' | b'r' | b't');
            }
        }
    }

    fn structure_byte(&mut self, byte: u8) {
        self.out.push(byte);
        if byte == b'"' {
            self.within = Within::String;
            self.run = 0;
            self.string = 0;
            self.cut = false;
        }
    }

    fn string_byte(&mut self, byte: u8) {
        self.string += 1;
        if byte == b'"' {
            self.within = Within::Structure;
            self.cut = false;
            return self.put(byte);
        }
        if is_base64(byte) {
            self.run += 1;
            if self.run > RUN_CAP {
                return self.drop_bytes(1);
            }
        } else {
            self.run = 0;
        }
        // Never in the middle of a character or of an escape.
        let boundary = byte == b'\\' || (byte.is_ascii() && (self.run == 0 || self.run > ESCAPE_REACH)) || byte >= 0xC0;
        let space = byte == b' ' && self.string > STRING_CAP;
        if space || (boundary && self.string > STRING_CAP + SPACE_REACH) {
            self.cut = true;
        }
        if byte == b'\\' {
            self.within = Within::Escape;
        }
        self.put(byte);
    }

    fn put(&mut self, byte: u8) {
        if self.cut {
            self.drop_bytes(1);
        } else {
            self.out.push(byte);
        }
    }

    fn drop_bytes(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        self.elided += count as u64;
        let at = self.out.len();
        match self.elisions.last_mut() {
            Some(last) if last.at == at => last.total = self.elided,
            _ => self.elisions.push(Elision { at, total: self.elided }),
        }
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Squeezes `input` and compares with taking it byte by byte.
    fn check(input: &[u8]) {
        let (mut squeezer, mut oracle) = (Squeezer::default(), Squeezer::default());
        squeezer.feed(input);
        for byte in input {
            oracle.byte(*byte);
        }
        assert!(
            (&squeezer.out, &squeezer.elisions, squeezer.within) == (&oracle.out, &oracle.elisions, oracle.within),
            "{} bytes squeezed to {} are not the {} of the oracle",
            input.len(),
            squeezer.out.len(),
            oracle.out.len(),
        );
    }

    #[test]
    fn long_strings_are_cut_at_the_same_place() {
        for piece in ["some words ", "word\\n\\u00e9", "unbroken", "é"] {
            check(
                format!(
                    "{{\"a\":\"{}\",\"b\":1}}",
                    piece.repeat(STRING_CAP / piece.len() + 90_000 / piece.len())
                )
                .as_bytes(),
            );
        }
    }

    proptest! {
        #[test]
        fn many_bytes_at_once_are_as_one_by_one(pieces in prop::collection::vec(prop_oneof![
            4 => "[a-z\"\\\\ é:,{}]{0,20}",
            2 => (1_000_usize..1_100).prop_map(|length| "Q".repeat(length)),
            1 => (0_usize..40).prop_map(|length| "\\u00e9".repeat(length)),
        ], 0..20)) {
            check(pieces.concat().as_bytes());
        }
    }
}
