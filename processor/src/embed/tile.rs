//! The innermost product: some tokens' values by a strip of a panel of weights, with the sums held in registers.
//!
//! Tokens' values lie a fixed distance apart ([`DEPTH`]), and so do a panel's rows ([`PANEL`]): the loop needs two addresses
//! and no checks. A sum is added up in one order, whatever tokens stand beside it, so that a text's result doesn't depend on
//! its company.

use pulp::{Simd, WithSimd};

use super::simd::multiply_add;

/// Outputs side by side in a panel: two AVX-512 registers, four of AVX2, eight of NEON.
pub(super) const PANEL: usize = 32;

/// Inputs that are multiplied before the sums go back to memory: so many rows of a panel take a third of the
/// first-level cache (16 KB), and the tokens beside them little more than a tenth.
pub(super) const DEPTH: usize = 128;

/// The number of tokens in a product is rounded up to a multiple of this.
pub(super) const TOKENS: usize = 4;

/// Adds to each token's `sums` its `values` times `weights`: work to be done by [`Simd::vectorize`].
pub(super) struct Accumulate<'a> {
    /// The same tokens as `sums`, a multiple of [`TOKENS`].
    pub(super) values: &'a [[f32; DEPTH]],
    /// At most [`DEPTH`] rows.
    pub(super) weights: &'a [[f32; PANEL]],
    pub(super) sums: &'a mut [[f32; PANEL]],
}

impl WithSimd for Accumulate<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "compiled by `vectorize` for each instruction set")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { values, weights, sums } = self;
        // As many sums as there are registers, less those for a strip of weights and a token's value.
        match S::F32_LANES {
            16 => {
                let (values, sums) = tiles::<S, 12, 2>(simd, values, weights, sums);
                let (values, sums) = tiles::<S, 8, 2>(simd, values, weights, sums);
                tiles::<S, 4, 2>(simd, values, weights, sums);
            }
            8 => {
                let (values, sums) = tiles::<S, 6, 2>(simd, values, weights, sums);
                let (values, sums) = tiles::<S, 4, 2>(simd, values, weights, sums);
                tiles::<S, 2, 2>(simd, values, weights, sums);
            }
            4 => {
                let (values, sums) = tiles::<S, 8, 2>(simd, values, weights, sums);
                tiles::<S, 4, 2>(simd, values, weights, sums);
            }
            _ => {
                tiles::<S, 4, 2>(simd, values, weights, sums);
            }
        }
    }
}

/// Does as many whole tiles of `HEIGHT` tokens as there are, and gives back the tokens that remain.
#[expect(clippy::inline_always, reason = "as `Accumulate`")]
#[inline(always)]
fn tiles<'v, 's, S: Simd, const HEIGHT: usize, const WIDTH: usize>(
    simd: S,
    values: &'v [[f32; DEPTH]],
    weights: &[[f32; PANEL]],
    sums: &'s mut [[f32; PANEL]],
) -> (&'v [[f32; DEPTH]], &'s mut [[f32; PANEL]]) {
    let (values, values_left) = values.as_chunks::<HEIGHT>();
    let (sums, sums_left) = sums.as_chunks_mut::<HEIGHT>();
    for (values, sums) in values.iter().zip(sums) {
        for first in (0..PANEL / S::F32_LANES).step_by(WIDTH) {
            tile::<S, HEIGHT, WIDTH>(simd, values, weights, first, sums);
        }
    }
    (values_left, sums_left)
}

/// `HEIGHT` tokens by the `WIDTH` registers of the panel from `first` on.
#[expect(clippy::inline_always, reason = "as `Accumulate`")]
#[inline(always)]
fn tile<S: Simd, const HEIGHT: usize, const WIDTH: usize>(
    simd: S,
    values: &[[f32; DEPTH]; HEIGHT],
    weights: &[[f32; PANEL]],
    first: usize,
    sums: &mut [[f32; PANEL]; HEIGHT],
) {
    let mut held = [[simd.splat_f32s(0.0); WIDTH]; HEIGHT];
    for (held, sums) in held.iter_mut().zip(sums.iter()) {
        held.copy_from_slice(&S::as_simd_f32s(sums).0[first..first + WIDTH]);
    }
    for (place, row) in (0..DEPTH).zip(weights) {
        let strip = &S::as_simd_f32s(row).0[first..first + WIDTH];
        for (held, values) in held.iter_mut().zip(values) {
            let value = simd.splat_f32s(values[place]);
            for (held, weights) in held.iter_mut().zip(strip) {
                *held = multiply_add(simd, value, *weights, *held);
            }
        }
    }
    for (held, sums) in held.iter().zip(sums) {
        S::as_mut_simd_f32s(sums).0[first..first + WIDTH].copy_from_slice(held);
    }
}
