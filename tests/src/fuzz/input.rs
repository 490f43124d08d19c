//! Choices that an input makes for itself, and its parts.

use std::borrow::Cow;

/// Numbers that follow from a seed: `SplitMix64`.
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    /// Numbers that follow from an input.
    pub(super) fn of(data: &[u8]) -> Self {
        // FNV-1a.
        let hash = data.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(hash)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 where that is 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % (bound.max(1) as u64)) as usize
    }

    /// One of `choices`.
    pub(super) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// `data` in pieces: now few large ones, now many small ones.
    pub(super) fn split<'a>(&mut self, mut data: &'a [u8]) -> Vec<&'a [u8]> {
        let largest = [3_usize, 40, 700, 20_000][self.below(4)].max(data.len() / 300);
        let mut pieces = Vec::new();
        while !data.is_empty() {
            let (piece, rest) = data.split_at((1 + self.below(largest)).min(data.len()));
            pieces.push(piece);
            data = rest;
        }
        pieces
    }
}

/// The text of an input: what is not UTF-8 is replaced.
pub(super) fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// The texts of an input, between NUL bytes.
pub(super) fn texts(data: &[u8]) -> Vec<Cow<'_, str>> {
    data.split(|byte| *byte == 0).map(text).collect()
}
