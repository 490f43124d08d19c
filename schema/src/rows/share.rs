//! What goes to a shared store and comes from it, as rows: episodes with whose they are, pages of changes, and how far both ways have
//! come. No SQL and no network is touched here.

use crate::ids::{EpisodeId, EpisodeUid, ProjectId, TurnUid};
use crate::rows::{Facets, Importance, Origin};
use crate::units::UnixMillis;

/// An episode as a shared store has it: nothing of where it lies on its machine, how often it was used, or what its user decided of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedEpisode {
    /// Identity of the episode: part [`SharedEpisode::part`] of its turn.
    pub uid: EpisodeUid,
    /// Identity of its turn.
    pub turn_uid: TurnUid,
    /// The keys by which its project is known everywhere, the most telling first: never a path. Empty where only a folder names it.
    pub project_keys: Vec<String>,
    /// Its project's name.
    pub project_name: String,
    /// The agent's id.
    pub agent: String,
    /// The session id as the agent writes it; where that is a path, a hash of it.
    pub session: String,
    /// Whose conversation it is.
    pub origin: Origin,
    /// 0-based ordinal of the turn in its source.
    pub turn: u32,
    /// 0-based number of the part in its turn.
    pub part: u32,
    /// How much it matters by the rules.
    pub importance: Importance,
    /// The rule that set the importance.
    pub importance_rule: String,
    /// When its turn began.
    pub created_at: UnixMillis,
    /// When it was stored as it stands.
    pub updated_at: UnixMillis,
    /// Git branch at that turn.
    pub git_branch: Option<String>,
    /// What was asked, redacted.
    pub prompt: String,
    /// What came of it, redacted.
    pub answer: String,
    /// What it touched, redacted.
    pub facets: Facets,
    /// Hash of the texts as they were where it comes from: those that the embedding is of.
    pub content_hash: [u8; 32],
    /// Its L2-normalised embedding, and the model that made it.
    pub embedding: Option<(String, Vec<f32>)>,
}

/// Whose a shared episode is, and where it was stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShareOrigin {
    /// The member's number at the shared store.
    pub member: i32,
    /// The name by which the member logs in there.
    pub member_login: String,
    /// The machine.
    pub machine: [u8; 16],
    /// What the machine is called.
    pub machine_name: String,
}

/// One change of the shared store.
#[derive(Clone, Debug, PartialEq)]
pub enum PulledChange {
    /// An episode is there, new or changed.
    Live {
        /// Its place in the order of all changes.
        seq: i64,
        /// Whose it is.
        from: ShareOrigin,
        /// The episode, in the clear and redacted by today's rules.
        episode: Box<SharedEpisode>,
    },
    /// An episode is no longer shared; it may be again.
    Withdrawn {
        /// Its place in the order of all changes.
        seq: i64,
        /// Which episode.
        uid: EpisodeUid,
        /// Whose it was.
        member: i32,
        /// The machine that shared it and does no more; 16 zero bytes where the member took it back from all its machines, 16 bytes of
        /// all ones where the member was taken out of the team.
        machine: [u8; 16],
    },
    /// A turn was forgotten for good.
    Forgotten {
        /// Its place in the order of all changes.
        seq: i64,
        /// Which turn.
        turn_uid: TurnUid,
        /// Who forgot it.
        member: i32,
    },
}

/// Changes of the shared store in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PulledPage {
    /// The cursor that was asked from: [`SharePlace::cursor`] at that moment. A page of another one is left alone.
    pub after: i64,
    /// [`SharePlace::sent`] at that moment: a page that was asked for before something was sent is left alone, too, since the shared
    /// store does not tell a machine of its own changes.
    pub sent: i64,
    /// The changes, by their places.
    pub changes: Vec<PulledChange>,
    /// How far pulling has come with this page.
    pub cursor: i64,
    /// The last change that the shared store knew of.
    pub head: i64,
    /// Whether it was asked for what was withdrawn and forgotten alone: contents are passed over, until [`crate::Writer::pull_contents`].
    pub marks_only: bool,
}

/// An episode that a search of the shared store found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundEpisode {
    /// Its place in the order of all changes.
    pub seq: i64,
    /// Whose it is.
    pub from: ShareOrigin,
    /// The episode, in the clear and redacted by today's rules.
    pub episode: Box<SharedEpisode>,
}

/// What a search of the shared store found, and as of when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundPage {
    /// [`SharePlace::sent`] before the search was asked.
    pub sent: i64,
    /// The last change that the shared store knew of when it searched. Where pulling has come further, something of what was found may
    /// have been taken back since, of which nothing is told a second time.
    pub head: i64,
    /// What was found.
    pub found: Vec<FoundEpisode>,
}

/// What came of a search: all of it in one transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// Where each of what was found is here, in its order; `None` where it is not, or not to be recalled.
    pub here: Vec<Option<EpisodeId>>,
    /// What was stored and replaced. Its [`Applied::cursor`] says nothing, since none moves; where it is stale, nothing was stored.
    pub applied: Applied,
}

