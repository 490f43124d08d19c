//! Sharing with other memories: with whom, what goes out, what came in. In go settings, pages and what the shared store said of them;
//! out go rows.
//!
//! What is pushed follows from what is true, not from what happened: the outbox, which triggers fill (migration 0020), names what may
//! have changed, and an entry goes only once the shared store has committed what was true, and nothing has touched it meanwhile. That
//! an episode may be at the shared store is noted before it is sent, so that it is withdrawn whatever became of the answer.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, named_params};

use super::Writer;
use super::known::is_untold;
use crate::error::QueryError;
use crate::ids::{EpisodeId, EpisodeUid, TurnUid};
use crate::query::share::{allowed_projects, globs, share_state};
use crate::rows::{SentPage, ShareSetup, ShareState, ToPush};

mod adopt;
mod copies;
mod former;
mod pull;
mod server;

pub(super) use copies::{give_way, remove_of_turn};
pub(crate) use former::{FormerSharing, note_former_team};

/// What is stored of the setting.
struct Target {
    active: bool,
    team_key: String,
    has_machine: bool,
    member: Option<i32>,
    allowed: String,
}

impl Writer {
    /// Shares with a team from now on, or (`None`) with nobody. `new_machine`, fresh random bytes, is what this memory is called there
    /// if it has no name yet. Another team begins anew, and what was pulled from the one before goes; what is at its shared store stays
    /// known, and is looked at again once it is the team again ([`ShareState::former`]). Where what may be shared has changed, all of it
    /// is looked at again. To call it again with the same changes nothing.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn set_sharing(&mut self, setup: Option<&ShareSetup>, new_machine: [u8; 16]) -> Result<ShareState, QueryError> {
        self.within("set what is shared", |db| {
            let removed = match setup {
                None => {
                    stop(db)?;
                    Vec::new()
                }
                Some(setup) => begin(db, setup, new_machine)?,
            };
            let state = share_state(db)?.unwrap_or_default();
            Ok(ShareState { removed, ..state })
        })
    }

    /// Has contents rest, both ways, or go on; what is withdrawn and forgotten travels all the same. What others shared meanwhile is
    /// asked for once it goes on; where this memory had left, all that it may share is told again.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn pause_sharing(&mut self, paused: bool) -> Result<(), QueryError> {
        let sql = if paused {
            "UPDATE share_target SET paused = 1, held = coalesce(held, cursor)"
        } else {
            "UPDATE share_target SET paused = 0, cursor = coalesce(held, cursor), held = NULL"
        };
        self.within("pause sharing", |db| {
            db.execute(sql, [])?;
            if !paused && db.execute("UPDATE share_server SET has_left = 0 WHERE has_left = 1", [])? > 0 {
                // It was taken back.
                enqueue(db)?;
            }
            Ok(())
        })
    }

    /// Has contents that were passed over while marks alone were pulled ([`PulledPage::marks_only`]) be asked for. To be called where they
    /// are wanted.
    ///
    /// # Errors
    /// What SQLite reports.
    ///
    /// [`PulledPage::marks_only`]: crate::PulledPage::marks_only
    pub fn pull_contents(&mut self) -> Result<(), QueryError> {
        let sql = "UPDATE share_target SET cursor = held, held = NULL WHERE paused = 0 AND held IS NOT NULL";
        self.within("pull contents again", |db| db.execute(sql, []).map(drop))
    }

    /// Notes who one is at the shared store. Whoever logs in as somebody else begins anew: what was pushed is not theirs.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn note_member(&mut self, member: i32, login: &str) -> Result<(), QueryError> {
        self.within("note who shares", |db| {
            let before = target(db)?.and_then(|target| target.member);
            db.prepare_cached("UPDATE share_target SET member = :member, member_login = :login")?
                .execute(named_params! {":member": member, ":login": login})?;
            if before.is_some_and(|before| before != member) {
                db.execute("DELETE FROM share_pushed", [])?;
                pull_again(db)?;
                enqueue(db)?;
            }
            Ok(())
        })
    }

    /// Gives this memory another name at the shared store, which refused the one it has: a copy of the database is at work elsewhere.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn renew_machine(&mut self, new_machine: [u8; 16]) -> Result<(), QueryError> {
        self.within("rename this memory for the shared store", |db| {
            note_former(db)?;
            db.prepare_cached("UPDATE share_target SET machine = :machine")?
                .execute(named_params! {":machine": new_machine})?;
            pull_again(db)?;
            enqueue(db)
        })
    }

    /// Begins anew with a shared store that went back, such as to a copy of its own: it may lack what it was told, and may have again what
    /// was withdrawn. All is asked for and told once more; copies of what others shared go, since it may know nothing of them any more and
    /// so never say that they are to go. Gives which went.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn begin_again(&mut self) -> Result<Vec<EpisodeId>, QueryError> {
        self.within("begin anew with the shared store", |db| {
            let removed = copies::remove_all(db)?;
            server::take_epoch(db)?;
            // What was asked for before says nothing of it either.
            db.execute("UPDATE share_target SET head = 0, sent = sent + 1", [])?;
            db.execute("UPDATE share_pushed SET state = 1 WHERE state = 0", [])?;
            pull_again(db)?;
            enqueue(db)?;
            Ok(removed)
        })
    }

    /// Has all be looked at again that is shared, was pushed, or was forgotten.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn enqueue_all(&mut self) -> Result<(), QueryError> {
        self.within("look again at what is shared", |db| enqueue(db))
    }

    /// Has what is shared be told once more, such as with its vectors where these are taken now, or where the team that put this member out
    /// has let it in again. What was taken back stays so, and what waits goes on waiting.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn enqueue_shared(&mut self) -> Result<(), QueryError> {
        self.within("tell again what is shared", |db| {
            let last = last_change(db)?;
            db.execute(
                "INSERT INTO share_outbox (uid, turn_uid, urgent)
                 SELECT uid, turn_uid, EXISTS (SELECT 1 FROM share_outbox AS before WHERE before.uid = share_pushed.uid AND urgent = 1)
                 FROM share_pushed WHERE state > 0 AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)",
                [],
            )?;
            db.execute(
                "DELETE FROM share_outbox WHERE change <= :last
                     AND uid IN (SELECT uid FROM share_outbox AS after WHERE after.change > :last)",
                named_params! {":last": last},
            )
            .map(drop)
        })
    }

    /// Leaves what is shared: contents rest both ways, as in a pause, what others shared goes, and what this memory shared waits to be
    /// withdrawn. Gives the episodes that went. It is known that it was left ([`ShareState::has_left`]), and nothing is allowed, until it
    /// goes on from the pause ([`Writer::pause_sharing`]), or shares with another team.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn leave_sharing(&mut self) -> Result<Vec<EpisodeId>, QueryError> {
        self.within("leave what is shared", |db| {
            db.execute("UPDATE share_target SET paused = 1, held = 0", [])?;
            db.execute(
                "INSERT INTO share_server (id, has_left) SELECT 1, 1 WHERE EXISTS (SELECT 1 FROM share_target)
                 ON CONFLICT (id) DO UPDATE SET has_left = 1",
                [],
            )?;
            enqueue(db)?;
            copies::remove_all(db)
        })
    }

    /// Notes that `page` is about to be sent, and takes out of it what was touched since it was read: what is left is to be sent as it
    /// is. Handed to [`Writer::pushed`] once the shared store has committed it; where that never comes, it is told again.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn pushing(&mut self, page: &mut ToPush) -> Result<SentPage, QueryError> {
        self.within("note what is pushed", |db| {
            let paused = db.prepare_cached("SELECT 1 FROM share_target WHERE paused = 1")?.exists([])?;
            let waits: BTreeSet<EpisodeUid> = page.live.iter().map(|own| own.episode.uid).filter(|_| paused).collect();
            let mut entries = Vec::with_capacity(page.entries.len());
            for (change, uid) in &page.entries {
                if !waits.contains(uid) && is_untouched(db, *change, *uid)? {
                    entries.push((*change, *uid));
                }
            }
            let stands: BTreeSet<EpisodeUid> = entries.iter().map(|(_, uid)| *uid).collect();
            page.live.retain(|own| stands.contains(&own.episode.uid));
            page.withdraw.retain(|uid| stands.contains(uid));
            page.withdraw_everywhere.retain(|uid| stands.contains(uid));
            page.entries = entries;
            for own in &page.live {
                let episode = &own.episode;
                db.prepare_cached(
                    "INSERT INTO share_pushed (uid, turn_uid, project_id) VALUES (:uid, :turn, :project)
                     ON CONFLICT (uid) DO UPDATE SET project_id = excluded.project_id, state = 1",
                )?
                .execute(named_params! {":uid": episode.uid, ":turn": episode.turn_uid, ":project": own.project_id})?;
            }
            let says_something = !page.is_empty();
            note_sending(db, says_something)?;
            Ok(SentPage {
                says_something,
                entries: page.entries.clone(),
                withdrawn: page.withdraw.clone(),
                withdrawn_everywhere: page.withdraw_everywhere.clone(),
                forgotten: page.forget.clone(),
            })
        })
    }

    /// Notes that the shared store has committed what was sent, or that it has nothing to know of it. Entries that were touched meanwhile
    /// stay. Gives the pulled episodes that went: of what was withdrawn whichever of one's machines shared it.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn pushed(&mut self, sent: &SentPage) -> Result<Vec<EpisodeId>, QueryError> {
        self.within("note what was pushed", |db| {
            note_sending(db, sent.says_something)?;
            let mut done = db.prepare_cached("DELETE FROM share_outbox WHERE change = :change AND uid = :uid")?;
            let mut gone = db.prepare_cached("UPDATE share_pushed SET state = 0 WHERE uid = :uid")?;
            for (change, uid) in &sent.entries {
                let untouched = done.execute(named_params! {":change": change, ":uid": uid})? > 0;
                if untouched && (sent.withdrawn.contains(uid) || sent.withdrawn_everywhere.contains(uid)) {
                    gone.execute(named_params! {":uid": uid})?;
                }
            }
            sent.forgotten.iter().try_for_each(|turn| note_forgotten(db, *turn))?;
            copies::remove_own_of(db, &sent.withdrawn_everywhere)
        })
    }

    /// What a database has to know that comes in the place of this one.
    ///
    /// # Errors
    /// What SQLite reports.
    pub(crate) fn former_sharing(&self) -> Result<FormerSharing, QueryError> {
        FormerSharing::of(&self.db).map_err(QueryError::at("read what is known of the shared store"))
    }
}

