//! The gates: whether a prompt is worth recalling for, and whether a candidate is relevant enough to be shown.
//!
//! A good answer is often "nothing". Each gate that closes is named, so that `why` can say so.

use std::fmt;

use remembrancer_schema::Cosine;

use super::query::Query;

/// Why nothing was shown for a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// The prompt holds no text.
    EmptyPrompt,
    /// The prompt is nothing but a slash command.
    SlashCommand,
    /// The prompt only goes on ("yes", "continue"): it asks for nothing that could be remembered.
    Chatter,
    /// The prompt stays on the topic that the previous prompt of this session was answered on.
    SameTopic,
    /// The store holds nothing that any leg finds.
    NothingFound,
    /// All that was found is in this session's context already, or was shown in it before.
    AlreadyInContext,
    /// Candidates were found, and none is relevant enough.
    NothingRelevant,
    /// Time ran out before an answer was ready.
    OutOfTime,
    /// The store could not be read.
    StoreFailed,
}

impl Silence {
    /// The reason's name on the wire, in `why` and in `status`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmptyPrompt => "empty-prompt",
            Self::SlashCommand => "slash-command",
            Self::Chatter => "chatter",
            Self::SameTopic => "same-topic",
            Self::NothingFound => "nothing-found",
            Self::AlreadyInContext => "already-in-context",
            Self::NothingRelevant => "nothing-relevant",
            Self::OutOfTime => "out-of-time",
            Self::StoreFailed => "store-failed",
        }
    }
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The cosine with the previous prompt above which a prompt stays on its topic (the seed's system: 0.85).
pub const SAME_TOPIC_COSINE: f32 = 0.85;

/// What it takes for a candidate to be shown. Cosines are those of all-MiniLM-L6-v2; see ADR 0006.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// Below this cosine nothing is shown, whatever words it shares (the seed's system: 0.25; see ADR 0006).
    pub least_cosine: f32,
    /// From this cosine on meaning alone is enough.
    pub ample_cosine: f32,
    /// Below `ample_cosine`, this share of the prompt's weight in words must be in the episode.
    pub least_coverage: f64,
    /// A candidate's cosine must be at least this share of the best one's: beside a memory that fits, one that fits half
    /// as well is noise.
    pub relative_cosine: f32,
    /// Without any cosine (no embedding in time) this share must be there.
    pub lexical_coverage: f64,
    /// Without any cosine at least this many of the prompt's terms must be there, or all of them.
    pub lexical_terms: usize,
    /// An episode of another project needs this cosine *and* `least_coverage` under [`super::ScopeRule::ProjectFirst`].
    pub foreign_cosine: f32,
}

/// The floor as shipped.
pub const FLOOR: Floor = Floor {
    least_cosine: 0.3,
    ample_cosine: 0.38,
    least_coverage: 0.5,
    relative_cosine: 0.55,
    lexical_coverage: 0.5,
    lexical_terms: 2,
    foreign_cosine: 0.6,
};

/// How the prompt's words and meaning support a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// The cosine, if both have a vector.
    pub cosine: Option<Cosine>,
    /// The best cosine of the pool.
    pub best_cosine: Option<Cosine>,
    /// The share of the prompt's terms found in the episode, each weighted by its inverse document frequency; 0 to 1.
    pub coverage: f64,
    /// How many of the prompt's terms were found.
    pub matched: usize,
    /// How many terms the prompt has.
    pub terms: usize,
    /// Whether the episode belongs to another project than the prompt.
    pub foreign: bool,
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
    /// The top three were full.
    BeyondTop,
    /// The block had no room left for it.
    NoRoom,
}

impl Dropped {
    /// The reason's name in the log and in `why`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BelowFloor => "below-floor",
            Self::OtherProject => "other-project",
            Self::NoAnswer => "no-answer",
            Self::SameTurn => "same-turn",
            Self::SameText => "same-text",
            Self::BeyondTop => "beyond-top",
            Self::NoRoom => "no-room",
        }
    }
}

