//! What is to be forgotten, what that comes to, and what came of it.

use crate::ids::{EpisodeId, ProjectId, SessionId, TurnUid};
use crate::units::UnixMillis;

/// What the user asks to forget. Whole turns are forgotten, never single parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgetTarget {
    /// The episode whose uid begins with these (at least 4) hexadecimal digits.
    Episode(String),
    /// A session by the agent's own id of it, in one agent or in all: what it shares with another session (a fork, a resume)
    /// as well, whichever of them was read first.
    Session {
        /// Only this agent's session.
        agent: Option<String>,
        /// The session id as the agent writes it.
        external_id: String,
    },
    /// All of a project.
    Project(ProjectId),
    /// Everything that happened in this folder or below, or whose transcript lies there.
    Path(String),
    /// Everything that holds all words of this text.
    Matching(String),
    /// Every turn that began at this moment or later.
    After(UnixMillis),
    /// Every turn that began before this moment.
    Before(UnixMillis),
    /// What all of these name; nothing where there are none.
    AllOf(Vec<ForgetTarget>),
    /// What any of these names.
    AnyOf(Vec<ForgetTarget>),
    /// Everything.
    All,
}

/// An episode that a request to forget is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetedEpisode {
    /// Row id.
    pub id: EpisodeId,
    /// The turn it is a part of.
    pub turn_uid: TurnUid,
    /// 0-based number of the part in its turn.
    pub part: u32,
    /// Whose it is.
    pub session: SessionId,
    /// When the turn began.
    pub created_at: UnixMillis,
}

/// Who else has turns that are to be forgotten, or were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharers {
    /// The other members that shared some of them, and keep these, by login, each with how many episodes.
    pub others: Vec<(String, u64)>,
    /// Episodes of the user's own that go from the shared store and from the user's other machines, too: those that the store may have
    /// of this memory, and copies of what another machine of the user's shared. 0 where nothing is shared any more.
    pub shared_on: u64,
}

/// What [`crate::Writer::forget`] removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Episodes removed.
    pub episodes: u64,
    /// Their turns, now tombstones.
    pub turn_uids: Vec<TurnUid>,
    /// Who else has them: others still, and the shared store until it is told.
    pub sharers: Sharers,
    /// Whether the write-ahead log could be emptied, and no backup was being made; if not, [`crate::Writer::finish_forgetting`]
    /// has to run again before the forgotten bytes are gone from the disk.
    pub log_emptied: bool,
    /// Damaged files that had been set aside, and are removed, since what is forgotten may stand in them.
    pub set_aside_removed: usize,
}
