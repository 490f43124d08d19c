//! Bytes as digits.

/// Writes `bytes` as lower-case hexadecimal digits, two a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
    nibbles.map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_two_digits() {
        assert_eq!(hex(&[0x00, 0x0f, 0xa0, 0xff]), "000fa0ff");
    }
}
