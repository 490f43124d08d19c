//! Fusion against values computed by hand, and against a naive oracle.

use proptest::prelude::*;
use remembrancer_schema::{EpisodeId, EpisodeUid, SessionId, TurnUid};

use super::*;
use crate::recall::profile::{CONVEX, PROFILES, SINGLE_LEGS, UNION, V2, WEIGHTED};

const NOW: UnixMillis = UnixMillis(1_000_000);

/// A candidate by its id with the values of the four legs.
fn candidate(id: u8, bm25: Option<f64>, cosine: Option<f32>, created_at: i64, access_count: u64) -> Candidate {
    let turn_uid = TurnUid([id; 16]);
    Candidate {
        row: CandidateRow {
            id: EpisodeId(i64::from(id)),
            uid: EpisodeUid::of(&turn_uid, 0),
            turn_uid,
            session: SessionId(1),
            turn: 0,
            part: 0,
            project: None,
            origin: Origin::User,
            importance: Importance::Normal,
            created_at: UnixMillis(created_at),
            accessed_at: UnixMillis(created_at),
            access_count,
            embedding: None,
        },
        bm25: bm25.map(Bm25),
        cosine: cosine.map(Cosine),
        expansion: None,
        graph: None,
        timely: None,
        foreign: false,
        remote: None,
        exact: false,
    }
}

fn ids(fused: &[Fused]) -> Vec<i64> {
    fused.iter().map(|fused| fused.candidate.row.id.0).collect()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} is not {b}");
}

#[test]
fn union_by_hand() {
    // 1: BM25 rank 1, vector rank 2, recency rank 2, access rank 1.  2: no BM25 hit, vector 1, recency 1, access 2.
    let fused = fuse(
        vec![
            candidate(1, Some(-9.0), Some(0.3), 100, 5),
            candidate(2, None, Some(0.8), 200, 0),
        ],
        &UNION,
        NOW,
    );
    assert_eq!(ids(&fused), [1, 2]);
    close(fused[0].score, 1.0 / 61.0 + 1.0 / 62.0 + 0.6 / 62.0 + 0.4 / 61.0);
    close(fused[1].score, 1.0 / 61.0 + 0.6 / 61.0 + 0.4 / 62.0);
}

#[test]
fn no_bm25_hit_at_all_skips_the_leg_for_everyone() {
    let fused = fuse(
        vec![candidate(1, None, Some(0.3), 100, 0), candidate(2, None, Some(0.8), 100, 0)],
        &UNION,
        NOW,
    );
    close(fused[0].score, 1.0 / 61.0 + 0.6 / 61.0 + 0.4 / 61.0);
    close(fused[1].score, 1.0 / 62.0 + 0.6 / 61.0 + 0.4 / 61.0);
}

#[test]
fn without_any_vector_words_decide() {
    let fused = fuse(
        vec![candidate(1, Some(-1.0), None, 100, 0), candidate(2, Some(-5.0), None, 100, 0)],
        &UNION,
        NOW,
    );
    assert_eq!(ids(&fused), [2, 1]);
    assert_eq!(fused[0].ranks.of(Leg::Vector), None);
}

#[test]
fn a_missing_embedding_is_absent_and_not_zero() {
    // Similarity 0 would rank the unembedded candidate above the negative cosine.
    let fused = fuse(
        vec![candidate(1, None, None, 100, 0), candidate(2, None, Some(-0.2), 100, 0)],
        &UNION,
        NOW,
    );
    assert_eq!(ids(&fused), [2, 1]);
}

#[test]
fn high_importance_is_worth_about_ten_ranks() {
    let score = |importance| {
        let mut candidate = candidate(1, None, None, 100, 0);
        candidate.row.importance = importance;
        fuse(vec![candidate], &UNION, NOW)[0].score
    };
    close(score(Importance::High) - score(Importance::Normal), 1.0 / 61.0 - 1.0 / 71.0);
    close(score(Importance::Low), score(Importance::Normal));
    let mut important = candidate(2, Some(-1.0), Some(0.5), 100, 0);
    important.row.importance = Importance::High;
    let fused = fuse(vec![candidate(1, Some(-2.0), Some(0.6), 100, 0), important], &UNION, NOW);
    assert_eq!(
        ids(&fused),
        [2, 1],
        "the boost lifts a candidate over one that is a rank better in two legs"
    );
}

#[test]
fn tc_35_a_future_episode_gains_no_recency_beyond_now() {
    let fused = fuse(
        vec![
            candidate(1, None, Some(0.5), NOW.0 + 86_400_000, 0),
            candidate(2, None, Some(0.5), NOW.0, 0),
        ],
        &UNION,
        NOW,
    );
    assert_eq!(fused[0].ranks.of(Leg::Recency), fused[1].ranks.of(Leg::Recency));
}