fn note_sending(db: &Connection, says_something: bool) -> rusqlite::Result<()> {
    if says_something {
        db.prepare_cached("UPDATE share_target SET sent = sent + 1")?.execute([])?;
    }
    Ok(())
}

/// Whether an entry of the outbox is as it was read.
fn is_untouched(db: &Connection, change: i64, uid: EpisodeUid) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM share_outbox WHERE change = :change AND uid = :uid")?
        .exists(named_params! {":change": change, ":uid": uid})
}

fn target(db: &Connection) -> rusqlite::Result<Option<Target>> {
    db.prepare_cached("SELECT active, team_key, machine IS NOT NULL, member, allowed FROM share_target")?
        .query_row([], |row| {
            Ok(Target {
                active: row.get(0)?,
                team_key: row.get(1)?,
                has_machine: row.get(2)?,
                member: row.get(3)?,
                allowed: row.get(4)?,
            })
        })
        .optional()
}

fn begin(db: &Connection, setup: &ShareSetup, new_machine: [u8; 16]) -> rusqlite::Result<Vec<EpisodeId>> {
    let allowed =
        serde_json::to_string(&setup.allowed).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let known = target(db)?;
    let is_as_it_was = known
        .as_ref()
        .is_some_and(|known| known.active && known.has_machine && known.team_key == setup.team_key && known.allowed == allowed);
    if is_as_it_was {
        return Ok(Vec::new());
    }
    let removed = match known {
        Some(known) if known.team_key != setup.team_key => leave_team(db)?,
        _ => Vec::new(),
    };
    db.prepare_cached(
        "INSERT INTO share_target (id, active, team_key, machine, allowed) VALUES (1, 1, :team, :machine, :allowed)
         ON CONFLICT (id) DO UPDATE SET active = 1, team_key = excluded.team_key,
             machine = coalesce(machine, excluded.machine), allowed = excluded.allowed",
    )?
    .execute(named_params! {":team": setup.team_key, ":machine": new_machine, ":allowed": allowed})?;
    take_up(db, &setup.team_key)?;
    enqueue(db)?;
    Ok(removed)
}

