//! What a database that is put back, or made anew, takes over from the one in whose place it comes: what it was called at the shared
//! store, what others forgot since, which turns it is told of only where it has them, and what is at the shared stores of teams that were
//! left. Out of one database, into another.

use rusqlite::{Connection, Row, named_params};

use super::super::forget;
use super::copies;
use crate::ids::{EpisodeUid, TurnUid};
use crate::kept::Spared;

/// What was known of the shared store.
#[derive(Debug, Default)]
pub(crate) struct FormerSharing {
    /// All names that the memory has and had there: what it pushed under these is still its own.
    pub(crate) machines: Vec<[u8; 16]>,
    /// Turns that other members forgot, and who.
    pub(crate) forgotten: Vec<(TurnUid, i32)>,
    /// Turns of which a shared store hears that they were forgotten only where it has them.
    pub(crate) untold: Vec<TurnUid>,
    /// Teams that were left, with what their shared stores may have of this memory, each in its state of `share_former`.
    pub(crate) left: Vec<(String, EpisodeUid, TurnUid, i64)>,
}

impl FormerSharing {
    pub(super) fn of(db: &Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            machines: list(
                db,
                "SELECT machine FROM share_machines UNION SELECT machine FROM share_target WHERE machine IS NOT NULL",
                |row| row.get(0),
            )?,
            forgotten: list(db, "SELECT turn_uid, member FROM share_forgotten", |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?,
            untold: list(db, "SELECT turn_uid FROM share_turns WHERE what = 'untold'", |row| row.get(0))?,
            left: list(db, "SELECT team_key, uid, turn_uid, state FROM share_former", |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?,
        })
    }

    /// Has a database know it, too: copies of what was forgotten since leave it.
    pub(super) fn carry_over(&self, db: &Connection) -> rusqlite::Result<()> {
        for machine in &self.machines {
            db.prepare_cached("INSERT OR IGNORE INTO share_machines (machine) VALUES (:machine)")?
                .execute(named_params! {":machine": machine})?;
        }
        for turn in &self.untold {
            db.prepare_cached("INSERT OR IGNORE INTO share_turns (turn_uid, what) VALUES (:turn, 'untold')")?
                .execute(named_params! {":turn": turn})?;
        }
        for (team, uid, turn, state) in &self.left {
            note_former_team(db, team, *uid, *turn, *state)?;
        }
        let mut removed = 0;
        for (turn, member) in &self.forgotten {
            db.prepare_cached("INSERT OR IGNORE INTO share_forgotten (turn_uid, member) VALUES (:turn, :member)")?
                .execute(named_params! {":turn": turn, ":member": member})?;
            removed += copies::remove_of_turn(db, *turn, *member)?;
        }
        if removed > 0 && forget::unscrubbed(db)?.is_none() {
            // As with what the journal says was forgotten: the database that is set aside stays as it is.
            forget::note(db, Some(Spared::Replaced))?;
        }
        Ok(())
    }
}

/// Notes what the shared store of a team that was left may have of this memory. What this database knows nothing of is passed over: it is
/// taken back from there, and not withdrawn, once that team is named again.
pub(crate) fn note_former_team(db: &Connection, team: &str, uid: EpisodeUid, turn: TurnUid, state: i64) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO share_former (team_key, uid, turn_uid, state)
         SELECT :team, :uid, :turn, :state
         WHERE EXISTS (SELECT 1 FROM episodes WHERE episodes.uid = :uid AND generation <> -2)
             OR EXISTS (SELECT 1 FROM tombstones WHERE tombstones.uid = :turn)
             OR EXISTS (SELECT 1 FROM retired_turns WHERE retired_turns.uid = :turn)
         ON CONFLICT (team_key, uid) DO UPDATE SET state = max(state, excluded.state)",
    )?
    .execute(named_params! {":team": team, ":uid": uid, ":turn": turn, ":state": state})
    .map(drop)
}

fn list<T>(db: &Connection, sql: &str, read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<Vec<T>> {
    db.prepare(sql)?.query_map([], read)?.collect()
}