#[test]
fn equal_scores_are_ordered_by_origin_then_time_then_uid() {
    let mut subagent = candidate(3, None, None, 100, 0);
    subagent.row.origin = Origin::Subagent;
    let twins = [candidate(1, None, None, 100, 0), candidate(2, None, None, 100, 0)];
    let mut by_uid: Vec<_> = twins.iter().map(|twin| (twin.row.uid, twin.row.id.0)).collect();
    by_uid.sort_unstable();
    let fused = fuse(vec![subagent, twins[0].clone(), twins[1].clone()], &UNION, NOW);
    assert_eq!(ids(&fused), [by_uid[0].1, by_uid[1].1, 3]);
}

fn any_candidates() -> impl Strategy<Value = Vec<Candidate>> {
    let values = (
        prop::option::of(-9i32..0),
        prop::option::of(-5i32..5),
        0i64..6,
        0u64..4,
        any::<bool>(),
        any::<bool>(),
    );
    prop::collection::vec(values, 0..30).prop_map(|values| {
        values
            .into_iter()
            .enumerate()
            .map(|(id, (bm25, cosine, created_at, access_count, high, subagent))| {
                let mut one = candidate(
                    id as u8,
                    bm25.map(f64::from),
                    cosine.map(|cosine| cosine as f32 / 5.0),
                    created_at,
                    access_count,
                );
                one.row.importance = if high { Importance::High } else { Importance::Low };
                one.row.origin = if subagent { Origin::Subagent } else { Origin::User };
                one
            })
            .collect()
    })
}

/// Seed 004 read word for word, without regard for cost.
fn naive_score(all: &[Candidate], one: &Candidate) -> f64 {
    fn term(weight: f64, better: Vec<f64>) -> f64 {
        let mut better = better;
        better.sort_by(f64::total_cmp);
        better.dedup();
        weight / (60.0 + better.len() as f64 + 1.0)
    }
    let mut score = 0.0;
    if let Some(own) = one.bm25 {
        score += term(
            1.0,
            all.iter()
                .filter_map(|c| c.bm25)
                .map(|b| b.0)
                .filter(|b| *b < own.0)
                .collect(),
        );
    }
    if let Some(own) = one.cosine {
        let better = all
            .iter()
            .filter_map(|c| c.cosine)
            .filter(|c| c.0 > own.0)
            .map(|c| f64::from(c.0))
            .collect();
        score += term(1.0, better);
    }
    let newer = all
        .iter()
        .map(|c| c.row.created_at.0)
        .filter(|at| *at > one.row.created_at.0)
        .map(|at| at as f64);
    score += term(0.6, newer.collect());
    let level = |candidate: &Candidate| (candidate.row.access_count as f64 + 0.5).log2().ceil().max(0.0);
    let busier = all.iter().map(level).filter(|other| *other > level(one));
    score += term(0.4, busier.collect());
    if one.row.importance == Importance::High {
        score += 1.0 / 61.0 - 1.0 / 71.0;
    }
    score
}

/// Candidates in every leg: 1 leads by words, 2 by meaning, 3 is there by the graph and the conversation alone.
fn in_every_leg() -> Vec<Candidate> {
    let mut all = vec![
        candidate(1, Some(-9.0), Some(0.3), 100, 0),
        candidate(2, Some(-3.0), Some(0.8), 100, 0),
        candidate(3, None, None, 100, 0),
    ];
    all[0].expansion = Some(Cosine(0.2));
    all[1].expansion = Some(Cosine(0.1));
    all[2].expansion = Some(Cosine(0.9));
    all[2].graph = Some(1.0);
    all
}

fn score_of(fused: &[Fused], id: i64) -> f64 {
    let one = fused.iter().find(|fused| fused.candidate.row.id.0 == id);
    one.expect("is a candidate").score
}

#[test]
fn weighted_by_hand() {
    let mut all = in_every_leg();
    all[1].row.importance = Importance::High;
    all[2].row.importance = Importance::Low;
    all[1].exact = true;
    let fused = fuse(all, &WEIGHTED, NOW);
    close(score_of(&fused, 1), (1.0 / 61.0 + 1.0 / 62.0) * (0.7 + 0.3 * 0.5));
    let exact = 1.0 / 61.0 - 1.0 / 64.0;
    close(score_of(&fused, 2), 1.0 / 62.0 + 1.0 / 61.0 + exact);
    close(score_of(&fused, 3), 0.35 / 61.0 * 0.7);
    assert_eq!(ids(&fused), [2, 1, 3]);
}

#[test]
fn weighted_collapses_to_the_lexical_order_without_the_other_legs() {
    let words = [-1.0, -7.0, -3.0, -5.0, -2.0];
    let all = words
        .iter()
        .zip(1..)
        .map(|(score, id)| candidate(id, Some(*score), None, i64::from(id), 0));
    assert_eq!(ids(&fuse(all.collect(), &WEIGHTED, NOW)), [2, 4, 3, 5, 1]);
}

#[test]
fn the_graph_leg_of_weighted_can_lift_nothing_past_the_end_of_another_leg() {
    // Why `eval` judges the leg at other weights, too: its first place is worth less than the fiftieth of BM25.
    let mut all: Vec<Candidate> = (1..=50)
        .map(|id| candidate(id, Some(-100.0 + f64::from(id)), None, 100, 0))
        .collect();
    let mut linked = candidate(51, None, None, 100, 0);
    linked.graph = Some(1.0);
    all.push(linked);
    assert_eq!(ids(&fuse(all, &WEIGHTED, NOW)).last(), Some(&51));
}

