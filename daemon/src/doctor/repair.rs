//! What `doctor --fix` did about a finding, or would do: in the order from the least repair to the greatest, each told, none silent.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What became of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// It is mended.
    Mended,
    /// It would be.
    WouldMend,
    /// It is left to the user, who alone can decide it, or who alone can do it.
    Left,
    /// Mending it failed.
    Failed,
}

/// A finding, and what was done about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Repair {
    /// What of: `daemon`, `memory`, an agent's id.
    pub subject: String,
    /// What was found, in one line.
    pub found: String,
    /// What became of it.
    pub outcome: Outcome,
    /// What was done, would be done or failed; of what is left, the remedy.
    pub done: String,
}

impl Repair {
    /// A finding that was mended, or in words alone (`dry_run`) would be.
    pub(crate) fn mended(subject: &str, found: impl Into<String>, done: impl Into<String>, dry_run: bool) -> Self {
        let outcome = if dry_run { Outcome::WouldMend } else { Outcome::Mended };
        Self::new(subject, found, outcome, done)
    }

    /// A finding that is the user's to decide, and its remedy.
    pub(crate) fn left(subject: &str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(subject, found, Outcome::Left, remedy)
    }

    /// A finding that could not be mended, and why.
    pub(crate) fn failed(subject: &str, found: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(subject, found, Outcome::Failed, why)
    }

    fn new(subject: &str, found: impl Into<String>, outcome: Outcome, done: impl Into<String>) -> Self {
        Self {
            subject: subject.to_owned(),
            found: found.into(),
            outcome,
            done: done.into(),
        }
    }

    /// For a program that reads it.
    pub(crate) fn json(&self) -> Value {
        json!({"subject": self.subject, "found": self.found, "outcome": self.outcome, "done": self.done})
    }
}

impl Outcome {
    /// As it is printed.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Mended => "mended",
            Self::WouldMend => "would",
            Self::Left => "left",
            Self::Failed => "FAILED",
        }
    }
}
