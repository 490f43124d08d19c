//! Rows as they are handed to the writer: turns and episodes, sessions, source positions, recollection logs.
//! Built by the processor and the daemon; the store checks nothing of their texts, which are redacted before.

use std::sync::Arc;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

use crate::ids::{EpisodeId, EpisodeUid, ProjectId, RecollectionId, TurnUid};
use crate::units::{ByteOffset, UnixMillis};

/// How much an episode matters, by a rule named in its row. Stored as 0, 1, 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Importance {
    /// Chatter.
    Low,
    /// Anything else.
    Normal,
    /// A decision, a preference, an error found and fixed, a commit, or pinned by the user.
    High,
}

impl Importance {
    /// The importance as the fusion profiles count it: 0, 0.5 or 1.
    pub fn weight(self) -> f64 {
        match self {
            Self::Low => 0.0,
            Self::Normal => 0.5,
            Self::High => 1.0,
        }
    }

    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }

    /// The importance of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Low, Self::Normal, Self::High]
            .into_iter()
            .find(|importance| importance.as_str() == name)
    }
}

impl FromSql for Importance {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match i64::column_result(value)? {
            0 => Ok(Self::Low),
            1 => Ok(Self::Normal),
            2 => Ok(Self::High),
            other => Err(FromSqlError::OutOfRange(other)),
        }
    }
}

impl ToSql for Importance {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(*self as i64))
    }
}

/// Whose conversation a turn belongs to. Stored as `user` and `subagent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// A person's own conversation.
    User,
    /// One that an agent held with a helper of its own; below its parent on ties.
    Subagent,
}

impl Origin {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Subagent => "subagent",
        }
    }
}

impl FromSql for Origin {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "user" => Ok(Self::User),
            "subagent" => Ok(Self::Subagent),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

impl ToSql for Origin {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.as_str()))
    }
}

/// What a turn touched, beside what was said. Stored as JSON; files, commands and errors are indexed, tools are not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Facets {
    /// Paths of files read or written.
    pub files: Vec<String>,
    /// Commands run.
    pub commands: Vec<String>,
    /// Error lines seen.
    pub errors: Vec<String>,
    /// Names of tools used.
    pub tools: Vec<String>,
}

impl Facets {
    /// Whether nothing was touched.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.commands.is_empty() && self.errors.is_empty() && self.tools.is_empty()
    }
}

/// One episode as ingest cut it.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEpisode {
    /// Identity: see [`EpisodeUid::of`].
    pub uid: EpisodeUid,
    /// The turn it is a part of.
    pub turn_uid: TurnUid,
    /// 0-based number of the part in its turn.
    pub part: u32,
    /// 0-based ordinal of the turn in its source.
    pub turn: u32,
    /// Whose conversation it is.
    pub origin: Origin,
    /// How much it matters.
    pub importance: Importance,
    /// The rule that set the importance.
    pub importance_rule: String,
    /// When the turn began.
    pub created_at: UnixMillis,
    /// What was asked, redacted.
    pub prompt: String,
    /// What came of it, redacted.
    pub answer: String,
    /// What it touched, redacted.
    pub facets: Facets,
}

/// The agent's own name of a session; unique together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey {
    /// The agent's id, such as `claude-code`.
    pub agent: String,
    /// The session id as the agent writes it.
    pub external_id: String,
}

/// Which project a turn belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectRef {
    /// One that is stored.
    Known(ProjectId),
    /// The one that this tells of: it is looked for, or made, only where something of the turn is stored.
    Told(Arc<ToldProject>),
}

/// What tells which project a folder belongs to, redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldProject {
    /// Keys, the most telling first; never empty.
    pub keys: Vec<String>,
    /// The name shown to people.
    pub name: String,
    /// The project's folder.
    pub root: String,
}

/// A turn as it stands now: episodes of this turn that are stored and not listed here are deleted,
/// and an empty list retires the turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnUpsert {
    /// Identity of the turn.
    pub turn_uid: TurnUid,
    /// The session whose transcript it was read from.
    pub session: SessionKey,
    /// Working folder at that turn, links followed; where it is not known, the session's counts for what is kept out.
    pub cwd: Option<String>,
    /// The same folder as the transcript has it, where that is another path: what keeps either out keeps the turn out.
    pub told_cwd: Option<String>,
    /// Git branch at that turn.
    pub git_branch: Option<String>,
    /// The project that `cwd` was resolved to.
    pub project: Option<ProjectRef>,
    /// The parts of the turn; none where nothing of it may be remembered: what was stored of it goes then.
    pub episodes: Vec<NewEpisode>,
}

/// News of a session; `None` leaves what is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionUpdate {
    /// Which session.
    pub session: SessionKey,
    /// Its title.
    pub title: Option<String>,
    /// When its context was last compacted.
    pub compacted_at: Option<UnixMillis>,
    /// When it began.
    pub started_at: Option<UnixMillis>,
}

/// Lines of one kind that a source could not give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemCount {
    /// The kind, such as `malformed-json`.
    pub kind: String,
    /// How many lines, since the last batch.
    pub count: u64,
    /// 1-based number of the first.
    pub first_line: u64,
    /// Where the first begins.
    pub first_offset: ByteOffset,
    /// What they hold, where they are records of a kind that nobody knows.
    pub unread: Option<Unread>,
}

/// What records of a kind that nobody knows hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Bytes of them, since the last batch.
    pub bytes: u64,
    /// The agent's version that wrote the last of them; empty where the transcript tells none.
    pub version: String,
}

