//! The readers: each a read-only connection whose work can be stopped by a deadline.
//! In go expressions, ids and scopes, out come rows of [`crate::rows`]. Nothing is written here.
//! A query per function, with its SQL and its row mapping; one leg or subject a file below.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, ffi};

use crate::damage::Damage;
use crate::error::{OpenError, QueryError};
use crate::ids::ProjectId;
use crate::open;

mod backlog;
mod bm25;
mod episodes;
mod explained;
mod holdings;
mod late;
#[cfg(any(test, feature = "testing"))]
mod nearest;
mod neighbours;
#[cfg(any(test, feature = "testing"))]
mod plans;
mod recency;
mod recollections;
mod redaction;
mod retention;
mod session_list;
mod session_turns;
mod sessions;
pub(crate) mod settings;
pub(crate) mod share;
pub(crate) mod sharers;
mod sources;
mod stats;
pub(crate) mod steering;
mod stored;
pub(crate) mod targets;
mod timeline;
mod upkeep;
mod vector;
mod within;

pub use bm25::{Bm25Hits, FieldWeights};
pub use targets::SHORTEST_PREFIX;
pub use within::EpisodeIds;

/// Virtual-machine steps between two looks at the deadline: some tens of microseconds of work.
const STEPS_BETWEEN_CHECKS: i32 = 1_000;

/// What tells that time is up.
type Check = Box<dyn FnMut() -> bool + Send>;

/// Which projects a query is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them, and what belongs to none.
    All,
    /// One project, or (`None`) what belongs to none.
    Project(Option<ProjectId>),
}

/// A read-only connection. `Send`, not `Sync`: one thread each.
pub struct Reader {
    db: Connection,
    path: PathBuf,
    check: Arc<Mutex<Option<Check>>>,
    stopped: Arc<AtomicBool>,
    damage: Cell<Option<Damage>>,
}

impl Reader {
    /// Opens the store for reading, beside a writer or without one. Changes nothing.
    ///
    /// # Errors
    /// [`OpenError::Missing`], [`OpenError::NeedsMigration`], [`OpenError::Future`], or what else is in the way.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let mut db = open::open_reader(path)?;
        let check: Arc<Mutex<Option<Check>>> = Arc::default();
        let stopped = Arc::new(AtomicBool::new(false));
        let (asked, told) = (Arc::clone(&check), Arc::clone(&stopped));
        let handler = move || is_time_up(&asked, &told);
        db.progress_handler(STEPS_BETWEEN_CHECKS, Some(handler))
            .map_err(OpenError::at(path, "set up"))?;
        Ok(Self {
            db,
            path: path.to_owned(),
            check,
            stopped,
            damage: Cell::default(),
        })
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets what tells that time is up, asked all along every query; `None` takes it away. Once it said so, that and
    /// every later query is [`QueryError::Interrupted`], until this is called again.
    pub fn set_deadline_check(&self, check: Option<Box<dyn FnMut() -> bool + Send>>) {
        *self.check.lock().unwrap_or_else(PoisonError::into_inner) = check;
        self.stopped.store(false, Ordering::Relaxed);
    }

    /// What queries found damaged since this was last asked: also where their callers made do without an answer.
    pub fn take_damage(&self) -> Option<Damage> {
        self.damage.take()
    }

    /// For work between queries: the error with which a query ends when time is up.
    fn stop_if_late(&self) -> rusqlite::Result<()> {
        if is_time_up(&self.check, &self.stopped) {
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_INTERRUPT), None));
        }
        Ok(())
    }

    /// Runs one query. After our own interrupt any error, and any result, is one of time: an interrupted `ORDER BY` may
    /// end without rows, and vec0 reports a generic error.
    pub(crate) fn run<T>(
        &self,
        act: &'static str,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, QueryError> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(QueryError::Interrupted { act });
        }
        let result = query(&self.db);
        if self.stopped.load(Ordering::Relaxed) {
            return Err(QueryError::Interrupted { act });
        }
        result
            .map_err(QueryError::at(act))
            .inspect_err(|error| self.damage.set(Damage::worse(self.damage.get(), error)))
    }
}

/// Asks the check, and notes what it said.
fn is_time_up(check: &Mutex<Option<Check>>, stopped: &AtomicBool) -> bool {
    // A check that panicked once tells nothing more; the query goes on.
    let stop = check
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .as_mut()
        .is_some_and(|check| check());
    stopped.fetch_or(stop, Ordering::Relaxed);
    stop
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