impl Floor {
    /// Whether `support` is enough; the reason if not.
    ///
    /// # Errors
    /// [`Dropped::BelowFloor`] or [`Dropped::OtherProject`].
    pub fn admit(&self, support: &Support) -> Result<(), Dropped> {
        if support.foreign {
            let strong = support.cosine.is_some_and(|cosine| cosine.0 >= self.foreign_cosine);
            return if strong && support.coverage >= self.least_coverage {
                Ok(())
            } else {
                Err(Dropped::OtherProject)
            };
        }
        let admitted = match support.cosine {
            Some(cosine) => self.admits_by_meaning(cosine, support),
            None => self.admits_lexically(support),
        };
        if admitted { Ok(()) } else { Err(Dropped::BelowFloor) }
    }

    fn admits_by_meaning(&self, cosine: Cosine, support: &Support) -> bool {
        let best = support.best_cosine.unwrap_or(cosine).0;
        let near = cosine.0 >= self.ample_cosine || cosine.0 >= self.least_cosine && support.coverage >= self.least_coverage;
        near && cosine.0 >= best * self.relative_cosine
    }

    fn admits_lexically(&self, support: &Support) -> bool {
        let enough_terms = support.matched >= self.lexical_terms.min(support.terms) && support.matched > 0;
        enough_terms && support.coverage >= self.lexical_coverage
    }
}

/// Words with which a person goes on without asking anything, in the languages our users write. Folded to lower case.
const CHATTER: &[&str] = &[
    // English
    "a",
    "again",
    "ahead",
    "all",
    "alright",
    "and",
    "awesome",
    "cool",
    "continue",
    "correct",
    "do",
    "done",
    "exactly",
    "fine",
    "go",
    "good",
    "great",
    "hello",
    "hey",
    "hi",
    "i",
    "it",
    "its",
    "job",
    "just",
    "keep",
    "lets",
    "let's",
    "lgtm",
    "looks",
    "me",
    "much",
    "n",
    "next",
    "nice",
    "no",
    "nope",
    "now",
    "ok",
    "okay",
    "on",
    "perfect",
    "please",
    "proceed",
    "right",
    "so",
    "sounds",
    "start",
    "stop",
    "sure",
    "thank",
    "thanks",
    "that",
    "that's",
    "thats",
    "the",
    "then",
    "this",
    "to",
    "try",
    "ty",
    "up",
    "very",
    "wait",
    "well",
    "work",
    "works",
    "y",
    "yeah",
    "yep",
    "yes",
    "you",
    "yup",
    "k",
    "agree",
    "agreed",
    "approved",
    "approve",
    "accept",
    "confirmed",
    "confirm",
    "got",
    "understood",
    "with",
    "what",
    "your",
    "s",
    "going",
    "carry",
    "finish",
    "bye",
    "morning",
    "evening",
    // German, French, Spanish, Italian, Portuguese
    "ja",
    "nein",
    "weiter",
    "danke",
    "bitte",
    "gut",
    "mach",
    "oui",
    "non",
    "merci",
    "continuez",
    "vas-y",
    "si",
    "sí",
    "gracias",
    "continúa",
    "continua",
    "sigue",
    "grazie",
    "prego",
    "va",
    "bene",
    "sim",
    "obrigado",
    "obrigada",
    "não",
    // Chinese, Japanese, Russian, as whole runs
    "继续",
    "好",
    "好的",
    "是",
    "是的",
    "谢谢",
    "可以",
    "はい",
    "続けて",
    "お願いします",
    "ありがとう",
    "да",
    "нет",
    "продолжай",
    "спасибо",
    "дальше",
    "хорошо",
];

/// A longer prompt than this is never chatter, whatever its words.
const CHATTER_WORDS: usize = 8;

/// Decides from the text alone whether there is anything to recall for.
pub(super) fn before_search(query: &Query) -> Option<Silence> {
    if query.bare_command {
        return Some(Silence::SlashCommand);
    }
    if query.text.is_empty() {
        return Some(Silence::EmptyPrompt);
    }
    if is_chatter(&query.text) {
        return Some(Silence::Chatter);
    }
    None
}

