//! The innermost product in 8 bits: blocks of some tokens' values by a block of a panel of weights.
//!
//! Tokens' values become codes with a scale a block, as the weights are. The sum of a block's products of codes is a whole
//! number and exact, whatever instructions it is made with; the blocks' sums, brought to scale, are added up as floats in one
//! order, whatever tokens stand beside.

use pulp::Simd;

use super::linear::Inputs;
use super::simd::{ROUND, multiply_add};
use super::tile::{DEPTH, PANEL};
use super::vnni::{ByteSimd, WithBytes};

/// Inputs that share a scale, of weights and of tokens.
pub(super) const BLOCK: usize = 64;

/// Codes in a word.
pub(super) const CODES: usize = 4;

/// Words in a block.
pub(super) const WORDS: usize = BLOCK / CODES;

/// The largest code.
const LARGEST: f32 = 127.0;

/// What is added to a weight's code to make it an unsigned byte.
const RAISED: u32 = 128;

/// As many last bits as [`ROUND`] has digits: it is 3·2^22.
const ROUND_BITS: u32 = 0b11;

/// A block of a token's values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Two's complements.
    codes: [[u8; CODES]; WORDS],
    /// What a sum of products begins with: the bits of [`ROUND`], so that it ends as a float's, less what comes of weights that
    /// are raised.
    start: u32,
    /// What a code of one stands for.
    scale: f32,
    /// `scale` times [`ROUND`].
    round: f32,
}

impl Block {
    const EMPTY: Self = Self {
        codes: [[0; CODES]; WORDS],
        start: 0,
        scale: 0.0,
        round: 0.0,
    };

    /// Takes the codes that are nearest to `values`. Of values that are no numbers, the scale is none.
    #[expect(clippy::inline_always, reason = "compiled inside `run` to get its instruction set")]
    #[inline(always)]
    fn take(&mut self, values: &[f32; BLOCK]) {
        // Without a sign, the bits of floats are in the order of the floats, and the largest is found in any order.
        let largest = values.iter().fold(0, |largest, value| value.abs().to_bits().max(largest));
        let largest = f32::from_bits(largest);
        let factor = if largest == 0.0 { 0.0 } else { LARGEST / largest };
        let mut sum = 0_u32;
        for (code, value) in self.codes.as_flattened_mut().iter_mut().zip(values) {
            let whole = (value * factor + ROUND).to_bits().wrapping_sub(ROUND.to_bits());
            sum = sum.wrapping_add(whole);
            *code = whole as u8;
        }
        self.start = ROUND.to_bits().wrapping_sub(sum.wrapping_mul(RAISED));
        // Without its last bits it can be multiplied by `ROUND` exactly.
        self.scale = f32::from_bits((largest / LARGEST).to_bits() & !ROUND_BITS);
        self.round = self.scale * ROUND;
    }
}

/// Tokens' values as codes: the first block of every token before the second of any.
#[derive(Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    tokens: usize,
}

impl Blocks {
    /// Takes over the tokens in `inputs`, of `width` values.
    #[expect(clippy::inline_always, reason = "as `Block::take`")]
    #[inline(always)]
    pub(super) fn take(&mut self, inputs: &Inputs, width: usize) {
        self.tokens = inputs.tokens();
        self.blocks.resize(self.tokens * width / BLOCK, Block::EMPTY);
        let parts = self.blocks.chunks_mut(self.tokens * DEPTH / BLOCK);
        for (blocks, part) in parts.zip(inputs.parts()) {
            for (place, blocks) in blocks.chunks_exact_mut(self.tokens).enumerate() {
                for (block, values) in blocks.iter_mut().zip(part) {
                    block.take(&values.as_chunks().0[place]);
                }
            }
        }
    }

    /// Each block in turn, of all tokens.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[Block]> {
        self.blocks.chunks_exact(self.tokens)
    }
}

/// A block of a panel of weights.
#[derive(Clone, Copy)]
pub(super) struct WeightBlock<'a> {
    /// A row for four inputs: a word has their codes, each raised by [`RAISED`].
    pub(super) words: &'a [[u32; PANEL]; WORDS],
    pub(super) scales: &'a [f32; PANEL],
}

