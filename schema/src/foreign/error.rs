//! Why another program's database could not be read, with what becomes of it. SQLite's own messages are never told: they
//! may quote what is stored.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::Layout;
use crate::sqlite_error::SqliteError;

/// Why another program's database, or a session in it, could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// It is locked, changes while it is read, or the reading was stopped: to be tried again.
    #[error("cannot read {} now: its program is writing in it; it is tried again", .path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// It is damaged, or no database.
    #[error("cannot read {}: it is damaged or no database; let its program mend it, or exclude it with `remembrancer exclude`", .path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
    },
    /// It does not have the tables that are known.
    #[error("cannot read {}: it has no tables of {agent} that this version knows; what was read of it stays, and a newer version may read it", .path.display())]
    Unknown {
        /// The database.
        path: PathBuf,
        /// Whose it should be, for people.
        agent: &'static str,
    },
    /// A session holds more than is held in memory.
    #[error("cannot read a session in {}: it is larger than 64 MiB", .path.display())]
    TooLarge {
        /// The database.
        path: PathBuf,
    },
    /// A write was cut off, and only a program that may write can take it back.
    #[error("cannot read {}: the last write to it was cut off; it is read again once its program has run", .path.display())]
    Unfinished {
        /// The database.
        path: PathBuf,
    },
    /// The file can't be read.
    #[error("cannot read {}: {}; it is tried again at the next rescan", .path.display(), .source.kind())]
    Io {
        /// The database.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Anything else that SQLite reports.
    #[error("cannot read {}; it is tried again at the next rescan", .path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// The cause.
        #[source]
        source: SqliteError,
    },
}

impl ForeignError {
    /// Tells SQLite's result for the database at `path` apart.
    pub(super) fn of(path: &Path, layout: Layout, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        // A column that is not there.
        if matches!(error, rusqlite::Error::SqlInputError { .. }) {
            return Self::Unknown {
                path,
                agent: layout.agent(),
            };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::OperationInterrupted) => Self::Busy { path },
            // A journal of a writer that was killed waits for the next one; a reader can't take it back.
            Some(ErrorCode::ReadOnly) => Self::Unfinished { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { path },
            Some(ErrorCode::TooBig) => Self::TooLarge { path },
            _ => Self::Sqlite {
                path,
                source: error.into(),
            },
        }
    }

    /// Whether it is soon worth another try.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }
}
