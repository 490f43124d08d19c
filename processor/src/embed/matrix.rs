//! A matrix of weights, laid out once for the processor's products, in 8 bits where the file has it so.
//!
//! The built-in model is stored as one byte a weight, with a scale for each 64 of an output's inputs, and stays that way in
//! memory: 11 MB instead of 43 MB. A product of codes takes them as they are; for one of floats, the part that is about to be
//! used becomes f32 in the first-level cache, which costs less than reading four times the bytes when a prompt is short, and
//! next to nothing when it is long. A code times its scale fits an f32 exactly, so this gives what weights held as f32 give.

use std::ops::Range;

use pulp::Simd;

use super::EmbedError;
use super::byte_tile::{BLOCK, CODES, WORDS, WeightBlock};
use super::simd::multiply_add;
use super::tile::{DEPTH, PANEL};
use super::weights::{Codes, Stored, Weights};

/// Weights of `outputs` rows, held as panels of [`PANEL`] outputs: a panel has one row for each input.
pub(super) struct Matrix {
    panels: Panels,
    inputs: usize,
    outputs: usize,
}

enum Panels {
    Floats(Vec<[f32; PANEL]>),
    Codes {
        /// One row for four inputs: a word has their codes from its lowest byte on, raised by 128 to be above zero.
        codes: Vec<[u32; PANEL]>,
        /// One row for each `block` inputs.
        scales: Vec<[f32; PANEL]>,
        block: usize,
    },
}

/// The highest bit of each code in a word: to turn it is to add 128.
const SIGNS: u32 = 0x8080_8080;

/// A float from 128 up to 256, of which [`CODE_BITS`] are the first eight bits of the fraction: 128 and half a code.
const CODE_BASE: u32 = 128_f32.to_bits();
const CODE_BITS: u32 = 0xFF << 15;

/// Half of the 128 by which codes are raised, and the 128 of [`CODE_BASE`].
const RAISED: f32 = 64.0 + 128.0;

impl Matrix {
    /// The tensors `names`, each `[outputs, inputs]` by `shape`, with their outputs one after the other.
    pub(super) fn load(weights: &Weights<'_>, names: &[String], shape: [usize; 2]) -> Result<Self, EmbedError> {
        let stored = names.iter().map(|name| weights.stored(name, &shape));
        Ok(Self::new(stored.collect::<Result<_, _>>()?, shape[0] * names.len(), shape[1]))
    }

    /// Matrices of `inputs` columns, `outputs` rows in all.
    pub(super) fn new(stored: Vec<Stored<'_>>, outputs: usize, inputs: usize) -> Self {
        let panels = if let Some(block) = common_block(&stored, inputs) {
            let codes = || stored.iter().filter_map(Stored::codes);
            Panels::Codes {
                codes: code_panels(codes(), inputs, outputs),
                scales: panels(codes().map(|own| &own.scales[..]), inputs / block, outputs),
                block,
            }
        } else {
            let floats: Vec<Vec<f32>> = stored.into_iter().map(Stored::into_floats).collect();
            Panels::Floats(panels(floats.iter().map(Vec::as_slice), inputs, outputs))
        };
        Self { panels, inputs, outputs }
    }

    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// The weights as codes, if they are in blocks of [`BLOCK`].
    pub(super) fn code_panels(&self) -> Option<CodePanels<'_>> {
        match &self.panels {
            Panels::Codes { codes, scales, block } if *block == BLOCK => Some(CodePanels {
                codes: codes.as_chunks().0,
                scales,
                blocks: self.inputs / BLOCK,
            }),
            _ => None,
        }
    }

    /// The rows of panel `panel` for `inputs`, at most [`DEPTH`] that begin at a multiple of it. `room` is where codes
    /// become numbers.
    #[expect(clippy::inline_always, reason = "compiled inside `dispatch` to get its instruction set")]
    #[inline(always)]
    pub(super) fn rows<'a, S: Simd>(
        &'a self,
        simd: S,
        panel: usize,
        inputs: Range<usize>,
        room: &'a mut [[f32; PANEL]; DEPTH],
    ) -> &'a [[f32; PANEL]] {
        let place = panel * self.inputs + inputs.start..panel * self.inputs + inputs.end;
        match &self.panels {
            Panels::Floats(floats) => &floats[place],
            Panels::Codes { codes, scales, block } => {
                let scales = &scales[place.start / block..];
                let codes = &codes[place.start / CODES..place.end / CODES];
                let blocks = codes.chunks(block / CODES).zip(room.chunks_mut(*block)).zip(scales);
                for ((codes, rows), scales) in blocks {
                    decode(simd, codes, scales, rows);
                }
                &room[..inputs.len()]
            }
        }
    }
}

