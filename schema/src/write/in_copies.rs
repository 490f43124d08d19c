//! Has what is forgotten leave a copy of the database: turns that were forgotten, here or by whoever shared them, and sessions that are
//! kept out.
//! In goes a copy of this version that nobody uses, out comes the same without a byte of them.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::exclusion::{erase, exclude_session};
use super::forget::{forget_again, leave_unscrubbed, note, scrub, unscrubbed};
use super::share::remove_of_turn;
use crate::ids::TurnUid;
use crate::migrate::version;
use crate::open;
use crate::query::settings::stored_tombstones;
use crate::rows::SessionKey;
use crate::units::UnixMillis;
use crate::vec_extension;

/// What is to be in no copy.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Unwanted {
    turns: Vec<TurnUid>,
    /// What others forgot of what they shared.
    shared: Vec<(TurnUid, i32)>,
    sessions: Vec<SessionKey>,
    /// Nothing is remembered any more: no copy is needed either.
    pub(crate) all: bool,
}

impl Unwanted {
    /// What the database of `db` has forgotten and keeps out.
    pub(crate) fn of(db: &Connection) -> rusqlite::Result<Self> {
        let excluded = "SELECT agent, external_id FROM sessions WHERE excluded = 1 ORDER BY id";
        let key = |row: &rusqlite::Row<'_>| {
            Ok(SessionKey {
                agent: row.get(0)?,
                external_id: row.get(1)?,
            })
        };
        Ok(Self {
            turns: stored_tombstones(db)?,
            shared: db
                .prepare("SELECT turn_uid, member FROM share_forgotten ORDER BY turn_uid, member")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?,
            sessions: db.prepare(excluded)?.query_map([], key)?.collect::<Result<_, _>>()?,
            all: !db.prepare("SELECT 1 FROM episodes LIMIT 1")?.exists([])?,
        })
    }
}

/// Has what is unwanted leave the copy at `path`. The copy knows afterwards that it is. Killed meanwhile, it can be called again.
pub(crate) fn forget_in_copy(path: &Path, unwanted: &Unwanted) -> rusqlite::Result<()> {
    vec_extension::register()?;
    let mut db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(open::BUSY_TIMEOUT)?;
    open::writer_pragmas(&db, version(&db)?)?;
    let tx = db.transaction()?;
    let mut removed = forget_again(&tx, &unwanted.turns, UnixMillis(0))?;
    for (turn, member) in &unwanted.shared {
        removed += remove_of_turn(&tx, *turn, *member)?;
    }
    for session in &unwanted.sessions {
        exclude_session(&tx, session)?;
        removed += erase(&tx, session)?;
    }
    if removed > 0 {
        leave_unscrubbed(&tx)?;
    }
    tx.commit()?;
    if unscrubbed(&db)?.is_some() {
        scrub(&db)?;
        note(&db, None)?;
    }
    // One file again, without a log beside it.
    db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
}
