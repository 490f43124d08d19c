//! How good one ranked list is: from document indices, best first, and the judgements of one query to numbers from 0 to 1.
//!
//! The definitions are those of `trec_eval` and BEIR. A document that a list names twice counts at its first place alone.

use std::collections::{BTreeMap, HashSet};

/// The cuts at which recall is figured.
pub const CUTS: [usize; 4] = [1, 3, 5, 10];

/// How many places of a list are looked at by the reciprocal rank and by nDCG.
pub const DEPTH: usize = 10;

/// The figures of one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// [`recall`] at each of [`CUTS`].
    pub recall: [f64; 4],
    /// [`reciprocal_rank`].
    pub reciprocal_rank: f64,
    /// [`ndcg`].
    pub ndcg: f64,
}

impl Scores {
    /// The figures of a list; none where no document is relevant, since such a query can only be answered by silence.
    pub fn of(ranked: &[usize], relevant: &BTreeMap<usize, u32>) -> Option<Self> {
        (!relevant.is_empty()).then(|| Self {
            recall: CUTS.map(|cut| recall(ranked, relevant, cut)),
            reciprocal_rank: reciprocal_rank(ranked, relevant),
            ndcg: ndcg(ranked, relevant),
        })
    }
}

/// Recall at `cut`: which share of *all* relevant documents stands in the first `cut` places.
///
/// With more relevant documents than places it can't reach 1, unlike the "capped" recall that some report. 0 where nothing
/// is relevant.
pub fn recall(ranked: &[usize], relevant: &BTreeMap<usize, u32>, cut: usize) -> f64 {
    let found: HashSet<usize> = ranked
        .iter()
        .take(cut)
        .copied()
        .filter(|document| relevant.contains_key(document))
        .collect();
    ratio(found.len() as f64, relevant.len() as f64)
}

/// One divided by the rank of the first relevant document, 0 where none is in the first [`DEPTH`]; its mean is MRR@10.
pub fn reciprocal_rank(ranked: &[usize], relevant: &BTreeMap<usize, u32>) -> f64 {
    let first = ranked.iter().take(DEPTH).position(|document| relevant.contains_key(document));
    first.map_or(0.0, |index| 1.0 / (index + 1) as f64)
}

/// nDCG@10 with the grade itself as gain and log₂(rank + 1) as discount (`ndcg_cut_10`), not BEIR's former 2^grade − 1.
///
/// 0 where nothing is relevant.
pub fn ndcg(ranked: &[usize], relevant: &BTreeMap<usize, u32>) -> f64 {
    let mut seen = HashSet::new();
    let gains = ranked.iter().map(|document| {
        relevant
            .get(document)
            .filter(|_| seen.insert(*document))
            .copied()
            .unwrap_or(0)
    });
    let gained = discounted_gain(gains);
    let mut ideal: Vec<u32> = relevant.values().copied().collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    ratio(gained, discounted_gain(ideal.into_iter()))
}

fn discounted_gain(gains: impl Iterator<Item = u32>) -> f64 {
    let discounted = gains
        .take(DEPTH)
        .zip(2_u32..)
        .map(|(gain, divisor)| f64::from(gain) / f64::from(divisor).log2());
    discounted.sum()
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Relevant: 7 with grade 2, 8 and 9 with grade 1. The ideal list gains 2 + 1/log₂3 + 1/2 = 3.130930.
    fn check(ranked: &[usize], recall: [f64; 4], reciprocal_rank: f64, ndcg: f64) {
        let scores = Scores::of(ranked, &BTreeMap::from([(7, 2), (8, 1), (9, 1)])).unwrap();
        let found = [scores.recall.as_slice(), &[scores.reciprocal_rank, scores.ndcg]].concat();
        let expected = [recall.as_slice(), &[reciprocal_rank, ndcg]].concat();
        let close = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close, "{found:?} instead of {expected:?}");
    }

    const THIRD: f64 = 1.0 / 3.0;

    #[rstest]
    #[case::ideal(&[7, 8, 9], [THIRD, 1.0, 1.0, 1.0], 1.0, 1.0)]
    #[case::nothing(&[1, 2, 3], [0.0; 4], 0.0, 0.0)]
    #[case::empty(&[], [0.0; 4], 0.0, 0.0)]
    // (1/log₂3 + 2/log₂6) / 3.130930 = (0.630930 + 0.773706) / 3.130930
    #[case::late(&[1, 8, 2, 3, 7], [0.0, THIRD, 2.0 * THIRD, 2.0 * THIRD], 0.5, 0.448_632)]
    // 1/log₂11 = 0.289065
    #[case::tenth(&[1, 2, 3, 4, 5, 6, 10, 11, 12, 9], [0.0, 0.0, 0.0, THIRD], 0.1, 0.092_326)]
    #[case::eleventh(&[1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 7], [0.0; 4], 0.0, 0.0)]
    // A document named twice counts once: 1 / 3.130930.
    #[case::twice(&[8, 8, 8], [THIRD; 4], 1.0, 0.319_394)]
    fn figures_by_hand(#[case] ranked: &[usize], #[case] recall: [f64; 4], #[case] reciprocal_rank: f64, #[case] ndcg: f64) {
        check(ranked, recall, reciprocal_rank, ndcg);
    }

    #[test]
    fn a_query_without_an_answer_has_no_figures() {
        assert_eq!(Scores::of(&[1], &BTreeMap::new()), None);
    }

    /// nDCG with the ideal list found by trying every order.
    fn naive_ndcg(ranked: &[usize], relevant: &BTreeMap<usize, u32>) -> f64 {
        let gain = |list: &[usize]| {
            let mut sum = 0.0;
            for (index, document) in list.iter().enumerate().take(10) {
                sum += f64::from(relevant.get(document).copied().unwrap_or(0)) / ((index + 2) as f64).log2();
            }
            sum
        };
        let best = permutations(&relevant.keys().copied().collect::<Vec<_>>())
            .iter()
            .map(|list| gain(list))
            .fold(0.0, f64::max);
        if best == 0.0 { 0.0 } else { gain(ranked) / best }
    }

    fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
        if items.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for (at, first) in items.iter().enumerate() {
            let mut rest = items.to_vec();
            rest.remove(at);
            all.extend(permutations(&rest).into_iter().map(|tail| [vec![*first], tail].concat()));
        }
        all
    }

    proptest! {
        #[test]
        fn figures_are_those_of_a_naive_count(
            ranked in Just((0..20).collect::<Vec<usize>>()).prop_shuffle(),
            length in 0usize..20,
            relevant in prop::collection::btree_map(0usize..25, 1u32..4, 1..5),
        ) {
            let ranked = &ranked[..length];
            let scores = Scores::of(ranked, &relevant).unwrap();
            for (cut, found) in CUTS.into_iter().zip(scores.recall) {
                let naive = relevant.keys().filter(|document| ranked.iter().take(cut).any(|other| other == *document)).count();
                prop_assert!((found - naive as f64 / relevant.len() as f64).abs() < 1e-12);
            }
            let first = (1..=10).find(|rank| ranked.get(rank - 1).is_some_and(|document| relevant.contains_key(document)));
            prop_assert!((scores.reciprocal_rank - first.map_or(0.0, |rank| 1.0 / rank as f64)).abs() < 1e-12);
            prop_assert!((scores.ndcg - naive_ndcg(ranked, &relevant)).abs() < 1e-9);
        }
    }
}
