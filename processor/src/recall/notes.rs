//! What a recall notes on its way, for whoever asks later how it came about.
//!
//! In go counts that the steps have at hand and, once, the ranked candidates; out comes what [`super::trace`] makes a whole of after the
//! reply. It runs on the prompt's own time, so that nothing is copied here but numbers: one pass over the candidates a leg, in which
//! no more than [`TOP`] are kept.

use remembrancer_schema::{EpisodeId, Rank, UnixMillis};

use super::fusion::Fused;
use super::leg::Leg;

/// The first of each list that are kept.
pub const TOP: usize = 10;

/// One of the first of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Top {
    /// The episode.
    pub episode: EpisodeId,
    /// The raw value that it is ranked by.
    pub value: f64,
    /// Its dense rank.
    pub rank: Rank,
}

/// A ranked list: how long it is, and its first.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The leg.
    pub leg: Leg,
    /// How many candidates have a rank in it.
    pub ranked: u32,
    /// The first, best first.
    pub top: Vec<Top>,
}

/// What a source brought into the pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Brought {
    /// How many it found.
    pub found: u32,
    /// How many of them no source before had found.
    pub added: u32,
    /// How many it passed over, where it counts that.
    pub passed_over: Option<u32>,
}

/// What a recall notes on its way.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notes {
    /// By when it was recently accessed.
    pub recent: Brought,
    /// By the coarse search over the codes.
    pub meaning: Brought,
    /// By full text.
    pub words: Brought,
    /// By links, where the profile follows them.
    pub graph: Brought,
    /// By the time that the prompt names, where it names one that is narrow enough.
    pub timely: Option<Brought>,
    /// By the search of the shared store, where it was to be asked.
    pub remote: Option<Brought>,
    /// All that the sources found, each once.
    pub found: u32,
    /// Of these, hidden or deleted meanwhile.
    pub gone: u32,
    /// Of these, of other projects without strong evidence.
    pub other_projects: u32,
    /// Episodes in the session's context.
    pub in_context: u32,
    /// Episodes that the session was shown.
    pub shown_before: u32,
    /// The cosine with the prompt that was last answered.
    pub topic_cosine: Option<f32>,
    /// The places of terms that were too common to be read.
    pub too_common: Vec<usize>,
    /// The ranked lists.
    pub lists: Vec<Listed>,
}

/// The lists of `legs` over `fused`: of each the first [`TOP`] by rank, equals in the fused order.
pub(super) fn lists(fused: &[Fused], legs: impl Iterator<Item = Leg>, now: UnixMillis) -> Vec<Listed> {
    legs.map(|leg| listed(fused, leg, now)).collect()
}

fn listed(fused: &[Fused], leg: Leg, now: UnixMillis) -> Listed {
    let mut best: Vec<(Rank, usize)> = Vec::with_capacity(TOP + 1);
    let mut ranked = 0;
    for (place, fused) in fused.iter().enumerate() {
        let Some(rank) = fused.ranks.of(leg) else { continue };
        ranked += 1;
        if best.len() == TOP && best.last().is_some_and(|(last, _)| *last <= rank) {
            continue;
        }
        let at = best.partition_point(|(better, _)| *better <= rank);
        best.insert(at, (rank, place));
        best.truncate(TOP);
    }
    let top = best.into_iter().map(|(rank, place)| {
        let candidate = &fused[place].candidate;
        Top {
            episode: candidate.row.id,
            value: candidate.value(leg, now).0.unwrap_or_default(),
            rank,
        }
    });
    Listed {
        leg,
        ranked,
        top: top.collect(),
    }
}
