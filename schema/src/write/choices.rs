//! Takes over into a copy what the user decided since it was made: a copy that is gone back to brings nothing back that was forgotten,
//! and lets nothing in that is kept out.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::forget::remove_for_good;
use super::{PAUSED, Writer, empty_log};
use crate::choices::{self, Choices, Taken};
use crate::error::QueryError;
use crate::ids::TurnUid;
use crate::migrate::{self, set_meta};
use crate::open;
use crate::units::UnixMillis;
use crate::vec_extension;

impl Writer {
    /// Makes the user's decisions those of `choices`, where they were read; forgets what was forgotten. Text of it is gone from
    /// the file when this returns.
    ///
    /// # Errors
    /// What SQLite reports.
    pub(crate) fn take_over(&mut self, choices: &Choices, now: UnixMillis) -> Result<Taken, QueryError> {
        let mut taken = Taken::default();
        if let Some(turns) = choices.tombstones.as_deref().filter(|turns| !turns.is_empty()) {
            taken.forgotten = self.within("forget again", |db| remove_for_good(db, turns, now))?;
        }
        if let Some(folders) = &choices.folders {
            let known = self.within("read the exclusions", |db| choices::folders(db))?;
            for path in known.iter().filter(|path| !folders.contains(path)) {
                self.include_path(path)?;
                taken.let_in += 1;
            }
            folders
                .iter()
                .filter(|path| !known.contains(path))
                .try_for_each(|path| self.exclude_path(path, now).map(drop))?;
        }
        if let Some(sessions) = &choices.sessions {
            let known = self.within("read the exclusions", |db| choices::sessions(db))?;
            for session in known.iter().filter(|session| !sessions.contains(session)) {
                self.include_session(session)?;
                taken.let_in += 1;
            }
            sessions
                .iter()
                .filter(|session| !known.contains(session))
                .try_for_each(|session| self.exclude_session(session).map(drop))?;
        }
        if let Some(pause) = &choices.pause {
            self.within("set the pause", |db| set_meta(db, PAUSED, pause))?;
        }
        if let Some(files) = &choices.instruction_files {
            for file in self.within("read the instruction files", |db| choices::instruction_files(db))? {
                self.remove_instruction_file(&file.path, file.line.as_deref())?;
            }
            files.iter().try_for_each(|file| self.add_instruction_file(file, now))?;
        }
        if taken.forgotten > 0 {
            self.scrub().map_err(QueryError::at("forget again"))?;
        }
        empty_log(&self.db).map_err(QueryError::at("forget again"))?;
        Ok(taken)
    }
}

/// Has `turns` leave the copy at `path`, which is of this version and not in use, and no byte of their text stay in it. The copy
/// knows afterwards that they are forgotten.
pub(crate) fn forget_in_copy(path: &Path, turns: &[TurnUid]) -> rusqlite::Result<()> {
    vec_extension::register()?;
    let mut db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(open::BUSY_TIMEOUT)?;
    open::writer_pragmas(&db, migrate::version(&db)?)?;
    let tx = db.transaction()?;
    let removed = remove_for_good(&tx, turns, UnixMillis(0))?;
    tx.commit()?;
    if removed > 0 {
        super::forget::scrub(&db)?;
    }
    // One file again, without a log beside it.
    db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
}
