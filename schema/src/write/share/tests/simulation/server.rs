//! A model of the shared store: rows by uid, marks of what was forgotten, and one order of all changes. In go what machines push, out
//! come pages for them, and what their searches find.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    EpisodeUid, FoundEpisode, FoundPage, PulledChange, PulledPage, ShareOrigin, SharePlace, SharedEpisode, ToPush, TurnUid,
};

/// The machine of a mark that is told to all.
pub(super) const NOBODY: [u8; 16] = [0; 16];
/// That of a mark of what the team took back from a member that it put out: it is told to all, too.
const THE_TEAM: [u8; 16] = [0xFF; 16];

/// What has become of a row.
#[derive(Clone)]
pub(super) enum State {
    Live(Box<SharedEpisode>),
    Withdrawn,
    Forgotten,
}

/// An episode that was shared once.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) member: i32,
    pub(super) machine: [u8; 16],
    pub(super) turn: TurnUid,
    pub(super) state: State,
    seq: i64,
}

impl Row {
    fn origin(&self) -> ShareOrigin {
        ShareOrigin {
            member: self.member,
            member_login: format!("member-{}", self.member),
            machine: self.machine,
            machine_name: "a machine".to_owned(),
        }
    }
}

/// The shared store of one team.
#[derive(Clone, Default)]
pub(super) struct Server {
    pub(super) head: i64,
    pub(super) rows: BTreeMap<EpisodeUid, Row>,
    pub(super) forgotten: BTreeMap<(i32, TurnUid), i64>,
    /// What was taken back from all machines of a member, once at least.
    pub(super) taken_back: BTreeSet<EpisodeUid>,
    /// Which life it is in: another one, once it was put back from a copy.
    pub(super) epoch: usize,
}

impl Server {
    fn next(&mut self) -> i64 {
        self.head += 1;
        self.head
    }

    /// A page in one transaction.
    pub(super) fn take(&mut self, member: i32, machine: [u8; 16], page: &ToPush) {
        for own in &page.live {
            self.push(member, machine, &own.episode);
        }
        for uid in &page.withdraw {
            self.withdraw(member, machine, *uid, false);
        }
        for uid in &page.withdraw_everywhere {
            self.withdraw(member, machine, *uid, true);
        }
        for turn in &page.forget {
            self.forget(member, machine, *turn);
        }
    }

    fn push(&mut self, member: i32, machine: [u8; 16], episode: &SharedEpisode) {
        if self.forgotten.contains_key(&(member, episode.turn_uid)) {
            return;
        }
        if let Some(row) = self.rows.get_mut(&episode.uid)
            && let State::Live(known) = &row.state
        {
            if row.member != member {
                return;
            }
            if **known == *episode {
                row.machine = machine;
                return;
            }
        }
        let seq = self.next();
        let row = Row {
            member,
            machine,
            turn: episode.turn_uid,
            state: State::Live(Box::new(episode.clone())),
            seq,
        };
        self.rows.insert(episode.uid, row);
    }

    fn withdraw(&mut self, member: i32, machine: [u8; 16], uid: EpisodeUid, everywhere: bool) {
        let head = self.head + 1;
        if let Some(row) = self.rows.get_mut(&uid)
            && row.member == member
            && (everywhere || row.machine == machine)
            && matches!(row.state, State::Live(_))
        {
            (row.state, row.seq) = (State::Withdrawn, head);
            row.machine = if everywhere { NOBODY } else { machine };
            self.head = head;
            if everywhere {
                self.taken_back.insert(uid);
            }
        }
    }

    /// All that a member shares, as the member has it.
    pub(super) fn withdraw_all(&mut self, member: i32) {
        let uids: Vec<EpisodeUid> = self.rows.keys().copied().collect();
        for uid in uids {
            self.withdraw(member, NOBODY, uid, true);
        }
    }

    /// All that a member shares, as the team has it that puts the member out.
    pub(super) fn put_out(&mut self, member: i32) {
        let is_shared = |row: &&mut Row| row.member == member && matches!(row.state, State::Live(_));
        for row in self.rows.values_mut().filter(is_shared) {
            self.head += 1;
            (row.state, row.seq, row.machine) = (State::Withdrawn, self.head, THE_TEAM);
        }
    }

    fn forget(&mut self, member: i32, machine: [u8; 16], turn: TurnUid) {
        if self.forgotten.contains_key(&(member, turn)) {
            return;
        }
        let seq = self.next();
        self.forgotten.insert((member, turn), seq);
        for row in self.rows.values_mut().filter(|row| row.member == member && row.turn == turn) {
            (row.state, row.machine, row.seq) = (State::Forgotten, machine, seq);
        }
    }

    /// Some of what is shared, as a search finds it: whosever it is, from the `first` on.
    pub(super) fn search(&self, place: &SharePlace, first: usize, most: usize) -> FoundPage {
        let live = self.rows.values().filter_map(|row| match &row.state {
            State::Live(episode) => Some(FoundEpisode {
                seq: row.seq,
                from: row.origin(),
                episode: episode.clone(),
            }),
            State::Withdrawn | State::Forgotten => None,
        });
        FoundPage {
            sent: place.sent,
            head: self.head,
            found: live.skip(first).take(most).collect(),
        }
    }

    /// What changed after the place of a machine and was not changed by itself, in order; marks of what was forgotten always. With
    /// `marks_only` no contents.
    pub(super) fn pull(&self, place: &SharePlace, most: usize, marks_only: bool) -> PulledPage {
        let (machine, after) = (place.machine, place.cursor);
        let mut changes: Vec<(i64, PulledChange)> = Vec::new();
        for (uid, row) in self.rows.iter().filter(|(_, row)| row.machine != machine && row.seq > after) {
            let (seq, member) = (row.seq, row.member);
            let change = match &row.state {
                State::Live(episode) if !marks_only => PulledChange::Live {
                    seq,
                    from: row.origin(),
                    episode: episode.clone(),
                },
                State::Withdrawn => PulledChange::Withdrawn {
                    seq,
                    uid: *uid,
                    member,
                    machine: row.machine,
                },
                State::Live(_) | State::Forgotten => continue,
            };
            changes.push((seq, change));
        }
        for ((member, turn_uid), seq) in self.forgotten.iter().filter(|(_, seq)| **seq > after) {
            let (seq, turn_uid, member) = (*seq, *turn_uid, *member);
            changes.push((seq, PulledChange::Forgotten { seq, turn_uid, member }));
        }
        changes.sort_by_key(|(seq, _)| *seq);
        let is_full = changes.len() > most;
        changes.truncate(most);
        let cursor = match changes.last() {
            Some((seq, _)) if is_full => *seq,
            _ => self.head.max(after),
        };
        PulledPage {
            after,
            sent: place.sent,
            changes: changes.into_iter().map(|(_, change)| change).collect(),
            cursor,
            head: self.head,
            marks_only,
        }
    }
}
