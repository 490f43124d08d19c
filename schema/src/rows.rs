//! What goes into the store and what comes out, as plain structs without behaviour.
//! Two families: what ingest hands over, and what readers get. No SQL and no file is touched here.

mod given;
mod read;

pub use given::{
    EmbeddedEpisode, Facets, ForgetTarget, Importance, IngestBatch, InstructionFile, LoggedCandidate, NewEpisode, Origin, Pause,
    ProblemCount, RecollectionLog, RecollectionUse, SessionKey, SessionUpdate, SourcePosition, SourceUpdate, TurnUpsert, Unread,
};
pub use read::{
    BacklogRow, CandidateRow, EpisodeText, Forgotten, IngestOutcome, LoggedRecollection, Showing, SourceProblem, SourceRow,
    StoreStats,
};
