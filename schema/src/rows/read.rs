//! Rows as readers get them: candidates, texts, the embedding backlog, sources and the counts of `status`.
//! Filled by the query functions; nothing here is written back.

use crate::ids::{EpisodeId, EpisodeUid, ProjectId, RecollectionId, SessionId, SourceId, TurnUid};
use crate::rows::{Facets, Importance, Origin, RecollectionLog, RecollectionTrace, SessionKey, SourcePosition, Steered, Unread};
use crate::units::{ByteOffset, UnixMillis};

/// What scoring needs of an episode: no texts.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateRow {
    /// Row id.
    pub id: EpisodeId,
    /// Identity of the episode.
    pub uid: EpisodeUid,
    /// Identity of its turn.
    pub turn_uid: TurnUid,
    /// Its session.
    pub session: SessionId,
    /// 0-based ordinal of the turn in its source.
    pub turn: u32,
    /// 0-based number of the part in its turn.
    pub part: u32,
    /// Its project.
    pub project: Option<ProjectId>,
    /// Whose conversation it is.
    pub origin: Origin,
    /// How much it matters.
    pub importance: Importance,
    /// When its turn began.
    pub created_at: UnixMillis,
    /// When it was last shown or used; at first its creation.
    pub accessed_at: UnixMillis,
    /// How often it was used; showing does not count.
    pub access_count: u64,
    /// Its L2-normalised embedding, if made by the model that was asked for.
    pub embedding: Option<Vec<f32>>,
}

/// An episode in full, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeText {
    /// Row id.
    pub id: EpisodeId,
    /// Identity of the episode.
    pub uid: EpisodeUid,
    /// Identity of its turn.
    pub turn_uid: TurnUid,
    /// 0-based number of the part in its turn.
    pub part: u32,
    /// 0-based ordinal of the turn in its source.
    pub turn: u32,
    /// What was asked.
    pub prompt: String,
    /// What came of it.
    pub answer: String,
    /// What it touched.
    pub facets: Facets,
    /// When its turn began.
    pub created_at: UnixMillis,
    /// Its project's id.
    pub project: Option<ProjectId>,
    /// Its project's name.
    pub project_name: Option<String>,
    /// The agent's id.
    pub agent: String,
    /// The session id as the agent writes it.
    pub session: String,
    /// Working folder at that turn.
    pub cwd: Option<String>,
    /// Path of the transcript it was last read from.
    pub source: Option<String>,
    /// How much it matters.
    pub importance: Importance,
    /// The rule that set the importance.
    pub importance_rule: String,
    /// Who shared it; `None` of this machine's own.
    pub shared_by: Option<SharedBy>,
}

/// Who shared an episode that is a copy here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedBy {
    /// The name by which the member logs in at the shared store, as that member's database has it.
    pub member: String,
    /// What the machine is called.
    pub machine: String,
    /// Whether the member is oneself, and the machine another one of one's own.
    pub is_own: bool,
}

/// An episode that waits for its embedding.
#[derive(Clone, Debug, PartialEq)]
pub struct BacklogRow {
    /// Row id.
    pub id: EpisodeId,
    /// Hash of the content, to be handed back with the embedding.
    pub content_hash: [u8; 32],
    /// What was asked.
    pub prompt: String,
    /// What came of it.
    pub answer: String,
    /// What it touched.
    pub facets: Facets,
    /// 0-based number of the part in its turn.
    pub part: u32,
}

/// A source as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRow {
    /// Row id.
    pub id: SourceId,
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
    /// Size in bytes when it was last read.
    pub size: u64,
    /// Modification time when it was last read.
    pub mtime: UnixMillis,
    /// How far it was read.
    pub position: SourcePosition,
    /// How often its content was replaced.
    pub generation: u32,
    /// Records read in this generation.
    pub records: u64,
    /// Lines skipped in this generation.
    pub skipped: u64,
    /// Whether the file is gone.
    pub missing: bool,
}

/// What [`crate::Writer::ingest`] did, counted in episodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IngestOutcome {
    /// New ones.
    pub added: u64,
    /// Known ones whose text changed, another session's among them where a copy of it goes further.
    pub updated: u64,
    /// Known ones whose text is as it was.
    pub unchanged: u64,
    /// Ones that another session owns, copied by a fork or a resume.
    pub copies: u64,
    /// Ones that their source no longer holds.
    pub retired: u64,
    /// The ids of those: what memory holds of them is to be dropped.
    pub removed: Vec<EpisodeId>,
    /// Ones that the user forgot.
    pub tombstoned: u64,
    /// Ones that the user excluded.
    pub excluded: u64,
    /// The projects of which something was handed in that may be stored, each once.
    pub projects: Vec<ProjectId>,
}

/// How large the database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Bytes of the pages that hold something.
    pub used: u64,
    /// Turns stored, hidden ones too.
    pub turns: u64,
}

