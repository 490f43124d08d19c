//! The arithmetic between the products, over plain slices of row-major values.
//!
//! Each function is a loop that the compiler turns into vector instructions; `pulp` compiles it for several instruction
//! sets and picks the best at run time, so that one portable binary is fast. candle's own operations are not used here: its
//! `erf` and `exp` go value by value, and its larger element-wise operations meet at one process-wide pool of spinning
//! threads behind a lock, where a prompt would wait for background work.

use std::f32::consts::{FRAC_1_SQRT_2, LOG2_E, PI};

use pulp::Arch;
use rayon::prelude::*;

/// Scores below which a softmax is not split over threads: handing out work costs about what this many values do.
const PARALLEL_VALUES: usize = 32 * 1024;

/// 1.5·2^23: added to a float of less than 2^22, it leaves no room for a fraction.
const ROUND: f32 = 12_582_912.0;

/// ln 2 in two parts (Cephes): whole numbers up to 2^12 times the first are exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// What follows the first product of a layer's second half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    /// x·Φ(x), exactly; here to 3e-7·|x|.
    Gelu,
    /// The hyperbolic tangent approximation of the same.
    GeluApproximate,
    /// The larger of x and 0.
    Relu,
}

/// Scale and shift of a layer norm.
#[derive(Debug)]
pub(crate) struct NormParameters {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
    /// Added to the variance.
    pub(crate) epsilon: f32,
}

/// Adds `bias[i]` to row `i` of `columns` values.
pub(crate) fn add_bias(values: &mut [f32], bias: &[f32], columns: usize) {
    map_biased(values, bias, columns, |value| value);
}

/// Adds `bias[i]` to row `i` of `columns` values, then applies `activation`.
pub(crate) fn activate(values: &mut [f32], bias: &[f32], columns: usize, activation: Activation) {
    match activation {
        Activation::Gelu => map_biased(values, bias, columns, gelu),
        Activation::GeluApproximate => map_biased(values, bias, columns, gelu_approximate),
        Activation::Relu => map_biased(values, bias, columns, |value| value.max(0.0)),
    }
}

#[expect(clippy::inline_always, reason = "compiled inside `dispatch` to get its instruction set")]
#[inline(always)]
fn map_biased(values: &mut [f32], bias: &[f32], columns: usize, map: impl Fn(f32) -> f32) {
    Arch::new().dispatch(|| {
        for (row, bias) in values.chunks_exact_mut(columns).zip(bias) {
            for value in row {
                *value = map(*value + bias);
            }
        }
    });
}

/// Adds `residual` and, to row `i`, `bias[i]`, then brings each of the `columns` columns to the layer norm: a column is a
/// token, so that all tokens are normalised side by side without a sum across a vector's lanes.
pub(crate) fn add_and_normalise(values: &mut [f32], residual: &[f32], bias: &[f32], columns: usize, norm: &NormParameters) {
    let count = bias.len() as f32;
    let (mut means, mut factors) = (vec![0.0; columns], vec![0.0; columns]);
    Arch::new().dispatch(|| {
        let rows = values.chunks_exact_mut(columns).zip(residual.chunks_exact(columns)).zip(bias);
        for ((row, residual), bias) in rows {
            for ((value, residual), mean) in row.iter_mut().zip(residual).zip(&mut means) {
                *value += residual + bias;
                *mean += *value;
            }
        }
        for mean in &mut means {
            *mean /= count;
        }
        for row in values.chunks_exact(columns) {
            for ((value, mean), square) in row.iter().zip(&means).zip(&mut factors) {
                *square += (value - mean) * (value - mean);
            }
        }
        for square in &mut factors {
            *square = 1.0 / (*square / count + norm.epsilon).sqrt();
        }
        let rows = values.chunks_exact_mut(columns).zip(&norm.scale).zip(&norm.shift);
        for ((row, scale), shift) in rows {
            for ((value, mean), factor) in row.iter_mut().zip(&means).zip(&factors) {
                *value = (*value - mean) * factor * scale + shift;
            }
        }
    });
}

/// Brings each row to mean 0 and variance 1, then scales and shifts it; a row is a token.
pub(crate) fn normalise(rows: &mut [f32], norm: &NormParameters) {
    Arch::new().dispatch(|| {
        for row in rows.chunks_exact_mut(norm.scale.len()) {
            normalise_row(row, norm);
        }
    });
}

