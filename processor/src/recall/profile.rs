//! Fusion profiles as data: which ranked lists count, by which rule they are fused, and every constant with its source.
//!
//! A profile is chosen by `fusion.profile` in the config, and compared by `remembrancer eval`.

use remembrancer_schema::FieldWeights;

use super::leg::Leg;
use super::linear::LinearModel;
use super::weights::ORDER;

/// A named rule of fusion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// The name in the config, in `eval` and in `why`.
    pub name: &'static str,
    /// How the full-text leg asks.
    pub lexical: Lexical,
    /// How the legs become one score.
    pub rule: Rule,
    /// What orders the first of the fused candidates anew, if anything does.
    pub second_stage: Option<&'static LinearModel>,
}

/// How the full-text leg asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lexical {
    /// For which of the prompt's terms.
    pub asking: Asking,
    /// How much they count in which field.
    pub fields: FieldWeights,
}

/// For which of the prompt's terms the full-text leg asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// Episodes with any of the terms, by BM25.
    AnyTerm,
    /// Episodes with all of the terms; where fewer than `least` are found, broadened to any of the terms (seeds 000 to 002).
    AllTermsFirst {
        /// How many hits are enough.
        least: usize,
    },
}

/// How the legs become one score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// By the ranks alone: weighted Reciprocal Rank Fusion.
    Ranks(RankFusion),
    /// `TM2C2`: `alpha · norm(cosine) + (1 − alpha) · norm(BM25)`, each brought to 0 to 1 between its theoretical minimum
    /// and the best of the pool (Bruch, Gai, Ingber: TOIS 2023). The minimum is −1 of a cosine, and 0 of BM25.
    Convex {
        /// The share of the cosine.
        alpha: f64,
    },
}

/// Weighted Reciprocal Rank Fusion: `Σ weight / (k + rank)` over the legs in which a candidate has a rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankFusion {
    /// The constant that damps the first ranks (Cormack, Clarke, Büttcher: SIGIR 2009).
    pub k: f64,
    /// The weight of each leg; a leg that is not listed does not count.
    pub weights: &'static [(Leg, f64)],
    /// What importance does.
    pub importance: ImportanceRule,
    /// Added to a candidate whose best rank in any of the legs is the first, the second, …; once a candidate.
    pub top_rank_bonus: &'static [f64],
    /// How many rank positions it is worth to hold all of the prompt's terms (seed 000 names it, without a number).
    pub exact_match_positions: f64,
}

/// How importance changes a fused score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ImportanceRule {
    /// Not at all.
    None,
    /// High importance adds `1/(K+1) − 1/(K+1+positions)`: about the worth of that many ranks (seed 004, step 2c).
    HighBonus {
        /// How many rank positions the bonus is worth.
        positions: f64,
    },
    /// The score times `base + span · importance`, importance in 0 to 1 (seeds 000 to 002).
    Multiplier {
        /// The factor at importance 0.
        base: f64,
        /// What importance 1 adds to it.
        span: f64,
    },
}

const ANY_TERM: Lexical = Lexical {
    asking: Asking::AnyTerm,
    fields: FieldWeights::EQUAL,
};

const BOTH: &[(Leg, f64)] = &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0)];

/// As much as the others: enough to be weighed, and whoever weighs decides.
const TIME: (Leg, f64) = (Leg::Time, 1.0);

/// Plain Reciprocal Rank Fusion of words and meaning, K = 60: the baseline of `eval`.
pub const RRF: Profile = Profile {
    name: "rrf",
    lexical: ANY_TERM,
    rule: Rule::Ranks(RankFusion {
        k: 60.0,
        weights: BOTH,
        importance: ImportanceRule::None,
        top_rank_bonus: &[],
        exact_match_positions: 0.0,
    }),
    second_stage: None,
};

/// Seed 004: K = 60; BM25 1.0, vector 1.0, recency 0.6, access 0.4; high importance worth ten ranks.
pub const UNION: Profile = Profile {
    name: "union",
    lexical: ANY_TERM,
    rule: Rule::Ranks(RankFusion {
        k: 60.0,
        weights: &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), (Leg::Recency, 0.6), (Leg::Access, 0.4)],
        importance: ImportanceRule::HighBonus { positions: 10.0 },
        top_rank_bonus: &[],
        exact_match_positions: 0.0,
    }),
    second_stage: None,
};

/// Seeds 000 to 002: K = 60; lexical 1.0, dense 1.0, graph 0.35; `fused × (0.7 + 0.3 · importance)`; all terms first, then
/// broadened; a small bonus where all terms are there.
pub const WEIGHTED: Profile = Profile {
    name: "weighted",
    lexical: Lexical {
        asking: Asking::AllTermsFirst { least: 10 },
        fields: FieldWeights::EQUAL,
    },
    rule: Rule::Ranks(RankFusion {
        k: 60.0,
        weights: &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), (Leg::Graph, 0.35)],
        importance: ImportanceRule::Multiplier { base: 0.7, span: 0.3 },
        top_rank_bonus: &[],
        exact_match_positions: 3.0,
    }),
    second_stage: None,
};

/// Seed 003: `2/(60+r+1)` question vector, `1/(60+r+1)` expansion vector, `1/(60+r+1)` BM25, with `r` from 0; 0.05 for the
/// first place in any list, 0.02 for the second and third. Its kill switch turns it into [`RRF`].
pub const V2: Profile = Profile {
    name: "v2",
    lexical: ANY_TERM,
    rule: Rule::Ranks(RankFusion {
        k: 60.0,
        weights: &[(Leg::Vector, 2.0), (Leg::Expansion, 1.0), (Leg::Bm25, 1.0)],
        importance: ImportanceRule::None,
        top_rank_bonus: &[0.05, 0.02, 0.02],
        exact_match_positions: 0.0,
    }),
    second_stage: None,
};

