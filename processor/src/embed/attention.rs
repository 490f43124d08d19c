//! Attention of some of a text's tokens to all of its tokens, head by head, with nothing in between that leaves the cache.
//!
//! Both products are [`Accumulate`]s: queries by panels of [`PANEL`] keys give the scores, and these, made weights in place,
//! by panels of the values' columns give the result.

use std::f32::consts::LOG2_E;
use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::linear::{Inputs, copy_panel};
use super::simd::{dispatch, exp2, multiply_add};
use super::tile::{Accumulate, DEPTH, PANEL};

/// The score of a place where no key is: far below any, and no infinity, which could yield no number.
const NO_KEY: f32 = -1e30;

/// Attention of the tokens `queries` of one text.
pub(super) struct Attention<'a> {
    /// A row for each of the text's tokens: its query, key and value, each of all heads, one after the other.
    pub(super) together: &'a [f32],
    pub(super) queries: Range<usize>,
    pub(super) heads: usize,
    /// A row for each query: its result, of all heads.
    pub(super) result: &'a mut [f32],
    pub(super) room: &'a mut Room,
}

/// What one head needs.
#[derive(Default)]
pub(super) struct Room {
    queries: Inputs,
    /// `[panel of keys][column]`
    keys: Vec<[f32; PANEL]>,
    /// `[panel of columns][key]`
    values: Vec<[f32; PANEL]>,
    /// Each query's scores, then its weights.
    scores: Inputs,
    /// What each query's weights have to be multiplied by to sum to one.
    factors: Vec<f32>,
    sums: Vec<[f32; PANEL]>,
}

impl Attention<'_> {
    pub(super) fn run(self) {
        dispatch(self);
    }
}

impl WithSimd for Attention<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "compiled by `vectorize` for each instruction set")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let hidden = self.result.len() / self.queries.len();
        let size = hidden / self.heads;
        let room = self.room;
        for head in 0..self.heads {
            let rows = Rows {
                together: self.together,
                hidden,
                columns: head * size..(head + 1) * size,
            };
            rows.lay_out(self.queries.clone(), room);
            room.score(simd, size);
            room.weigh(simd, rows.tokens(), self.queries.len(), size);
            room.mix(simd, rows.tokens(), size, |panel, query, values| {
                let first = query * hidden + rows.columns.start + panel * PANEL;
                let width = PANEL.min(size - panel * PANEL);
                copy_panel(&values[..width], &mut self.result[first..first + width]);
            });
        }
    }
}

/// One head's part of the rows of a text.
struct Rows<'a> {
    together: &'a [f32],
    hidden: usize,
    columns: Range<usize>,
}

impl Rows<'_> {
    fn tokens(&self) -> usize {
        self.together.len() / (3 * self.hidden)
    }

    /// Queries (`part` 0), keys (1) or values (2), token by token.
    #[expect(clippy::inline_always, reason = "compiled inside `dispatch` to get its instruction set")]
    #[inline(always)]
    fn part(&self, part: usize) -> impl Iterator<Item = &[f32]> {
        let place = part * self.hidden + self.columns.start..part * self.hidden + self.columns.end;
        self.together
            .chunks_exact(3 * self.hidden)
            .map(move |row| &row[place.clone()])
    }

    /// Puts all three where the products want them. Places beyond the last key and column are left as they are: what comes of
    /// them is not read.
    #[expect(clippy::inline_always, reason = "as `part`")]
    #[inline(always)]
    fn lay_out(&self, queries: Range<usize>, room: &mut Room) {
        let (tokens, size) = (self.tokens(), self.columns.len());
        room.queries.reset(queries.len(), size);
        for (place, query) in self.part(0).skip(queries.start).take(queries.len()).enumerate() {
            for (part, values) in room.queries.token_mut(place).zip(query.chunks(DEPTH)) {
                part[..values.len()].copy_from_slice(values);
            }
        }
        room.keys.resize(tokens.div_ceil(PANEL) * size, [0.0; PANEL]);
        for (token, key) in self.part(1).enumerate() {
            let panel = &mut room.keys[token / PANEL * size..];
            for (row, value) in panel.iter_mut().zip(key) {
                row[token % PANEL] = *value;
            }
        }
        room.values.resize(size.div_ceil(PANEL) * tokens, [0.0; PANEL]);
        for (token, value) in self.part(2).enumerate() {
            let rows = room.values[token..].iter_mut().step_by(tokens);
            for (row, values) in rows.zip(value.chunks(PANEL)) {
                copy_panel(values, &mut row[..values.len()]);
            }
        }
    }
}

