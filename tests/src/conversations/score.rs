//! What was shown for each question, and the shares that follow. Pure arithmetic.

use std::time::Duration;

use super::history::Question;

/// One recollection as it was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The session that it is from, by its name in the set.
    pub session: String,
    /// Whether that session answers the question.
    pub is_evidence: bool,
    /// Whether its very turn does.
    pub is_evidence_turn: bool,
}

/// What became of one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The question's name in the set.
    pub question: String,
    /// Its kind.
    pub category: String,
    /// Whether the set holds an answer to it.
    pub is_answerable: bool,
    /// What was shown, best first.
    pub shown: Vec<Shown>,
    /// Characters that were injected.
    pub characters: usize,
    /// How long the hook took, each time it was asked.
    pub hooks: Vec<Duration>,
    /// What the last answer had to do without.
    pub lacking: Vec<String>,
}

impl Verdict {
    pub(super) fn of(question: &Question) -> Self {
        Self {
            question: question.id.clone(),
            category: question.category.clone(),
            is_answerable: question.is_answerable(),
            shown: Vec::new(),
            characters: 0,
            hooks: Vec::new(),
            lacking: Vec::new(),
        }
    }
}

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Those of which it is true.
    pub hits: usize,
    /// All.
    pub of: usize,
}

/// The 97.5th percentile of the normal distribution.
const Z: f64 = 1.959_964;

impl Share {
    /// The share, 0 to 1; 0 of nothing.
    pub fn value(self) -> f64 {
        self.hits as f64 / self.of.max(1) as f64
    }

    /// Those of which it is not true.
    #[must_use]
    pub fn rest(self) -> Self {
        Self {
            hits: self.of - self.hits,
            of: self.of,
        }
    }

    /// Its 95 % interval by Wilson's score (1927), 0 to 1; everything where nothing is known.
    pub fn interval(self) -> (f64, f64) {
        if self.of == 0 {
            return (0.0, 1.0);
        }
        let (share, count) = (self.value(), self.of as f64);
        let shrink = 1.0 + Z * Z / count;
        let centre = share + Z * Z / (2.0 * count);
        let spread = Z * (share * (1.0 - share) / count + Z * Z / (4.0 * count * count)).sqrt();
        (((centre - spread) / shrink).max(0.0), ((centre + spread) / shrink).min(1.0))
    }
}

/// What a group of questions got.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// An evidence session is among what is shown.
    pub evidence_shown: Share,
    /// The first that is shown is from an evidence session.
    pub first_right: Share,
    /// A turn that answers is among what is shown.
    pub turn_shown: Share,
    /// Nothing is shown.
    pub silent: Share,
    /// Something is shown, and none of it is evidence.
    pub beside_the_point: Share,
    /// Characters injected, the mean of all questions.
    pub characters: f64,
}

impl Scores {
    /// Counts.
    pub fn of<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> Self {
        let verdicts: Vec<&Verdict> = verdicts.into_iter().collect();
        let share = |is: &dyn Fn(&[Shown]) -> bool| Share {
            hits: verdicts.iter().filter(|verdict| is(&verdict.shown)).count(),
            of: verdicts.len(),
        };
        let has_evidence = |shown: &[Shown]| shown.iter().any(|one| one.is_evidence);
        let characters: usize = verdicts.iter().map(|verdict| verdict.characters).sum();
        Self {
            evidence_shown: share(&has_evidence),
            first_right: share(&|shown| shown.first().is_some_and(|one| one.is_evidence)),
            turn_shown: share(&|shown| shown.iter().any(|one| one.is_evidence_turn)),
            silent: share(&<[Shown]>::is_empty),
            beside_the_point: share(&|shown| !shown.is_empty() && !has_evidence(shown)),
            characters: characters as f64 / verdicts.len().max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Each letter is a recollection: `t` of an evidence turn, `s` of an evidence session, `x` of another.
    fn verdict(shown: &str) -> Verdict {
        let shown = shown.chars().map(|kind| Shown {
            session: String::new(),
            is_evidence: kind != 'x',
            is_evidence_turn: kind == 't',
        });
        Verdict {
            shown: shown.collect(),
            characters: 100,
            ..Verdict::of(&Question::default())
        }
    }

    #[test]
    fn every_share_is_of_all_questions() {
        let verdicts = ["t", "xs", "", "x", "st"].map(verdict);
        let share = |hits| Share { hits, of: 5 };
        let expected = Scores {
            evidence_shown: share(3),
            first_right: share(2),
            turn_shown: share(2),
            silent: share(1),
            beside_the_point: share(1),
            characters: 100.0,
        };
        assert_eq!(Scores::of(&verdicts), expected);
        assert_eq!(Scores::of(&[]).evidence_shown, Share { hits: 0, of: 0 });
    }

    // Newcombe's worked examples of Wilson's interval (Statistics in Medicine 17, 1998), and its ends.
    #[rstest]
    #[case::many(81, 263, 0.2553, 0.3662)]
    #[case::few(15, 148, 0.0624, 0.1605)]
    #[case::none(0, 20, 0.0, 0.1611)]
    #[case::one(1, 29, 0.0061, 0.1718)]
    #[case::nothing_known(0, 0, 0.0, 1.0)]
    fn the_interval_is_wilsons(#[case] hits: usize, #[case] of: usize, #[case] low: f64, #[case] high: f64) {
        let interval = Share { hits, of }.interval();
        assert!(
            (interval.0 - low).abs() < 5e-5 && (interval.1 - high).abs() < 5e-5,
            "{interval:?}"
        );
    }
}
