//! How the answer to a prompt came about, whole: what is told of it as text, as JSON and by whoever renders it otherwise.
//!
//! The control layer fills it in (`control/explain.rs`) from the log, the trace and the store; it holds all that a page needs, in the
//! order in which it happened: the prompt, the query, the sources, the pool, the lists, the gates, the candidates, the times. Texts in it
//! are redacted and cleaned. `docs/json.md` tells of every member, which a test compares.

mod words;

use serde::{Deserialize, Serialize};

use crate::whose::Sharer;

pub(crate) use words::{about_degradation, about_drop, about_gate, about_reason};

/// How the answer to one prompt came about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Explanation {
    /// Which prompt.
    pub prompt: Prompt,
    /// How much is known of it.
    pub known: Known,
    /// Why nothing was shown, by its name.
    pub reason: Option<String>,
    /// The same in words.
    pub reason_about: Option<String>,
    /// What was asked for.
    pub query: Query,
    /// The fusion profile.
    pub profile: Option<String>,
    /// Which projects took part.
    pub scope: Option<String>,
    /// Where candidates came from.
    pub sources: Vec<Source>,
    /// What became of them before they were ranked.
    pub pool: Pool,
    /// The ranked lists.
    pub lists: Vec<List>,
    /// Gates and floors.
    pub gates: Vec<Gate>,
    /// What a candidate's `fused` is the sum of: the names of its `fused_parts`.
    pub fused_parts: Vec<String>,
    /// What a candidate's `score` is the sum of where a second stage ordered them: the names of its `second_parts`.
    pub second_parts: Vec<String>,
    /// Whether a reranker ordered the first candidates anew, whose score is then `score`.
    pub reranked: bool,
    /// The first candidates, best first, and all that were shown.
    pub candidates: Vec<Candidate>,
    /// What was missing or late.
    pub degradations: Vec<Named>,
    /// Where the time went, in order.
    pub stages: Vec<Stage>,
    /// The time in all.
    pub times: Times,
}

impl Explanation {
    /// What was shown, best first.
    pub(crate) fn shown(&self) -> Vec<&Candidate> {
        let mut shown: Vec<&Candidate> = self.candidates.iter().filter(|candidate| candidate.shown.is_some()).collect();
        shown.sort_by_key(|candidate| candidate.shown);
        shown
    }
}

/// How much is known of a prompt's answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Known {
    /// All that this version notes.
    #[default]
    Whole,
    /// The candidates and the stages alone: it was logged by an older version.
    Older,
    /// Nothing, since nothing was searched for.
    NotSearched,
}

/// Which prompt an explanation is of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prompt {
    /// Its id, as a list of them names it; none of one that was put to be explained.
    pub id: Option<String>,
    /// Its number: 1 is the latest; none of one that was put to be explained.
    pub number: Option<u32>,
    /// When it came.
    pub at: String,
    /// Who asked.
    pub agent: String,
    /// The agent's id of the session that asked; none of one that was put to be explained.
    pub session: Option<String>,
    /// The project in which it was asked.
    pub project: Option<String>,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Query {
    /// The terms.
    pub terms: Vec<Term>,
    /// Characters of the prompt as it came.
    pub characters: Option<u32>,
    /// Characters of it that were asked.
    pub asked_characters: Option<u32>,
    /// Whether a slash command was left out.
    pub command: bool,
    /// Lines that were pasted beside a question, and left out.
    pub pasted_lines: u32,
    /// Whether the line of the error in them was kept.
    pub error_kept: bool,
    /// Terms that say nothing of a subject, and were not asked for.
    pub stop_words: Words,
    /// Terms beyond the most that are asked for.
    pub beyond: Words,
}

/// Words that were not asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Words {
    /// How many.
    pub count: u32,
    /// The words, of a prompt that was put to be explained: of others they are not kept.
    pub words: Vec<String>,
}

/// One term of a query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the member of JSON that is one")]
pub(crate) struct Term {
    /// The term; none where what was forgotten since took it out.
    pub term: Option<String>,
    /// Episodes that held it; of a very common term an estimate.
    pub episodes: Option<u64>,
    /// What it weighed, by its rarity.
    pub weight: Option<f64>,
    /// Whether it was so common that the search by words passed it over.
    pub too_common: bool,
}

/// Where candidates came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Source {
    /// `recent`, `meaning`, `words`, `graph`, `time` where the prompt names one, or `remote` where the shared store was to be asked.
    pub name: String,
    /// How many it found.
    pub found: u32,
    /// How many of them no source before had found.
    pub added: u32,
    /// How many it passed over that the session had or was shown; null where it does not count them.
    pub passed_over: Option<u32>,
    /// Why it is absent.
    pub absent: Option<String>,
}

