//! SQLite's numbers of variable length: seven bits a byte, most significant first, the top bit set on all but the last; a
//! ninth byte counts whole.

use super::ReadError;

/// The number at `at`, which moves behind it.
#[inline]
pub(crate) fn varint(bytes: &[u8], at: &mut usize) -> Result<u64, ReadError> {
    match bytes.get(*at) {
        Some(byte) if byte & 0x80 == 0 => {
            *at += 1;
            Ok(u64::from(*byte))
        }
        _ => long(bytes, at),
    }
}

/// One of several bytes.
fn long(bytes: &[u8], at: &mut usize) -> Result<u64, ReadError> {
    let mut value = 0;
    for count in 1..=9 {
        let byte = *bytes.get(*at).ok_or(ReadError::Format)?;
        *at += 1;
        if count == 9 {
            return Ok((value << 8) | u64::from(byte));
        }
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Ok(value)
}
