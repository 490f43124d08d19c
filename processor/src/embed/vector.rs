//! A text's vector: always of length one, compared by its cosine, coarsely by its signs.

use super::EmbedError;

/// A unit vector. Two are comparable only if the same model made them.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(Vec<f32>);

impl Embedding {
    /// Brings `values` to length one.
    ///
    /// # Errors
    /// [`EmbedError::NoDirection`] if their length is zero or not finite.
    pub fn normalised(mut values: Vec<f32>) -> Result<Self, EmbedError> {
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        if !length.is_finite() || length <= 0.0 {
            return Err(EmbedError::NoDirection);
        }
        for value in &mut values {
            *value /= length;
        }
        Ok(Self(values))
    }

    /// Takes values that are of length one already, as they come from the store.
    pub fn from_unit(values: Vec<f32>) -> Self {
        Self(values)
    }

    /// The number of values.
    pub fn dims(&self) -> usize {
        self.0.len()
    }

    /// The values.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// Gives the values away.
    pub fn into_vec(self) -> Vec<f32> {
        self.0
    }

    /// The cosine of the angle to `other`, in -1 to 1; 0 if their dimensions differ.
    pub fn cosine(&self, other: &Self) -> f32 {
        self.cosine_with(&other.0)
    }

    /// The same with the bare values of a unit vector, as the store gives them.
    pub fn cosine_with(&self, unit: &[f32]) -> f32 {
        if unit.len() != self.0.len() {
            return 0.0;
        }
        let dot = self.0.iter().zip(unit).map(|(left, right)| left * right).sum::<f32>();
        dot.clamp(-1.0, 1.0)
    }

    /// The signs, eight a byte: bit `i % 8` of byte `i / 8` is set where value `i` is above zero, which is the layout of
    /// sqlite-vec's `vec_quantize_binary` and `vec_bit`. A dimension that is no multiple of eight is filled with zeros.
    pub fn bit_code(&self) -> Vec<u8> {
        let byte = |values: &[f32]| {
            values
                .iter()
                .enumerate()
                .fold(0u8, |code, (bit, value)| code | (u8::from(*value > 0.0) << bit))
        };
        self.0.chunks(8).map(byte).collect()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::first_bit(&[0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5], &[0b0000_0001])]
    #[case::last_bit(&[-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0], &[0b1000_0000])]
    #[case::zero_is_not_above_zero(&[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], &[0b0000_0010])]
    #[case::second_byte(&[-1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0], &[0b0000_0010, 0b0000_0011])]
    fn bit_codes(#[case] values: &[f32], #[case] expected: &[u8]) {
        assert_eq!(Embedding::from_unit(values.to_vec()).bit_code(), expected);
    }

    #[test]
    fn length_becomes_one() {
        let unit = Embedding::normalised(vec![3.0, 4.0]).unwrap();
        assert_eq!(unit.as_slice(), &[0.6, 0.8]);
        assert!((unit.cosine(&unit) - 1.0).abs() < 1e-6);
    }

    #[rstest]
    #[case::zero(vec![0.0, 0.0])]
    #[case::not_a_number(vec![f32::NAN, 1.0])]
    #[case::infinite(vec![f32::INFINITY, 1.0])]
    #[case::empty(vec![])]
    fn no_direction(#[case] values: Vec<f32>) {
        assert!(matches!(Embedding::normalised(values), Err(EmbedError::NoDirection)));
    }

    #[test]
    fn other_dimensions_have_no_cosine() {
        let two = Embedding::from_unit(vec![1.0, 0.0]);
        assert!(two.cosine(&Embedding::from_unit(vec![1.0])).abs() < f32::EPSILON);
    }
}