/// Codes that share `scales` into numbers. Bits of a code are made bits of a float; a multiplication and an addition bring it to
/// scale and take away what was added. All of that is exact: a code has 8 bits, a scale 11.
#[expect(clippy::inline_always, reason = "as `Matrix::rows`")]
#[inline(always)]
fn decode<S: Simd>(simd: S, codes: &[[u32; PANEL]], scales: &[f32; PANEL], rows: &mut [[f32; PANEL]]) {
    let (base, bits) = (simd.splat_u32s(CODE_BASE), simd.splat_u32s(CODE_BITS));
    let (rows, _) = rows.as_chunks_mut::<CODES>();
    for register in 0..PANEL / S::F32_LANES {
        let scale = S::as_simd_f32s(scales).0[register];
        // Half a code by twice its scale.
        let scale = simd.add_f32s(scale, scale);
        let raised = simd.mul_f32s(scale, simd.splat_f32s(-RAISED));
        for (words, rows) in codes.iter().zip(&mut *rows) {
            let words = S::as_simd_u32s(words).0[register];
            let places = [
                simd.wrapping_dyn_shl_u32s(words, simd.splat_u32s(15)),
                simd.wrapping_dyn_shl_u32s(words, simd.splat_u32s(7)),
                simd.wrapping_dyn_shr_u32s(words, simd.splat_u32s(1)),
                simd.wrapping_dyn_shr_u32s(words, simd.splat_u32s(9)),
            ];
            for (row, place) in rows.iter_mut().zip(places) {
                let float = simd.transmute_f32s_u32s(simd.or_u32s(simd.and_u32s(place, bits), base));
                S::as_mut_simd_f32s(row).0[register] = multiply_add(simd, float, scale, raised);
            }
        }
    }
}

/// Weights that can be multiplied as codes.
#[derive(Clone, Copy)]
pub(super) struct CodePanels<'a> {
    codes: &'a [[[u32; PANEL]; WORDS]],
    scales: &'a [[f32; PANEL]],
    /// Blocks in a panel.
    blocks: usize,
}

impl<'a> CodePanels<'a> {
    /// The blocks of panel `panel`.
    pub(super) fn blocks(self, panel: usize) -> impl Iterator<Item = WeightBlock<'a>> {
        let place = panel * self.blocks..(panel + 1) * self.blocks;
        let blocks = self.codes[place.clone()].iter().zip(&self.scales[place]);
        blocks.map(|(words, scales)| WeightBlock { words, scales })
    }
}

/// The number of inputs that share a scale, if all of `stored` are codes and it is one that [`Matrix::rows`] can work with.
fn common_block(stored: &[Stored<'_>], inputs: usize) -> Option<usize> {
    let mut blocks = stored.iter().map(|one| one.codes().map(Codes::block));
    let first = blocks.next()??;
    let fits = DEPTH.is_multiple_of(first) && inputs.is_multiple_of(first) && first.is_multiple_of(CODES);
    (fits && blocks.all(|block| block == Some(first))).then_some(first)
}

/// Matrices of `width` columns, one below the other, as panels: `[panel][column][row in the panel]`. The last panel is
/// filled up with zeros.
fn panels<'a, T: Copy + Default + 'a>(matrices: impl Iterator<Item = &'a [T]>, width: usize, rows: usize) -> Vec<[T; PANEL]> {
    let mut panels = vec![[T::default(); PANEL]; rows.div_ceil(PANEL) * width];
    let rows = matrices.flat_map(|matrix| matrix.chunks_exact(width));
    for (index, row) in rows.enumerate() {
        let panel = &mut panels[index / PANEL * width..];
        for (values, value) in panel.iter_mut().zip(row) {
            values[index % PANEL] = *value;
        }
    }
    panels
}

/// The same of codes, four to a word.
fn code_panels<'a>(matrices: impl Iterator<Item = &'a Codes<'a>>, inputs: usize, outputs: usize) -> Vec<[u32; PANEL]> {
    let words = matrices.map(|matrix| {
        let (words, _) = matrix.codes.as_chunks::<CODES>();
        words.iter().map(|codes| u32::from_le_bytes(*codes) ^ SIGNS).collect()
    });
    let words: Vec<Vec<u32>> = words.collect();
    panels(words.iter().map(Vec::as_slice), inputs / CODES, outputs)
}
