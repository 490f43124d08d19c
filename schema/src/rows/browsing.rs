//! What a person looks at: which turns are asked for, and turns and sessions as they are listed.

use crate::ids::{EpisodeId, EpisodeUid, ProjectId, TurnUid};
use crate::rows::{Origin, SessionKey, SharedBy};
use crate::units::UnixMillis;

/// Which episodes a look is about: those that all of these name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodeFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// Of this agent, by its id.
    pub agent: Option<String>,
    /// Of turns that began then or later.
    pub since: Option<UnixMillis>,
    /// Of turns that began before then.
    pub until: Option<UnixMillis>,
}

impl EpisodeFilter {
    /// Whether it leaves nothing out.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// The first moment that it takes.
    pub(crate) fn first(&self) -> UnixMillis {
        self.since.unwrap_or(UnixMillis(i64::MIN))
    }

    /// The first moment after those that it takes.
    pub(crate) fn end(&self) -> UnixMillis {
        self.until.unwrap_or(UnixMillis(i64::MAX))
    }
}

/// Where a turn stands among all others: by its time, then by the row of its first part. A list goes on from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TurnPlace {
    /// When the turn began.
    pub at: UnixMillis,
    /// Its first part.
    pub id: EpisodeId,
}

impl TurnPlace {
    /// Before every turn.
    pub const FIRST: Self = Self {
        at: UnixMillis(i64::MIN),
        id: EpisodeId(i64::MIN),
    };
    /// Behind every turn.
    pub const LAST: Self = Self {
        at: UnixMillis(i64::MAX),
        id: EpisodeId(i64::MAX),
    };

    /// Before all turns that began at this moment or later.
    pub(crate) fn before(at: UnixMillis) -> Self {
        Self {
            at,
            id: EpisodeId(i64::MIN),
        }
    }
}

/// A turn as it stands in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// Where it stands.
    pub place: TurnPlace,
    /// Identity of its first part.
    pub uid: EpisodeUid,
    /// Identity of the turn.
    pub turn_uid: TurnUid,
    /// Its session, by the agent's own id.
    pub session: SessionKey,
    /// Its project's name.
    pub project_name: Option<String>,
    /// Whose conversation it is.
    pub origin: Origin,
    /// Whether an exclusion hides it.
    pub hidden: bool,
    /// How many parts it has.
    pub parts: u32,
    /// What was asked; empty where the transcript began in the middle of the turn.
    pub prompt: String,
    /// What came of it, where nothing was asked.
    pub answer: Option<String>,
    /// Who shared its first part; `None` of this machine's own.
    pub shared_by: Option<SharedBy>,
}

/// A session as it stands in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Where the last of its turns stands that was asked for.
    pub last: TurnPlace,
    /// The agent and its own id of the session.
    pub session: SessionKey,
    /// Its title, if the agent gave it one.
    pub title: Option<String>,
    /// The name of that last turn's project.
    pub project_name: Option<String>,
    /// When its first turn began.
    pub begin: UnixMillis,
    /// When its last turn began.
    pub end: UnixMillis,
    /// How many turns of it are stored.
    pub turns: u64,
    /// Whether exclusions hide all of it.
    pub hidden: bool,
    /// What was asked first.
    pub first_prompt: Option<String>,
    /// Who of others shared the first of it that is another's; `None` where all of it is the user's own.
    pub shared_by: Option<SharedBy>,
}
