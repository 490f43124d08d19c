//! A vector against bit codes: the sum of its components, each with the sign that the code has there.
//!
//! An asymmetric distance (Jégou, Douze, Schmid: Product Quantization for Nearest Neighbor Search, PAMI 2011): only the
//! stored side is quantised. Eight signs are one byte, so their share of the sum is read from a table of 256.

/// For each byte of a code, the sums of its eight components under all 256 patterns of signs.
#[derive(Debug)]
pub(super) struct SignTable(Vec<[f32; 256]>);

impl SignTable {
    /// The table of a vector; components that fill up the last byte count nothing.
    pub(super) fn new(vector: &[f32]) -> Self {
        Self(vector.chunks(8).map(sums).collect())
    }

    /// The sum for one code, whose words hold eight bytes each, the least significant first.
    pub(super) fn product(&self, code: &[u64]) -> f32 {
        let bytes = code.iter().flat_map(|word| word.to_le_bytes());
        self.0.iter().zip(bytes).map(|(sums, byte)| sums[usize::from(byte)]).sum()
    }
}

/// All signed sums of up to eight components: a pattern's sum is that of the pattern without its highest bit, with this
/// component turned from minus to plus.
fn sums(components: &[f32]) -> [f32; 256] {
    let mut sums = [0.0; 256];
    sums[0] = -components.iter().sum::<f32>();
    for pattern in 1..256_usize {
        let highest = pattern.ilog2() as usize;
        let component = components.get(highest).copied().unwrap_or(0.0);
        sums[pattern] = sums[pattern ^ (1 << highest)] + 2.0 * component;
    }
    sums
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equals_adding_up_signed_components(vector in prop::collection::vec(-1.0f32..1.0, 1..130), seed in any::<[u64; 3]>()) {
            let signed = |(index, value): (usize, &f32)| if seed[index / 64] >> (index % 64) & 1 == 1 { *value } else { -value };
            let expected: f32 = vector.iter().enumerate().map(signed).sum();
            prop_assert!((SignTable::new(&vector).product(&seed) - expected).abs() < 1e-4);
        }
    }
}
