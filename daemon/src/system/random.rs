//! Bytes that nobody can foresee, from the system.

use std::io::Read;

/// As many bytes of the system's random source as `bytes` has room for.
///
/// # Errors
/// Where the system has no such source.
pub(crate) fn fill_randomly(bytes: &mut [u8]) -> std::io::Result<()> {
    fs_err::File::open("/dev/urandom")?.read_exact(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_alike() {
        let mut both = [[0_u8; 32]; 2];
        for bytes in &mut both {
            fill_randomly(bytes).unwrap();
        }
        assert_ne!(both[0], both[1]);
        assert_ne!(both[0], [0; 32]);
    }
}
