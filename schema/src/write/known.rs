//! What is known of an episode or a turn before it is stored: whether it is there, and whose, and what was decided or noted of it. In go
//! uids, out come answers; nothing is changed.

use rusqlite::Connection;

use crate::ids::{EpisodeUid, TurnUid};

/// Whether an episode is stored that is one's own, hidden or not.
pub(super) fn is_own(db: &Connection, uid: EpisodeUid) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM episodes WHERE uid = :uid AND generation <> -2")?
        .exists([uid])
}

/// Whether anything of a turn is stored that is one's own.
pub(super) fn is_turn_own(db: &Connection, turn: TurnUid) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM episodes WHERE turn_uid = :turn AND generation <> -2")?
        .exists([turn])
}

/// Whether there are copies of a turn, and nothing of it is one's own.
pub(super) fn is_turn_pulled(db: &Connection, turn: TurnUid) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT coalesce(max(generation), 0) = -2 FROM episodes WHERE turn_uid = :turn")?
        .query_row([turn], |row| row.get(0))
}

/// Whether retention took the copies of a turn away, which are not taken again.
pub(super) fn is_passed(db: &Connection, turn: TurnUid) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM share_turns WHERE turn_uid = :turn AND what = 'passed'")?
        .exists([turn])
}

/// Whether a turn was forgotten of which the shared store hears only where it has it.
pub(super) fn is_untold(db: &Connection, turn: TurnUid) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM share_turns WHERE turn_uid = :turn AND what = 'untold'")?
        .exists([turn])
}

/// Whether the user forgot a turn.
pub(super) fn is_forgotten(db: &Connection, turn: TurnUid) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM tombstones WHERE uid = :turn")?
        .exists([turn])
}

/// Whether retention took a turn away.
pub(super) fn is_retired(db: &Connection, turn: TurnUid) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM retired_turns WHERE uid = :turn")?
        .exists([turn])
}