/// Nothing goes into the outbox any more; how far pulling has come is kept, and so is what was pushed.
fn stop(db: &Connection) -> rusqlite::Result<()> {
    db.execute("UPDATE share_target SET active = 0", [])?;
    db.execute("DELETE FROM share_outbox", []).map(drop)
}

/// Drops all that is about the team but what its shared store may have of this memory, which is kept by the team, unless that was left
/// and does not let this member in: nothing can be taken back from there. Gives the pulled episodes that went.
fn leave_team(db: &Connection) -> rusqlite::Result<Vec<EpisodeId>> {
    let removed = copies::remove_all(db)?;
    db.execute(
        "INSERT INTO share_former (team_key, uid, turn_uid, state)
         SELECT team_key, uid, turn_uid, state FROM share_pushed, share_target
         WHERE NOT EXISTS (SELECT 1 FROM share_server WHERE has_left = 1 AND put_out = 1)
         ON CONFLICT (team_key, uid) DO UPDATE SET state = max(state, excluded.state)",
        [],
    )?;
    // To leave a team is no pause of the next.
    db.execute(
        "UPDATE share_target SET paused = 0, held = NULL WHERE EXISTS (SELECT 1 FROM share_server WHERE has_left = 1)",
        [],
    )?;
    for table in [
        "share_outbox",
        "share_pushed",
        "share_forgotten",
        "shared_keys",
        "share_server",
    ] {
        db.execute(&format!("DELETE FROM {table}"), [])?;
    }
    db.execute("DELETE FROM share_turns WHERE what = 'passed'", [])?;
    // Nor does what was asked for of that team say anything of another.
    db.execute(
        "UPDATE share_target SET member = NULL, member_login = NULL, head = 0, sent = sent + 1",
        [],
    )?;
    pull_again(db)?;
    Ok(removed)
}

