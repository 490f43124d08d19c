//! The other program, for tests: a connection that writes into its database and stays open, as an agent's does.

use std::path::Path;

use rusqlite::Connection;

/// An agent's own connection to its database.
pub struct ForeignWriter(Connection);

impl ForeignWriter {
    /// Opens the database at `path`, which is made where there is none.
    ///
    /// # Panics
    /// Where it can't be opened.
    pub fn open(path: &Path) -> Self {
        Self(Connection::open(path).expect("opens"))
    }

    /// The same, in the smallest pages that there are: small, and each of its bytes is read.
    ///
    /// # Panics
    /// Where it can't be opened.
    pub fn open_in_small_pages(path: &Path) -> Self {
        let writer = Self::open(path);
        writer.run("PRAGMA page_size = 512");
        writer
    }

    /// Runs a script.
    ///
    /// # Panics
    /// Where it is refused.
    pub fn run(&self, script: &str) {
        self.0.execute_batch(script).expect("runs");
    }

    /// Keeps everyone else out, until [`ForeignWriter::unlock`]: with a write-ahead log, from all but reading.
    ///
    /// # Panics
    /// Where another has done so.
    pub fn lock(&self) {
        self.run("BEGIN EXCLUSIVE");
    }

    /// Lets everyone in again.
    ///
    /// # Panics
    /// Where it is not locked.
    pub fn unlock(&self) {
        self.run("COMMIT");
    }
}

impl std::fmt::Debug for ForeignWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ForeignWriter")
    }
}
