//! A prompt becomes recollections.
//!
//! In: a [`Question`], a read-only [`Reader`], the [`CodeIndex`], the prompt's embedding as it arrives, what this session
//! has been shown, and a [`Deadline`]. Out: a [`Recall`]: up to three recollections with their text, or the reason for
//! silence, and the log that `why` explains. Never an error: a leg that is late or fails is absent.
//!
//! The steps, each in the file of its name: `query` → `gate` → `legs` → `pool` → `rank`/`fusion` → `weigh` → `reranking`
//! → `choose`/`floor`/`succession` → `recollection`/`since`; `work` runs them. SQL lives in the schema crate.

mod asks_past;
mod chatter;
mod choose;
mod coarse;
mod echo;
mod evidence;
mod expansion;
mod fenced;
mod floor;
mod fusion;
mod gate;
mod graph;
mod leg;
mod legs;
mod linear;
mod meaning;
mod nearness;
mod notes;
mod occurrences;
pub(crate) mod origin;
mod pasted;
mod pool;
mod profile;
mod query;
mod rank;
mod recollection;
mod remote;
mod reranking;
mod search;
mod since;
mod snippet;
mod succession;
mod support;
mod time_words;
mod timely;
mod trace;
mod untrusted;
mod weigh;
mod weights;
mod work;

use std::collections::HashSet;
use std::fmt;
use std::sync::RwLock;
use std::time::Duration;

use remembrancer_schema::trace::TracedQuery;
use remembrancer_schema::{EpisodeId, EpisodeText, ProjectId, Reader, RecollectionLog, SessionKey, UnixMillis};

pub use choose::SESSION_SPREAD;
pub use coarse::{CodeIndex, Removal, Shards};
pub use echo::Echo;
pub use evidence::{Evidence, FEATURES};
pub use fenced::{barred, fenced, inline};
pub use floor::{Backing, Dropped, FLOOR, Floor, OPEN_FLOOR};
pub use fusion::{Candidate, Fused, fuse};
pub use gate::{SAME_TOPIC_COSINE, Silence};
pub use leg::{Leg, LegRanks};
pub use legs::{BM25_LIMIT, COARSE_LIMIT, EmbeddingSource, RECENT_LIMIT};
pub use linear::{AnswerModel, LinearModel};
pub use notes::{Brought, Listed, Notes, TOP, Top};
pub use origin::is_from_the_web;
pub use profile::{
    Asking, CONVEX, DEFAULT, ImportanceRule, Lexical, PROFILES, Profile, RRF, RankFusion, Rule, SINGLE_LEGS, UNION, V2, WEIGHTED,
};
pub use query::{Dropped as DroppedWords, Query};
pub use rank::{Best, dense_ranks};
pub use recollection::{CAPS, Caps, Header, block, cut, empty_block, estimated_tokens, member_named, standing_block};
pub use remote::{AskRemote, RemoteSource};
pub use reranking::RERANKED;
pub use search::{SEARCH_DEPTH, SearchMode, Searched, Sought, search, search_terms, search_text};
pub use since::{Afterwards, Fate, MOST_COMMITS, Since};
pub use snippet::{Snippet, snippet};
pub use support::{SUPPORT_FEATURES, Support};
pub use untrusted::{clean, importable, shown};
pub use weigh::{WEIGHED, Weighed, Weighing};

use crate::deadline::Deadline;
use crate::embed::Embedding;
use crate::rerank::{Blend, Rerank};
use work::Work;

/// Which projects a recall looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopeRule {
    /// The prompt's project, and others on strong evidence.
    #[default]
    ProjectFirst,
    /// The prompt's project alone.
    Project,
    /// All projects alike.
    All,
}

/// What a recall had to do without. Each is logged, counted and shown by `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Degradation {
    /// The prompt's embedding did not arrive in its share of the budget: words alone.
    EmbeddingLate,
    /// The prompt could not be embedded: words alone.
    EmbeddingFailed,
    /// There is no model: words alone.
    NoModel,
    /// The full-text leg is absent.
    Bm25Absent,
    /// The recency pool is absent.
    RecentAbsent,
    /// The expansion leg is absent.
    ExpansionAbsent,
    /// The graph leg is absent.
    GraphAbsent,
    /// What is from the time that the prompt names was not looked for.
    TimeAbsent,
    /// The shared store did not answer in its share of the budget: what is here alone.
    RemoteLate,
    /// The shared store was not asked, since it could not be, or failed: what is here alone.
    RemoteAbsent,
    /// The candidates could not be read in time.
    PoolAbsent,
    /// The reranker failed, or there was no time for it.
    RerankerAbsent,
}

impl Degradation {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::EmbeddingLate,
        Self::EmbeddingFailed,
        Self::NoModel,
        Self::Bm25Absent,
        Self::RecentAbsent,
        Self::ExpansionAbsent,
        Self::GraphAbsent,
        Self::TimeAbsent,
        Self::RemoteLate,
        Self::RemoteAbsent,
        Self::PoolAbsent,
        Self::RerankerAbsent,
    ];

    /// The degradation's name in logs, counters and `status`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmbeddingLate => "embedding-late",
            Self::EmbeddingFailed => "embedding-failed",
            Self::NoModel => "no-model",
            Self::Bm25Absent => "bm25-absent",
            Self::RecentAbsent => "recent-absent",
            Self::ExpansionAbsent => "expansion-absent",
            Self::GraphAbsent => "graph-absent",
            Self::TimeAbsent => "time-absent",
            Self::RemoteLate => "share-remote-late",
            Self::RemoteAbsent => "share-remote-absent",
            Self::PoolAbsent => "pool-absent",
            Self::RerankerAbsent => "reranker-absent",
        }
    }
}

