//! What can be asked. A line comes in and a [`Request`] goes out on the daemon's side; the reverse on the asking side.

use serde::{Deserialize, Serialize};

use super::{
    MAX_REQUEST_BYTES, ProtocolError, SearchRequest, SessionsRequest, TimelineRequest, VERSION, bounded_line, check_version,
    limits,
};
use crate::clock::{BUDGET, Deadline};

/// One question or command. The member `op` names the variant in `snake_case`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    /// What is remembered that fits this prompt? The only operation that is answered by a [`RecallReply`](super::RecallReply).
    Recall(RecallRequest),
    /// Keep this session, whatever it has said and will say, out of the memory.
    ExcludeSession {
        /// The agent's id, as `claude-code`.
        agent: String,
        /// The agent's id of the session.
        session: String,
    },
    /// This transcript has grown: read it at once.
    Changed {
        /// The agent's id, as `claude-code`.
        agent: String,
        /// An absolute path.
        transcript: String,
    },
    /// How is the daemon, and what does the store hold?
    Status,
    /// Answer when all that stands in the transcripts now is in the store.
    Flush,
    /// Why was shown what was shown for the last prompt?
    Why {
        /// Of this session; without it, of all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// How did the answer to a prompt come about?
    Explain(ExplainRequest),
    /// Which prompts can be explained?
    Explanations {
        /// Of this session; without it, of all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// The latest so many of them; without it, all that are kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// What came of the last prompt, in few words for a line in the editor? Answered from memory, at once.
    LastAnswer {
        /// Of this session; without it, of all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// Stop ingesting and embedding.
    Pause {
        /// Until then, in milliseconds since the Unix epoch, UTC; without it, until `resume`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until_ms: Option<i64>,
    },
    /// End a pause.
    Resume,
    /// Neither send to the shared store nor take from it, but for what is taken back and what is forgotten.
    PauseSharing,
    /// Share again.
    ResumeSharing,
    /// As `pause_sharing`, and take out of the memory what others shared.
    ShareLeave,
    /// Keep what happens below this folder out of the memory.
    Exclude {
        /// An absolute path.
        path: String,
    },
    /// Take back an `exclude`.
    Include {
        /// An absolute path.
        path: String,
    },
    /// Delete without a trace what is remembered, and never read it again. What comes later is remembered.
    Forget {
        /// What to delete.
        target: ForgetTarget,
    },
    /// Remember what the user says, in words.
    Remember {
        /// What is to be remembered.
        text: String,
        /// An absolute path of a folder, whose project it is about; without it, it holds in all projects.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<String>,
    },
    /// Decide of single memories: whether they are recalled, and whether they count as important.
    Steer {
        /// What is decided.
        how: Steering,
        /// The ids of episodes, or enough of their first digits. Each stands for its whole turn.
        ids: Vec<String>,
    },
    /// Store episodes that an export wrote.
    Import {
        /// Lines of the export.
        lines: Vec<String>,
        /// Say what would become of them, and store nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        dry_run: bool,
    },
    /// Copy the memory to a file.
    Backup {
        /// An absolute path; without it, the usual place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// Look through the memory, and mend what is made from the episodes.
    Mend {
        /// Say what would be done, and do nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        dry_run: bool,
    },
    /// A file of a project holds something of ours now: keep it up to date.
    Instruct(InstructionFile),
    /// Take back an `instruct`: the file is the user's alone again.
    Uninstruct {
        /// An absolute path.
        path: String,
        /// The line, if it was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<String>,
    },
    /// The whole of one episode.
    Show {
        /// Its id, or enough of its first digits.
        id: String,
    },
    /// What of all that is stored fits these words? Unlike `recall` nothing is kept silent.
    Search(SearchRequest),
    /// Which sessions are there, the one last at work first?
    Sessions(SessionsRequest),
    /// Which turns are there, by time?
    Timeline(TimelineRequest),
    /// The turns of one session in order, in full.
    Session {
        /// Its id, or that of one of its episodes, or enough of its first digits.
        id: String,
        /// A reply's `next`: go on there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    /// Is anyone there?
    Ping,
}

/// What is decided of single memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steering {
    /// They are never recalled; whoever looks for them finds them.
    Mute,
    /// Take back a `mute`.
    Unmute,
    /// They count as important.
    Boost,
    /// Take back a `boost`.
    Unboost,
}

/// The question that a prompt puts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecallRequest {
    /// The agent's id, as `claude-code`.
    pub agent: String,
    /// The agent's id of the session.
    pub session: String,
    /// The agent's working folder, from which the project follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the user typed; empty at a session's start.
    pub prompt: String,
    /// Whether a session begins or goes on after a compaction, and there is no prompt yet: what fits its last one is asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_start: bool,
    /// When the answer must be there: nanoseconds of `CLOCK_MONOTONIC`. Without it the daemon's whole budget counts from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// The host's id of this prompt: the same text under the same id is answered once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The file to which the host appends this conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// Whether all projects are looked at alike, whatever the daemon's settings say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_projects: bool,
}

/// Which prompt is to be explained: one that is put now (`prompt`), the one with an id, or the `number`-th latest of those that were
/// answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainRequest {
    /// A prompt that is put now: recalled for as any other, without a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The working folder in which it is put.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The agent in whose name it is put.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether all projects are looked at alike, whatever the daemon's settings say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_projects: bool,
    /// The id of an answered prompt, as a list of them names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// 1, as without it, is the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Of the prompts of this session alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Of those alone for which something was shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shown: bool,
}

/// A session whose id begins so is a probe's.
pub const PROBE_SESSION: &str = "remembrancer-doctor-";

impl RecallRequest {
    /// Whether this is no person's prompt but a probe: it is searched for as any other, answered by a block without recollections
    /// (whatever was found), and leaves no trace.
    pub fn is_probe(&self) -> bool {
        self.session.starts_with(PROBE_SESSION)
    }

    /// The deadline of this request, received at the monotonic instant `now_ns`: the one that travelled, but never more than
    /// [`BUDGET`] from now, since a client can be wrong.
    pub fn deadline(&self, now_ns: u64) -> Deadline {
        let latest = Deadline::after(now_ns, BUDGET);
        self.deadline_ns.map_or(latest, |at_ns| Deadline::at(at_ns).min(latest))
    }
}

/// What of ours stands in a file of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionFile {
    /// The file, an absolute path.
    pub path: String,
    /// The project's folder, an absolute path.
    pub folder: String,
    /// The one line that it is, such as an import; without it, the fenced block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// What was made for it and goes with it: the file, or the topmost of the folders above it that were missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// Whether the user asked for it though git tracks the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tracked: bool,
}