/// Takes up again what the shared store may have of this memory for a team that was left before, so that what is to be shared no more
/// leaves. What was withdrawn there it may have again: it may have been put back from a copy meanwhile.
fn take_up(db: &Connection, team_key: &str) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO share_pushed (uid, turn_uid, project_id, state)
         SELECT uid, turn_uid, (SELECT project_id FROM episodes WHERE episodes.uid = share_former.uid AND generation <> -2),
             max(state, 1)
         FROM share_former WHERE team_key = :team
         ON CONFLICT (uid) DO UPDATE SET state = max(state, excluded.state)",
    )?
    .execute(named_params! {":team": team_key})?;
    db.prepare_cached("DELETE FROM share_former WHERE team_key = :team")?
        .execute(named_params! {":team": team_key})
        .map(drop)
}

/// Has all changes of the shared store be asked for once more: something that was passed over may be wanted now.
pub(super) fn pull_again(db: &Connection) -> rusqlite::Result<()> {
    db.execute("UPDATE share_target SET cursor = 0, held = iif(paused, 0, NULL)", [])
        .map(drop)
}

/// Fills the outbox with all that may have to be told: what was forgotten, what the shared store may have, what is allowed, the newest
/// first. What is to leave is urgent, and what was urgent stays so.
fn enqueue(db: &Connection) -> rusqlite::Result<()> {
    let Some(globs) = globs(db)? else {
        return Ok(());
    };
    let projects = allowed_projects(db, &globs)?;
    let last = last_change(db)?;
    // What is not told as a rule is told where it was shared: the shared store has it.
    db.execute(
        "INSERT INTO share_outbox (uid, turn_uid, urgent) SELECT uid, uid, 1 FROM tombstones
         WHERE uid NOT IN (SELECT turn_uid FROM share_turns WHERE what = 'untold') OR uid IN (SELECT turn_uid FROM share_pushed)
         ORDER BY created_at, uid",
        [],
    )?;
    db.execute(
        "INSERT INTO share_outbox (uid, turn_uid, urgent)
         SELECT uid, turn_uid, NOT EXISTS (SELECT 1 FROM episodes WHERE episodes.uid = share_pushed.uid AND generation <> -2
                 AND hidden = 0 AND project_id IN (SELECT value FROM json_each(:projects)))
             OR EXISTS (SELECT 1 FROM share_outbox AS before WHERE before.uid = share_pushed.uid AND urgent = 1)
         FROM share_pushed WHERE state > 0",
        named_params! {":projects": projects},
    )?;
    db.execute(
        "INSERT INTO share_outbox (uid, turn_uid, urgent)
         SELECT uid, turn_uid, EXISTS (SELECT 1 FROM share_outbox AS before WHERE before.uid = episodes.uid AND urgent = 1)
         FROM episodes
         WHERE generation <> -2 AND hidden = 0 AND project_id IN (SELECT value FROM json_each(:projects))
             AND NOT EXISTS (SELECT 1 FROM share_pushed WHERE share_pushed.uid = episodes.uid AND state > 0)
         ORDER BY created_at DESC, uid",
        named_params! {":projects": projects},
    )?;
    db.execute("DELETE FROM share_outbox WHERE change <= :last", [last]).map(drop)
}