/// Adds to each token's `sums` its `values` times `weights`.
pub(super) struct AccumulateBytes<'a> {
    /// The same tokens as `sums`, a multiple of [`TOKENS`](super::tile::TOKENS).
    pub(super) values: &'a [Block],
    pub(super) weights: WeightBlock<'a>,
    pub(super) sums: &'a mut [[f32; PANEL]],
}

impl WithBytes for AccumulateBytes<'_> {
    #[expect(clippy::inline_always, reason = "compiled by `run` for each instruction set")]
    #[inline(always)]
    fn with_bytes<Bytes: ByteSimd>(self, bytes: Bytes) {
        let Self { values, weights, sums } = self;
        // As many sums as there are registers, less those for weights and a token's values.
        if Bytes::Simd::F32_LANES == 16 {
            let (values, sums) = tiles::<Bytes, 12, 2>(bytes, values, weights, sums);
            let (values, sums) = tiles::<Bytes, 8, 2>(bytes, values, weights, sums);
            tiles::<Bytes, 4, 2>(bytes, values, weights, sums);
        } else {
            let (values, sums) = tiles::<Bytes, 6, 2>(bytes, values, weights, sums);
            let (values, sums) = tiles::<Bytes, 4, 2>(bytes, values, weights, sums);
            tiles::<Bytes, 2, 2>(bytes, values, weights, sums);
        }
    }
}

/// Does as many whole tiles of `HEIGHT` tokens as there are, and gives back the tokens that remain.
#[expect(clippy::inline_always, reason = "as `AccumulateBytes`")]
#[inline(always)]
fn tiles<'v, 's, Bytes: ByteSimd, const HEIGHT: usize, const WIDTH: usize>(
    bytes: Bytes,
    values: &'v [Block],
    weights: WeightBlock<'_>,
    sums: &'s mut [[f32; PANEL]],
) -> (&'v [Block], &'s mut [[f32; PANEL]]) {
    let (values, values_left) = values.as_chunks::<HEIGHT>();
    let (sums, sums_left) = sums.as_chunks_mut::<HEIGHT>();
    for (values, sums) in values.iter().zip(sums) {
        for first in (0..PANEL / Bytes::Simd::F32_LANES).step_by(WIDTH) {
            tile::<Bytes, HEIGHT, WIDTH>(bytes, values, weights, first, sums);
        }
    }
    (values_left, sums_left)
}

/// `HEIGHT` tokens by the `WIDTH` registers of the panel from `first` on.
#[expect(clippy::inline_always, reason = "as `AccumulateBytes`")]
#[inline(always)]
fn tile<Bytes: ByteSimd, const HEIGHT: usize, const WIDTH: usize>(
    bytes: Bytes,
    values: &[Block; HEIGHT],
    weights: WeightBlock<'_>,
    first: usize,
    sums: &mut [[f32; PANEL]; HEIGHT],
) {
    let simd = bytes.simd();
    let strip = first..first + WIDTH;
    let mut held = values.map(|block| [simd.splat_u32s(block.start); WIDTH]);
    for (place, row) in weights.words.iter().enumerate() {
        let weights = &Bytes::Simd::as_simd_u32s(row).0[strip.clone()];
        for (held, block) in held.iter_mut().zip(values) {
            let word = simd.splat_u32s(u32::from_le_bytes(block.codes[place]));
            for (held, weights) in held.iter_mut().zip(weights) {
                *held = bytes.multiply_add_bytes(*weights, word, *held);
            }
        }
    }
    let scales = &Bytes::Simd::as_simd_f32s(weights.scales).0[strip.clone()];
    for ((held, block), sums) in held.iter().zip(values).zip(sums) {
        let sums = &mut Bytes::Simd::as_mut_simd_f32s(sums).0[strip.clone()];
        let (scale, round) = (simd.splat_f32s(block.scale), simd.splat_f32s(-block.round));
        for ((held, scales), sum) in held.iter().zip(scales).zip(sums) {
            let product = multiply_add(simd, simd.transmute_f32s_u32s(*held), scale, round);
            *sum = multiply_add(simd, product, *scales, *sum);
        }
    }
}

#[cfg(test)]
mod tests;
