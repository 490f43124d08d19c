//! Episodes that say nearly the same, by the bit codes of their vectors.
//!
//! In go codes, out come pairs that differ in few bits, nearest first; whether their vectors are as near is for the caller to see, who
//! can read them. Memory is bounded by the codes and [`MOST_PAIRS`], time by the deadline. Nothing is read and nothing written here.
//!
//! To hold every code against every other is a hundred billion comparisons for half a million. So codes are cut into
//! blocks of 16 bits, and only those are compared that agree in a whole block. Two codes of 384 bits that differ in up to 23 agree in
//! one of the 24 blocks for certain; of those that differ in [`NEAR_BITS`], spread evenly, one in a hundred is missed (ADR 47).

use crate::Deadline;

/// Codes that differ in more bits are not near: an angle of 19 degrees differs in 40 of 384 bits on average, and its cosine is 0.95.
pub const NEAR_BITS: u32 = 40;
/// The cosine from which two texts are told to be nearly the same. At 0.95 all-MiniLM-L6-v2 differs by a number or a name (ADR 47).
pub const NEAR_COSINE: f32 = 0.95;
/// Pairs that are kept; where there are more, the nearest.
pub const MOST_PAIRS: usize = 20_000;
/// Codes that agree in a block and are compared with one: of one that is common (half of all texts begin alike), the next ones in
/// the order of whole codes, among which its likes are.
const MOST_NEIGHBOURS: usize = 256;
/// Bits of a block.
const BLOCK_BITS: u32 = 16;
/// Codes between two looks at the deadline.
const STEP: usize = 4_096;

/// Codes of one length, by the numbers under which they were added.
#[derive(Debug, Default)]
pub struct NearCodes {
    words: usize,
    codes: Vec<u64>,
}

/// Two codes by their numbers, the lower first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NearPair {
    /// Bits that differ.
    pub bits: u32,
    /// The one.
    pub one: u32,
    /// The other.
    pub other: u32,
}

/// What a search found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NearPairs {
    /// The nearest, ties by number.
    pub pairs: Vec<NearPair>,
    /// How many there were in all.
    pub found: u64,
    /// Whether the search came to its end.
    pub complete: bool,
}

impl NearCodes {
    /// Adds a code, whose number is how many were there before. One of another length than the first is not taken.
    pub fn add(&mut self, code: &[u8]) -> bool {
        let words = code.len().div_ceil(8);
        if self.codes.is_empty() {
            self.words = words;
        }
        if words == 0 || words != self.words {
            return false;
        }
        self.codes.extend(code.chunks(8).map(|eight| {
            let mut bytes = [0; 8];
            bytes[..eight.len()].copy_from_slice(eight);
            u64::from_le_bytes(bytes)
        }));
        true
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.codes.len().checked_div(self.words).unwrap_or_default()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The pairs that differ in at most [`NEAR_BITS`], as far as they agree in a block and `deadline` lets; `tell` hears of the share
    /// that is done, in thousandths.
    pub fn pairs(&self, deadline: Deadline, tell: &mut dyn FnMut(u64)) -> NearPairs {
        let mut found = Nearest::default();
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        let blocks = self.blocks();
        for block in 0..blocks {
            order.sort_unstable_by(|one, other| self.in_order(block, *one, *other));
            for (step, start) in (0..order.len()).step_by(STEP).enumerate() {
                if deadline.has_passed() {
                    return found.done(false);
                }
                if step == 0 {
                    tell(u64::from(block) * 1_000 / u64::from(blocks));
                }
                for place in start..(start + STEP).min(order.len()) {
                    self.compare(block, &order[place..], &mut found);
                }
            }
        }
        found.done(true)
    }

    /// Compares the first of `order` with those behind it that agree in `block`.
    fn compare(&self, block: u32, order: &[u32], found: &mut Nearest) {
        let Some((&first, others)) = order.split_first() else { return };
        let value = self.block(block, first);
        for &other in others
            .iter()
            .take(MOST_NEIGHBOURS)
            .take_while(|other| self.block(block, **other) == value)
        {
            let bits = self.differing(first, other);
            // A pair is found in the first block in which it agrees, and nowhere else again.
            if bits <= NEAR_BITS && !(0..block).any(|block| self.block(block, first) == self.block(block, other)) {
                found.add(NearPair {
                    bits,
                    one: first.min(other),
                    other: first.max(other),
                });
            }
        }
    }

    fn blocks(&self) -> u32 {
        self.words as u32 * (u64::BITS / BLOCK_BITS)
    }

    fn block(&self, block: u32, number: u32) -> u64 {
        let per_word = u64::BITS / BLOCK_BITS;
        let word = self.code(number)[(block / per_word) as usize];
        word >> (block % per_word * BLOCK_BITS) & ((1 << BLOCK_BITS) - 1)
    }

    /// By the block, then by whole codes, then by number.
    fn in_order(&self, block: u32, one: u32, other: u32) -> std::cmp::Ordering {
        let key = |number| (self.block(block, number), self.code(number), number);
        key(one).cmp(&key(other))
    }

    fn code(&self, number: u32) -> &[u64] {
        let start = number as usize * self.words;
        &self.codes[start..start + self.words]
    }

    fn differing(&self, one: u32, other: u32) -> u32 {
        let words = self.code(one).iter().zip(self.code(other));
        words.map(|(one, other)| (one ^ other).count_ones()).sum()
    }
}

/// Keeps the nearest pairs: lets twice as many in, and then sorts out.
#[derive(Debug, Default)]
struct Nearest {
    pairs: Vec<NearPair>,
    found: u64,
}

impl Nearest {
    fn add(&mut self, pair: NearPair) {
        self.found += 1;
        self.pairs.push(pair);
        if self.pairs.len() >= 2 * MOST_PAIRS {
            self.sort_out();
        }
    }

