//! Other programs' databases, read and never written: agents that keep their sessions in SQLite.
//!
//! In go a path and the layout that its agent has, out come which sessions there are and when each last changed (a
//! [`Catalogue`]), and one session whole: its rows as JSON, as the agent wrote it. What they mean is not known here.
//!
//! **Locking.** A database is opened for one look and closed after it, each look is one short transaction, and nothing is
//! waited for longer than [`BUSY_TIMEOUT`]: the agent is never held up (see `access`).

mod access;
mod catalogue;
mod cursor;
mod error;
mod goose;
mod layout;
mod opencode;
mod session;
#[cfg(any(test, feature = "testing"))]
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use crate::copy::with_suffix;
use access::{BUSY_TIMEOUT, Files};
pub use catalogue::{Catalogue, Stamp};
pub use error::ForeignError;
pub use layout::Layout;
pub use session::{ForeignMessage, ForeignSession};
#[cfg(any(test, feature = "testing"))]
pub use writer::ForeignWriter;

/// Virtual-machine steps between two looks whether to stop.
const STEPS_BETWEEN_CHECKS: i32 = 10_000;

/// Another program's database, by its path: nothing of it is open between two looks.
pub struct ForeignDatabase {
    path: PathBuf,
    layout: Layout,
    stop: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl ForeignDatabase {
    /// The database at `path`; what is read of it ends early, as busy, once `stop` says so.
    pub fn new(path: &Path, layout: Layout, stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self {
            path: path.to_owned(),
            layout,
            stop: Arc::new(stop),
        }
    }

    /// Where the write-ahead log of the database at `path` lies, if it has one.
    pub fn log_of(path: &Path) -> PathBuf {
        with_suffix(path, "-wal")
    }

    /// Brings a catalogue up to date. A first look reads every row's time; a later one costs what changed since, and a look at
    /// each session's own row.
    ///
    /// # Errors
    /// What is in the way; the catalogue is as it was then.
    pub fn look(&self, catalogue: &mut Catalogue) -> Result<(), ForeignError> {
        if let Some(found) = self.within(|db| catalogue.next(db, self.layout))? {
            *catalogue = found.ok_or_else(|| self.unknown())?;
        }
        Ok(())
    }

    /// The session with this id; `None` where there is none (any more).
    ///
    /// # Errors
    /// What is in the way, or that it is too large.
    pub fn session(&self, id: &str) -> Result<Option<ForeignSession>, ForeignError> {
        Ok(self.within(|db| self.layout.session(db, id))?.flatten())
    }

    /// Looks into the database, all of it as it is at one moment. `None` where nothing was written into it yet.
    fn within<T>(&self, look: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<Option<T>, ForeignError> {
        let failed = |source| ForeignError::Io {
            path: self.path.clone(),
            source,
        };
        let before = Files::at(&self.path).map_err(failed)?;
        if before.is_empty() {
            return Ok(None);
        }
        let found = self.connect(&before).and_then(|db| {
            let transaction = db.unchecked_transaction()?;
            look(&transaction)
        });
        // What is read without locks counts only if nothing was written meanwhile.
        if before.is_at_rest() && Files::at(&self.path).map_err(failed)? != before {
            return Err(ForeignError::Busy { path: self.path.clone() });
        }
        found.map(Some).map_err(|error| self.error(error))
    }

    fn connect(&self, files: &Files) -> rusqlite::Result<Connection> {
        let mut db = files.connect(&self.path)?;
        db.busy_timeout(BUSY_TIMEOUT)?;
        let stop = Arc::clone(&self.stop);
        db.progress_handler(STEPS_BETWEEN_CHECKS, Some(move || stop()))?;
        Ok(db)
    }

    fn error(&self, error: rusqlite::Error) -> ForeignError {
        ForeignError::of(&self.path, self.layout, error)
    }

    fn unknown(&self) -> ForeignError {
        ForeignError::Unknown {
            path: self.path.clone(),
            agent: self.layout.agent(),
        }
    }
}

impl std::fmt::Debug for ForeignDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ForeignDatabase")
            .field("path", &self.path)
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
