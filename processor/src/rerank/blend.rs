//! A reranker's scores and fusion's, weighed by the place that fusion gave: the better the place, the less the reranker
//! may say. Both rules are seed 003's; ADR and `eval` choose between them.

/// What stands for fusion's opinion of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Blend {
    /// The fused score, as seed 003 is written. A sum of reciprocal ranks is about 0.02 where a reranker gives 0 to 1, so
    /// the reranker all but decides alone.
    FusedScore,
    /// 1 / place, counted from 1, as tobi/qmd does, which the seed follows: a first place is worth a reranker's 1.
    #[default]
    Position,
}

/// Blended scores of candidates in fused order, `weight · fused + (1 − weight) · reranked`.
///
/// A candidate without a reranker's score counts as if it were 0. Since it is only the last ones that a reranker leaves
/// out for want of time, and since both the weight and the fused part fall from place to place (`fused` is descending
/// and not negative), none of these passes one that was judged, and each keeps the place that fusion gave: not judged is
/// no judgement.
pub fn blend(rule: Blend, fused: &[f64], reranked: &[Option<f32>]) -> Vec<f64> {
    let candidates = fused.iter().zip(reranked).enumerate();
    candidates
        .map(|(position, (fused, reranked))| {
            let weight = fused_weight(position);
            let fused = match rule {
                Blend::FusedScore => *fused,
                Blend::Position => 1.0 / (position + 1) as f64,
            };
            weight * fused + (1.0 - weight) * f64::from(reranked.unwrap_or(0.0))
        })
        .collect()
}

/// The share of fusion in the blend at a place counted from 0 (seed 003).
fn fused_weight(position: usize) -> f64 {
    match position {
        0..=2 => 0.75,
        3..=9 => 0.60,
        _ => 0.40,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Seed 003's best fused score (first in all lists) and that of an eleventh in all lists.
    const FIRST: f64 = 4.0 / 61.0 + 0.05;
    const ELEVENTH: f64 = 4.0 / 71.0;

    #[rstest]
    #[case::fused_first(Blend::FusedScore, 0, 0.08, Some(0.5), 0.185)]
    #[case::fused_third(Blend::FusedScore, 2, 0.04, Some(1.0), 0.28)]
    #[case::fused_fourth(Blend::FusedScore, 3, 0.04, Some(1.0), 0.424)]
    #[case::fused_tenth(Blend::FusedScore, 9, 0.02, Some(0.5), 0.212)]
    #[case::fused_eleventh(Blend::FusedScore, 10, 0.02, Some(0.5), 0.308)]
    #[case::fused_not_reached(Blend::FusedScore, 10, 0.02, None, 0.008)]
    #[case::position_first(Blend::Position, 0, 0.08, Some(0.0), 0.75)]
    #[case::position_second(Blend::Position, 1, 0.08, Some(1.0), 0.625)]
    #[case::position_fifth(Blend::Position, 4, 0.08, Some(0.25), 0.22)]
    #[case::position_tenth(Blend::Position, 9, 0.08, Some(0.5), 0.26)]
    #[case::position_twentieth(Blend::Position, 19, 0.08, Some(0.5), 0.32)]
    #[case::position_not_reached(Blend::Position, 3, 0.08, None, 0.15)]
    fn by_hand(
        #[case] rule: Blend,
        #[case] position: usize,
        #[case] fused: f64,
        #[case] reranked: Option<f32>,
        #[case] expected: f64,
    ) {
        let blended = blend(rule, &vec![fused; position + 1], &vec![reranked; position + 1])[position];
        assert!((blended - expected).abs() < 1e-12, "{blended}");
    }

    /// Scores of a first place that the reranker finds worthless, and of an eleventh that it gives one half.
    fn first_and_eleventh(rule: Blend) -> (f64, f64) {
        let mut fused = vec![ELEVENTH; 11];
        fused[0] = FIRST;
        let mut reranked = vec![Some(0.0); 11];
        reranked[10] = Some(0.5);
        let blended = blend(rule, &fused, &reranked);
        (blended[0], blended[10])
    }

    #[test]
    fn a_first_place_is_kept_by_position() {
        let (first, eleventh) = first_and_eleventh(Blend::Position);
        assert!(first > eleventh, "{first} {eleventh}");
    }

    #[test]
    fn a_first_place_is_lost_by_fused_score() {
        let (first, eleventh) = first_and_eleventh(Blend::FusedScore);
        assert!(first < eleventh, "{first} {eleventh}");
    }

    fn rules() -> impl Strategy<Value = Blend> {
        prop_oneof![Just(Blend::FusedScore), Just(Blend::Position)]
    }

    proptest! {
        #[test]
        fn those_not_reached_stay_behind_in_their_order(
            rule in rules(),
            mut fused in prop::collection::vec(0.0f64..1.0, 0..40),
            scores in prop::collection::vec(0.0f32..=1.0, 0..40),
        ) {
            fused.sort_by(|left, right| right.total_cmp(left));
            let reached = scores.len().min(fused.len());
            let reranked: Vec<Option<f32>> = (0..fused.len()).map(|place| scores.get(place).copied()).collect();
            let blended = blend(rule, &fused, &reranked);
            let lowest = blended[..reached].iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert!(blended[reached..].iter().all(|score| *score <= lowest));
            prop_assert!(blended[reached..].is_sorted_by(|left, right| left >= right));
        }

        #[test]
        fn a_higher_score_never_lowers_the_blend(
            rule in rules(), fused in 0.0f64..1.0, place in 0usize..40, one in 0.0f32..=1.0, other in 0.0f32..=1.0,
        ) {
            let at = |score| blend(rule, &vec![fused; place + 1], &vec![Some(score); place + 1])[place];
            prop_assert!(at(one.min(other)) <= at(one.max(other)));
        }
    }
}
