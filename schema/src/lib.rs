//! What Remembrancer stores: one SQLite file, its migrations, and typed ways in and out. All SQL is here: the store's, and
//! that by which agents' own databases are read.
//!
//! **Locking.** One [`Writer`] at a time is meant to live, in one thread; any number of [`Reader`]s may live beside it,
//! each in its own thread and on its own connection (WAL): they see whole transactions, and wait for none. Both are `Send`.
//!
//! **Compatibility.** Opening for writing migrates an older file after copying it aside, and refuses a newer one
//! without a change to it. A reader never migrates.
//!
//! **Performance.** Texts lie apart from what scoring reads; each hot query has an index of its own, and a test that
//! the index serves it. The full-text index is given analysed text ([`index_text`]), so that a query's terms are the
//! index's own.
//!
//! **Privacy.** Files are 0600 in a 0700 folder; what is deleted is overwritten; [`Writer::forget`] leaves no byte.

mod damage;
mod error;
mod ids;
mod redaction;
mod rows;
pub mod shared;
mod sqlite_error;
mod units;

mod backup;
mod copy;
mod facts;
mod integrity;
mod journal;
mod kept;
mod lost;
mod migrate;
mod open;
mod parting;
mod restore;
mod shape;
mod system;
mod vec_extension;
mod vector_code;

mod analysis;
mod fts_query;
mod lengths;
mod postings;

mod derived;
mod foreign;
mod query;
mod recovery;
mod write;

#[cfg(any(test, feature = "testing"))]
mod audit;
#[cfg(any(test, feature = "testing"))]
mod states;

#[cfg(test)]
mod testing;

pub use analysis::{ANALYSIS_VERSION, QueryTerms, for_each_term, index_text, query_terms, terms};
#[cfg(any(test, feature = "testing"))]
pub use audit::{Audit, AuditedEpisode, audit};
pub use backup::{Contents, CopyProgress, FreshCopy, may_be_replaced};
pub use damage::Damage;
pub use derived::DerivedFaults;
pub use error::{CopyError, MigrateError, OpenError, QueryError};
#[cfg(any(test, feature = "testing"))]
pub use foreign::ForeignWriter;
pub use foreign::{Catalogue, ForeignDatabase, ForeignError, ForeignMessage, ForeignSession, Layout, Stamp};
#[cfg(any(test, feature = "testing"))]
pub use fts_query::FullText;
pub use fts_query::MatchExpression;
pub use ids::{EpisodeId, EpisodeUid, ParseUidError, ProjectId, RecollectionId, SessionId, SourceId, TurnUid};
pub use kept::{
    KeptCopy, KeptKind, backup_path, backups, backups_folder, half_written, kept_copies, newest_before_migration, newest_first,
    remove_copy, remove_half_written,
};
pub use parting::{PARTING, is_written_in_place, part_database, part_file};
pub use query::share::may_be_told;
pub use query::{Bm25Hits, EpisodeIds, FieldWeights, Reader, SHORTEST_PREFIX, Scope};
pub use recovery::{Recovery, open_or_rebuild, set_aside_and_rebuild, set_aside_files};
pub use redaction::{RedactionRules, RedactionState};
pub use restore::{RestoreError, Restored, restore};
pub use rows::*;
pub use sqlite_error::SqliteError;
#[cfg(any(test, feature = "testing"))]
pub use states::{damage_index, damage_vectors, make_analysis_older, make_older, note_redaction, refuse_project};
pub use system::{is_same_file, means_gone};
pub use units::{Bm25, ByteOffset, Cosine, Rank, UnixMillis};
pub use vector_code::bit_code;
pub use write::{CleanupState, RedactionCleanup, RedactionStep, Writer, content_hash_of};

/// The schema version that this crate reads and writes.
pub const SCHEMA_VERSION: u32 = migrate::LATEST;
