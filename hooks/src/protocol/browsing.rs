//! The requests of whoever looks into the memory: what narrows them, and how they are paged. All are answered without a trace.

use serde::{Deserialize, Serialize};

/// Which turns are looked at: those that all of these name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Narrowing {
    /// Of the project with this name or root folder, or with this folder below its root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Of this agent, as `claude-code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Turns that began then or later, in milliseconds since the Unix epoch, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// Turns that began before then, in milliseconds since the Unix epoch, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
}

/// By what a search goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// By words.
    Lexical,
    /// By meaning.
    Semantic,
    /// By both.
    #[default]
    Hybrid,
}

/// What is searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchRequest {
    /// The words.
    pub query: String,
    /// Where.
    #[serde(flatten)]
    pub narrowing: Narrowing,
    /// By what.
    #[serde(default)]
    pub mode: SearchMode,
    /// How many are given at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// How many of the best are passed over: those of the pages before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
}

/// Which sessions are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionsRequest {
    /// Those with a turn of these.
    #[serde(flatten)]
    pub narrowing: Narrowing,
    /// How many are given at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// A reply's `older`: go on there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// Which turns are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineRequest {
    /// Of these.
    #[serde(flatten)]
    pub narrowing: Narrowing,
    /// How many are given at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// A reply's `older`: the turns before those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// A reply's `newer`: the turns after those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// An episode's id, or enough of its first digits: its turn, and those around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<String>,
}
