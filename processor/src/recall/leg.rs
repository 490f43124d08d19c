//! The legs: each a source of one ranked list over the candidate pool.

use std::fmt;

use remembrancer_schema::Rank;

/// One source of a ranked list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leg {
    /// Full-text relevance over all episodes.
    Bm25,
    /// Cosine similarity with the prompt's embedding.
    Vector,
    /// `created_at`, newest first.
    Recency,
    /// By level of use, most used first.
    Access,
    /// Cosine similarity with the conversation so far: the second query, in the place of seed 003's `HyDE`.
    Expansion,
    /// Nearness to the best hits by session, file, command or error (seeds 000 to 002).
    Graph,
    /// What is from the time that the prompt names, by cosine similarity with it.
    Time,
    /// By the search of the shared store over all that its team shares.
    Remote,
}

impl Leg {
    /// The legs in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::Bm25,
        Self::Vector,
        Self::Recency,
        Self::Access,
        Self::Expansion,
        Self::Graph,
        Self::Time,
        Self::Remote,
    ];

    /// The leg's name in `why`, `eval`, `status` and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bm25 => "bm25",
            Self::Vector => "vector",
            Self::Recency => "recency",
            Self::Access => "access",
            Self::Expansion => "expansion",
            Self::Graph => "graph",
            Self::Time => "time",
            Self::Remote => "remote",
        }
    }
}

impl fmt::Display for Leg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A candidate's rank in each leg; none where the leg says nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LegRanks([Option<Rank>; Leg::ALL.len()]);

impl LegRanks {
    /// The rank in `leg`.
    pub fn of(&self, leg: Leg) -> Option<Rank> {
        self.0[leg as usize]
    }

    /// Sets the rank in `leg`.
    pub fn set(&mut self, leg: Leg, rank: Option<Rank>) {
        self.0[leg as usize] = rank;
    }

    /// The best rank among `legs`.
    pub fn best_of(&self, legs: impl IntoIterator<Item = Leg>) -> Option<Rank> {
        legs.into_iter().filter_map(|leg| self.of(leg)).min()
    }
}
