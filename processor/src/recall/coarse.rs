//! The coarse vector search over all episodes: bit codes held in memory, one shard a project.
//!
//! The stored truth is `episodes_vec`; the daemon loads it once and keeps this copy in step. A search reads each code in
//! scope once, so it is linear, and at 48 bytes a code that is as fast as memory is read; there is nothing to build or to
//! rebuild. Three steps, each finer and over fewer: the [`SHORTLIST`] of least Hamming distance; these by the
//! unquantised prompt against the codes' signs ([`SignTable`]); and outside, the exact cosine of the few that
//! [`CodeIndex::nearest`] returns. ADR 16 has what the steps lose and cost.

mod shard;
mod sign_table;

use std::collections::{BTreeMap, HashSet};

use remembrancer_schema::{EpisodeId, ProjectId};

use self::shard::{Nearest, Shard};
use self::sign_table::SignTable;
use crate::embed::Embedding;

/// How many codes of least Hamming distance are compared with the unquantised prompt. Of the exact 50 nearest of 110,000
/// real vectors 99.9 % are among these; 99.7 % are among the best 500 by the finer comparison, 96.5 % by this one (ADR 16).
const SHORTLIST: usize = 4_000;

/// Blocks that one step of a removal looks at: about a tenth of a millisecond where few of their episodes are meant, under two where all
/// may be.
const STEP_BLOCKS: usize = 16;

/// What is left to do of a removal.
#[derive(Debug)]
pub struct Removal {
    ids: roaring::RoaringTreemap,
    /// From the least of them to the greatest: most codes are not even looked up.
    range: std::ops::RangeInclusive<u64>,
    /// The steps that are left, the next one last: the shard, and its first block.
    rest: Vec<(Option<ProjectId>, usize)>,
}

/// Which projects a search looks at. Episodes of no project are a project of their own (`None`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shards {
    /// All.
    All,
    /// This one.
    Only(Option<ProjectId>),
    /// All but these.
    AllBut([Option<ProjectId>; 2]),
}

impl Shards {
    fn takes(self, project: Option<ProjectId>) -> bool {
        match self {
            Self::All => true,
            Self::Only(own) => project == own,
            Self::AllBut(left_out) => !left_out.contains(&project),
        }
    }
}

/// Bit codes of one model's vectors, by project and episode.
#[derive(Debug)]
pub struct CodeIndex {
    dimension: usize,
    shards: BTreeMap<Option<ProjectId>, Shard>,
    /// Which episodes are in some shard: tells at once that a new one has no old code to be looked for.
    present: roaring::RoaringTreemap,
}

impl CodeIndex {
    /// An empty index for vectors of `dimension` components.
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            shards: BTreeMap::new(),
            present: roaring::RoaringTreemap::new(),
        }
    }

    /// How many episodes are in it.
    pub fn len(&self) -> usize {
        self.present.len() as usize
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.present.is_empty()
    }

    /// Adds or replaces an episode's code, given as bytes (bit `i` in byte `i / 8`, least significant first). To replace
    /// many, [`Self::remove`] them together first: each replacement looks through all shards.
    pub fn insert(&mut self, id: EpisodeId, project: Option<ProjectId>, code: &[u8]) {
        if self.present.contains(key(id)) {
            self.remove(&[id]);
        }
        self.present.insert(key(id));
        let words = self.dimension.div_ceil(64);
        self.shards.entry(project).or_insert_with(|| Shard::new(words)).push(id, code);
    }

    /// Removes the codes of these episodes, where there are any, in one look through all shards. Who holds a lock that others wait for
    /// takes the steps of [`Self::begin_removal`] instead.
    pub fn remove(&mut self, ids: &[EpisodeId]) {
        let mut removal = self.begin_removal(&Self::wanted(ids));
        while self.go_on(&mut removal) {}
    }

    /// These episodes as [`Self::begin_removal`] takes them.
    pub fn wanted(ids: &[EpisodeId]) -> roaring::RoaringTreemap {
        ids.iter().map(|id| key(*id)).collect()
    }

    /// Begins to remove the codes of episodes; [`Self::go_on`] does the rest in short steps. Until the last of them some may still be
    /// found, and nothing may be inserted.
    pub fn begin_removal(&mut self, wanted: &roaring::RoaringTreemap) -> Removal {
        let found = wanted & &self.present;
        self.present -= &found;
        let shards = if found.is_empty() { None } else { Some(&self.shards) };
        let rest = shards.into_iter().flatten().flat_map(|(project, shard)| {
            let steps = (0..shard.blocks()).step_by(STEP_BLOCKS);
            steps.map(move |first| (*project, first))
        });
        Removal {
            rest: rest.collect(),
            range: found.min().unwrap_or_default()..=found.max().unwrap_or_default(),
            ids: found,
        }
    }

    /// Does the next step of a removal, which looks at no more than some ten thousand codes. Gives whether there is another.
    pub fn go_on(&mut self, removal: &mut Removal) -> bool {
        // From each shard's end: what fills a hole is a code that stays.
        let Some((project, first)) = removal.rest.pop() else {
            return false;
        };
        if let Some(shard) = self.shards.get_mut(&project) {
            shard.remove(first..first + STEP_BLOCKS, |id| {
                removal.range.contains(&key(id)) && removal.ids.contains(key(id))
            });
            if shard.blocks() == 0 {
                self.shards.remove(&project);
            }
        }
        !removal.rest.is_empty()
    }

    /// The `limit` episodes nearest to the prompt among those in `shards` that are not `left_out`, nearest first; equally
    /// near ones by id. None for a prompt of another dimension.
    pub fn nearest(&self, prompt: &Embedding, limit: usize, shards: Shards, left_out: &HashSet<EpisodeId>) -> Vec<EpisodeId> {
        self.nearest_admitted(prompt, limit, shards, &|id| !left_out.contains(&id))
    }

    /// As [`Self::nearest`], among those that `admits` says yes to: it is asked of each that may be near enough.
    pub fn nearest_admitted(
        &self,
        prompt: &Embedding,
        limit: usize,
        shards: Shards,
        admits: &dyn Fn(EpisodeId) -> bool,
    ) -> Vec<EpisodeId> {
        if limit == 0 || prompt.dims() != self.dimension {
            return Vec::new();
        }
        let code = shard::to_words(&prompt.bit_code(), self.dimension.div_ceil(64));
        let mut nearest = Nearest::new(limit.max(SHORTLIST), admits);
        for (_, shard) in self.shards.iter().filter(|(project, _)| shards.takes(**project)) {
            shard.scan(&code, &mut nearest);
        }
        let table = SignTable::new(prompt.as_slice());
        let mut found: Vec<(f32, EpisodeId)> = nearest
            .into_found()
            .into_iter()
            .map(|found| (table.product(found.code), found.id))
            .collect();
        found.sort_unstable_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        found.truncate(limit);
        found.into_iter().map(|(_, id)| id).collect()
    }
}

/// SQLite's row ids as the bitmap's keys: one to one, whatever the sign.
fn key(id: EpisodeId) -> u64 {
    id.0.cast_unsigned()
}

#[cfg(test)]
mod tests;