/// Turns each column of each `[columns, columns]` matrix of scores into weights that sum to one.
pub(crate) fn softmax(scores: &mut [f32], columns: usize) {
    let work = |matrix: &mut [f32]| Arch::new().dispatch(|| softmax_columns(matrix, columns));
    let size = columns * columns;
    if rayon::current_num_threads() == 1 || scores.len() < PARALLEL_VALUES {
        scores.chunks_exact_mut(size).for_each(work);
    } else {
        scores.par_chunks_exact_mut(size).for_each(work);
    }
}

#[expect(clippy::inline_always, reason = "as `map_biased`")]
#[inline(always)]
fn normalise_row(row: &mut [f32], norm: &NormParameters) {
    let count = row.len() as f32;
    let mean = sum(row, |value| value) / count;
    let variance = sum(row, |value| (value - mean) * (value - mean)) / count;
    let factor = 1.0 / (variance + norm.epsilon).sqrt();
    for ((value, scale), shift) in row.iter_mut().zip(&norm.scale).zip(&norm.shift) {
        *value = (*value - mean) * factor * scale + shift;
    }
}

#[expect(clippy::inline_always, reason = "as `map_biased`")]
#[inline(always)]
fn softmax_columns(matrix: &mut [f32], columns: usize) {
    let (mut largest, mut sums) = (vec![f32::NEG_INFINITY; columns], vec![0.0; columns]);
    for row in matrix.chunks_exact(columns) {
        for (value, largest) in row.iter().zip(&mut largest) {
            *largest = if *value > *largest { *value } else { *largest };
        }
    }
    for row in matrix.chunks_exact_mut(columns) {
        for ((value, largest), sum) in row.iter_mut().zip(&largest).zip(&mut sums) {
            *value = exponential(*value - largest);
            *sum += *value;
        }
    }
    for sum in &mut sums {
        *sum = 1.0 / *sum;
    }
    for row in matrix.chunks_exact_mut(columns) {
        for (value, factor) in row.iter_mut().zip(&sums) {
            *value *= factor;
        }
    }
}

/// Sums a row in sixteen interleaved lanes: a single running sum could not be vectorised, as floats don't associate.
#[expect(clippy::inline_always, reason = "as `map_biased`")]
#[inline(always)]
fn sum(row: &[f32], map: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; 16];
    let (chunks, rest) = row.as_chunks::<16>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += map(*value);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|value| map(*value)).sum::<f32>()
}

/// e^x for x ≤ 88, to 2 units in the last place; 0 below -87.
///
/// Cephes' `expf`: x = n·ln 2 + r with |r| ≤ ln 2 / 2, a polynomial in r, 2^n by its exponent bits. n comes from adding
/// [`ROUND`]; unlike a cast, that vectorises everywhere.
#[expect(clippy::inline_always, reason = "as `map_biased`")]
#[inline(always)]
fn exponential(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let r = x - whole * LN_2_HIGH - whole * LN_2_LOW;
    let mut polynomial = 1.987_569_1e-4;
    for coefficient in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        polynomial = polynomial * r + coefficient;
    }
    let fraction = polynomial * r * r + r + 1.0;
    let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    fraction * f32::from_bits(exponent)
}

/// x·Φ(x). Abramowitz & Stegun 7.1.26 gives the complementary error function of |x|/√2 to 1.5e-7; taken as such, and not as
/// 1 - erf, small results keep their digits.
#[expect(clippy::inline_always, reason = "as `map_biased`")]
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x.abs() * FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let mut polynomial = 1.061_405_4;
    for coefficient in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
        polynomial = polynomial * t + coefficient;
    }
    let tail = 0.5 * polynomial * t * exponential(-z * z);
    x * if x < 0.0 { tail } else { 1.0 - tail }
}

/// 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))), by 1 - 2/(e^2u + 1) for the tangent.
#[expect(clippy::inline_always, reason = "as `map_biased`")]
#[inline(always)]
fn gelu_approximate(x: f32) -> f32 {
    let u = (2.0 / PI).sqrt() * (x + 0.044_715 * x * x * x);
    let doubled = if u > 40.0 { 80.0 } else { 2.0 * u };
    x * (1.0 - 1.0 / (exponential(doubled) + 1.0))
}

#[cfg(test)]
mod tests;