/// What became of what the sources found, before it was ranked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pool {
    /// What was ranked.
    pub size: u32,
    /// All that the sources found, each once.
    pub found: Option<u32>,
    /// Of these, hidden by an exclusion or deleted meanwhile.
    pub gone: Option<u32>,
    /// Of these, of other projects without strong evidence.
    pub other_projects: Option<u32>,
    /// Episodes in the session's context, which no source might find.
    pub in_context: Option<u32>,
    /// Episodes that the session was shown, which no source might find.
    pub shown_before: Option<u32>,
}

/// One ranked list over the pool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct List {
    /// The leg.
    pub leg: String,
    /// Whether it counts in the fused score.
    pub counts: bool,
    /// How many candidates have a rank in it.
    pub ranked: u32,
    /// Why it ranks nothing.
    pub absent: Option<String>,
    /// The first of it.
    pub top: Vec<Top>,
}

/// One of the first of a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Top {
    /// Its dense rank: equal values share one.
    pub rank: u32,
    /// What it is ranked by: BM25 (more negative is better), a cosine, a level of use, milliseconds since the Unix epoch.
    pub value: f64,
    /// The episode; none if it is gone.
    pub id: Option<String>,
    /// The first line of what was asked then.
    pub asked: Option<String>,
    /// Who shared it; none of what is this machine's own.
    pub shared_by: Option<Sharer>,
}

/// A gate or a floor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gate {
    /// Its name.
    pub name: String,
    /// What was held against it, or what candidates were held against; none where each candidate has its own.
    pub value: Option<f64>,
    /// The threshold.
    pub threshold: f64,
    /// Whether the prompt passed; none where it is for each candidate to pass.
    pub passed: Option<bool>,
    /// What it is, in words.
    pub about: String,
}

/// A candidate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Candidate {
    /// The episode's short id; none if it is gone.
    pub id: Option<String>,
    /// The day on which it happened.
    pub date: Option<String>,
    /// Its project.
    pub project: Option<String>,
    /// The first line of what was asked then.
    pub asked: Option<String>,
    /// Who shared it; none of what is this machine's own.
    pub shared_by: Option<Sharer>,
    /// Its 1-based place among what was shown.
    pub shown: Option<u32>,
    /// Why it was not shown, by its name.
    pub dropped: Option<String>,
    /// The same in words, with the values that decided.
    pub because: Option<String>,
    /// The score that it was ordered by in the end.
    pub score: Option<f64>,
    /// The fused score.
    pub fused: Option<f64>,
    /// Its 1-based place by the fused score.
    pub fused_place: Option<u32>,
    /// Its BM25 score; more negative is better.
    pub bm25: Option<f64>,
    /// Its cosine with the prompt.
    pub cosine: Option<f64>,
    /// Its dense rank in each list.
    pub ranks: Ranks,
    /// What `fused` is the sum of.
    pub fused_parts: Vec<f64>,
    /// What the second stage's score is the sum of.
    pub second_parts: Vec<f64>,
    /// The query's terms that it holds.
    pub words: Vec<String>,
    /// How many of them.
    pub matched: Option<u32>,
    /// The share of the query that they are, by their weight.
    pub coverage: Option<f64>,
    /// Whether it is of another project, and needs strong evidence.
    pub other_project: bool,
    /// Whether a page of the web was read for it.
    pub from_the_web: bool,
    /// Whether its importance is high.
    pub important: bool,
    /// Whether it is from the time that the prompt speaks of.
    pub in_time: bool,
    /// How often it had been used.
    pub uses: u64,
}

/// Dense ranks by list; none where a list says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ranks {
    /// By words.
    pub bm25: Option<u32>,
    /// By meaning.
    pub vector: Option<u32>,
    /// By age.
    pub recency: Option<u32>,
    /// By use.
    pub access: Option<u32>,
    /// By nearness to the conversation.
    pub expansion: Option<u32>,
    /// By links.
    pub graph: Option<u32>,
    /// By the search of the shared store.
    pub remote: Option<u32>,
}

/// A name of ours with what it means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Named {
    /// The name.
    pub name: String,
    /// What it means.
    pub about: String,
}

/// One stage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stage {
    /// Its name.
    pub name: String,
    /// How long it took.
    pub micros: u64,
}

/// The time in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "members of JSON, which carry their unit")]
pub(crate) struct Times {
    /// What a recall may take, from the hook's start on; none where nothing waited.
    pub budget_micros: Option<u64>,
    /// What of it was left when the request arrived.
    pub left_micros: Option<u64>,
    /// From then to the reply.
    pub whole_micros: Option<u64>,
}
