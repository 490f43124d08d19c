//! The relevance floor: whether the store holds an answer at all, and whether a candidate is worth showing.
//!
//! Nearest neighbours always exist, so the first question is asked of the candidates together: see [`Support`]. A candidate is
//! then held against the best alone. What there is no vector for is judged by its words.

use super::linear::AnswerModel;
use super::support::Support;
use super::weights::ANSWER;

/// What it takes for a candidate to be shown. Learnt and measured with all-MiniLM-L6-v2: see ADR 0012.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// What tells from the candidates together how probable it is that the store holds an answer.
    pub answer: &'static AnswerModel,
    /// Below this probability nothing is shown …
    pub least_probability: f64,
    /// … unless the best cosine is at least this: a memory in other words shares none of the prompt's.
    pub ample_cosine: f64,
    /// A candidate's cosine must be at least this share of the best one's: beside a memory that fits, one that fits half as
    /// well is noise.
    pub relative_cosine: f64,
    /// What holds at least this share of the best coverage by words …
    pub relative_coverage: f64,
    /// … needs only this share of the best cosine.
    pub worded_cosine: f64,
    /// Without any cosine (no embedding in time, or not embedded yet) this share of the prompt's weight in words must be there.
    pub lexical_coverage: f64,
    /// Without any cosine at least this many of the prompt's terms must be there, or all of them.
    pub lexical_terms: usize,
    /// An episode of another project needs this cosine under [`super::ScopeRule::ProjectFirst`], and the ample one where that is more …
    pub foreign_cosine: f32,
    /// … and this coverage.
    pub foreign_coverage: f64,
}

/// However near the best comes, it is about others where no more than this share of the prompt's proper names stands in any candidate.
pub(super) const AMPLE_NAMES: f64 = 0.5;

/// The floor as shipped.
pub const FLOOR: Floor = Floor {
    answer: &ANSWER,
    least_probability: 0.45,
    ample_cosine: 0.5,
    relative_cosine: 0.55,
    relative_coverage: 0.8,
    worded_cosine: 0.3,
    lexical_coverage: 0.5,
    lexical_terms: 2,
    foreign_cosine: 0.6,
    foreign_coverage: 0.5,
};

/// A floor that lets everything through.
pub const OPEN_FLOOR: Floor = Floor {
    answer: &ANSWER,
    least_probability: 0.0,
    ample_cosine: -1.0,
    relative_cosine: f64::NEG_INFINITY,
    relative_coverage: 0.0,
    worded_cosine: 0.0,
    lexical_coverage: 0.0,
    lexical_terms: 0,
    foreign_cosine: -1.0,
    foreign_coverage: 0.0,
};

/// How the prompt's words and meaning back one candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backing {
    /// The cosine, if both have a vector.
    pub cosine: Option<f64>,
    /// The share of the prompt's terms found in the episode, each weighted by its inverse document frequency; 0 to 1.
    pub coverage: f64,
    /// How many of the prompt's terms were found.
    pub matched: usize,
    /// How many terms the prompt has.
    pub terms: usize,
    /// Whether the episode belongs to another project than the prompt.
    pub foreign: bool,
    /// Whether all that speaks for it puts it before every other candidate.
    pub first: bool,
}

/// Why a candidate was not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    /// Neither words nor meaning support it enough.
    BelowFloor,
    /// It belongs to another project, and the evidence is not strong.
    OtherProject,
    /// It is a prompt that nothing came of: to be reminded of it helps nobody.
    NoAnswer,
    /// Another part of the same turn is shown.
    SameTurn,
    /// Its text says what a shown recollection says already.
    SameText,
    /// A later episode says nearly the same, and stands in its place.
    DuplicateOf,
    /// The top three were full: a later episode that takes back what this one says went before it.
    SupersededBy,
    /// The top three were full.
    BeyondTop,
    /// The block had no room left for it.
    NoRoom,
}

impl Dropped {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::BelowFloor,
        Self::OtherProject,
        Self::NoAnswer,
        Self::SameTurn,
        Self::SameText,
        Self::DuplicateOf,
        Self::SupersededBy,
        Self::BeyondTop,
        Self::NoRoom,
    ];

    /// The reason's name in the log and in `why`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BelowFloor => "below-floor",
            Self::OtherProject => "other-project",
            Self::NoAnswer => "no-answer",
            Self::SameTurn => "same-turn",
            Self::SameText => "same-text",
            Self::DuplicateOf => "duplicate-of",
            Self::SupersededBy => "superseded-by",
            Self::BeyondTop => "beyond-top",
            Self::NoRoom => "no-room",
        }
    }
}

impl Floor {
    /// Whether the store holds an answer at all, by what its candidates say together.
    pub fn is_answered(&self, support: &Support) -> bool {
        self.is_near(support) || self.answer.probability(support) >= self.least_probability
    }

    /// Whether the best comes so near that nothing else is asked.
    pub(super) fn is_near(&self, support: &Support) -> bool {
        support.best_cosine >= self.ample_cosine && support.proper_names_in_pool > AMPLE_NAMES
    }

    /// The cosine that an episode of another project needs: strong evidence is ample, too, wherever the settings put that.
    pub(super) fn least_foreign_cosine(&self) -> f64 {
        f64::from(self.foreign_cosine).max(self.ample_cosine)
    }

