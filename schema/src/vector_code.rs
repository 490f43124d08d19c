//! Vectors to and from bytes: the exact embedding, and its one-bit-a-dimension code.
//! In go slices of f32, out come bytes as stored. Both layouts are fixed by what the store holds already.

/// The code of a vector in the layout of `vec_bit()`: bit `i % 8` (least significant first) of byte `i / 8` is set when
/// dimension `i` is above 0, as in sqlite-vec's `vec_quantize_binary`. The dimension must be a multiple of 8.
pub fn bit_code(vector: &[f32]) -> Vec<u8> {
    vector
        .chunks(8)
        .map(|eight| {
            eight
                .iter()
                .enumerate()
                .fold(0, |byte, (bit, &value)| byte | (u8::from(value > 0.0) << bit))
        })
        .collect()
}

/// f32 little-endian, as `episodes.embedding` is stored.
pub(crate) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The inverse of [`to_bytes`]; a remainder of less than four bytes is not a value.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|four| f32::from_le_bytes(*four))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_layout_of_the_extension() {
        crate::vec_extension::register().expect("registers");
        let vector: Vec<f32> = (0..16).map(|i| if i % 3 == 0 { 0.5 } else { -0.5 }).collect();
        let db = rusqlite::Connection::open_in_memory().expect("opens");
        let theirs: Vec<u8> = db
            .query_row("SELECT vec_quantize_binary(?1)", [to_bytes(&vector)], |row| row.get(0))
            .expect("quantises");
        assert_eq!(bit_code(&vector), theirs);
    }

    #[test]
    fn vectors_go_through_their_bytes_and_back() {
        let vector = vec![0.25, -1.0, f32::MIN_POSITIVE];
        assert_eq!(from_bytes(&to_bytes(&vector)), vector);
    }
}
