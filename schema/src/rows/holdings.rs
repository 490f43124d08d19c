//! Rows that tell of the memory as a whole: shares of agents and projects, copies of one text, what was shown and used.
//! Filled by the query functions; nothing here is written back.

use crate::ids::EpisodeId;
use crate::units::UnixMillis;

/// What is stored of one agent's sessions, hidden episodes too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentShare {
    /// The agent's id.
    pub agent: String,
    /// Sessions that have an episode.
    pub sessions: u64,
    /// Episodes.
    pub episodes: u64,
    /// When the first of their turns began.
    pub first: UnixMillis,
    /// When the last of them began.
    pub last: UnixMillis,
}

/// What is stored of one project, hidden episodes too; of what belongs to none, where it has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectShare {
    /// Its name.
    pub name: Option<String>,
    /// Its root folder.
    pub root: Option<String>,
    /// Sessions that have an episode.
    pub sessions: u64,
    /// Episodes.
    pub episodes: u64,
    /// When the first of their turns began.
    pub first: UnixMillis,
    /// When the last of them began.
    pub last: UnixMillis,
}

/// How much room one project takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectSize {
    /// Its name; none for what belongs to no project.
    pub name: Option<String>,
    /// Its root folder.
    pub root: Option<String>,
    /// Episodes, hidden ones too.
    pub episodes: u64,
    /// Bytes of their texts and vectors, without the index.
    pub bytes: u64,
}

/// What was shown and used from some moment on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Showings {
    /// Prompts that are still logged.
    pub prompts: u64,
    /// Those of them for which something was shown.
    pub answered: u64,
    /// Recollections shown: an episode counts once a session.
    pub shown: u64,
    /// Showings that turned out to be uses, of prompts that are still logged.
    pub used: u64,
}

/// Episodes that are not hidden and have the very same text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// How many texts several turns have.
    pub texts: u64,
    /// The texts that most episodes have, most first: ids by age, the newest first.
    pub most: Vec<Vec<EpisodeId>>,
    /// Every one of that surplus, by id: all but the newest of each text.
    pub copies: Vec<EpisodeId>,
}

/// How often an episode was shown and used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The episode.
    pub episode: EpisodeId,
    /// How often it was shown for a prompt.
    pub shown: u64,
    /// How often it was used.
    pub used: u64,
}

/// How many there are, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// How many there are.
    pub count: u64,
    /// The first of them, in an order that the query tells.
    pub first: Vec<EpisodeId>,
}
