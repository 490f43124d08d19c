//! One of the model's products with all that goes with it: weights, bias, and what is done to the result while it is at hand.

use pulp::{Simd, WithSimd};

use super::EmbedError;
use super::byte_tile::{AccumulateBytes, Blocks};
use super::matrix::{CodePanels, Matrix};
use super::simd::{dispatch, gelu, gelu_approximate};
use super::tile::{Accumulate, DEPTH, PANEL, TOKENS};
use super::vnni::{ByteSet, ByteSimd, WithBytes};
use super::weights::Weights;

/// Weights and bias.
pub(super) struct Linear {
    matrix: Matrix,
    bias: Vec<[f32; PANEL]>,
    /// What multiplies the weights as codes, if they are to be; weights that are none are multiplied as floats.
    bytes: Option<ByteSet>,
}

/// What follows a layer's widening product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    /// x·Φ(x).
    Gelu,
    /// The hyperbolic tangent approximation of the same.
    GeluApproximate,
    /// The larger of x and 0.
    Relu,
}

impl Activation {
    #[expect(clippy::inline_always, reason = "compiled inside `dispatch` to get its instruction set")]
    #[inline(always)]
    fn of<S: Simd>(self, simd: S, x: S::f32s) -> S::f32s {
        match self {
            Self::Gelu => gelu(simd, x),
            Self::GeluApproximate => gelu_approximate(simd, x),
            Self::Relu => simd.max_f32s(x, simd.splat_f32s(0.0)),
        }
    }
}

/// Where a product's result goes, token by token.
pub(super) enum Target<'a> {
    /// Into rows, in place of what they hold.
    Rows(&'a mut [f32]),
    /// Into rows, added to what they hold.
    Sum(&'a mut [f32]),
    /// Through an activation, to be multiplied again.
    Inputs(Activation, &'a mut Inputs),
}

/// Tokens' values laid out for [`Accumulate`]: parts of [`DEPTH`] values, the first part of every token before the second of
/// any.
#[derive(Default)]
pub(super) struct Inputs {
    parts: Vec<[f32; DEPTH]>,
    /// A multiple of [`TOKENS`]; what the last of them hold beyond the real ones is computed with, and read by nobody.
    tokens: usize,
}

impl Inputs {
    /// Makes room for tokens of `width` values. What it holds is of no meaning yet.
    pub(super) fn reset(&mut self, tokens: usize, width: usize) {
        self.tokens = tokens.next_multiple_of(TOKENS);
        self.parts.resize(self.tokens * width.div_ceil(DEPTH), [0.0; DEPTH]);
    }

    /// Takes over `rows` of `width` values, one a token.
    pub(super) fn lay_out(&mut self, rows: &[f32], width: usize) {
        self.reset(rows.len() / width, width);
        for (token, row) in rows.chunks_exact(width).enumerate() {
            let parts = self.parts[token..].iter_mut().step_by(self.tokens);
            for (part, values) in parts.zip(row.chunks(DEPTH)) {
                part[..values.len()].copy_from_slice(values);
            }
        }
    }

    /// The number of tokens, filled up.
    pub(super) fn tokens(&self) -> usize {
        self.tokens
    }

    /// Each part in turn, of all tokens.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[[f32; DEPTH]]> {
        self.parts.chunks_exact(self.tokens)
    }

    /// Writes the [`PANEL`] values from `first` on, a multiple of it, of all tokens.
    #[expect(clippy::inline_always, reason = "compiled inside `dispatch` to get its instruction set")]
    #[inline(always)]
    pub(super) fn write(&mut self, first: usize, panel: &[[f32; PANEL]]) {
        let parts = &mut self.parts[first / DEPTH * self.tokens..];
        let place = first % DEPTH / PANEL;
        for (part, values) in parts.iter_mut().zip(panel) {
            part.as_chunks_mut().0[place] = *values;
        }
    }

    /// One token's parts.
    #[expect(clippy::inline_always, reason = "as `write`")]
    #[inline(always)]
    pub(super) fn token_mut(&mut self, token: usize) -> impl Iterator<Item = &mut [f32; DEPTH]> {
        self.parts[token..].iter_mut().step_by(self.tokens)
    }
}

/// What a product needs beside its operands.
pub(super) struct Room {
    weights: Box<[[f32; PANEL]; DEPTH]>,
    blocks: Blocks,
    sums: Vec<[f32; PANEL]>,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            weights: Box::new([[0.0; PANEL]; DEPTH]),
            blocks: Blocks::default(),
            sums: Vec::new(),
        }
    }
}

impl Linear {
    /// The tensors `<name>.weight` and `<name>.bias` of all `names`, side by side; each matrix is `shape`, `[outputs, inputs]`.
    pub(super) fn load(
        weights: &Weights<'_>,
        names: &[String],
        shape: [usize; 2],
        bytes: Option<ByteSet>,
    ) -> Result<Self, EmbedError> {
        let matrices: Vec<String> = names.iter().map(|name| format!("{name}.weight")).collect();
        let matrix = Matrix::load(weights, &matrices, shape)?;
        let mut bias = Vec::with_capacity(matrix.outputs());
        for name in names {
            bias.extend(weights.floats(&format!("{name}.bias"), &shape[..1])?);
        }
        Ok(Self::new(matrix, &bias, bytes))
    }

