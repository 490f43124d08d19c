//! A turn into its episodes: redacted, shaped, judged, and cut where it is long.
//!
//! A turn of up to [`PART_TOKENS`] is one episode. A longer one is cut on paragraph borders, greedily and in order, each
//! part but the first led by the head of its prompt. Since a cut depends on nothing that comes after it, a part that was
//! cut never changes; only the last may still grow. What was touched goes to the part that was open when it happened.

mod cut;
mod shape;

use remembrancer_schema::{EpisodeUid, Facets, Importance, NewEpisode, TurnUid, UnixMillis};

use super::facet::only_looks;
use super::importance::{Judged, Outcome, judge};
use super::redact::redact;
use super::text;
use super::turn::{Step, Turn, push_new};
use crate::recall::origin::{Mark, mark};
use cut::{Cutter, Part};

/// Estimated tokens of a part, its prompt or lead included: what the embedder reads of one text (DESIGN §6).
pub(crate) const PART_TOKENS: usize = 256;
/// Estimated tokens that the answer gets in the first part, however long its prompt.
const ANSWER_TOKENS_MIN: usize = 128;
/// Bytes of the prompt that lead every part but the first.
const LEAD_CAP: usize = 160;
/// Bytes of answers that a turn keeps.
const ANSWER_CAP: usize = 64 * 1024;
/// What stands where an answer was cut.
const ANSWER_CUT: &str = "[… the rest of this answer was not kept]";
/// Files, commands, errors and tools that one episode keeps.
const FILES_CAP: usize = 24;
const COMMANDS_CAP: usize = 12;
const ERRORS_CAP: usize = 6;
const TOOLS_CAP: usize = 12;

/// The episodes of a turn as it stands; none if nothing of it is memory.
pub fn episodes(turn: &Turn) -> Vec<NewEpisode> {
    GrowingTurn::new(turn).into_episodes(turn)
}

/// A turn that is still growing, with what was cut of it: to cut it again costs what is new in it, and a copy.
///
/// **Invariant:** gives what [`episodes`] gives, as long as the turn only grows as its reader lets it: by steps after the
/// last, and by what the last one touched.
#[derive(Clone, Debug)]
pub struct GrowingTurn {
    /// Which turn it is: a source may hold copies of one.
    turn: (TurnUid, u32),
    /// The prompt as it is remembered.
    prompt: String,
    cutter: Cutter,
    /// Steps that the cutter has, which can't change any more.
    steps: usize,
    /// Bytes of the answers among them.
    kept: usize,
}

impl GrowingTurn {
    /// Of this turn nothing is cut yet.
    pub fn new(turn: &Turn) -> Self {
        let prompt = shape::prompt(&redact(&turn.prompt));
        let first = PART_TOKENS.saturating_sub(cut::tokens(&prompt)).max(ANSWER_TOKENS_MIN);
        let lead = cut::tokens(text::head(&prompt, LEAD_CAP));
        Self {
            turn: (turn.uid, turn.ordinal),
            prompt,
            cutter: Cutter::new(first, PART_TOKENS - lead),
            steps: 0,
            kept: 0,
        }
    }

    /// Whether this is `turn` of the same reader, perhaps as it stood earlier.
    pub fn is_of(&self, turn: &Turn) -> bool {
        self.turn == (turn.uid, turn.ordinal)
    }

    /// The turn's episodes as it stands now.
    pub fn episodes(&mut self, turn: &Turn) -> Vec<NewEpisode> {
        // A carried summary stands before all steps, and goes with the first text.
        if turn.carried_summary.is_none() {
            self.add_steps(&turn.steps[..turn.steps.len().saturating_sub(1)]);
        }
        self.clone().into_episodes(turn)
    }

    /// The same, of a turn that doesn't grow any more.
    pub fn into_episodes(mut self, turn: &Turn) -> Vec<NewEpisode> {
        if let Some(summary) = turn.carried_summary.as_deref() {
            self.cutter.add(turn.started_at, &redact(summary));
        }
        self.add_steps(&turn.steps);
        let Self { prompt, cutter, .. } = self;
        rows(turn, &prompt, cutter.finish())
    }

