//! Percentiles by nearest rank: sorted values come in, one of them goes out. `status` and `stats` tell their times by it.

/// The smallest of `sorted` that `percent` of a hundred do not exceed; `None` of nothing.
pub(crate) fn percentile<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let place = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(place - 1).copied()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none(&[], 50, None)]
    #[case::one(&[7], 99, Some(7))]
    #[case::the_middle(&[1, 2, 3, 4], 50, Some(2))]
    #[case::the_least(&[1, 2, 3, 4], 0, Some(1))]
    #[case::the_most(&[1, 2, 3, 4], 100, Some(4))]
    #[case::nearly_all(&[1, 2, 3, 4], 99, Some(4))]
    fn it_is_a_value_that_was_measured(#[case] sorted: &[u64], #[case] percent: usize, #[case] expected: Option<u64>) {
        assert_eq!(percentile(sorted, percent), expected);
    }
}
