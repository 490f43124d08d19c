//! The codes of one project, and the scan for those of least Hamming distance.

use std::ops::Range;

use pulp::Arch;
use remembrancer_schema::EpisodeId;

/// Episodes in a block: grown by doubling up to here, so that a small project takes little and a large one is never copied.
const BLOCK: usize = 4_096;

/// One project's codes.
#[derive(Debug)]
pub(super) struct Shard {
    words: usize,
    blocks: Vec<Block>,
}

#[derive(Debug, Default)]
struct Block {
    ids: Vec<EpisodeId>,
    /// `words` for each id, in turn.
    codes: Vec<u64>,
}

impl Shard {
    /// Without codes, for codes of so many words.
    pub(super) fn new(words: usize) -> Self {
        Self {
            words,
            blocks: Vec::new(),
        }
    }

    /// How many blocks of codes there are.
    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// How many codes there are.
    #[cfg(test)]
    pub(super) fn codes(&self) -> usize {
        self.blocks.iter().map(|block| block.ids.len()).sum()
    }

    /// Adds a code. Its episode must not be in the shard.
    pub(super) fn push(&mut self, id: EpisodeId, code: &[u8]) {
        if self.blocks.last().is_none_or(|block| block.ids.len() == BLOCK) {
            self.blocks.push(Block::default());
        }
        let block = self.blocks.last_mut().expect("invariant: a block was just pushed");
        block.ids.push(id);
        block.codes.extend(to_words(code, self.words));
    }

    /// Takes out of these blocks the episodes that `is_meant`: the last code of all fills each hole. Later blocks must have been through.
    pub(super) fn remove(&mut self, blocks: Range<usize>, is_meant: impl Fn(EpisodeId) -> bool) {
        let holes = |block: &Block| -> Vec<usize> {
            let places = block.ids.iter().enumerate().rev();
            places.filter(|(_, id)| is_meant(**id)).map(|(place, _)| place).collect()
        };
        // From the end, so that what fills a hole is never itself to be removed.
        for index in (blocks.start..blocks.end.min(self.blocks.len())).rev() {
            for place in holes(&self.blocks[index]) {
                self.fill(index, place);
            }
        }
    }

    fn fill(&mut self, index: usize, place: usize) {
        let last = self.blocks.last_mut().expect("invariant: a hole lies in a block");
        let id = last.ids.pop().expect("invariant: no block is empty");
        let code = last.codes.split_off(last.codes.len() - self.words);
        if last.ids.is_empty() {
            self.blocks.pop();
        }
        // Where the hole was the last code itself, it is gone already.
        if let Some(block) = self.blocks.get_mut(index)
            && place < block.ids.len()
        {
            block.ids[place] = id;
            block.codes[place * self.words..][..self.words].copy_from_slice(&code);
        }
    }

    /// Offers every code to `nearest`.
    pub(super) fn scan<'a>(&'a self, code: &[u64], nearest: &mut Nearest<'a>) {
        for block in &self.blocks {
            match <&[u64; 6]>::try_from(code) {
                // The built-in model's 384 components: a length that the compiler knows.
                Ok(code) => scan_block(block, code.as_slice(), 6, nearest),
                Err(_) => scan_block(block, code, self.words, nearest),
            }
        }
    }
}

#[expect(
    clippy::inline_always,
    reason = "compiled inside `dispatch` to get its instruction set, and for a known length"
)]
#[inline(always)]
fn scan_block<'a>(block: &'a Block, code: &[u64], words: usize, nearest: &mut Nearest<'a>) {
    Arch::new().dispatch(|| {
        for (stored, id) in block.codes.chunks_exact(words).zip(&block.ids) {
            let distance = stored.iter().zip(code).map(|(a, b)| (a ^ b).count_ones()).sum();
            if distance <= nearest.farthest {
                nearest.offer(distance, *id, stored);
            }
        }
    });
}

/// A code's bytes as words, filled up with zeros.
pub(super) fn to_words(code: &[u8], words: usize) -> Vec<u64> {
    let mut filled = vec![0u64; words];
    for (index, byte) in code.iter().take(words * 8).enumerate() {
        filled[index / 8] |= u64::from(*byte) << (8 * (index % 8));
    }
    filled
}

/// The nearest codes so far: what is farther than `limit` others is never kept, and the rest is thinned out now and then.
pub(super) struct Nearest<'a> {
    limit: usize,
    /// Whether an episode may be found.
    admits: &'a dyn Fn(EpisodeId) -> bool,
    /// No code beyond this distance can be among the nearest.
    farthest: u32,
    found: Vec<Found<'a>>,
}

/// One of the nearest.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) id: EpisodeId,
    pub(super) code: &'a [u64],
    distance: u32,
}

impl<'a> Nearest<'a> {
    /// To find so many among those that are admitted.
    pub(super) fn new(limit: usize, admits: &'a dyn Fn(EpisodeId) -> bool) -> Self {
        Self {
            limit,
            admits,
            farthest: u32::MAX,
            found: Vec::new(),
        }
    }

    #[cold]
    fn offer(&mut self, distance: u32, id: EpisodeId, code: &'a [u64]) {
        if !(self.admits)(id) {
            return;
        }
        self.found.push(Found { id, code, distance });
        if self.found.len() >= 2 * self.limit {
            self.thin_out();
        }
    }

    /// Keeps `limit`, by distance and then id, so that the order of the scan decides nothing.
    fn thin_out(&mut self) {
        if self.found.len() > self.limit {
            self.found
                .select_nth_unstable_by_key(self.limit - 1, |found| (found.distance, found.id));
            self.found.truncate(self.limit);
            self.farthest = self.found[self.limit - 1].distance;
        }
    }

    /// What was found, in no order.
    pub(super) fn into_found(mut self) -> Vec<Found<'a>> {
        self.thin_out();
        self.found
    }
}
