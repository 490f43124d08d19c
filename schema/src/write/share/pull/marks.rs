//! What becomes of marks: of what was taken back, and of what was forgotten. In go whose mark it is and of what, out come what is told
//! again, and what goes.

use rusqlite::named_params;

use super::super::super::forget;
use super::super::super::known::is_forgotten;
use super::super::{copies, enqueue_one, note_forgotten};
use super::Applying;
use crate::ids::{EpisodeUid, TurnUid};

/// The machine of a mark of what was taken back from all machines of its member.
const EVERYWHERE: [u8; 16] = [0; 16];

impl Applying<'_> {
    /// What is known of an episode that a machine of a member shares no more.
    pub(super) fn withdrawn(&mut self, seq: i64, uid: EpisodeUid, member: i32, machine: [u8; 16]) -> rusqlite::Result<()> {
        if let Some(copy) = copies::known(self.db, uid)?.filter(|known| known.is_pulled) {
            // A search may have brought what was shared again since.
            let is_newer = copies::seq(self.db, copy.id)? > Some(seq);
            return if is_newer { Ok(()) } else { self.remove(&[copy.id]) };
        }
        if member != self.member {
            return self.tell_again("SELECT uid, turn_uid FROM share_pushed WHERE uid = :id AND state > 0", uid.0);
        }
        // Another machine of one's own shares it no more, which says nothing of this one; nor does it where one was taken out of the team
        // and is in it again. What was taken back from all of them stays there no more until it is touched.
        if machine == EVERYWHERE {
            self.keep_back(uid)?;
        } else if machine != self.machine {
            self.tell_again(
                "SELECT uid, turn_uid FROM share_pushed WHERE uid = :id AND state > 0
                     AND EXISTS (SELECT 1 FROM episodes WHERE episodes.uid = share_pushed.uid AND generation <> -2 AND hidden = 0)",
                uid.0,
            )?;
        }
        self.db
            .prepare_cached("UPDATE share_pushed SET state = 0 WHERE uid = :uid")?
            .execute([uid])
            .map(drop)
    }

    /// Has what was taken back from all machines stay so: what waited to be told of it was from before. Where this machine knew that it was
    /// taken back, it is from after that. What is urgent is told all the same: it leaves, or was to leave before it was let in again.
    fn keep_back(&self, uid: EpisodeUid) -> rusqlite::Result<()> {
        self.db
            .prepare_cached(
                "DELETE FROM share_outbox WHERE uid = :uid AND urgent = 0
                     AND NOT EXISTS (SELECT 1 FROM share_pushed WHERE share_pushed.uid = :uid AND state = 0)",
            )?
            .execute(named_params! {":uid": uid})
            .map(drop)
    }

    /// Has what was pushed be told once more, which the shared store refused while it was another member's, or has no more. Whether it is
    /// still to be shared is asked when it is told.
    fn tell_again(&self, pushed: &str, id: [u8; 16]) -> rusqlite::Result<()> {
        let lost: Vec<(EpisodeUid, TurnUid)> = self
            .db
            .prepare_cached(pushed)?
            .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        lost.into_iter()
            .try_for_each(|(uid, turn)| enqueue_one(self.db, uid, turn, false))
    }

    /// What is known of a turn that a member forgot.
    pub(super) fn forgotten(&mut self, turn: TurnUid, member: i32) -> rusqlite::Result<()> {
        if member == self.member {
            return self.forgotten_by_oneself(turn);
        }
        self.db
            .prepare_cached("INSERT OR IGNORE INTO share_forgotten (turn_uid, member) VALUES (:turn, :member)")?
            .execute(named_params! {":turn": turn, ":member": member})?;
        self.tell_again(
            "SELECT uid, turn_uid FROM share_pushed WHERE turn_uid = :id AND state > 0",
            turn.0,
        )?;
        let ids = copies::of_turn(self.db, turn, member)?;
        if ids.is_empty() {
            return Ok(());
        }
        (self.forgets_words, self.applied.unscrubbed) = (true, true);
        self.remove(&ids)
    }

    /// What another machine of one's own forgot is forgotten here. The shared store knows it, and what was never to be told of is told
    /// again where it was put back.
    fn forgotten_by_oneself(&mut self, turn: TurnUid) -> rusqlite::Result<()> {
        if !is_forgotten(self.db, turn)? {
            let touched = forget::remove_turns(self.db, &[turn], |turn| forget::bury(self.db, turn, self.now))?;
            self.applied.unscrubbed |= !touched.episodes.is_empty();
            self.drop_from_memory(&touched.episodes);
            self.forgot.episodes.extend(touched.episodes);
            self.forgot.sessions.extend(touched.sessions);
            self.forgot.projects.extend(touched.projects);
            self.applied.forgotten_own.push(turn);
        }
        self.db
            .prepare_cached("DELETE FROM share_outbox WHERE turn_uid = :turn")?
            .execute([turn])?;
        note_forgotten(self.db, turn)
    }
}
