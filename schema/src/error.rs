//! The errors of each boundary: opening, migrating, reading and writing.
//! In go SQLite's results, out come acts and causes a caller can tell apart: busy, full, corrupt, interrupted.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_CORRUPT_VTAB;

use crate::sqlite_error::SqliteError;
use crate::system;
use remedy::{corrupt_remedy, future_remedy, lost_remedy};

mod remedy;

/// Why the store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no database, and this caller may not make one.
    #[error("there is no memory at {}; start the daemon once to make it", .path.display())]
    Missing {
        /// The database.
        path: PathBuf,
    },
    /// There is none, or an empty one, though something beside it says that there was one; it can be made anew.
    #[error("there is no memory at {}, or an empty one, though {} says that there was one: {}", .path.display(), .beside.display(), lost_remedy(.path))]
    Lost {
        /// The database.
        path: PathBuf,
        /// What lies beside it.
        beside: PathBuf,
    },
    /// Which copies of it there are, or what is in one, can't be told now: nothing is made in its place without them.
    #[error("cannot tell what copies of {} there are, and nothing is made in its place without them: have what is named here readable, or move it away, and start the daemon again", .path.display())]
    CopiesUnread {
        /// The database.
        path: PathBuf,
        /// What could not be read.
        #[source]
        source: io::Error,
    },
    /// Something that can't be opened as a file is in its place.
    #[error("{} is {what}, and no file: move it away", .path.display())]
    NotAFile {
        /// What was to be opened.
        path: PathBuf,
        /// What it is, such as `a folder`.
        what: &'static str,
    },
    /// A folder or file could not be made or made private.
    #[error("cannot {act} {}", .path.display())]
    Io {
        /// What was tried, such as `create the folder`.
        act: &'static str,
        /// The folder or file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file is not SQLite's, or is damaged.
    #[error("{} is damaged or not a database ({detail}): {}", .path.display(), corrupt_remedy(.path))]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The file is a database of another program.
    #[error("{} is another program's database; name another place for the memory", .path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// A newer version of Remembrancer wrote the file. Nothing in it was changed.
    #[error("{} has schema version {found}, this program knows up to {known}: {}", .path.display(), future_remedy(.path, .backup.as_deref()))]
    Future {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
        /// The copy that was made before the newer program migrated it.
        backup: Option<PathBuf>,
    },
    /// An older version wrote the file, and a reader never migrates.
    #[error("{} has schema version {found}, this program reads {known}: start the daemon once to migrate it", .path.display())]
    NeedsMigration {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that this program reads.
        known: u32,
    },
    /// Another process held the lock for longer than the busy timeout.
    #[error("{} is locked by another process ({act})", .path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// What was tried.
        act: &'static str,
        /// The cause.
        #[source]
        source: SqliteError,
    },
    /// The disk is full.
    #[error("the disk is full ({act}, {})", .path.display())]
    Full {
        /// The database.
        path: PathBuf,
        /// What was tried.
        act: &'static str,
        /// The cause.
        #[source]
        source: SqliteError,
    },
    /// A migration failed; the database is as it was before.
    #[error("cannot migrate {}", .path.display())]
    Migrate {
        /// The database.
        path: PathBuf,
        /// The cause.
        #[source]
        source: MigrateError,
    },
    /// Anything else that SQLite reports.
    #[error("cannot {act} {}", .path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What was tried.
        act: &'static str,
        /// The cause.
        #[source]
        source: SqliteError,
    },
}

impl OpenError {
    /// Tells SQLite's result for `act` on the database at `path` apart.
    pub(crate) fn sqlite(path: &Path, act: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt {
                path,
                detail: source.to_string(),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy {
                path,
                act,
                source: source.into(),
            },
            Some(ErrorCode::DiskFull) => Self::Full {
                path,
                act,
                source: source.into(),
            },
            code => match system::why_unopenable(&path).filter(|_| code == Some(ErrorCode::CannotOpen)) {
                Some(source) => Self::Io { act, path, source },
                None => Self::Sqlite {
                    path,
                    act,
                    source: source.into(),
                },
            },
        }
    }

    /// The same while a database is opened whose schema is ours: what its own rows forbid then is damage, which making it anew mends,
    /// where a refusal would have no end.
    pub(crate) fn of_rows<'a>(path: &'a Path, act: &'static str) -> impl Fn(rusqlite::Error) -> Self + 'a {
        move |source| match source.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => Self::Corrupt {
                path: path.to_owned(),
                detail: format!("cannot {act} it: {}", SqliteError::from(source)),
            },
            _ => Self::sqlite(path, act, source),
        }
    }

    /// What it says in two parts: what was found and, where it says that, what to do.
    pub fn parts(&self) -> (String, Option<String>) {
        let told = self.to_string();
        let remedy = match self {
            Self::Missing { .. } => "start the daemon once to make it".to_owned(),
            Self::Lost { path, .. } => lost_remedy(path),
            Self::NotAFile { .. } => "move it away".to_owned(),
            Self::Corrupt { path, .. } => corrupt_remedy(path),
            Self::Foreign { .. } => "name another place for the memory".to_owned(),
            Self::Future { path, backup, .. } => future_remedy(path, backup.as_deref()),
            Self::NeedsMigration { .. } => "start the daemon once to migrate it".to_owned(),
            _ => return (told, None),
        };
        match told.strip_suffix(&remedy) {
            Some(found) => (found.trim_end_matches([' ', ';', ':']).to_owned(), Some(remedy)),
            None => (told, None),
        }
    }

    /// For what can't be done with the journal of the database at `path`; for `map_err`.
    pub(crate) fn journal(path: &Path) -> impl Fn(io::Error) -> Self {
        let path = crate::journal::Journal::path_of(path);
        move |source| Self::Io {
            act: "keep the journal of your choices in",
            path: path.clone(),
            source,
        }
    }

    /// For what can't be done with the facts of the database at `path`; for `map_err`.
    pub(crate) fn facts(path: &Path) -> impl Fn(io::Error) -> Self {
        let path = crate::facts::FactsFile::path_of(path);
        move |source| Self::Io {
            act: "keep what you had remembered in",
            path: path.clone(),
            source,
        }
    }

    /// As [`OpenError::sqlite`], for `map_err`.
    pub(crate) fn at<'a>(path: &'a Path, act: &'static str) -> impl Fn(rusqlite::Error) -> Self + 'a {
        move |source| Self::sqlite(path, act, source)
    }
}

