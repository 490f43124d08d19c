//! What goes into the store and what comes out, as plain structs without behaviour.
//! What ingest hands over, what readers get, and what forgetting is about. No SQL and no file is touched here.

mod browsing;
mod forgetting;
mod given;
mod holdings;
mod read;
mod share;
mod steering;
pub mod trace;

pub use browsing::{EpisodeFilter, SessionRow, TurnPlace, TurnRow};
pub use forgetting::{ForgetTarget, Forgotten, Sharers, TargetedEpisode};
pub use given::{
    EmbeddedEpisode, Facets, Importance, IngestBatch, InstructionFile, LoggedCandidate, NewEpisode, Origin, Pause, ProblemCount,
    ProjectRef, RecollectionLog, RecollectionUse, SessionKey, SessionUpdate, SourcePosition, SourceUpdate, ToldProject,
    TurnUpsert, Unread,
};
pub use holdings::{AgentShare, Duplicates, Listed, ProjectShare, ProjectSize, Showings, Usage};
pub use read::{
    BacklogRow, CandidateRow, EpisodeText, ExplainedRecollection, IngestOutcome, LoggedRecollection, PromptRow, SharedBy,
    Showing, SourceProblem, SourceRow, Space, StoreStats, StoredEpisode,
};
pub use share::{
    Adopted, Applied, FormerTeam, FoundEpisode, FoundPage, OwnEpisode, ProjectToShare, PulledChange, PulledPage, SentPage,
    ShareOrigin, SharePlace, ShareSetup, ShareState, SharedEpisode, ToPush,
};
pub use steering::{
    BOOSTED, EVERYWHERE_KEY, Fact, ImportOutcome, PINNED, ProjectNames, REMEMBERED_SESSION, Remembered, Steered, SteeredTurn,
    Steering, USER_AGENT,
};
pub use trace::RecollectionTrace;