/// How far a source has been read, and what its read bytes looked like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePosition {
    /// End of the last whole line that was read.
    pub read_offset: ByteOffset,
    /// Lines before `read_offset`.
    pub read_line: u64,
    /// Start of the oldest turn that may still grow: a restart reads from here.
    pub committed_offset: ByteOffset,
    /// Lines before `committed_offset`.
    pub committed_line: u64,
    /// 0-based ordinal of the turn that begins at `committed_offset`.
    pub committed_turn: u32,
    /// What the parser takes over at `committed_offset` from what stands before, as it writes it: at most 16 KiB. `None` where it is
    /// not known, or nothing is.
    pub parser_state: Option<String>,
    /// SHA-256 of the first `prefix_len` bytes.
    pub prefix_hash: [u8; 32],
    /// Bytes under `prefix_hash`: at most 1,024.
    pub prefix_len: u32,
    /// SHA-256 of the last `tail_len` bytes before `read_offset`.
    pub tail_hash: [u8; 32],
    /// Bytes under `tail_hash`: at most 1,024.
    pub tail_len: u32,
}

/// News of a source, upserted by path in the transaction that stores what was read from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceUpdate {
    /// The agent's id.
    pub agent: String,
    /// Absolute path.
    pub path: String,
    /// Kind of source, such as `jsonl`.
    pub kind: String,
    /// Device number of the file.
    pub device: u64,
    /// Inode number of the file.
    pub inode: u64,
    /// Size in bytes when it was read.
    pub size: u64,
    /// Modification time when it was read.
    pub mtime: UnixMillis,
    /// How far it was read.
    pub position: SourcePosition,
    /// Counts how often the content was replaced; a new generation begins its counters anew.
    pub generation: u32,
    /// Whether this batch is of all that the source holds, as a document's is: its counters and problems begin anew.
    pub whole: bool,
    /// Records read in this batch.
    pub records_delta: u64,
    /// Lines skipped in this batch.
    pub skipped_delta: u64,
    /// Problems met in this batch.
    pub problems: Vec<ProblemCount>,
}

/// What one pass over one source found: stored in one transaction, or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct IngestBatch {
    /// The time of the pass.
    pub now: UnixMillis,
    /// The source, with its new position.
    pub source: SourceUpdate,
    /// News of sessions.
    pub sessions: Vec<SessionUpdate>,
    /// Turns, each as it stands.
    pub turns: Vec<TurnUpsert>,
    /// Whether the source was read whole, so that episodes of older generations that were not seen again are gone.
    pub retire_older_generations: bool,
}

/// An embedding to store, of the text that had this hash.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedEpisode {
    /// Which episode.
    pub id: EpisodeId,
    /// Hash of the content that was embedded; from [`crate::BacklogRow`].
    pub content_hash: [u8; 32],
    /// The L2-normalised embedding.
    pub vector: Vec<f32>,
}

/// What happened to one prompt: kept for the last 1,000 prompts.
#[derive(Clone, Debug, PartialEq)]
pub struct RecollectionLog {
    /// When the prompt came.
    pub at: UnixMillis,
    /// The session that asked.
    pub session: SessionKey,
    /// The project that asked.
    pub project: Option<ProjectId>,
    /// Keyed hash of the prompt; its text is never stored here.
    pub prompt_hash: [u8; 32],
    /// The query terms.
    pub terms: Vec<String>,
    /// Why nothing was shown.
    pub reason: Option<String>,
    /// Size of the candidate pool.
    pub pool: u32,
    /// Stages with their microseconds, in order.
    pub stages: Vec<(String, u64)>,
    /// What was missing or late.
    pub degradations: Vec<String>,
    /// Candidates in fused order; the first 20, and any that was shown, are kept.
    pub candidates: Vec<LoggedCandidate>,
}

/// One candidate of a logged recollection.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedCandidate {
    /// Which episode.
    pub episode: EpisodeId,
    /// Fused score; more is better.
    pub fused: f64,
    /// BM25 score; more negative is better.
    pub bm25: Option<f64>,
    /// Cosine with the prompt.
    pub cosine: Option<f32>,
    /// 1-based rank in the BM25 leg.
    pub bm25_rank: Option<u32>,
    /// 1-based rank in the vector leg.
    pub vector_rank: Option<u32>,
    /// 1-based rank by creation time.
    pub recency_rank: Option<u32>,
    /// 1-based rank by use.
    pub access_rank: Option<u32>,
    /// Why it was dropped.
    pub gate: Option<String>,
    /// 1-based place among those shown.
    pub position: Option<u32>,
}

/// A showing that turned out to be a use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecollectionUse {
    /// The log in which it was shown.
    pub recollection: RecollectionId,
    /// What was used.
    pub episode: EpisodeId,
    /// By what it was told, such as `words`.
    pub evidence: String,
}

/// What of ours stands in a file of a project, at the user's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    /// The file.
    pub path: String,
    /// The one line that it is, such as an import; `None` for the fenced block.
    pub line: Option<String>,
    /// The project's folder.
    pub folder: String,
    /// What was made for it and goes with it: the file, or the topmost of the folders above it that were missing.
    pub made: Option<String>,
    /// Whether the user asked for it though git tracks the file.
    pub tracked: bool,
}

/// How long ingest and embedding rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Until this moment.
    Until(UnixMillis),
    /// Until the user resumes.
    Indefinite,
}

impl Pause {
    /// Whether it has not ended by `now`.
    pub fn holds_at(self, now: UnixMillis) -> bool {
        match self {
            Self::Until(until) => now < until,
            Self::Indefinite => true,
        }
    }
}
