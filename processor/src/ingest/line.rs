//! Pushed bytes into whole lines: in come chunks of any size, out go lines with their raw offset and number.
//!
//! Lines end at byte 0x0A and nothing else; a line without its newline waits. A line longer than [`SQUEEZE_ABOVE`] goes
//! through [`squeeze`], which drops media as the bytes stream past, so that no line is ever held whole when it is large.
//! Nothing is decoded here.

mod squeeze;

use memchr::memchr;
use squeeze::{Elision, Squeezer};

/// Lines longer than this, in bytes, are squeezed; shorter ones are handed on as they are, without a copy where possible.
pub(crate) const SQUEEZE_ABOVE: usize = 64 * 1024;

/// A whole line, without its newline and a carriage return before it.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// Raw offset of its first byte.
    pub(crate) start: u64,
    /// Lines before it.
    pub(crate) index: u64,
    /// Its bytes, perhaps squeezed.
    pub(crate) bytes: &'a [u8],
    /// Whether it stayed over the cap, so that `bytes` is empty.
    pub(crate) oversize: bool,
    elisions: &'a [Elision],
}

impl<'a> Line<'a> {
    /// A whole document as one line.
    pub(crate) fn whole(bytes: &'a [u8]) -> Self {
        Self {
            start: 0,
            index: 0,
            bytes,
            oversize: false,
            elisions: &[],
        }
    }

    /// Whether something of it was dropped, and the rest kept.
    pub(crate) fn is_shortened(&self) -> bool {
        !self.elisions.is_empty()
    }

    /// The raw offset of `bytes[at]`.
    pub(crate) fn raw_offset(&self, at: usize) -> u64 {
        let elided = self.elisions.iter().take_while(|e| e.at <= at).last().map_or(0, |e| e.total);
        self.start + at as u64 + elided
    }
}

/// Splits a growing file into lines, whatever the chunks.
#[derive(Debug)]
pub(crate) struct LineSplitter {
    /// Raw offset of the line being read.
    start: u64,
    /// Lines before it.
    index: u64,
    /// Its bytes so far, while it is short.
    pending: Vec<u8>,
    /// Its bytes so far, once it is long.
    squeezer: Option<Box<Squeezer>>,
    /// Raw bytes of it so far.
    length: u64,
}

impl LineSplitter {
    /// A splitter for bytes from raw offset `start`, with `index` lines before it.
    pub(crate) fn new(start: u64, index: u64) -> Self {
        Self {
            start,
            index,
            pending: Vec::new(),
            squeezer: None,
            length: 0,
        }
    }

    /// The end of the last whole line: raw offset, and lines before it.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.start, self.index)
    }

    /// Takes the next bytes and gives each line that they complete.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(&Line<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if self.length == 0 && head.len() <= SQUEEZE_ABOVE {
                each(&Line {
                    start: self.start,
                    index: self.index,
                    bytes: uncarriage(head),
                    oversize: false,
                    elisions: &[],
                });
                self.length = head.len() as u64;
            } else {
                self.hold(head);
                self.give_held(&mut each);
            }
            self.start += self.length + 1;
            self.index += 1;
            self.length = 0;
        }
        self.hold(bytes);
    }

    /// Keeps bytes of a line that is not whole yet.
    fn hold(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        if let Some(squeezer) = &mut self.squeezer {
            squeezer.feed(bytes);
        } else if self.pending.len() + bytes.len() <= SQUEEZE_ABOVE {
            self.pending.extend_from_slice(bytes);
        } else {
            let mut squeezer = Box::new(Squeezer::default());
            squeezer.feed(&self.pending);
            squeezer.feed(bytes);
            self.pending = Vec::new();
            self.squeezer = Some(squeezer);
        }
    }

    /// Gives the line that was held, and forgets it.
    fn give_held(&mut self, each: &mut impl FnMut(&Line<'_>)) {
        let (start, index) = (self.start, self.index);
        if let Some(squeezer) = self.squeezer.take() {
            let (bytes, elisions) = (uncarriage(squeezer.bytes()), squeezer.elisions());
            each(&Line {
                start,
                index,
                bytes,
                oversize: squeezer.overflowed(),
                elisions,
            });
        } else {
            each(&Line {
                start,
                index,
                bytes: uncarriage(&self.pending),
                oversize: false,
                elisions: &[],
            });
            self.pending.clear();
        }
    }
}

fn uncarriage(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests;