    /// Whether `backing` is enough beside the `support` of all candidates; the reason if not.
    ///
    /// # Errors
    /// [`Dropped::BelowFloor`] or [`Dropped::OtherProject`].
    pub fn admit(&self, backing: &Backing, support: &Support) -> Result<(), Dropped> {
        if backing.foreign {
            let strong = backing.cosine.is_some_and(|cosine| cosine >= self.least_foreign_cosine());
            return if strong && backing.coverage >= self.foreign_coverage {
                Ok(())
            } else {
                Err(Dropped::OtherProject)
            };
        }
        let admitted = match backing.cosine {
            // The first may be so by words, or by its time, with a vector that says little: a long text's, of which it is one line.
            Some(cosine) => self.is_answered(support) && (backing.first || self.holds_beside_the_best(cosine, backing, support)),
            None => self.admits_by_words(backing),
        };
        if admitted { Ok(()) } else { Err(Dropped::BelowFloor) }
    }

    fn holds_beside_the_best(&self, cosine: f64, backing: &Backing, support: &Support) -> bool {
        let share = cosine / support.best_cosine.max(f64::MIN_POSITIVE);
        let worded = backing.coverage > 0.0 && backing.coverage >= self.relative_coverage * support.best_coverage;
        share >= self.relative_cosine || worded && share >= self.worded_cosine
    }

    fn admits_by_words(&self, backing: &Backing) -> bool {
        backing.matched >= self.lexical_terms.min(backing.terms.max(1)) && backing.coverage >= self.lexical_coverage
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn backing(cosine: Option<f64>, coverage: f64, matched: usize, foreign: bool) -> Backing {
        Backing {
            cosine,
            coverage,
            matched,
            terms: 5,
            foreign,
            first: false,
        }
    }

    /// A store that holds an answer as near as can be, or none.
    fn answered(answered: bool) -> Support {
        if !answered {
            return Support::default();
        }
        Support {
            best_cosine: 0.72,
            best_coverage: 0.9,
            best_passage: 0.9,
            pool_coverage: 1.0,
            rarest_in_pool: 1.0,
            names_in_pool: 1.0,
            known_terms: 1.0,
            agreement: 1.0 / 6.0,
            bm25_absolute: 0.6,
            terms: 5.0,
            first_coverage: 0.9,
            in_time: 0.0,
            best_soft_coverage: 0.9,
            first_soft_coverage: 0.9,
            proper_names_in_pool: 1.0,
            three_proper_names: 0.0,
            asks_past: 0.0,
        }
    }

    #[rstest]
    #[case::near(backing(Some(0.7), 0.9, 4, false), true, Ok(()))]
    #[case::by_meaning_alone(backing(Some(0.5), 0.0, 0, false), true, Ok(()))]
    #[case::by_words_beside_the_best(backing(Some(0.3), 0.8, 3, false), true, Ok(()))]
    #[case::by_words_alone(backing(Some(0.05), 0.9, 4, false), true, Err(Dropped::BelowFloor))]
    #[case::neither(backing(Some(0.1), 0.0, 0, false), true, Err(Dropped::BelowFloor))]
    #[case::half_as_good(backing(Some(0.3), 0.3, 1, false), true, Err(Dropped::BelowFloor))]
    #[case::nothing_in_the_store(backing(Some(0.7), 0.9, 4, false), false, Err(Dropped::BelowFloor))]
    #[case::words_without_a_vector(backing(None, 0.6, 3, false), false, Ok(()))]
    #[case::one_word_without_a_vector(backing(None, 0.6, 1, false), true, Err(Dropped::BelowFloor))]
    #[case::few_words_without_a_vector(backing(None, 0.4, 2, false), true, Err(Dropped::BelowFloor))]
    #[case::other_project(backing(Some(0.55), 0.9, 4, true), true, Err(Dropped::OtherProject))]
    #[case::other_project_without_words(backing(Some(0.8), 0.1, 1, true), true, Err(Dropped::OtherProject))]
    #[case::other_project_strong(backing(Some(0.65), 0.7, 4, true), false, Ok(()))]
    fn the_floor(#[case] backing: Backing, #[case] store_answers: bool, #[case] expected: Result<(), Dropped>) {
        assert_eq!(FLOOR.admit(&backing, &answered(store_answers)), expected);
        assert_eq!(OPEN_FLOOR.admit(&backing, &Support::default()), Ok(()));
    }

    #[test]
    fn what_is_first_needs_not_be_near() {
        let first = Backing {
            first: true,
            ..backing(Some(0.05), 0.9, 4, false)
        };
        assert_eq!(FLOOR.admit(&first, &answered(true)), Ok(()));
        assert_eq!(FLOOR.admit(&first, &answered(false)), Err(Dropped::BelowFloor));
        let foreign = Backing { foreign: true, ..first };
        assert_eq!(FLOOR.admit(&foreign, &answered(true)), Err(Dropped::OtherProject));
    }

    #[test]
    fn a_near_memory_needs_no_words() {
        let support = Support {
            best_cosine: 0.5,
            proper_names_in_pool: 1.0,
            ..answered(false)
        };
        assert!(FLOOR.is_answered(&support));
        assert!(!FLOOR.is_answered(&Support {
            best_cosine: 0.49,
            ..support
        }));
        assert!(!FLOOR.is_answered(&Support {
            proper_names_in_pool: 0.5,
            ..support
        }));
    }

    #[test]
    fn more_evidence_never_closes_the_floor() {
        assert!(ANSWER.weights.iter().all(|weight| *weight >= 0.0));
    }

    #[test]
    fn one_term_alone_is_enough_where_the_prompt_has_no_other() {
        let backing = Backing {
            terms: 1,
            ..backing(None, 1.0, 1, false)
        };
        assert_eq!(FLOOR.admit(&backing, &Support::default()), Ok(()));
    }
}