impl fmt::Display for Degradation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How recalls are made; the same for all prompts.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallSettings {
    /// The fusion profile.
    pub profile: Profile,
    /// Which projects take part.
    pub scope: ScopeRule,
    /// How many recollections are shown at most.
    pub top: usize,
    /// The relevance floor.
    pub floor: Floor,
    /// The cosine with the previous prompt above which the topic is the same.
    pub same_topic_cosine: f32,
    /// How far another session is preferred to one that is shown already, in the second stage's scores; nothing where a profile
    /// has no second stage.
    pub session_spread: f64,
    /// The caps of the text.
    pub caps: Caps,
    /// How a reranker's scores meet the order that it is given, where there is a reranker.
    pub blend: Blend,
    /// Time kept back for what follows the embedding, and again for what follows the reranker: pool, fusion, text, file.
    pub reserve: Duration,
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self {
            profile: DEFAULT,
            scope: ScopeRule::default(),
            top: 3,
            floor: FLOOR,
            same_topic_cosine: SAME_TOPIC_COSINE,
            session_spread: SESSION_SPREAD,
            caps: CAPS,
            blend: Blend::default(),
            reserve: Duration::from_millis(50),
        }
    }
}

impl RecallSettings {
    /// The same with every relevance gate and cap open, and every candidate in its place: what a bench judges a ranking by.
    #[must_use]
    pub fn without_gates(self) -> Self {
        Self {
            floor: OPEN_FLOOR,
            session_spread: 0.0,
            caps: Caps::NONE,
            ..self
        }
    }
}

/// One prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The session it was typed in.
    pub session: SessionKey,
    /// The project of its working directory.
    pub project: Option<ProjectId>,
    /// What the prompt asks: [`Query::of`] it.
    pub query: Query,
    /// A keyed hash of the prompt, for the log; the prompt itself is never logged.
    pub logged_hash: [u8; 32],
    /// What heads the recollection file.
    pub header: Header,
    /// The time of asking.
    pub now: UnixMillis,
}

/// What this session has seen so far.
#[derive(Debug, Clone, Default)]
pub struct SessionState {
    /// The embedding of the last prompt that was answered with something.
    pub answered_topic: Option<Embedding>,
    /// The session's own episodes, oldest first: the second query of profiles with an expansion leg.
    pub conversation: Vec<EpisodeId>,
    /// Episodes in the session's own context, or shown in it since its last compaction. (What the user muted is left out besides.)
    pub left_out: HashSet<EpisodeId>,
}

/// An episode chosen for a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Recollection {
    /// Its texts as stored.
    pub episode: EpisodeText,
    /// The score that it was ordered by.
    pub score: f64,
    /// Its rank in each leg.
    pub ranks: LegRanks,
    /// Its cosine with the prompt.
    pub cosine: Option<f32>,
}

/// What came of a prompt.
#[derive(Debug, Clone)]
pub struct Recall {
    /// The chosen episodes, best first.
    pub recollections: Vec<Recollection>,
    /// The fenced block; empty when nothing is shown.
    pub context: String,
    /// Why nothing is shown, if nothing is.
    pub silence: Option<Silence>,
    /// What was missing.
    pub degradations: Vec<Degradation>,
    /// The prompt's embedding, if it arrived.
    pub embedding: Option<Embedding>,
    /// The candidates that were weighed, best first: what a bench learns from.
    pub weighing: Weighing,
    /// What `why` explains.
    pub log: RecollectionLog,
    /// What was noted on the way: see [`Recall::trace`].
    pub notes: Notes,
    /// What became of the prompt on its way to a query, in numbers.
    pub asked: TracedQuery,
}

/// What a recall works with.
pub struct Sources<'a> {
    /// The store.
    pub reader: &'a Reader,
    /// The codes of all embedded episodes. Locked for the scan alone: a recall that waits for its embedding holds up nobody.
    pub codes: &'a RwLock<CodeIndex>,
    /// The model whose vectors may be compared.
    pub model_id: &'a str,
    /// The prompt's embedding as it arrives.
    pub embedding: &'a mut EmbeddingSource<'a>,
    /// Who asks the shared store for this prompt, where it is to be asked.
    pub remote: Option<&'a mut RemoteSource<'a>>,
    /// What reads the best candidates together with the prompt, if anything does.
    pub reranker: Option<&'a dyn Rerank>,
    /// What knows what has become of the files that are spoken of, if anything does.
    pub afterwards: Option<&'a dyn Afterwards>,
}

/// Recalls for one prompt.
///
/// The deadline holds for all of it: reads are interrupted when it passes, and the embedding is waited for until
/// `settings.reserve` before it; so is the reranker.
pub fn recall(
    question: &Question,
    session: &SessionState,
    sources: Sources<'_>,
    settings: &RecallSettings,
    deadline: Deadline,
) -> Recall {
    let (reader, afterwards) = (sources.reader, sources.afterwards);
    let mut work = Work::new(question);
    let chosen = work.run(session, sources, settings, deadline);
    reader.set_deadline_check(None);
    work.finish(chosen, settings, afterwards)
}

/// The candidate pool of one prompt with every leg's values, before any fusion: what a bench fuses in many ways.
///
/// # Errors
/// Why nothing is asked, or nothing could be.
pub fn candidate_pool(
    question: &Question,
    session: &SessionState,
    sources: Sources<'_>,
    settings: &RecallSettings,
    deadline: Deadline,
) -> Result<Vec<Candidate>, Silence> {
    Work::new(question).pool(session, sources, settings, deadline)
}

#[cfg(test)]
mod tests;
