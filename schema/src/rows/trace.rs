//! How one recall came about, as it is kept for the last prompts: counts, scores, ranks, thresholds and times.
//!
//! Built by the processor once the reply is out, stored as JSON of at most [`RecollectionTrace::MOST_BYTES`]. It holds row ids and our
//! own words (names of legs, gates, profiles), and never a word of a prompt or of an episode: what of a prompt is kept stands in
//! [`super::RecollectionLog`], from which `forget` takes it.

use serde::{Deserialize, Serialize};

/// How one recall came about. A member that is missing is one that an older version did not note.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecollectionTrace {
    /// The fusion profile.
    pub profile: String,
    /// Which projects took part: `project-first`, `project` or `all`.
    pub scope: String,
    /// Microseconds that a recall may take, from the hook's start on.
    pub budget_micros: u64,
    /// Microseconds of them that were left when the request arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_micros: Option<u64>,
    /// Microseconds from the request's arrival to the reply.
    pub whole_micros: u64,
    /// What became of the prompt on its way to a query.
    pub query: TracedQuery,
    /// The query's terms, in the order of the log's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<TracedTerm>,
    /// Where candidates came from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<TracedSource>,
    /// What became of them before they were ranked.
    pub pool: TracedPool,
    /// The ranked lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<TracedList>,
    /// Gates and floors, with what was held against them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<TracedGate>,
    /// Whether a reranker ordered the first candidates anew.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reranked: bool,
    /// What the fused score is the sum of: the names of [`TracedCandidate::fused_parts`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fused_parts: Vec<String>,
    /// What the score of the second stage is the sum of: the names of [`TracedCandidate::second_parts`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub second_parts: Vec<String>,
    /// The log's candidates, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<TracedCandidate>,
}

impl RecollectionTrace {
    /// The longest form that is stored, in bytes (ADR 46).
    pub const MOST_BYTES: usize = 16 * 1_024;
}

/// What became of a prompt on its way to a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TracedQuery {
    /// Characters of the prompt as it came.
    pub characters: u32,
    /// Characters of it that were asked.
    pub asked: u32,
    /// Whether a slash command was left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub command: bool,
    /// Lines that were pasted beside a question, and left out.
    pub pasted_lines: u32,
    /// Whether the line of the error in them was kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub error_kept: bool,
    /// Terms that say nothing of a subject, and are not asked for.
    pub stop_words: u32,
    /// Terms beyond the most that are asked for.
    pub beyond: u32,
}

/// One term of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TracedTerm {
    /// Episodes that hold it; of a very common term an estimate.
    pub episodes: u64,
    /// What it weighs, by its rarity.
    pub weight: f64,
    /// Whether it is so common that the full-text leg did not read it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub too_common: bool,
}

/// Where candidates came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TracedSource {
    /// `words`, `meaning`, `recent`, `graph` or `remote`.
    pub name: String,
    /// How many it found.
    pub found: u32,
    /// How many of them no source before had found.
    pub added: u32,
    /// How many it passed over, since the session has them in its context or was shown them; none where it leaves them out before it
    /// counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<u32>,
    /// Why it is absent: a degradation, or `not-in-profile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
}

/// What became of what the sources found, before it was ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TracedPool {
    /// All that the sources found, each once.
    pub found: u32,
    /// Of these, hidden or deleted meanwhile.
    pub gone: u32,
    /// Of these, of other projects without strong evidence.
    pub other_projects: u32,
    /// What was ranked.
    pub size: u32,
    /// Episodes in the session's context, which no source may find.
    pub in_context: u32,
    /// Episodes that the session was shown since its last compaction, which no source may find.
    pub shown_before: u32,
}

/// One ranked list over the pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TracedList {
    /// The leg.
    pub leg: String,
    /// Whether it counts in the fused score.
    pub counts: bool,
    /// How many candidates have a rank in it.
    pub ranked: u32,
    /// Why it ranks nothing, where that is known: a degradation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// The first of it, best first.
    pub top: Vec<TracedTop>,
}

/// One of the first of a list, stored as an array of three.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracedTop(
    /// Row id of the episode.
    pub i64,
    /// The raw value that it is ranked by.
    pub f64,
    /// Its 1-based dense rank.
    pub u32,
);

/// A gate or a floor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TracedGate {
    /// Its name.
    pub name: String,
    /// What was held against it, where that is one value for all candidates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The threshold.
    pub threshold: f64,
    /// Whether it let the prompt through, where it is not for each candidate to pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
}

/// What of a logged candidate the log itself has no place for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct TracedCandidate {
    /// Its 1-based place in the fused order, before the second stage.
    pub place: u32,
    /// The fused score.
    pub fused: f64,
    /// What it is the sum of, by [`RecollectionTrace::fused_parts`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fused_parts: Vec<f64>,
    /// What the score of the second stage is the sum of, by [`RecollectionTrace::second_parts`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub second_parts: Vec<f64>,
    /// 1-based rank by nearness to the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expansion_rank: Option<u32>,
    /// 1-based rank by links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph_rank: Option<u32>,
    /// 1-based rank by the search of the shared store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_rank: Option<u32>,
    /// Which of the query's terms it holds: bit `i` for the `i`-th.
    pub words: u64,
    /// The share of the terms that it holds, by their weight.
    pub coverage: f64,
    /// Whether it is of another project than the prompt, and needs strong evidence.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// Whether a page of the web was read for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub web: bool,
    /// Whether its importance is high.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub important: bool,
    /// Whether it is from the time that the prompt speaks of.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_time: bool,
    /// How often it had been used.
    #[serde(skip_serializing_if = "is_zero")]
    pub uses: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls takes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