#[test]
fn v2_by_hand() {
    // With r from 0, as the seed has it: 2/(60+r+1) question, 1/(60+r+1) conversation, 1/(60+r+1) BM25, and once the bonus.
    let fused = fuse(in_every_leg(), &V2, NOW);
    close(score_of(&fused, 1), 2.0 / 62.0 + 1.0 / 62.0 + 1.0 / 61.0 + 0.05);
    close(score_of(&fused, 2), 2.0 / 61.0 + 1.0 / 63.0 + 1.0 / 62.0 + 0.05);
    close(score_of(&fused, 3), 1.0 / 61.0 + 0.05);
}

#[rstest::rstest]
#[case::first(1, 0.05)]
#[case::second(2, 0.02)]
#[case::third(3, 0.02)]
#[case::fourth(4, 0.0)]
fn v2_gives_its_bonus_by_the_best_rank_in_any_list(#[case] id: u8, #[case] bonus: f64) {
    let all = (1..=5).map(|id| candidate(id, Some(-10.0 + f64::from(id)), None, 100, 0));
    let fused = fuse(all.collect(), &V2, NOW);
    close(score_of(&fused, i64::from(id)), 1.0 / (60.0 + f64::from(id)) + bonus);
}

#[test]
fn convex_by_hand() {
    let fused = fuse(in_every_leg(), &CONVEX, NOW);
    let (third, best) = (f64::from(0.3_f32), f64::from(0.8_f32));
    close(score_of(&fused, 1), 0.8 * (third + 1.0) / (best + 1.0) + 0.2);
    close(score_of(&fused, 2), 0.8 + 0.2 / 3.0);
    close(score_of(&fused, 3), 0.0);
}

#[test]
fn convex_without_any_vector_is_the_lexical_order() {
    let all = vec![candidate(1, Some(-1.0), None, 100, 0), candidate(2, Some(-5.0), None, 100, 0)];
    assert_eq!(ids(&fuse(all, &CONVEX, NOW)), [2, 1]);
    let nothing = fuse(vec![candidate(1, None, None, 100, 0)], &CONVEX, NOW);
    close(nothing[0].score, 0.0);
}

proptest! {
    #[test]
    fn every_profile_is_total_and_finite(candidates in any_candidates()) {
        for profile in PROFILES.iter().chain(SINGLE_LEGS) {
            let fused = fuse(candidates.clone(), profile, NOW);
            prop_assert_eq!(fused.len(), candidates.len());
            prop_assert!(fused.iter().all(|fused| fused.score.is_finite()));
            prop_assert!(fused.windows(2).all(|pair| pair[0].score >= pair[1].score));
        }
    }

    /// The naive oracle of the convex combination: the definition, value by value.
    #[test]
    fn convex_equals_its_definition(candidates in any_candidates()) {
        let best_cosine = candidates.iter().filter_map(|c| c.cosine).map(|c| f64::from(c.0)).fold(f64::NEG_INFINITY, f64::max);
        let best_bm25 = candidates.iter().filter_map(|c| c.bm25).map(|b| -b.0).fold(0.0, f64::max);
        for fused in fuse(candidates.clone(), &CONVEX, NOW) {
            let meaning = fused.candidate.cosine.map_or(0.0, |c| (f64::from(c.0) + 1.0) / (best_cosine + 1.0));
            let words = fused.candidate.bm25.map_or(0.0, |b| if best_bm25 > 0.0 { -b.0 / best_bm25 } else { 0.0 });
            if best_cosine > -1.0 {
                prop_assert!((fused.score - (0.8 * meaning + 0.2 * words)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn equals_the_naive_oracle(candidates in any_candidates()) {
        for fused in fuse(candidates.clone(), &UNION, NOW) {
            prop_assert!((fused.score - naive_score(&candidates, &fused.candidate)).abs() < 1e-12);
        }
    }

    #[test]
    fn the_order_of_the_pool_is_irrelevant(candidates in any_candidates(), seed in any::<u64>()) {
        let mut shuffled = candidates.clone();
        let mut state = seed;
        shuffled.sort_by_cached_key(|_| { state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1); state });
        prop_assert_eq!(ids(&fuse(candidates, &UNION, NOW)), ids(&fuse(shuffled, &UNION, NOW)));
    }

    #[test]
    fn a_better_value_never_lowers_a_score(candidates in any_candidates(), which in any::<prop::sample::Index>()) {
        prop_assume!(!candidates.is_empty());
        let index = which.index(candidates.len());
        let id = candidates[index].row.id;
        let score = |fused: Vec<Fused>| fused.into_iter().find(|f| f.candidate.row.id == id).map(|f| f.score);
        let before = score(fuse(candidates.clone(), &UNION, NOW));
        let mut better = candidates;
        better[index].cosine = Some(Cosine(1.0));
        better[index].bm25 = Some(Bm25(-99.0));
        prop_assert!(score(fuse(better, &UNION, NOW)) >= before);
    }
}