/// What `forget` deletes. A member that narrows a target would be passed over by an older daemon, which would then delete more
/// than was meant: so what narrows is a target itself, which such a daemon refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgetTarget {
    /// The turn of the episode with this id, or enough of its first digits.
    Episode(String),
    /// Everything of the session with this id.
    Session(String),
    /// Everything of the project with this name or root folder.
    Project(String),
    /// Everything that happened in or below this absolute path.
    Path(String),
    /// Everything that these words find.
    Matching(String),
    /// Every turn that began then or later, in milliseconds since the Unix epoch, UTC.
    #[serde(rename = "after_ms")]
    After(i64),
    /// Every turn that began before then, in milliseconds since the Unix epoch, UTC.
    #[serde(rename = "before_ms")]
    Before(i64),
    /// What all of these name.
    AllOf(Vec<ForgetTarget>),
    /// Everything.
    All,
}

/// The names of all operations.
const OPERATIONS: [&str; 30] = [
    "recall",
    "changed",
    "exclude_session",
    "status",
    "flush",
    "why",
    "explain",
    "explanations",
    "last_answer",
    "pause",
    "resume",
    "pause_sharing",
    "resume_sharing",
    "share_leave",
    "exclude",
    "include",
    "forget",
    "remember",
    "steer",
    "import",
    "backup",
    "mend",
    "instruct",
    "uninstruct",
    "show",
    "search",
    "sessions",
    "timeline",
    "session",
    "ping",
];

/// An operation's name is cut to this before it is repeated in an error.
const MAX_OP_CHARS: usize = 64;

#[derive(Deserialize)]
struct Envelope {
    v: u64,
    op: String,
}

#[derive(Serialize)]
struct Versioned<'a> {
    v: u64,
    #[serde(flatten)]
    request: &'a Request,
}

impl Request {
    /// Reads one line, with or without its newline.
    ///
    /// # Errors
    ///
    /// A [`ProtocolError`] whose message is fit for [`Answer::refused`](super::Answer::refused).
    pub fn parse(line: &[u8]) -> Result<Self, ProtocolError> {
        let line = bounded_line(line, MAX_REQUEST_BYTES)?;
        let envelope: Envelope =
            serde_json::from_slice(line).map_err(|error| ProtocolError::Malformed { column: error.column() })?;
        check_version(envelope.v)?;
        if !OPERATIONS.contains(&envelope.op.as_str()) {
            return Err(ProtocolError::UnknownOperation {
                op: envelope.op.chars().take(MAX_OP_CHARS).collect(),
            });
        }
        let request = serde_json::from_slice(line).map_err(|error| ProtocolError::Invalid {
            op: envelope.op.clone(),
            column: error.column(),
        })?;
        limits::check(&request, &envelope.op)?;
        Ok(request)
    }

    /// Writes one line with its newline.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::TooLong`] if the line is over [`MAX_REQUEST_BYTES`].
    pub fn to_line(&self) -> Result<Vec<u8>, ProtocolError> {
        let mut line = serde_json::to_vec(&Versioned {
            v: VERSION,
            request: self,
        })
        .map_err(|error| ProtocolError::Malformed { column: error.column() })?;
        line.push(b'\n');
        bounded_line(&line, MAX_REQUEST_BYTES)?;
        Ok(line)
    }
}