/// The newest change that waits; 0 where none does.
fn last_change(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("SELECT coalesce(max(change), 0) FROM share_outbox", [], |row| row.get(0))
}

/// Puts an entry into the outbox, in the place of one that is there; it is urgent, too, where that was.
fn enqueue_one(db: &Connection, uid: EpisodeUid, turn: TurnUid, urgent: bool) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO share_outbox (uid, turn_uid, urgent)
         VALUES (:uid, :turn, :urgent OR EXISTS (SELECT 1 FROM share_outbox WHERE uid = :uid AND urgent = 1))",
    )?
    .execute(named_params! {":uid": uid, ":turn": turn, ":urgent": urgent})?;
    db.prepare_cached("DELETE FROM share_outbox WHERE uid = :uid AND change < :added")?
        .execute(named_params! {":uid": uid, ":added": db.last_insert_rowid()})
        .map(drop)
}

/// Notes that the shared store knows of a turn that it was forgotten. Of what is not told as a rule it stays known that it was shared: it is
/// told again where the shared store went back.
fn note_forgotten(db: &Connection, turn: TurnUid) -> rusqlite::Result<()> {
    let sql = if is_untold(db, turn)? {
        "UPDATE share_pushed SET state = 0 WHERE turn_uid = :turn"
    } else {
        "DELETE FROM share_pushed WHERE turn_uid = :turn"
    };
    db.prepare_cached(sql)?.execute([turn]).map(drop)
}

/// Notes that this memory has the name that it has no more: what it shared, with whichever team, it shared by another.
fn note_former(db: &Connection) -> rusqlite::Result<()> {
    db.execute(
        "INSERT OR IGNORE INTO share_machines (machine) SELECT machine FROM share_target WHERE machine IS NOT NULL",
        [],
    )?;
    db.execute("UPDATE share_pushed SET state = 2 WHERE state = 1", [])?;
    db.execute("UPDATE share_former SET state = 2 WHERE state = 1", []).map(drop)
}

/// Makes a database that was put back from a copy, or made anew, one that the shared store does not know: it gets a new name, asks for
/// all changes, and tells all that is true of it, once it shares again. `former` is what the database knew in whose place it comes.
pub(crate) fn forget_machine(db: &Connection, former: &FormerSharing) -> rusqlite::Result<()> {
    former.carry_over(db)?;
    note_former(db)?;
    db.execute("UPDATE share_target SET machine = NULL", [])?;
    pull_again(db)?;
    stop(db)
}

#[cfg(test)]
mod tests;
