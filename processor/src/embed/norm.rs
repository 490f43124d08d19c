//! Layer norm, over rows that are tokens.

use super::simd::dispatch;

/// Scale and shift of a layer norm.
#[derive(Debug)]
pub(crate) struct NormParameters {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
    /// Added to the variance.
    pub(crate) epsilon: f32,
}

impl NormParameters {
    /// The number of values in a row.
    pub(super) fn columns(&self) -> usize {
        self.scale.len()
    }
}

/// Brings each row to mean 0 and variance 1, then scales and shifts it.
pub(super) fn normalise(rows: &mut [f32], norm: &NormParameters) {
    dispatch(|| {
        for row in rows.chunks_exact_mut(norm.columns()) {
            normalise_row(row, norm);
        }
    });
}

#[expect(clippy::inline_always, reason = "compiled inside `dispatch` to get its instruction set")]
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

/// Sums a row in sixteen interleaved lanes: a single running sum could not be vectorised, as floats don't associate.
#[expect(clippy::inline_always, reason = "as `normalise_row`")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_normalised_row_has_the_scale_and_shift() {
        let columns = 37;
        let norm = NormParameters {
            scale: vec![2.0; columns],
            shift: vec![0.5; columns],
            epsilon: 1e-12,
        };
        let mut row: Vec<f32> = (0..columns).map(|value| value as f32).collect();
        normalise(&mut row, &norm);
        let mean = row.iter().sum::<f32>() / columns as f32;
        let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / columns as f32;
        assert!(
            (mean - 0.5).abs() < 1e-5 && (variance - 4.0).abs() < 1e-4,
            "{mean} {variance}"
        );
    }
}
