//! Fusion profiles as data: which ranked lists count, with which weight, and the importance bonus.
//!
//! Every constant names its source. A profile is chosen by `fusion.profile` in the config.

use std::fmt;

/// One source of a ranked list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leg {
    /// Full-text relevance over all episodes.
    Bm25,
    /// Cosine similarity with the prompt's embedding.
    Vector,
    /// `created_at`, newest first.
    Recency,
    /// `access_count`, most used first.
    Access,
}

impl Leg {
    /// The legs in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Bm25, Self::Vector, Self::Recency, Self::Access];

    /// The leg's name in `why`, `status` and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bm25 => "bm25",
            Self::Vector => "vector",
            Self::Recency => "recency",
            Self::Access => "access",
        }
    }
}

impl fmt::Display for Leg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How importance changes a fused score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ImportanceRule {
    /// High importance adds `1/(K+1) − 1/(K+1+positions)`: about the worth of that many ranks (seed 004, step 2c).
    HighBonus {
        /// How many rank positions the bonus is worth.
        positions: f64,
    },
}

/// A named rule of fusion.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The name in the config and in `why`.
    pub name: &'static str,
    /// The constant of Reciprocal Rank Fusion that damps the first ranks (Cormack, Clarke, Büttcher: SIGIR 2009).
    pub k: f64,
    /// The weight of each leg; a leg that is not listed does not count.
    pub weights: &'static [(Leg, f64)],
    /// What importance does.
    pub importance: ImportanceRule,
}

/// Seed 004: K = 60; BM25 1.0, vector 1.0, recency 0.6, access 0.4; high importance worth ten ranks.
pub const UNION: Profile = Profile {
    name: "union",
    k: 60.0,
    weights: &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), (Leg::Recency, 0.6), (Leg::Access, 0.4)],
    importance: ImportanceRule::HighBonus { positions: 10.0 },
};

/// Every profile that can be chosen.
pub const PROFILES: &[Profile] = &[UNION];

impl Profile {
    /// The profile called `name`.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.name == name)
    }
}