/// What came of a page: all of it in one transaction with the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Episodes that are new here.
    pub stored: Vec<EpisodeId>,
    /// Pulled episodes whose texts became others: their codes are stale.
    pub replaced: Vec<EpisodeId>,
    /// Episodes that went: what memory holds of them is to be dropped.
    pub removed: Vec<EpisodeId>,
    /// Turns that another machine of one's own had forgotten, and are forgotten here now.
    pub forgotten_own: Vec<TurnUid>,
    /// The projects of which something was stored or removed, each once.
    pub projects: Vec<ProjectId>,
    /// Where to pull from next.
    pub cursor: i64,
    /// Whether the page was left alone: it was asked from another place than pulling has come to, something was sent since, or nothing is
    /// shared any more.
    pub stale: bool,
    /// Whether bytes of what was forgotten may be left on the disk, by this page or by one before it, and
    /// [`crate::Writer::finish_forgetting`] is to run now: it takes as long for one turn as for thousands, so that only the last page says
    /// so.
    pub unscrubbed: bool,
}

/// An episode of this memory to push, with what the shared store must not see.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnEpisode {
    /// The episode; paths in its facets are as they are stored.
    pub episode: SharedEpisode,
    /// Its project's folder: what lies below it is told from there, and what lies elsewhere is left out.
    pub project_root: Option<String>,
    /// Its project here.
    pub project_id: Option<ProjectId>,
}

/// The next of what the shared store has to know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToPush {
    /// Episodes to push.
    pub live: Vec<OwnEpisode>,
    /// Episodes to withdraw as far as it is this machine that shares them.
    pub withdraw: Vec<EpisodeUid>,
    /// Episodes to withdraw whichever of one's machines shares them: kept out here, or shared under a former name.
    pub withdraw_everywhere: Vec<EpisodeUid>,
    /// Turns to forget there.
    pub forget: Vec<TurnUid>,
    /// All entries that were looked at: those of the above, and those of which the shared store has nothing to know.
    pub entries: Vec<(i64, EpisodeUid)>,
}

impl ToPush {
    /// Whether the shared store has nothing to know of all of it. (There may be entries to be done with.)
    pub fn is_empty(&self) -> bool {
        self.live.is_empty() && self.withdraw.is_empty() && self.withdraw_everywhere.is_empty() && self.forget.is_empty()
    }
}

/// What is being sent: made by [`crate::Writer::pushing`], handed to [`crate::Writer::pushed`] once the shared store has committed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentPage {
    /// Whether the shared store is told anything.
    pub(crate) says_something: bool,
    pub(crate) entries: Vec<(i64, EpisodeUid)>,
    pub(crate) withdrawn: Vec<EpisodeUid>,
    pub(crate) withdrawn_everywhere: Vec<EpisodeUid>,
    pub(crate) forgotten: Vec<TurnUid>,
}

/// With whom to share, and what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareSetup {
    /// Names the team: where the shared store is and what the team is called there, without any secret.
    pub team_key: String,
    /// Globs of project keys (`*` is any run of characters): a project is shared where one matches one of its keys.
    pub allowed: Vec<String>,
}

/// How far sharing has come: what is asked for all the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharePlace {
    /// What this memory is called at the shared store.
    pub machine: [u8; 16],
    /// One's own number there, once it is known.
    pub member: Option<i32>,
    /// Where to pull from.
    pub cursor: i64,
    /// Rises with all that is sent.
    pub sent: i64,
    /// Whether contents rest.
    pub paused: bool,
    /// Whether the shared store may have something to know.
    pub has_changes: bool,
}

/// What is shared, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is told by itself, and goes with any of the others"
)]
pub struct ShareState {
    /// Whether anything is shared now.
    pub active: bool,
    /// What this memory is called at the shared store.
    pub machine: [u8; 16],
    /// The team.
    pub team_key: String,
    /// The globs of what may be shared.
    pub allowed: Vec<String>,
    /// One's own number at the shared store, once it is known.
    pub member: Option<i32>,
    /// The name by which one logs in there.
    pub member_login: Option<String>,
    /// How far pulling has come.
    pub cursor: i64,
    /// The last change that the shared store was known to have.
    pub head: i64,
    /// Whether contents rest.
    pub paused: bool,
    /// Changes that wait to be told.
    pub outbox: u64,
    /// Episodes of this memory that the shared store may have.
    pub pushed: u64,
    /// Episodes that were pulled.
    pub pulled: u64,
    /// Projects by name, with what was pushed and pulled of each.
    pub by_project: Vec<(String, u64, u64)>,
    /// How much came from whom.
    pub by_origin: Vec<(ShareOrigin, u64)>,
    /// Whether the shared store lets this member in no more, as far as it last said.
    pub is_put_out: bool,
    /// Whether this memory has left the team, and has not gone on with it since.
    pub has_left: bool,
    /// The model whose vectors the shared store does not take, as far as it last said.
    pub unknown_model: Option<String>,
    /// Teams that the settings named before, at whose shared stores something of this memory is still: it is told again, and what is to
    /// leave leaves, once such a team is named again.
    pub former: Vec<FormerTeam>,
    /// Pulled episodes that went with the call that gave this: what memory holds of them is to be dropped.
    pub removed: Vec<EpisodeId>,
}

/// A team that the settings named before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormerTeam {
    /// The team, as [`ShareSetup::team_key`] named it.
    pub team_key: String,
    /// Episodes of this memory that its shared store may have.
    pub pushed: u64,
}

/// A project, by what decides whether it is shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectToShare {
    /// Its name.
    pub name: String,
    /// Its keys as a pattern matches them, the most telling first: without their kind, paths among them. Those that others told where
    /// none was told here.
    pub keys: Vec<String>,
    /// Whether the patterns allow it.
    pub allowed: bool,
    /// Episodes of one's own that are to be seen.
    pub episodes: u64,
    /// Those that the shared store may have.
    pub pushed: u64,
    /// Copies of what others shared, and other machines of one's own, that are to be seen.
    pub taken: u64,
}