fn is_chatter(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '-' | '’')))
        .filter(|word| !word.is_empty())
        .map(|word| word.replace('’', "'").to_lowercase())
        .collect();
    let numbers_only = words.iter().all(|word| word.chars().all(|c| c.is_ascii_digit()));
    words.len() <= CHATTER_WORDS
        && (numbers_only && words.len() <= 1 || words.iter().all(|word| CHATTER.contains(&word.as_str())))
        // Only symbols or emoji still go to the vector leg if there are many of them; a single one is a nod.
        && (!words.is_empty() || text.chars().count() <= 2)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::ok("ok", Some(Silence::Chatter))]
    #[case::continues("continue", Some(Silence::Chatter))]
    #[case::y("y", Some(Silence::Chatter))]
    #[case::yes_please("Yes, please go ahead!", Some(Silence::Chatter))]
    #[case::looks_good("looks good, thanks", Some(Silence::Chatter))]
    #[case::choice("2", Some(Silence::Chatter))]
    #[case::chinese("继续", Some(Silence::Chatter))]
    #[case::thumb("👍", Some(Silence::Chatter))]
    #[case::command("/compact", Some(Silence::SlashCommand))]
    #[case::empty("  \n", Some(Silence::EmptyPrompt))]
    #[case::question("why does the linker complain", None)]
    #[case::short_term("db", None)]
    #[case::cjk("调试", None)]
    fn tc_25_prompts_that_ask_nothing(#[case] prompt: &str, #[case] expected: Option<Silence>) {
        assert_eq!(before_search(&Query::of(prompt)), expected);
    }

    fn support(cosine: Option<f32>, coverage: f64, matched: usize, foreign: bool) -> Support {
        Support {
            cosine: cosine.map(Cosine),
            best_cosine: Some(Cosine(0.72)),
            coverage,
            matched,
            terms: 5,
            foreign,
        }
    }

    #[rstest]
    #[case::meaning_alone(support(Some(0.6), 0.0, 0, false), Ok(()))]
    #[case::near_the_best(support(Some(0.4), 0.2, 1, false), Ok(()))]
    #[case::half_as_near_as_the_best(support(Some(0.38), 0.2, 1, false), Err(Dropped::BelowFloor))]
    #[case::words_beside_a_far_better_one(support(Some(0.35), 0.5, 3, false), Err(Dropped::BelowFloor))]
    #[case::words_without_meaning(support(Some(0.1), 0.9, 4, false), Err(Dropped::BelowFloor))]
    #[case::a_little_of_each(support(Some(0.35), 0.1, 1, false), Err(Dropped::BelowFloor))]
    #[case::lexical_fallback(support(None, 0.6, 3, false), Ok(()))]
    #[case::one_common_word(support(None, 0.6, 1, false), Err(Dropped::BelowFloor))]
    #[case::foreign_and_strong(support(Some(0.7), 0.6, 3, true), Ok(()))]
    #[case::foreign_by_words(support(Some(0.5), 1.0, 5, true), Err(Dropped::OtherProject))]
    #[case::foreign_without_vector(support(None, 1.0, 5, true), Err(Dropped::OtherProject))]
    fn the_floor(#[case] support: Support, #[case] expected: Result<(), Dropped>) {
        assert_eq!(FLOOR.admit(&support), expected);
    }

    #[test]
    fn meaning_and_words_together_carry_a_middling_best() {
        let middling = Support {
            best_cosine: Some(Cosine(0.35)),
            ..support(Some(0.35), 0.5, 3, false)
        };
        assert_eq!(FLOOR.admit(&middling), Ok(()));
        assert_eq!(
            FLOOR.admit(&Support {
                coverage: 0.4,
                ..middling
            }),
            Err(Dropped::BelowFloor)
        );
    }
}
