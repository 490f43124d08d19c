//! Sizes in words. Bytes come in, a number with its unit goes out; never "0.0 GB".

/// `1.2 GB`, `3.4 MB`, `12 KB`, `7 bytes`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{:.1} GB", bytes as f64 / 1e9),
        1_000_000.. => format!("{:.1} MB", bytes as f64 / 1e6),
        1_000.. => format!("{} KB", bytes / 1_000),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none(0, "0 bytes")]
    #[case::few(999, "999 bytes")]
    #[case::kilobytes(12_900, "12 KB")]
    #[case::megabytes(268_435_456, "268.4 MB")]
    #[case::gigabytes(1_250_000_000, "1.2 GB")]
    fn a_size_has_its_unit(#[case] bytes: u64, #[case] expected: &str) {
        assert_eq!(size(bytes), expected);
    }
}
