use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

#[test]
fn the_interval_is_that_of_the_central_limit() {
    // 400 values of 0 or 1 with mean 0.3: 0.3 ± 1.96 · √(0.3 · 0.7 / 400) = 0.3 ± 0.0449.
    let values: Vec<f64> = (0..400).map(|at| f64::from(u8::from(at % 10 < 3))).collect();
    let estimate = Resampling::default().mean(&values, None);
    close(estimate.mean, 0.3, 1e-12);
    close(estimate.low, 0.255, 0.006);
    close(estimate.high, 0.345, 0.006);
}

#[test]
fn values_of_one_cluster_say_what_one_value_says() {
    // Four conversations whose queries are all right or all wrong: resampled means are multiples of a quarter.
    let values: Vec<f64> = (0..400).map(|at| f64::from(u8::from(at < 200))).collect();
    let clusters: Vec<String> = (0..400).map(|at| format!("conversation {}", at / 100)).collect();
    let clusters: Vec<&str> = clusters.iter().map(String::as_str).collect();
    let estimate = Resampling::default().mean(&values, Some(&clusters));
    assert_eq!((estimate.mean, estimate.low, estimate.high), (0.5, 0.0, 1.0));
}

#[test]
fn clusters_weigh_by_their_size() {
    let estimate = Resampling::default().mean(&[1.0, 0.0, 0.0, 0.0], Some(&["a", "b", "b", "b"]));
    close(estimate.mean, 0.25, 1e-12);
}

#[rstest]
#[case::none(&[])]
#[case::one(&[0.7])]
#[case::equal(&[0.7, 0.7, 0.7])]
fn what_does_not_vary_has_no_width(#[case] values: &[f64]) {
    let estimate = Resampling::default().mean(values, None);
    close(estimate.low, values.first().copied().unwrap_or(0.0), 1e-12);
    close(estimate.high, estimate.low, 1e-12);
}

#[rstest]
// Of 2⁶ sign patterns two are as far: all up, all down.
#[case::six_wins([1.0; 6], [0.0; 6], 2.0 / 64.0)]
// Sums of ±1 six times reach ±2 or more in 44 of 64.
#[case::four_wins_two_losses([1.0, 1.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0], 44.0 / 64.0)]
#[case::no_difference([0.4; 6], [0.4; 6], 1.0)]
fn p_values_by_hand(#[case] first: [f64; 6], #[case] second: [f64; 6], #[case] expected: f64) {
    let difference = Resampling::default().difference(&first, &second, None);
    close(difference.p_value, expected, 0.015);
}

#[test]
fn a_test_by_clusters_flips_whole_clusters() {
    let (first, second) = ([1.0; 6], [0.0; 6]);
    let difference = Resampling::default().difference(&first, &second, Some(&["a", "a", "a", "b", "b", "b"]));
    close(difference.estimate.mean, 1.0, 1e-12);
    close(difference.p_value, 0.5, 0.015);
}

#[rstest]
#[case::none(&[], &[])]
#[case::one(&[0.02], &[0.02])]
// 0.01 · 3, 0.02 · 2, 0.04 · 1.
#[case::three(&[0.04, 0.01, 0.02], &[0.04, 0.03, 0.04])]
// 0.015 · 2 falls below 0.014 · 3, and is lifted to it.
#[case::never_below_a_smaller_one(&[0.014, 0.015, 0.9], &[0.042, 0.042, 0.9])]
#[case::at_most_one(&[0.6, 0.7], &[1.0, 1.0])]
fn holm_by_hand(#[case] p_values: &[f64], #[case] expected: &[f64]) {
    let adjusted = holm(p_values);
    assert_eq!(adjusted.len(), expected.len());
    for (found, expected) in adjusted.iter().zip(expected) {
        close(*found, *expected, 1e-12);
    }
}

/// The share of all sign patterns whose sum is as far from 0.
fn naive_sign_flip(differences: &[f64]) -> f64 {
    let observed = differences.iter().sum::<f64>().abs();
    let patterns = 1_u32 << differences.len();
    let as_far = (0..patterns).filter(|pattern| {
        let signed = differences
            .iter()
            .enumerate()
            .map(|(at, value)| if pattern >> at & 1 == 0 { *value } else { -value });
        signed.sum::<f64>().abs() >= observed - 1e-9
    });
    as_far.count() as f64 / f64::from(patterns)
}

/// Holm's step-down procedure as a reader of his paper would do it: what is rejected at this level.
fn naive_holm(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut rejected = vec![false; p_values.len()];
    for others in (1..=p_values.len()).rev() {
        let left = (0..p_values.len()).filter(|index| !rejected[*index]);
        let smallest = left.min_by(|a, b| p_values[*a].total_cmp(&p_values[*b])).unwrap();
        if p_values[smallest] * others as f64 > level {
            break;
        }
        rejected[smallest] = true;
    }
    rejected
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_test_by_chance_agrees_with_the_test_of_all_patterns(
        pairs in prop::collection::vec((0u8..4, 0u8..4), 1..10),
        seed in any::<u64>(),
    ) {
        let (first, second): (Vec<f64>, Vec<f64>) =
            pairs.iter().map(|(first, second)| (f64::from(*first) / 3.0, f64::from(*second) / 3.0)).unzip();
        let differences: Vec<f64> = first.iter().zip(&second).map(|(first, second)| first - second).collect();
        let resampling = Resampling { seed, ..Resampling::default() };
        let found = resampling.difference(&first, &second, None).p_value;
        // Six standard errors of a share from 10,000 draws at most.
        prop_assert!((found - naive_sign_flip(&differences)).abs() < 0.03);
    }

    #[test]
    fn an_interval_holds_its_mean_and_follows_from_the_seed(
        values in prop::collection::vec(0.0..1.0, 5..40),
        seed in any::<u64>(),
    ) {
        let resampling = Resampling { seed, ..Resampling::default() };
        let estimate = resampling.mean(&values, None);
        prop_assert!((estimate.mean - values.iter().sum::<f64>() / values.len() as f64).abs() < 1e-9);
        prop_assert!(estimate.low <= estimate.mean && estimate.mean <= estimate.high);
        prop_assert_eq!(estimate, resampling.mean(&values, None));
    }

    #[test]
    fn corrected_p_values_reject_what_the_procedure_rejects(
        p_values in prop::collection::vec(0.0..0.2, 0..12),
        level in 0.01..0.2,
    ) {
        let found: Vec<bool> = holm(&p_values).iter().map(|p_value| *p_value <= level).collect();
        prop_assert_eq!(found, naive_holm(&p_values, level));
    }
}
