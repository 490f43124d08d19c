//! `doctor`: proves that everything works, from the daemon to what the model sees.
//!
//! `running` looks at the daemon, `obstacles` at what keeps it from that, `store` at the memory, `share` at the shared store, where there is one, `agents` at each agent's settings and transcripts, `mcp` at the MCP server that is registered with one, and `host` plays the host:
//! it runs the registered command as the host does, on a probe that the daemon answers without a trace. Checks come out; the command
//! line prints them. Nothing is changed anywhere: what `--fix` does is in `repair` and in the command line.

pub(crate) mod agents;
mod host;
pub(crate) mod mcp;
pub(crate) mod obstacles;
mod repair;
pub(crate) mod running;
#[cfg(feature = "share")]
pub(crate) mod share;
pub(crate) mod store;

pub(crate) use repair::{Outcome, Repair};
use serde_json::{Value, json};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// All is well.
    Ok,
    /// It works, but not as well as it could, or not for long.
    Warning,
    /// It does not work.
    Failed,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    /// What of: `daemon`, `memory`, an agent's id.
    pub subject: &'static str,
    /// How it came out.
    pub verdict: Verdict,
    /// What was found, in one line.
    pub found: String,
    /// What to do, where something is to be done.
    pub remedy: Option<String>,
}

impl Check {
    /// All is well.
    pub(crate) fn ok(subject: &'static str, found: impl Into<String>) -> Self {
        Self {
            subject,
            verdict: Verdict::Ok,
            found: found.into(),
            remedy: None,
        }
    }

    /// It works, and something is to be done.
    pub(crate) fn warning(subject: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Warning,
            remedy: Some(remedy.into()),
            ..Self::ok(subject, found)
        }
    }

    /// It does not work, and something is to be done.
    pub(crate) fn failed(subject: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Failed,
            ..Self::warning(subject, found, remedy)
        }
    }

    /// For a program that reads it.
    pub(crate) fn json(&self) -> Value {
        json!({
            "subject": self.subject,
            "verdict": self.verdict.as_str(),
            "found": self.found,
            "remedy": self.remedy,
        })
    }
}

impl Verdict {
    /// As it is printed.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "FAILED",
        }
    }
}