    fn sort_out(&mut self) {
        self.pairs.sort_unstable();
        self.pairs.truncate(MOST_PAIRS);
    }

    fn done(mut self, complete: bool) -> NearPairs {
        self.sort_out();
        NearPairs {
            pairs: self.pairs,
            found: self.found,
            complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    const BYTES: usize = 48;

    fn of(codes: &[Vec<u8>]) -> NearCodes {
        let mut near = NearCodes::default();
        for code in codes {
            assert!(near.add(code));
        }
        near
    }

    fn pairs(codes: &[Vec<u8>]) -> NearPairs {
        of(codes).pairs(Deadline::after(Duration::from_mins(1)), &mut |_| {})
    }

    /// `code` with these bits turned.
    fn turned(code: &[u8], bits: impl IntoIterator<Item = usize>) -> Vec<u8> {
        let mut code = code.to_vec();
        for bit in bits {
            code[bit / 8] ^= 1 << (bit % 8);
        }
        code
    }

    #[test]
    fn near_codes_are_found_once_and_nearest_first() {
        let code = vec![0xA5; BYTES];
        let codes = [
            code.clone(),
            turned(&code, (0..384).filter(|bit| bit % 2 == 0)),
            turned(&code, [3, 100]),
            code.clone(),
        ];
        let found = pairs(&codes);
        let told: Vec<_> = found.pairs.iter().map(|pair| (pair.bits, pair.one, pair.other)).collect();
        assert_eq!(told, [(0, 0, 3), (2, 0, 2), (2, 2, 3)]);
        assert!(found.complete && found.found == 3);
    }

    #[test]
    fn a_code_of_another_length_is_not_taken() {
        let mut near = NearCodes::default();
        assert!(!near.add(&[]) && near.is_empty());
        assert!(near.add(&[1; 48]) && !near.add(&[1; 64]));
        assert_eq!(near.len(), 1);
    }

    #[test]
    fn a_search_ends_at_its_deadline_and_says_so() {
        let near = of(&vec![vec![7; BYTES]; 100]);
        let found = near.pairs(Deadline::after(Duration::ZERO), &mut |_| {});
        assert!(!found.complete && found.pairs.is_empty());
    }

    #[test]
    fn a_crowd_of_equal_codes_takes_no_square_of_time_and_keeps_the_nearest() {
        let found = pairs(&vec![vec![7; BYTES]; 3_000]);
        assert_eq!(
            found.found,
            (0..3_000_u64)
                .map(|place| (2_999 - place).min(MOST_NEIGHBOURS as u64))
                .sum::<u64>()
        );
        assert_eq!(found.pairs.len(), MOST_PAIRS);
    }

    proptest! {
        /// Up to 23 bits leave one of 24 blocks as it is, wherever they are.
        #[test]
        fn few_differing_bits_are_always_found(
            code in prop::collection::vec(any::<u8>(), BYTES),
            bits in prop::collection::btree_set(0..384_usize, 0..=23),
        ) {
            let count = bits.len() as u32;
            let found = pairs(&[code.clone(), turned(&code, bits)]);
            prop_assert_eq!(found.pairs, [NearPair { bits: count, one: 0, other: 1 }]);
        }

        /// Nothing that is found is farther off than is told, and nothing is found twice.
        #[test]
        fn what_is_found_is_near(codes in prop::collection::vec(prop::collection::vec(0..4_u8, BYTES), 0..24)) {
            let found = pairs(&codes);
            let mut seen = std::collections::BTreeSet::new();
            for pair in found.pairs {
                let (one, other) = (&codes[pair.one as usize], &codes[pair.other as usize]);
                let bits: u32 = one.iter().zip(other).map(|(one, other)| (one ^ other).count_ones()).sum();
                prop_assert!(bits == pair.bits && bits <= NEAR_BITS && pair.one < pair.other);
                prop_assert!(seen.insert((pair.one, pair.other)));
            }
        }
    }
}