    /// Cuts what of `steps` is new, given all from the turn's first on.
    fn add_steps(&mut self, steps: &[Step]) {
        for step in &steps[self.steps..] {
            if self.kept < ANSWER_CAP {
                let shaped = shape::answer(&redact(&step.text));
                self.cutter.add(step.at, text::head(&shaped, ANSWER_CAP - self.kept));
                self.kept += shaped.len();
                if self.kept >= ANSWER_CAP {
                    self.cutter.add(step.at, ANSWER_CUT);
                }
            }
            self.cutter.touch(|facets| add_redacted(facets, &step.facets));
        }
        self.steps = steps.len();
    }
}

fn rows(turn: &Turn, prompt: &str, parts: Vec<Part>) -> Vec<NewEpisode> {
    let Judged::Memory { importance, rule } = judge(turn, prompt, &outcome(&parts)) else {
        return Vec::new();
    };
    let lead = text::head_words(shape::first_line(prompt), LEAD_CAP);
    let mut web = None;
    let says = |(number, mut part): (usize, Part)| {
        let says = number == 0 || part.says_something();
        part.facets = capped(part.facets, &mut web);
        says.then_some((number, part))
    };
    let rows = parts.into_iter().enumerate().filter_map(says).map(|(number, part)| {
        let number = number as u32;
        let prompt = if number == 0 { prompt } else { &lead };
        row(turn, number, prompt.to_owned(), part, importance, rule)
    });
    rows.collect()
}

fn outcome(parts: &[Part]) -> Outcome<'_> {
    Outcome {
        answer: parts.first().map_or("", |part| part.text.as_str()),
        bytes: parts.iter().map(|part| part.text.len()).sum(),
        acted: parts.iter().any(|part| {
            let Facets {
                files,
                commands,
                errors,
                tools: _,
            } = &part.facets;
            !files.is_empty() || !commands.is_empty() || !errors.is_empty()
        }),
    }
}

fn row(turn: &Turn, part: u32, prompt: String, of: Part, importance: Importance, rule: &str) -> NewEpisode {
    let begun = of.at.unwrap_or(turn.started_at);
    NewEpisode {
        uid: EpisodeUid::of(&turn.uid, part),
        turn_uid: turn.uid,
        part,
        turn: turn.ordinal,
        origin: turn.origin,
        importance,
        importance_rule: rule.to_owned(),
        created_at: if part == 0 {
            turn.started_at
        } else {
            UnixMillis(begun.0.max(turn.started_at.0))
        },
        prompt,
        answer: of.text,
        facets: of.facets,
    }
}

fn add_redacted(to: &mut Facets, from: &Facets) {
    for (to, from) in [
        (&mut to.files, &from.files),
        (&mut to.commands, &from.commands),
        (&mut to.errors, &from.errors),
        (&mut to.tools, &from.tools),
    ] {
        for value in from {
            push_new(to, redact(value).into_owned());
        }
    }
}

/// The facets that a part keeps: commands that only look come last. `web` is what read pages of the web in the parts before, or in this
/// one: it stands in every part from there on, since what is said there may come from them, too.
fn capped(mut facets: Facets, web: &mut Option<Mark>) -> Facets {
    if web.is_none() {
        *web = mark(&facets);
    }
    facets.commands.sort_by_key(|command| only_looks(command));
    facets.files.truncate(FILES_CAP);
    facets.commands.truncate(COMMANDS_CAP);
    facets.errors.truncate(ERRORS_CAP);
    facets.tools.truncate(TOOLS_CAP);
    if let Some(web) = web
        && mark(&facets).is_none()
    {
        let (list, cap, value) = match web {
            Mark::Tool(tool) => (&mut facets.tools, TOOLS_CAP, tool),
            Mark::Command(command) => (&mut facets.commands, COMMANDS_CAP, command),
        };
        list.truncate(cap - 1);
        list.push(value.clone());
    }
    facets
}

/// The parts of `texts` by the cutter alone, with these limits in tokens for the first and for the later ones.
#[cfg(feature = "testing")]
pub(super) fn cut_alone(first: usize, later: usize, texts: &[&str]) -> Vec<String> {
    let mut cutter = Cutter::new(first, later);
    for text in texts {
        cutter.add(UnixMillis(0), text);
    }
    cutter.finish().into_iter().map(|part| part.text).collect()
}

/// What the cutter takes the tokens of a text for.
#[cfg(feature = "testing")]
pub(super) fn tokens_of(text: &str) -> usize {
    cut::tokens(text)
}

#[cfg(test)]
mod tests;