/// All that is stored of an episode, but for its vector.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEpisode {
    /// Its texts, and whose they are.
    pub text: EpisodeText,
    /// Whose conversation it is.
    pub origin: Origin,
    /// Git branch at that turn.
    pub git_branch: Option<String>,
    /// When it was stored as it stands.
    pub updated_at: UnixMillis,
    /// When it was shown or used last; else when the turn began.
    pub accessed_at: UnixMillis,
    /// How often it was used.
    pub access_count: u64,
    /// How often it was shown.
    pub shown_count: u64,
    /// Whether an exclusion hides it.
    pub hidden: bool,
    /// The model of its vector, if it has one.
    pub embedding_model: Option<String>,
    /// Showings that turned out to be uses, as far as they are still logged: when it was shown, and by what it was told.
    pub uses: Vec<(UnixMillis, String)>,
    /// Other sessions (forks, resumes) that repeat it, by the agent's ids.
    pub also_in: Vec<String>,
    /// The keys by which its project is known, the most telling first.
    pub project_keys: Vec<String>,
    /// Its project's folder.
    pub project_root: Option<String>,
    /// What its session is called.
    pub session_title: Option<String>,
    /// What the user decided of its turn.
    pub steered: Steered,
}

/// A logged recollection with its id.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedRecollection {
    /// Row id.
    pub id: RecollectionId,
    /// What was logged.
    pub log: RecollectionLog,
}

/// A logged prompt with all that is kept of how its answer came about.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedRecollection {
    /// Row id.
    pub id: RecollectionId,
    /// Its number: 1 is the latest prompt of all.
    pub number: u32,
    /// The name of the project that asked, if it is there still.
    pub project_name: Option<String>,
    /// What was logged. Candidates that are gone since are not in it.
    pub log: RecollectionLog,
    /// The 0-based places of the log's candidates among all that were logged, in their order.
    pub places: Vec<u32>,
    /// How it came about; none of a prompt that was not searched for, or was logged by an older version.
    pub trace: Option<RecollectionTrace>,
}

/// One line of the list of logged prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptRow {
    /// Row id.
    pub id: RecollectionId,
    /// Its number: 1 is the latest prompt of all.
    pub number: u32,
    /// When it came.
    pub at: UnixMillis,
    /// The session that asked.
    pub session: SessionKey,
    /// The name of the project that asked, if it is there still.
    pub project_name: Option<String>,
    /// Why nothing was shown.
    pub reason: Option<String>,
    /// Size of the candidate pool.
    pub pool: u32,
    /// How many episodes were shown, and are there still.
    pub shown: u32,
    /// What was missing or late.
    pub degradations: Vec<String>,
    /// The query terms.
    pub terms: Vec<String>,
}

/// An episode that was shown for a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Showing {
    /// The log in which it was shown.
    pub recollection: RecollectionId,
    /// When the prompt came.
    pub at: UnixMillis,
    /// What was shown.
    pub episode: EpisodeId,
}

/// Skipped lines of one kind in one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceProblem {
    /// Path of the source.
    pub path: String,
    /// The kind, such as `malformed-json`.
    pub kind: String,
    /// How many lines.
    pub count: u64,
    /// 1-based number of the first.
    pub first_line: u64,
    /// Where the first begins.
    pub first_offset: ByteOffset,
    /// The agent's id.
    pub agent: String,
    /// When the source was written last.
    pub written: UnixMillis,
    /// What they hold, where they are records of a kind that nobody knows.
    pub unread: Option<Unread>,
}

/// Counts for `status` and `doctor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreStats {
    /// Sessions that have an episode.
    pub sessions: u64,
    /// Projects known.
    pub projects: u64,
    /// Episodes stored, hidden ones too.
    pub episodes: u64,
    /// Episodes hidden by an exclusion.
    pub hidden: u64,
    /// Episodes with an embedding of the current model.
    pub embedded: u64,
    /// Episodes that wait for one.
    pub backlog: u64,
    /// Sources known.
    pub sources: u64,
    /// Sources whose file is gone.
    pub missing_sources: u64,
    /// Records read.
    pub records: u64,
    /// Lines skipped.
    pub skipped: u64,
    /// Skipped lines by file and kind, most first.
    pub problems: Vec<SourceProblem>,
    /// Bytes read of each agent's transcripts that are read, by the agent's id.
    pub read_bytes: Vec<(String, u64)>,
    /// Turns forgotten.
    pub tombstones: u64,
    /// Turns that retention removed.
    pub retired: u64,
    /// Turns that the user muted.
    pub muted: u64,
    /// Turns that the user boosted.
    pub boosted: u64,
    /// Facts that the user had remembered.
    pub remembered: u64,
    /// Bytes of the database file.
    pub db_bytes: u64,
    /// Bytes of the write-ahead log.
    pub wal_bytes: u64,
    /// Schema version by `user_version`, which decides.
    pub schema_version: u32,
    /// Schema version by `_meta`; another value than `schema_version` is for `doctor` to report.
    pub meta_schema_version: u32,
    /// Text-analysis version that every indexed row has.
    pub analysis_version: u32,
    /// Embedding model and its dimension.
    pub model: Option<(String, usize)>,
}