    fn new(matrix: Matrix, bias: &[f32], bytes: Option<ByteSet>) -> Self {
        let mut panels = vec![[0.0; PANEL]; bias.len().div_ceil(PANEL)];
        panels.as_flattened_mut()[..bias.len()].copy_from_slice(bias);
        Self {
            matrix,
            bias: panels,
            bytes,
        }
    }

    /// Multiplies the tokens in `inputs`, and adds the bias.
    pub(super) fn apply(&self, inputs: &Inputs, target: Target<'_>, room: &mut Room) {
        match self.bytes.zip(self.matrix.code_panels()) {
            Some((bytes, codes)) => bytes.run(ByteProduct {
                linear: self,
                codes,
                inputs,
                target,
                room,
            }),
            None => dispatch(Product {
                linear: self,
                inputs,
                target,
                room,
            }),
        }
    }
}

struct Product<'a> {
    linear: &'a Linear,
    inputs: &'a Inputs,
    target: Target<'a>,
    room: &'a mut Room,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "compiled by `vectorize` for each instruction set")]
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let matrix = &self.linear.matrix;
        let Room { weights, sums, .. } = self.room;
        sums.resize(self.inputs.tokens(), [0.0; PANEL]);
        if let Target::Inputs(_, inputs) = &mut self.target {
            inputs.reset(self.inputs.tokens(), matrix.outputs());
        }
        for (panel, bias) in self.linear.bias.iter().enumerate() {
            sums.fill(*bias);
            for (part, values) in self.inputs.parts().enumerate() {
                let first = part * DEPTH;
                let rows = matrix.rows(simd, panel, first..matrix.inputs().min(first + DEPTH), weights);
                simd.vectorize(Accumulate {
                    values,
                    weights: rows,
                    sums,
                });
            }
            self.target.take(simd, panel * PANEL, matrix.outputs(), sums);
        }
    }
}

/// A product of codes: the same, but for what `inputs` are rounded to.
struct ByteProduct<'a> {
    linear: &'a Linear,
    codes: CodePanels<'a>,
    inputs: &'a Inputs,
    target: Target<'a>,
    room: &'a mut Room,
}

impl WithBytes for ByteProduct<'_> {
    #[expect(clippy::inline_always, reason = "compiled by `run` for each instruction set")]
    #[inline(always)]
    fn with_bytes<Bytes: ByteSimd>(mut self, bytes: Bytes) {
        let matrix = &self.linear.matrix;
        let Room { blocks, sums, .. } = self.room;
        blocks.take(self.inputs, matrix.inputs());
        sums.resize(self.inputs.tokens(), [0.0; PANEL]);
        if let Target::Inputs(_, inputs) = &mut self.target {
            inputs.reset(self.inputs.tokens(), matrix.outputs());
        }
        for (panel, bias) in self.linear.bias.iter().enumerate() {
            sums.fill(*bias);
            for (values, weights) in blocks.iter().zip(self.codes.blocks(panel)) {
                bytes.run(AccumulateBytes { values, weights, sums });
            }
            self.target.take(bytes.simd(), panel * PANEL, matrix.outputs(), sums);
        }
    }
}

impl Target<'_> {
    /// Takes the outputs from `first` on, at most [`PANEL`], of the `outputs` that there are.
    #[expect(clippy::inline_always, reason = "compiled inside `dispatch` to get its instruction set")]
    #[inline(always)]
    fn take<S: Simd>(&mut self, simd: S, first: usize, outputs: usize, sums: &mut [[f32; PANEL]]) {
        let place = first..outputs.min(first + PANEL);
        match self {
            Self::Rows(rows) => {
                for (row, sums) in rows.chunks_exact_mut(outputs).zip(sums) {
                    copy_panel(&sums[..place.len()], &mut row[place.clone()]);
                }
            }
            Self::Sum(rows) => {
                for (row, sums) in rows.chunks_exact_mut(outputs).zip(sums) {
                    for (value, sum) in row[place.clone()].iter_mut().zip(sums) {
                        *value += *sum;
                    }
                }
            }
            Self::Inputs(activation, inputs) => {
                for value in S::as_mut_simd_f32s(sums.as_flattened_mut()).0 {
                    *value = activation.of(simd, *value);
                }
                inputs.write(first, sums);
            }
        }
    }
}

/// Copies a panel's values or fewer; that they nearly always are a whole panel spares a call of the C library.
#[expect(clippy::inline_always, reason = "compiled inside `dispatch` to get its instruction set")]
#[inline(always)]
pub(super) fn copy_panel(from: &[f32], to: &mut [f32]) {
    match from.as_array::<PANEL>().zip(to.as_mut_array()) {
        Some((from, to)) => *to = *from,
        None => to.copy_from_slice(from),
    }
}

#[cfg(test)]
mod tests;