impl Room {
    /// Every query's products with every key.
    #[expect(clippy::inline_always, reason = "compiled inside `dispatch` to get its instruction set")]
    #[inline(always)]
    fn score<S: Simd>(&mut self, simd: S, size: usize) {
        let tokens = self.queries.tokens();
        self.sums.resize(tokens, [0.0; PANEL]);
        self.scores.reset(tokens, self.keys.len() / size * PANEL);
        for (panel, keys) in self.keys.chunks_exact(size).enumerate() {
            self.sums.fill([0.0; PANEL]);
            for (values, keys) in self.queries.parts().zip(keys.chunks(DEPTH)) {
                simd.vectorize(Accumulate {
                    values,
                    weights: keys,
                    sums: &mut self.sums,
                });
            }
            self.scores.write(panel * PANEL, &self.sums);
        }
    }

    /// Turns scores into weights: e to the power of score / √size, less the largest of them. Their sum is left to
    /// `factors`.
    #[expect(clippy::inline_always, reason = "as `score`")]
    #[inline(always)]
    fn weigh<S: Simd>(&mut self, simd: S, keys: usize, queries: usize, size: usize) {
        let scale = LOG2_E / (size as f32).sqrt();
        self.factors.clear();
        for query in 0..queries {
            let mut largest = simd.splat_f32s(f32::MIN);
            let mut left = keys;
            for part in self.scores.token_mut(query) {
                let filled = left.min(DEPTH);
                let whole = filled.next_multiple_of(PANEL);
                part[filled..whole].fill(NO_KEY);
                for score in S::as_simd_f32s(&part[..whole]).0 {
                    largest = simd.max_f32s(largest, *score);
                }
                left -= filled;
            }
            let base = simd.splat_f32s(-scale * simd.reduce_max_f32s(largest));
            let mut total = simd.splat_f32s(0.0);
            let mut left = keys;
            for part in self.scores.token_mut(query) {
                let filled = left.min(DEPTH);
                for score in S::as_mut_simd_f32s(&mut part[..filled.next_multiple_of(PANEL)]).0 {
                    *score = exp2(simd, multiply_add(simd, *score, simd.splat_f32s(scale), base));
                    total = simd.add_f32s(total, *score);
                }
                left -= filled;
            }
            self.factors.push(1.0 / simd.reduce_sum_f32s(total));
        }
    }

    /// Each query's mean of the values by its weights, handed to `take` as panel, query and its columns of that panel.
    #[expect(clippy::inline_always, reason = "as `score`")]
    #[inline(always)]
    fn mix<S: Simd>(&mut self, simd: S, keys: usize, size: usize, mut take: impl FnMut(usize, usize, &[f32; PANEL])) {
        for (panel, values) in self.values.chunks_exact(keys).take(size.div_ceil(PANEL)).enumerate() {
            self.sums.fill([0.0; PANEL]);
            for (weights, values) in self.scores.parts().zip(values.chunks(DEPTH)) {
                simd.vectorize(Accumulate {
                    values: weights,
                    weights: values,
                    sums: &mut self.sums,
                });
            }
            for (query, (sums, factor)) in self.sums.iter_mut().zip(&self.factors).enumerate() {
                for sum in &mut *sums {
                    *sum *= factor;
                }
                take(panel, query, sums);
            }
        }
    }
}

#[cfg(test)]
mod tests;
