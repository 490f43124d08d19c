//! The coarse vector search over all episodes: bit codes held in memory, scanned by Hamming distance.
//!
//! The stored truth is `episodes_vec`; the daemon loads it once and keeps this copy in step. The scan is exact over the
//! codes, filters inside (never after the cut), costs `N × dimension/64` population counts, and needs no index. The
//! exact cosine comes afterwards, from the stored embedding of the few that it returns.

use std::collections::HashMap;

use remembrancer_schema::{EpisodeId, ProjectId};

/// Bit codes of one model's vectors, by episode.
#[derive(Debug, Clone)]
pub struct CodeIndex {
    words: usize,
    ids: Vec<EpisodeId>,
    projects: Vec<Option<ProjectId>>,
    codes: Vec<u64>,
    place: HashMap<EpisodeId, usize>,
}

impl CodeIndex {
    /// An empty index for vectors of `dimension` components.
    pub fn new(dimension: usize) -> Self {
        Self {
            words: dimension.div_ceil(64),
            ids: Vec::new(),
            projects: Vec::new(),
            codes: Vec::new(),
            place: HashMap::new(),
        }
    }

    /// How many episodes are in it.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Adds or replaces an episode's code, given as bytes (bit `i` in byte `i / 8`, least significant first).
    pub fn insert(&mut self, id: EpisodeId, project: Option<ProjectId>, code: &[u8]) {
        let words = self.to_words(code);
        if let Some(&place) = self.place.get(&id) {
            self.projects[place] = project;
            self.codes[place * self.words..(place + 1) * self.words].copy_from_slice(&words);
        } else {
            self.place.insert(id, self.ids.len());
            self.ids.push(id);
            self.projects.push(project);
            self.codes.extend_from_slice(&words);
        }
    }

    /// Removes an episode's code, if there is one.
    pub fn remove(&mut self, id: EpisodeId) {
        let Some(place) = self.place.remove(&id) else { return };
        let last = self.ids.len() - 1;
        self.ids.swap_remove(place);
        self.projects.swap_remove(place);
        if place != last {
            let (head, tail) = self.codes.split_at_mut(last * self.words);
            head[place * self.words..(place + 1) * self.words].copy_from_slice(&tail[..self.words]);
            self.place.insert(self.ids[place], place);
        }
        self.codes.truncate(last * self.words);
    }

    /// The `limit` episodes nearest to `code` among those that `keep` accepts, nearest first; equal distances by id.
    pub fn nearest(&self, code: &[u8], limit: usize, keep: impl Fn(EpisodeId, Option<ProjectId>) -> bool) -> Vec<EpisodeId> {
        if limit == 0 || self.is_empty() {
            return Vec::new();
        }
        let query = self.to_words(code);
        let mut found: Vec<(u32, EpisodeId)> = self
            .codes
            .chunks_exact(self.words)
            .zip(self.ids.iter().zip(&self.projects))
            .filter(|(_, (id, project))| keep(**id, **project))
            .map(|(stored, (id, _))| (hamming(&query, stored), *id))
            .collect();
        if found.len() > limit {
            found.select_nth_unstable(limit - 1);
            found.truncate(limit);
        }
        found.sort_unstable();
        found.into_iter().map(|(_, id)| id).collect()
    }

    fn to_words(&self, code: &[u8]) -> Vec<u64> {
        let mut words = vec![0u64; self.words];
        for (index, byte) in code.iter().take(self.words * 8).enumerate() {
            words[index / 8] |= u64::from(*byte) << (8 * (index % 8));
        }
        words
    }
}

fn hamming(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn index(codes: &[(i64, Option<i64>, [u8; 8])]) -> CodeIndex {
        let mut index = CodeIndex::new(64);
        for (id, project, code) in codes {
            index.insert(EpisodeId(*id), project.map(ProjectId), code);
        }
        index
    }

    #[test]
    fn tc_32_the_filter_acts_before_the_cut() {
        let mut codes: Vec<(i64, Option<i64>, [u8; 8])> = (0..4_100).map(|id| (id, Some(1), [0; 8])).collect();
        codes.extend((5_000..5_003).map(|id| (id, Some(2), [0xFF; 8])));
        let found = index(&codes).nearest(&[0; 8], 200, |_, project| project == Some(ProjectId(2)));
        assert_eq!(found, [EpisodeId(5_000), EpisodeId(5_001), EpisodeId(5_002)]);
    }

    #[test]
    fn a_replaced_or_removed_code_is_not_found_under_its_old_value() {
        let mut index = index(&[(1, None, [0; 8]), (2, None, [0xFF; 8]), (3, None, [0x0F; 8])]);
        index.insert(EpisodeId(1), None, &[0xFF; 8]);
        index.remove(EpisodeId(2));
        index.remove(EpisodeId(99));
        assert_eq!(index.len(), 2);
        assert_eq!(index.nearest(&[0xFF; 8], 10, |_, _| true), [EpisodeId(1), EpisodeId(3)]);
    }

    proptest! {
        #[test]
        fn equals_sorting_everything(
            codes in prop::collection::vec(any::<[u8; 8]>(), 0..60),
            query in any::<[u8; 8]>(),
            limit in 0usize..20,
            removed in prop::collection::vec(0i64..60, 0..10),
        ) {
            let mut index = CodeIndex::new(64);
            for (id, code) in codes.iter().enumerate() {
                index.insert(EpisodeId(id as i64), None, code);
            }
            for id in &removed {
                index.remove(EpisodeId(*id));
            }
            let mut expected: Vec<(u32, i64)> = codes
                .iter()
                .enumerate()
                .filter(|(id, _)| !removed.contains(&(*id as i64)))
                .map(|(id, code)| (code.iter().zip(&query).map(|(a, b)| (a ^ b).count_ones()).sum(), id as i64))
                .collect();
            expected.sort_unstable();
            let expected: Vec<EpisodeId> = expected.into_iter().take(limit).map(|(_, id)| EpisodeId(id)).collect();
            prop_assert_eq!(index.nearest(&query, limit, |_, _| true), expected);
        }
    }
}
