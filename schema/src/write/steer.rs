//! What the user decides of single turns: muted ones are never recalled, boosted ones count as important.
//! In go turns, out come counts of those that changed. A turn is steered by its uid, so that it stays so whatever becomes of its rows:
//! read again, longer, in a fork, gone for a while. Nothing is deleted or hidden here: what is muted is found where it is looked for.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::known::is_forgotten;
use super::{Writer, replay};
use crate::error::QueryError;
use crate::ids::TurnUid;
use crate::rows::{BOOSTED, Importance, Steering};
use crate::units::UnixMillis;

impl Writer {
    /// Mutes or boosts turns, or takes that back; gives how many of them changed by it. What is so already is no change.
    ///
    /// # Errors
    /// What SQLite reports, or the journal; nothing is changed then.
    pub fn steer(&mut self, turns: &[TurnUid], steering: Steering, now: UnixMillis) -> Result<u64, QueryError> {
        const ACT: &str = "steer memories";
        let mut changed = Vec::new();
        for turn in turns {
            let is_so = is_so(&self.db, *turn, steering).map_err(QueryError::at(ACT))?;
            if !is_so && !changed.contains(turn) {
                changed.push(*turn);
            }
        }
        if changed.is_empty() {
            return Ok(0);
        }
        let choices: Vec<_> = changed.iter().map(|turn| replay::steered(*turn, steering, now)).collect();
        self.decide_all(ACT, &choices, |db| {
            changed.iter().try_for_each(|turn| steer(db, *turn, steering, now))
        })?;
        Ok(changed.len() as u64)
    }
}

/// Whether a turn is what `steering` would make of it.
fn is_so(db: &Connection, turn: TurnUid, steering: Steering) -> rusqlite::Result<bool> {
    let (muted, boosted) = stored(db, turn)?;
    Ok(match steering {
        Steering::Mute => muted,
        Steering::Unmute => !muted,
        Steering::Boost => boosted,
        Steering::Unboost => !boosted,
    })
}

/// Whether a turn is muted, and whether it is boosted.
pub(super) fn stored(db: &Connection, turn: TurnUid) -> rusqlite::Result<(bool, bool)> {
    db.prepare_cached("SELECT muted_at IS NOT NULL, boosted_at IS NOT NULL FROM steered_turns WHERE turn_uid = :turn")?
        .query_row([turn], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .map(Option::unwrap_or_default)
}

/// Does it, in a transaction, whatever of it is done already. What was forgotten is steered no more.
pub(super) fn steer(db: &Connection, turn: TurnUid, steering: Steering, now: UnixMillis) -> rusqlite::Result<()> {
    if is_forgotten(db, turn)? {
        return Ok(());
    }
    match steering {
        Steering::Mute => set(db, "muted_at", turn, now),
        Steering::Unmute => clear(db, ["muted_at", "boosted_at"], turn),
        Steering::Boost => {
            set(db, "boosted_at", turn, now)?;
            boost_stored(db, turn)
        }
        Steering::Unboost => {
            clear(db, ["boosted_at", "muted_at"], turn)?;
            give_back(db, turn)
        }
    }
}

fn set(db: &Connection, column: &str, turn: TurnUid, now: UnixMillis) -> rusqlite::Result<()> {
    db.prepare_cached(&format!(
        "INSERT INTO steered_turns (turn_uid, {column}) VALUES (:turn, :now)
         ON CONFLICT (turn_uid) DO UPDATE SET {column} = excluded.{column}"
    ))?
    .execute(named_params! {":turn": turn, ":now": now})?;
    Ok(())
}

/// A row that says neither of the two is none.
fn clear(db: &Connection, [column, other]: [&str; 2], turn: TurnUid) -> rusqlite::Result<()> {
    db.prepare_cached(&format!(
        "DELETE FROM steered_turns WHERE turn_uid = :turn AND {other} IS NULL"
    ))?
    .execute([turn])?;
    db.prepare_cached(&format!("UPDATE steered_turns SET {column} = NULL WHERE turn_uid = :turn"))?
        .execute([turn])?;
    Ok(())
}

/// Whether any turn is boosted.
pub(super) fn any_boosted(db: &Connection) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM steered_turns WHERE boosted_at IS NOT NULL")?
        .exists([])
}

/// Has what is stored of a turn count as important, if the turn is boosted. What the rules say of it now, or said, is kept.
pub(super) fn boost_again(db: &Connection, turn: TurnUid) -> rusqlite::Result<()> {
    let (_, boosted) = stored(db, turn)?;
    if boosted { boost_stored(db, turn) } else { Ok(()) }
}

fn boost_stored(db: &Connection, turn: TurnUid) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO boosted_episodes (episode_id, importance, importance_rule)
         SELECT id, importance, importance_rule FROM episodes WHERE turn_uid = :turn AND importance_rule <> :boosted
         ON CONFLICT (episode_id) DO UPDATE SET importance = excluded.importance, importance_rule = excluded.importance_rule",
    )?
    .execute(named_params! {":turn": turn, ":boosted": BOOSTED})?;
    db.prepare_cached(
        "UPDATE episodes SET importance = :high, importance_rule = :boosted WHERE turn_uid = :turn AND importance_rule <> :boosted",
    )?
    .execute(named_params! {":turn": turn, ":high": Importance::High, ":boosted": BOOSTED})?;
    Ok(())
}

/// Gives an unboosted turn the importance that the rules gave it. Where nobody knows that any more, as after damage, it is as a turn is
/// of which no rule says anything, until it is read again.
fn give_back(db: &Connection, turn: TurnUid) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE episodes SET
             importance = coalesce((SELECT importance FROM boosted_episodes WHERE episode_id = episodes.id), :normal),
             importance_rule = coalesce((SELECT importance_rule FROM boosted_episodes WHERE episode_id = episodes.id), 'default')
         WHERE turn_uid = :turn AND importance_rule = :boosted",
    )?
    .execute(named_params! {":turn": turn, ":normal": Importance::Normal, ":boosted": BOOSTED})?;
    db.prepare_cached("DELETE FROM boosted_episodes WHERE episode_id IN (SELECT id FROM episodes WHERE turn_uid = :turn)")?
        .execute([turn])?;
    Ok(())
}

/// Has every boosted turn count as important, and no other by that rule: of rows that come from several files each may tell its own.
pub(crate) fn settle_boosts(db: &Connection) -> rusqlite::Result<()> {
    let turns =
        |sql: &str| -> rusqlite::Result<Vec<TurnUid>> { db.prepare(sql)?.query_map([BOOSTED], |row| row.get(0))?.collect() };
    let lacking =
        "SELECT DISTINCT episodes.turn_uid FROM steered_turns JOIN episodes ON episodes.turn_uid = steered_turns.turn_uid
        WHERE boosted_at IS NOT NULL AND importance_rule <> ?1";
    let stray = "SELECT DISTINCT turn_uid FROM episodes WHERE importance_rule = ?1
        AND turn_uid NOT IN (SELECT turn_uid FROM steered_turns WHERE boosted_at IS NOT NULL)";
    turns(lacking)?.into_iter().try_for_each(|turn| boost_stored(db, turn))?;
    turns(stray)?.into_iter().try_for_each(|turn| give_back(db, turn))
}

/// Drops what was decided of a turn that is forgotten.
pub(super) fn drop_decisions(db: &Connection, turn: TurnUid) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM steered_turns WHERE turn_uid = :turn")?
        .execute([turn])?;
    Ok(())
}

#[cfg(test)]
mod tests;
