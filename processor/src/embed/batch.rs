//! Groups texts of like length into batches bounded in tokens.

/// Tokens in a batch, padding included. One batch is the longest time that background work holds the processor without a
/// chance to stop, and bounds its memory (11 KB a token, and 1.8 MB a thread).
pub(crate) const BATCH_TOKENS: usize = 1_024;

/// Indices of `lengths`, shortest first, cut where the longest of a batch times its size would pass `bound`. A text
/// longer than the bound is a batch of its own; every index comes once.
pub(crate) fn batches(lengths: &[usize], bound: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|index| lengths[*index]);
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for index in order {
        match batches.last_mut() {
            Some(batch) if (batch.len() + 1) * lengths[index] <= bound => batch.push(index),
            _ => batches.push(vec![index]),
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing(&[], vec![])]
    #[case::one(&[5], vec![vec![0]])]
    #[case::by_length(&[4, 2, 4], vec![vec![1, 0], vec![2]])]
    #[case::over_the_bound(&[20, 3], vec![vec![1], vec![0]])]
    fn groups(#[case] lengths: &[usize], #[case] expected: Vec<Vec<usize>>) {
        assert_eq!(batches(lengths, 8), expected);
    }

    proptest! {
        #[test]
        fn every_text_comes_once_and_batches_are_bounded(lengths in prop::collection::vec(1usize..256, 0..200)) {
            let batches = batches(&lengths, 1_024);
            let mut all = batches.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..lengths.len()).collect::<Vec<_>>());
            for batch in batches {
                let longest = batch.iter().map(|index| lengths[*index]).max().unwrap_or(0);
                prop_assert!(batch.len() == 1 || batch.len() * longest <= 1_024);
            }
        }
    }
}