/// The seeds' challenger, with the share that their literature starts from.
pub const CONVEX: Profile = Profile {
    name: "convex",
    lexical: ANY_TERM,
    rule: Rule::Convex { alpha: 0.8 },
    second_stage: None,
};

/// Ours: words, meaning and the time that a prompt names fused by their ranks with a small K, words of what was asked counting three
/// times, and the first of that order ordered anew by all that speaks for each (ADR 0012).
pub const DEFAULT: Profile = Profile {
    name: "default",
    lexical: Lexical {
        asking: Asking::AnyTerm,
        fields: FieldWeights {
            prompt: 3.0,
            answer: 1.0,
            facets: 1.0,
        },
    },
    rule: Rule::Ranks(RankFusion {
        k: 5.0,
        weights: &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), TIME],
        importance: ImportanceRule::None,
        top_rank_bonus: &[],
        exact_match_positions: 0.0,
    }),
    second_stage: Some(&ORDER),
};

/// Every profile that can be chosen; the first is the baseline of `eval`.
pub const PROFILES: &[Profile] = &[RRF, UNION, WEIGHTED, V2, CONVEX, DEFAULT];

/// The legs by themselves, for `eval`: what each finds alone. (The expansion leg needs a conversation, and is silent without.)
pub const SINGLE_LEGS: &[Profile] = &[
    single_leg("bm25", ANY_TERM, &[(Leg::Bm25, 1.0)]),
    single_leg(
        "bm25-all-terms",
        Lexical {
            asking: Asking::AllTermsFirst { least: 0 },
            fields: FieldWeights::EQUAL,
        },
        &[(Leg::Bm25, 1.0)],
    ),
    single_leg("vector", ANY_TERM, &[(Leg::Vector, 1.0)]),
    single_leg("recency", ANY_TERM, &[(Leg::Recency, 1.0)]),
    single_leg("access", ANY_TERM, &[(Leg::Access, 1.0)]),
    single_leg("graph", ANY_TERM, &[(Leg::Graph, 1.0)]),
];

const fn single_leg(name: &'static str, lexical: Lexical, weights: &'static [(Leg, f64)]) -> Profile {
    Profile {
        name,
        lexical,
        rule: Rule::Ranks(RankFusion {
            k: 60.0,
            weights,
            importance: ImportanceRule::None,
            top_rank_bonus: &[],
            exact_match_positions: 0.0,
        }),
        second_stage: None,
    }
}

/// The weights of the profiles that rank, where the shared store is asked, too: it counts as much as words do.
const WITH_REMOTE: &[(&str, &[(Leg, f64)])] = &[
    (RRF.name, &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), (Leg::Remote, 1.0)]),
    (
        UNION.name,
        &[
            (Leg::Bm25, 1.0),
            (Leg::Vector, 1.0),
            (Leg::Recency, 0.6),
            (Leg::Access, 0.4),
            (Leg::Remote, 1.0),
        ],
    ),
    (
        WEIGHTED.name,
        &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), (Leg::Graph, 0.35), (Leg::Remote, 1.0)],
    ),
    (
        V2.name,
        &[
            (Leg::Vector, 2.0),
            (Leg::Expansion, 1.0),
            (Leg::Bm25, 1.0),
            (Leg::Remote, 1.0),
        ],
    ),
    (
        DEFAULT.name,
        &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), TIME, (Leg::Remote, 1.0)],
    ),
];

impl Profile {
    /// The same where the shared store is asked, too. One that combines scores has no place for its ranks: what it finds is judged
    /// by words and meaning there.
    #[must_use]
    pub fn with_remote(self) -> Self {
        let weights = WITH_REMOTE.iter().find(|(name, _)| *name == self.name);
        match (self.rule, weights) {
            (Rule::Ranks(fusion), Some(&(_, weights))) => Self {
                rule: Rule::Ranks(RankFusion { weights, ..fusion }),
                ..self
            },
            _ => self,
        }
    }

    /// The profile called `name`.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.name == name)
    }

    /// Whether `leg` counts in this profile.
    pub fn counts(&self, leg: Leg) -> bool {
        match self.rule {
            Rule::Ranks(fusion) => fusion.weights.iter().any(|(weighted, _)| *weighted == leg),
            Rule::Convex { .. } => matches!(leg, Leg::Bm25 | Leg::Vector),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shared_store_counts_as_much_as_words_do_and_changes_nothing_else() {
        for profile in PROFILES {
            let with = profile.with_remote();
            let (Rule::Ranks(before), Rule::Ranks(after)) = (profile.rule, with.rule) else {
                assert_eq!((with, profile.name), (*profile, CONVEX.name));
                continue;
            };
            let (last, rest) = after.weights.split_last().unwrap();
            assert_eq!(rest, before.weights, "{}", profile.name);
            let words = before.weights.iter().find(|(leg, _)| *leg == Leg::Bm25).unwrap().1;
            assert_eq!(*last, (Leg::Remote, words), "{}", profile.name);
            assert!(with.counts(Leg::Remote) && !profile.counts(Leg::Remote));
            let weights = before.weights;
            assert_eq!(
                Profile {
                    rule: Rule::Ranks(RankFusion { weights, ..after }),
                    ..with
                },
                *profile
            );
        }
    }
}
