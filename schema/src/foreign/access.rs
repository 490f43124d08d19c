//! How another program's database is opened without leaving a trace, and how it is known that none was left in ours.
//!
//! - With a rollback journal, or while a write-ahead log lies beside it, it is opened read-only with SQLite's own locks: a
//!   reader beside a log hinders no writer, and one without holds it up for as long as one look takes.
//! - A database in WAL mode without a log beside it is at rest: all is in its one file. A read-only connection would make an
//!   empty `-wal` and a `-shm` beside it, and leave them there, since it may not remove them. So it is read as an immutable
//!   file, without locks, and what was read counts only if file and folder are as before: a writer makes a log first, and
//!   changes the file only after.

use std::fmt::Write;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags};

use super::ForeignDatabase;
use crate::system::{inode, path_bytes};

/// How long a look waits for a writer's lock: it is tried again later, and ingest must go on.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_millis(100);
/// Where a database's header says how it is read, and what stands there for a write-ahead log: SQLite goes by this one, whatever
/// stands in the byte before it, which says how it is written.
const READ_VERSION: usize = 19;
const WRITE_AHEAD: u8 = 2;

/// A database's files as they are on disk.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Files {
    inode: u64,
    size: u64,
    modified: SystemTime,
    /// Whether it is read by way of a write-ahead log.
    has_write_ahead_mode: bool,
    /// Whether there is a log.
    has_log: bool,
}

impl Files {
    /// The files of the database at `path`. They are looked at while no connection to it is open in this process: closing a
    /// file drops all locks that the process holds on it.
    ///
    /// # Errors
    /// The file system's error.
    pub(super) fn at(path: &Path) -> std::io::Result<Self> {
        let mut file = fs_err::File::open(path)?;
        let metadata = file.metadata()?;
        let mut header = Vec::with_capacity(READ_VERSION + 1);
        file.by_ref().take(READ_VERSION as u64 + 1).read_to_end(&mut header)?;
        Ok(Self {
            inode: inode(&metadata),
            size: metadata.len(),
            modified: metadata.modified()?,
            has_write_ahead_mode: header.get(READ_VERSION) == Some(&WRITE_AHEAD),
            has_log: ForeignDatabase::log_of(path).exists(),
        })
    }

    /// Whether nothing was written yet.
    pub(super) fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Whether all that was written is in the one file, and nobody can be writing into it.
    pub(super) fn is_at_rest(&self) -> bool {
        self.has_write_ahead_mode && !self.has_log
    }

    /// Opens the database at `path`, whose files these are.
    pub(super) fn connect(&self, path: &Path) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if self.is_at_rest() {
            Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)
        } else {
            Connection::open_with_flags(path, flags)
        }
    }
}

/// The address by which SQLite opens a file that nobody changes.
fn immutable(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path_bytes(path) {
        match byte {
            b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            byte => write!(address, "%{byte:02X}").expect("invariant: a string takes all"),
        }
    }
    address + "?immutable=1"
}
