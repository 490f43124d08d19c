//! The coarse search against sorting everything.

use proptest::prelude::*;

use super::*;

const DIMENSION: usize = 64;

/// A vector whose code is `code`: its components are ±1/8.
fn vector(code: u64) -> Embedding {
    let component = |bit: usize| if code >> bit & 1 == 1 { 0.125 } else { -0.125 };
    Embedding::from_unit((0..DIMENSION).map(component).collect())
}

fn index(codes: impl IntoIterator<Item = (i64, Option<i64>, u64)>) -> CodeIndex {
    let mut index = CodeIndex::new(DIMENSION);
    for (id, project, code) in codes {
        index.insert(EpisodeId(id), project.map(ProjectId), &code.to_le_bytes());
    }
    index
}

fn nearest(index: &CodeIndex, code: u64, limit: usize, shards: Shards) -> Vec<i64> {
    let found = index.nearest(&vector(code), limit, shards, &HashSet::new());
    found.into_iter().map(|id| id.0).collect()
}

#[test]
fn tc_32_the_filter_acts_before_the_cut() {
    let near = (0..4_100).map(|id| (id, Some(1), 0));
    let index = index(near.chain((5_000..5_003).map(|id| (id, Some(2), u64::MAX))));
    assert_eq!(
        nearest(&index, 0, 200, Shards::Only(Some(ProjectId(2)))),
        [5_000, 5_001, 5_002]
    );
    assert_eq!(
        nearest(&index, 0, 200, Shards::AllBut([Some(ProjectId(1)); 2])),
        [5_000, 5_001, 5_002]
    );
    assert_eq!(nearest(&index, 0, 2, Shards::All), [0, 1]);
    assert_eq!(nearest(&index, 0, 2, Shards::Only(None)), [0; 0]);
}

#[test]
fn what_is_left_out_takes_no_place() {
    let index = index((0..3_000).map(|id| (id, None, 0)));
    let left_out = (0..2_900).map(EpisodeId).collect();
    let found = index.nearest(&vector(0), 2, Shards::All, &left_out);
    assert_eq!(found, [EpisodeId(2_900), EpisodeId(2_901)]);
}

#[test]
fn a_replaced_or_removed_code_is_not_found_under_its_old_value() {
    let mut index = index([(1, None, 0), (2, None, u64::MAX), (3, Some(1), 0x0F)]);
    index.insert(EpisodeId(1), Some(ProjectId(1)), &u64::MAX.to_le_bytes());
    index.remove(&[EpisodeId(2), EpisodeId(99)]);
    assert_eq!(index.len(), 2);
    assert_eq!(nearest(&index, u64::MAX, 10, Shards::All), [1, 3]);
    assert_eq!(nearest(&index, u64::MAX, 10, Shards::Only(None)), [0; 0]);
}

#[test]
fn a_removal_takes_short_steps_and_leaves_what_stays() {
    const MEANT: i64 = 7;
    // Four shards, of which one is larger than a step, and ids that are not in order in any.
    let all = 40 * 4_096;
    let mut index = index((0..all).map(|number| {
        let id = number * 31 % all;
        (id, Some(id % 2 * (1 + id % 3)), id as u64)
    }));
    let before = index.len();
    let meant: Vec<EpisodeId> = (0..all).filter(|id| id % MEANT == 0).map(EpisodeId).collect();
    let mut removal = index.begin_removal(&CodeIndex::wanted(&meant));
    let mut steps = 1;
    while index.go_on(&mut removal) {
        steps += 1;
    }
    assert!(steps >= 3, "not all at once: {steps}");
    assert_eq!(index.len(), before - meant.len());
    for id in (0..all).step_by(4_099) {
        let found = nearest(&index, id as u64, 1, Shards::Only(Some(ProjectId(id % 2 * (1 + id % 3)))));
        assert_eq!(found == [id], id % MEANT != 0, "{id}");
    }
    let stored: usize = index.shards.values().map(Shard::codes).sum();
    assert_eq!(stored, index.len());
}

#[test]
fn a_removal_of_what_is_not_there_takes_no_step() {
    let mut index = index((0..100).map(|id| (id, None, 0)));
    let mut removal = index.begin_removal(&CodeIndex::wanted(&[EpisodeId(900), EpisodeId(-1)]));
    assert!(!index.go_on(&mut removal));
    assert_eq!(index.len(), 100);
}

#[test]
fn a_prompt_of_another_dimension_has_no_neighbours() {
    let found = index([(1, None, 0)]).nearest(&Embedding::from_unit(vec![1.0]), 5, Shards::All, &HashSet::new());
    assert_eq!(found, []);
}

#[test]
fn beyond_the_shortlist_the_nearest_by_distance_are_compared() {
    // Twice as many as the shortlist holds, the nearest last: all of them must be read, and thinned out more than once.
    let far = (0..4 * SHORTLIST as i64).map(|id| (id, None, u64::MAX));
    let index = index(far.chain([(900_000, None, 1)]));
    assert_eq!(nearest(&index, 0, 2, Shards::All), [900_000, 0]);
}

proptest! {
    #[test]
    fn equals_sorting_everything(
        codes in prop::collection::vec((any::<u64>(), prop::option::of(0i64..3)), 0..60),
        query in any::<u64>(),
        limit in 0usize..20,
        removed in prop::collection::vec(0i64..60, 0..10),
        left_out in prop::collection::hash_set(0i64..60, 0..10),
        own in prop::option::of(0i64..3),
    ) {
        let mut index = index(codes.iter().enumerate().map(|(id, (code, project))| (id as i64, *project, *code)));
        index.remove(&removed.iter().map(|id| EpisodeId(*id)).collect::<Vec<_>>());
        let mut expected: Vec<(u32, i64)> = codes
            .iter()
            .enumerate()
            .map(|(id, (code, project))| (id as i64, (code ^ query).count_ones(), *project))
            .filter(|(id, _, project)| !removed.contains(id) && !left_out.contains(id) && *project == own)
            .map(|(id, distance, _)| (distance, id))
            .collect();
        expected.sort_unstable();
        let expected: Vec<EpisodeId> = expected.into_iter().take(limit).map(|(_, id)| EpisodeId(id)).collect();
        let left_out = left_out.into_iter().map(EpisodeId).collect();
        // Components of one size make the finer comparison the Hamming distance again.
        prop_assert_eq!(index.nearest(&vector(query), limit, Shards::Only(own.map(ProjectId)), &left_out), expected);
    }
}