/// Why a migration failed.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A statement of a migration failed; the whole migration was rolled back.
    #[error("migration {name} failed at statement {statement}")]
    Statement {
        /// The migration's file.
        name: &'static str,
        /// 1-based number of the statement; 0 for the lock, one past the last for the commit.
        statement: usize,
        /// The cause.
        #[source]
        source: rusqlite::Error,
    },
    /// The copy before the first migration could not be made, so nothing was migrated.
    #[error("cannot copy the database to {} before migrating", .path.display())]
    Copy {
        /// The copy.
        path: PathBuf,
        /// The cause.
        #[source]
        source: CopyError,
    },
}

/// Why a copy of the database could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The file could not be made, made private, synced or put in place.
    #[error("cannot {act} the copy")]
    Io {
        /// What was tried.
        act: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// SQLite could not write it.
    #[error("cannot write the copy")]
    Sqlite(#[source] rusqlite::Error),
    /// What was to be copied can't be opened.
    #[error(transparent)]
    Open(Box<OpenError>),
    /// There is no copy to go back to.
    #[error("there is no copy at {}", .path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// What was to be gone back to is no copy of a memory.
    #[error("{} is no copy of a memory: {why}", .path.display())]
    NoCopy {
        /// What was named.
        path: PathBuf,
        /// What it is.
        why: String,
    },
    /// What was copied, or was to be gone back to, is not whole.
    #[error("{} is damaged: {detail}", .path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The caller had it stopped.
    #[error("the copy was stopped")]
    Stopped,
}

/// Why a read or a write failed.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The caller's own deadline check stopped it: an absent leg, never corruption.
    #[error("cannot {act}: out of time")]
    Interrupted {
        /// What was tried.
        act: &'static str,
    },
    /// Another process held the lock for longer than the busy timeout; to be tried again.
    #[error("cannot {act}: the database is locked by another process")]
    Busy {
        /// What was tried.
        act: &'static str,
        /// The cause.
        #[source]
        source: SqliteError,
    },
    /// The disk is full; nothing of the act was stored.
    #[error("cannot {act}: the disk is full")]
    Full {
        /// What was tried.
        act: &'static str,
        /// The cause.
        #[source]
        source: SqliteError,
    },
    /// The database is damaged.
    #[error("cannot {act}: the database is damaged")]
    Corrupt {
        /// What was tried.
        act: &'static str,
        /// Whether only an index is: [`crate::Writer::rebuild_index`] mends that.
        index_only: bool,
        /// The cause.
        #[source]
        source: SqliteError,
    },
    /// What was asked makes no sense.
    #[error("cannot {act}: {detail}")]
    Invalid {
        /// What was tried.
        act: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// The journal, or the file of facts, could not be written.
    #[error("cannot {act}: {} can't be written", .path.display())]
    Journal {
        /// What was tried.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Anything else that SQLite reports.
    #[error("cannot {act}")]
    Sqlite {
        /// What was tried.
        act: &'static str,
        /// The cause.
        #[source]
        source: SqliteError,
    },
}

impl QueryError {
    /// Whether what was handed in is at fault, so that the same again would fail the same way, while other acts may
    /// well succeed. Locks, a full disk, input and output, memory and damage are no fault of what was handed in.
    pub fn is_of_content(&self) -> bool {
        match self {
            Self::Invalid { .. } => true,
            Self::Sqlite { source, .. } => !matches!(
                source.code(),
                Some(
                    ErrorCode::SystemIoFailure
                        | ErrorCode::CannotOpen
                        | ErrorCode::ReadOnly
                        | ErrorCode::PermissionDenied
                        | ErrorCode::OutOfMemory
                        | ErrorCode::FileLockingProtocolFailed
                        | ErrorCode::NoLargeFileSupport
                        | ErrorCode::SchemaChanged
                )
            ),
            Self::Interrupted { .. } | Self::Busy { .. } | Self::Full { .. } | Self::Corrupt { .. } | Self::Journal { .. } => {
                false
            }
        }
    }

    /// Whether nothing can be written for now, whatever it is: the disk is full, or the journal can't be written.
    pub fn is_of_room(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::Journal { .. })
    }

    /// Tells SQLite's result for `act` apart; for `map_err`.
    pub(crate) fn at(act: &'static str) -> impl Fn(rusqlite::Error) -> Self {
        move |source| {
            let index_only = source.sqlite_extended_error_code() == Some(SQLITE_CORRUPT_VTAB);
            let code = source.sqlite_error_code();
            let source = source.into();
            match code {
                Some(ErrorCode::OperationInterrupted) => Self::Interrupted { act },
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { act, source },
                Some(ErrorCode::DiskFull) => Self::Full { act, source },
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { act, index_only, source },
                _ => Self::Sqlite { act, source },
            }
        }
    }
}
