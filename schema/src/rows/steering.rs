//! What the user decides of single memories, as rows: what is done to a turn, what is known of it afterwards, and the facts that the
//! user had remembered. No SQL and no file is touched here.

use serde::{Deserialize, Serialize};

use crate::ids::{EpisodeUid, TurnUid};
use crate::rows::Importance;
use crate::units::UnixMillis;

/// The agent of what the user said to us and to no other agent.
pub const USER_AGENT: &str = "user";
/// The one session of that agent: every fact is a turn of it.
pub const REMEMBERED_SESSION: &str = "remembered";
/// The rule of a fact's importance.
pub const PINNED: &str = "pinned";
/// The rule of a boosted episode's importance.
pub const BOOSTED: &str = "boosted-by-user";
/// The key of the project whose episodes are recalled in all projects.
pub const EVERYWHERE_KEY: &str = "everywhere:";
/// The name of that project.
const EVERYWHERE: &str = "everywhere";

/// What the user does to turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steering {
    /// They are never recalled.
    Mute,
    /// They may be recalled again.
    Unmute,
    /// They count as important.
    Boost,
    /// They count as the rules say.
    Unboost,
}

/// What the user decided of an episode's turn, and what the rules said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steered {
    /// Since when it is muted, if it is.
    pub muted_at: Option<UnixMillis>,
    /// Since when it is boosted, if it is.
    pub boosted_at: Option<UnixMillis>,
    /// The importance that the rules gave it and the rule, if it is boosted.
    pub by_rules: Option<(Importance, String)>,
}

/// A turn that is muted or boosted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteeredTurn {
    /// Which turn.
    pub turn_uid: TurnUid,
    /// Its first episode; of a turn of which nothing is stored now, the one that it would have.
    pub episode: EpisodeUid,
    /// Since when it is muted, if it is.
    pub muted_at: Option<UnixMillis>,
    /// Since when it is boosted, if it is.
    pub boosted_at: Option<UnixMillis>,
}

/// How a project is known: what [`crate::Writer::resolve_project`] finds it by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectNames {
    /// Keys, the most telling first; at least one.
    pub keys: Vec<String>,
    /// The name shown to people.
    pub name: String,
    /// Its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

impl ProjectNames {
    /// The one whose episodes are recalled in all projects.
    pub fn everywhere() -> Self {
        Self {
            keys: vec![EVERYWHERE_KEY.to_owned()],
            name: EVERYWHERE.to_owned(),
            root: None,
        }
    }
}

/// What the user said is to be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Identity of the turn that it makes.
    pub turn_uid: TurnUid,
    /// When it was said.
    pub at: UnixMillis,
    /// What was said, redacted.
    pub text: String,
    /// The folder that it is about, redacted; `None` where it holds everywhere.
    pub cwd: Option<String>,
    /// Where it is recalled.
    pub project: ProjectNames,
}

/// What came of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The episode that it is.
    pub episode: EpisodeUid,
    /// Whether it was not remembered before.
    pub is_new: bool,
}

/// What became of an episode that was to be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ImportOutcome {
    /// It is new here.
    Added,
    /// It is there already, and stays as it is.
    Known,
    /// The user forgot it here.
    Forgotten,
    /// Retention took it away here.
    Retired,
    /// Its folder, its transcript or its session is kept out here, or it was kept out there and nothing here would hide it.
    Excluded,
}
