//! Fusion against values computed by hand, and against a naive oracle.

use proptest::prelude::*;
use remembrancer_schema::{EpisodeId, EpisodeUid, SessionId, TurnUid};

use super::*;
use crate::recall::profile::UNION;

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
    assert_eq!(fused[0].ranks.vector, None);
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
    close(importance_bonus(Importance::High, &UNION), 1.0 / 61.0 - 1.0 / 71.0);
    close(importance_bonus(Importance::Normal, &UNION), 0.0);
    close(importance_bonus(Importance::Low, &UNION), 0.0);
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
    assert_eq!(fused[0].ranks.recency, fused[1].ranks.recency);
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
    let busier = all
        .iter()
        .map(|c| c.row.access_count)
        .filter(|n| *n > one.row.access_count)
        .map(|n| n as f64);
    score += term(0.4, busier.collect());
    if one.row.importance == Importance::High {
        score += 1.0 / 61.0 - 1.0 / 71.0;
    }
    score
}

proptest! {
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
