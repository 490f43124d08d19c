//! How much a turn matters, and whether it is memory at all: rules tried in order, each named in the rows it makes.
//!
//! | rule | importance | when |
//! | --- | --- | --- |
//! | `user-said-remember` | high | the person asks to remember, or says always, never, from now on |
//! | `user-decided` | high | the person decides or states a preference |
//! | `error-fixed` | high | a command that failed succeeded after a change |
//! | `commit-made` | high | a commit was made |
//! | `carried-summary` | low | only the host's summary of an earlier conversation is left |
//! | `unanswered` | low | a prompt of some length that nothing came of |
//! | `chatter` | low | a word of assent or thanks, and an answer of little content |
//! | `default` | normal | anything else |
//!
//! A command of ours, by which the memory is looked into or steered, is no memory. Word lists are data, in [`words`]. What a person said counts only in a person's turn: the tasks that agents give
//! each other are full of "always" and "remember".

mod words;

use remembrancer_schema::{Importance, Origin};

use super::text;
use super::turn::Turn;
use words::{CHATTER, DECIDED, NO_MEMORY, REMEMBER};

/// Bytes of a prompt that are searched for what the person asks; further down it is mostly pasted.
const SEARCH_CAP: usize = 2_000;
/// A prompt that nothing came of is kept from this many bytes on.
const UNANSWERED_MIN: usize = 24;
/// An answer of at most this many bytes to a word of assent is no memory.
const CHATTER_DROP: usize = 80;
/// Up to this many it is one of low importance.
const CHATTER_LOW: usize = 240;
/// A reply that there is no memory of something is no memory if it is at most this long, in bytes.
const NO_MEMORY_CAP: usize = 600;
/// How the prompts of our own commands begin, in the plugins of hosts that hand the model a command's text in the user's place.
const OWN_PROMPT: &str = "This is Remembrancer's command `/";
/// How hosts write a command of our plugin that was typed.
const OWN_COMMAND: &str = "/remembrancer:";

/// What came of a prompt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome<'a> {
    /// The answer, or the first part of it.
    pub(super) answer: &'a str,
    /// Bytes of all parts.
    pub(super) bytes: usize,
    /// Whether a file, a command or an error was noted.
    pub(super) acted: bool,
}

/// The verdict on a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// Nothing that a person would want to be reminded of.
    Nothing,
    /// An episode, or several.
    Memory {
        /// How much it matters.
        importance: Importance,
        /// The rule that says so.
        rule: &'static str,
    },
}

/// Judges a turn by its shaped prompt and what came of it.
pub(super) fn judge(turn: &Turn, prompt: &str, outcome: &Outcome<'_>) -> Judged {
    if is_own_command(prompt) {
        return Judged::Nothing;
    }
    let words = spoken(prompt);
    let by_person = turn.origin == Origin::User;
    if by_person && REMEMBER.is_match(&words) {
        return memory(Importance::High, "user-said-remember");
    }
    let empty = outcome.bytes == 0 && !outcome.acted;
    if empty {
        let kept = prompt.len() >= UNANSWERED_MIN && !prompt.starts_with('/') && !is_chatter(prompt);
        return if kept {
            memory(Importance::Low, "unanswered")
        } else {
            Judged::Nothing
        };
    }
    if turn.carried_summary.is_some() {
        return memory(Importance::Low, "carried-summary");
    }
    if !outcome.acted && outcome.bytes <= NO_MEMORY_CAP && NO_MEMORY.is_match(outcome.answer) {
        return Judged::Nothing;
    }
    if outcome.bytes == 0 && is_chatter(prompt) {
        return memory(Importance::Low, "chatter");
    }
    // A subagent's file without a task holds a warm-up's greeting (ODDITIES 32).
    if !by_person && prompt.is_empty() && turn.facets().is_empty() {
        return Judged::Nothing;
    }
    if by_person && DECIDED.is_match(&words) {
        return memory(Importance::High, "user-decided");
    }
    if turn.error_fixed {
        return memory(Importance::High, "error-fixed");
    }
    if turn.committed {
        return memory(Importance::High, "commit-made");
    }
    if !outcome.acted && is_chatter(prompt) {
        if outcome.bytes <= CHATTER_DROP {
            return Judged::Nothing;
        }
        if outcome.bytes <= CHATTER_LOW {
            return memory(Importance::Low, "chatter");
        }
    }
    memory(Importance::Normal, "default")
}

fn memory(importance: Importance, rule: &'static str) -> Judged {
    Judged::Memory { importance, rule }
}

/// Whether a prompt is a command of ours: what is told of the memory then, and what is put into it, would be remembered a second time
/// (CASES TC-18).
fn is_own_command(prompt: &str) -> bool {
    let prompt = prompt.trim_start();
    prompt.starts_with(OWN_PROMPT) || prompt.starts_with(OWN_COMMAND)
}

/// The head of a prompt without fenced and quoted lines.
fn spoken(prompt: &str) -> String {
    let mut inside = false;
    let lines = text::head(prompt, SEARCH_CAP).lines().filter(|line| {
        let marks = line.trim_start().starts_with("```");
        inside ^= marks;
        !inside && !marks && !line.starts_with('>')
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a prompt is made of words of assent, thanks and greeting alone.
fn is_chatter(prompt: &str) -> bool {
    if prompt.is_empty() || prompt.len() > 60 {
        return false;
    }
    let plain: String = prompt
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '\'' { c } else { ' ' })
        .collect();
    let plain = plain.to_lowercase();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let phrase = words.join(" ");
    words.len() <= 6 && (CHATTER.contains(&phrase.as_str()) || words.iter().all(|word| CHATTER.contains(word)))
}

#[cfg(test)]
mod tests;
