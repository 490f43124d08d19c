//! BM25 over postings, and the best of it.
//!
//! In go the postings of each term and the episodes' lengths, out come the best episodes by exactly the formula, the constants
//! and the order of additions of FTS5's `bm25()`. Episodes are scored a block of ids at a time, so that the sums stay in the
//! nearest cache.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::ids::EpisodeId;
use crate::lengths::BLOCK;
use crate::postings::{Index, Postings};
use crate::units::Bm25;

/// How soon a term's frequency saturates.
const K1: f64 = 1.2;
/// How much a text's length counts.
const B: f64 = 0.75;
/// The weight of a term that half of all texts hold: else it would be negative.
const LEAST_IDF: f64 = 1e-6;

/// Which episodes are hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needed {
    /// Those with any of the terms.
    Any,
    /// Those with all of them.
    All,
}

/// The best `limit` episodes, best first, ties by id. `lengths` gives the lengths of a block of episodes, and may fail.
pub(super) fn best<E>(
    index: &Index,
    terms: &[Postings],
    needed: Needed,
    limit: usize,
    mut lengths: impl FnMut(i64, &mut [u16; BLOCK]) -> Result<(), E>,
) -> Result<Vec<(EpisodeId, Bm25)>, E> {
    let mut cursors = Cursors::new(index, terms);
    let least = match needed {
        Needed::Any => 1,
        Needed::All => terms.len() as u16,
    };
    let average = index.terms as f64 / index.episodes as f64;
    let mut block = Block::new();
    let mut best = Best::new(limit);
    while let Some(number) = cursors.next_block() {
        lengths(number, &mut block.lengths)?;
        block.begin(average);
        cursors.score(number, &mut block);
        for (place, _) in block.matched.iter().enumerate().filter(|(_, matched)| **matched >= least) {
            best.offer(number * BLOCK as i64 + place as i64, block.scores[place]);
        }
    }
    Ok(best.sorted())
}

/// `log((N − df + ½) / (df + ½))`, as FTS5 has it.
fn inverse_document_frequency(episodes: u64, document_frequency: u64) -> f64 {
    let (all, with) = (episodes as f64, document_frequency as f64);
    let idf = ((all - with + 0.5) / (with + 0.5)).ln();
    if idf <= 0.0 { LEAST_IDF } else { idf }
}

/// Sums of one block of episodes.
struct Block {
    lengths: [u16; BLOCK],
    /// What a frequency is held against, by each length.
    norms: [f64; BLOCK],
    scores: [f64; BLOCK],
    /// How many terms each episode holds.
    matched: [u16; BLOCK],
}

impl Block {
    fn new() -> Self {
        Self {
            lengths: [0; BLOCK],
            norms: [0.0; BLOCK],
            scores: [0.0; BLOCK],
            matched: [0; BLOCK],
        }
    }

    fn begin(&mut self, average: f64) {
        for (norm, length) in self.norms.iter_mut().zip(self.lengths) {
            *norm = K1 * (1.0 - B + B * f64::from(length) / average);
        }
        self.scores.fill(0.0);
        self.matched.fill(0);
    }
}

/// Where each run of each term's postings has come to.
struct Cursors<'a> {
    cursors: Vec<Cursor<'a>>,
}

struct Cursor<'a> {
    idf: f64,
    episodes: &'a [u32],
    frequencies: &'a [f32],
}

impl<'a> Cursors<'a> {
    fn new(index: &Index, terms: &'a [Postings]) -> Self {
        let mut cursors = Vec::new();
        for term in terms {
            let idf = inverse_document_frequency(index.episodes, term.document_frequency);
            let mut begin = 0;
            for &end in &term.run_ends {
                cursors.push(Cursor {
                    idf,
                    episodes: &term.episodes[begin..end],
                    frequencies: &term.frequencies[begin..end],
                });
                begin = end;
            }
        }
        Self { cursors }
    }

    /// The first block in which any of them has an episode.
    fn next_block(&self) -> Option<i64> {
        let first = self.cursors.iter().filter_map(|cursor| cursor.episodes.first()).min()?;
        Some(i64::from(*first) / BLOCK as i64)
    }

    /// Adds what the terms give the episodes of a block, term by term, and moves behind them.
    fn score(&mut self, number: i64, block: &mut Block) {
        let first = number as u32 * BLOCK as u32;
        for cursor in &mut self.cursors {
            let count = cursor.episodes.partition_point(|episode| *episode - first < BLOCK as u32);
            for (episode, frequency) in cursor.episodes[..count].iter().zip(cursor.frequencies) {
                let place = (episode - first) as usize % BLOCK;
                let frequency = f64::from(*frequency);
                block.scores[place] += cursor.idf * ((frequency * (K1 + 1.0)) / (frequency + block.norms[place]));
                block.matched[place] += 1;
            }
            cursor.episodes = &cursor.episodes[count..];
            cursor.frequencies = &cursor.frequencies[count..];
        }
    }
}

/// The best so far.
struct Best {
    limit: usize,
    /// The worst of them on top.
    heap: BinaryHeap<Worst>,
}

/// An episode with its score, greater where it is worse.
#[derive(PartialEq)]
struct Worst {
    score: f64,
    episode: i64,
}

impl Eq for Worst {}

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.episode.cmp(&other.episode))
    }
}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Best {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            heap: BinaryHeap::new(),
        }
    }

    /// Episodes come in ascending order, so that one as good as the worst goes behind it.
    fn offer(&mut self, episode: i64, score: f64) {
        if self.heap.len() < self.limit {
            self.heap.push(Worst { score, episode });
        } else if let Some(mut worst) = self.heap.peek_mut()
            && score > worst.score
        {
            *worst = Worst { score, episode };
        }
    }

    fn sorted(self) -> Vec<(EpisodeId, Bm25)> {
        let sorted = self.heap.into_sorted_vec();
        sorted
            .into_iter()
            .map(|found| (EpisodeId(found.episode), Bm25(-found.score)))
            .collect()
    }
}
