//! Machines of several members share one store that is a model of the real one, by random acts from a seed: transcripts read and read
//! further on one machine and on another, vectors that come later, turns forgotten and retired, folders kept out and let in, the list of what
//! is allowed changed, searches adopted, pages of marks alone, all of a member's taken back, members who leave and come again, machines that
//! leave or are set to another team, the shared store put back from a copy, memories put back from older copies and made anew, processes
//! killed, replies lost, pages and searches kept for too long. Then all is left to come to rest, in one team and in the other, and what each
//! has is held against what it must have. All the while what is to leave goes before all else.
//!
//! `REMEMBRANCER_SHARE_SEEDS` says how many seeds are tried (40), `REMEMBRANCER_SHARE_FIRST_SEED` the first. What fails tells its seed and
//! its acts.

mod machine;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use machine::{GLOBS, Machine, PROJECTS, own_text};
use server::{NOBODY, Server, State};

use super::*;

const SEEDS: u64 = 40;
const ACTS: usize = 70;
/// Teams that there are, each with its shared store.
const TEAMS: usize = 2;
/// Turns that there are, and parts that one may have.
const TURNS: u8 = 12;
const PARTS: u32 = 3;

/// Random numbers from a seed: the same everywhere, and for ever.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

#[test]
fn machines_that_share_come_to_agree_whatever_happens() {
    let first = number("REMEMBRANCER_SHARE_FIRST_SEED", 1);
    for seed in first..first + number("REMEMBRANCER_SHARE_SEEDS", SEEDS) {
        let mut world = World::new(seed);
        let lived = catch_unwind(AssertUnwindSafe(|| world.live()));
        if let Err(panic) = lived {
            eprintln!("seed {seed}, of which the acts were:\n{}", world.acts.join("\n"));
            resume_unwind(panic);
        }
    }
}

#[test]
fn a_world_is_the_same_whenever_it_is_made() {
    let acts = || {
        let mut world = World::new(7);
        world.live();
        world.acts
    };
    assert_eq!(acts(), acts());
}

/// All machines, what they share by, and what has happened.
struct World {
    random: Random,
    servers: [Server; TEAMS],
    machines: Vec<Machine>,
    acts: Vec<String>,
    /// The first team's shared store as it was copied some time.
    copy: Option<Server>,
    /// Counts names of machines.
    names: u8,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let members = 2 + random.below(2);
        let number = members + random.below(3);
        let mut world = Self {
            random,
            servers: <[Server; TEAMS]>::default(),
            machines: Vec::new(),
            acts: Vec::new(),
            copy: None,
            names: 0,
        };
        for index in 0..number {
            let globs = world.random.below(GLOBS.len());
            let name = world.name();
            let member = (index % members) as i32 + 1;
            world.machines.push(Machine::new(index as u8, member, globs, name));
        }
        world
    }

    fn name(&mut self) -> [u8; 16] {
        self.names += 1;
        [self.names; 16]
    }

    fn live(&mut self) {
        for _ in 0..ACTS {
            self.act();
        }
        for team in 0..TEAMS {
            // Nobody was ever in the other.
            if team > 0 && self.servers[team].head == 0 {
                continue;
            }
            for machine in &mut self.machines {
                machine.join(team);
            }
            self.rest(team);
            self.check(team);
        }
    }

    fn act(&mut self) {
        let index = self.random.below(self.machines.len());
        let act = self.random.below(34);
        let turn = self.random.below(usize::from(TURNS)) as u8;
        let what = match act {
            0..=5 => self.machines[index].read(turn, self.random.below(3) as u8),
            6 => self.machines[index].forget(turn),
            7 => self.machines[index].retire(turn),
            8 => self.machines[index].keep_out(usize::from(turn) % PROJECTS),
            9 => self.machines[index].let_in(),
            10 => {
                let globs = self.random.below(GLOBS.len());
                self.machines[index].allow(globs)
            }
            11 => self.machines[index].back_up(),
            12 => {
                let name = self.name();
                self.machines[index].restore(name)
            }
            13 if self.random.one_in(3) => {
                let name = self.name();
                self.machines[index].make_anew(name)
            }
            13 | 14 => self.machines[index].kill(),
            15 => {
                let paused = self.random.one_in(2);
                self.machines[index].pause(paused)
            }
            16 => self.machines[index].embed(),
            17 => self.machines[index].apply_an_old_page(),
            18..=21 => self.push(index),
            26 => self.take_all_back(index),
            27 => self.let_in_again(index),
            28 => self.copy_or_go_back(),
            29 | 30 => self.search(index),
            31 => self.adopt_an_old_search(index),
            32 => self.machines[index].leave(),
            33 if self.random.one_in(2) => self.change_team(index),
            _ => self.pull(index),
        };
        self.acts.push(format!("machine {index}: {what}"));
    }

    /// A member takes back all that is shared.
    fn take_all_back(&mut self, index: usize) -> String {
        let machine = &self.machines[index];
        self.servers[machine.team].withdraw_all(machine.member);
        "has all that its member shares taken back".to_owned()
    }

    /// A member is taken out of the team, with all that it shared, and let in again.
    fn let_in_again(&mut self, index: usize) -> String {
        let (member, team) = (self.machines[index].member, self.machines[index].team);
        self.servers[team].put_out(member);
        let machines = self.machines.iter_mut();
        for machine in machines.filter(|machine| machine.member == member && machine.team == team) {
            machine.tell_again();
        }
        format!("member {member} left, and was let in again")
    }

    /// The shared store is copied; the next time it is put back from that copy, which its owner says, and all take note once they call.
    fn copy_or_go_back(&mut self) -> String {
        let epoch = self.servers[0].epoch;
        let Some(copy) = self.copy.take() else {
            self.copy = Some(self.servers[0].clone());
            return format!("the shared store is copied at change {}", self.servers[0].head);
        };
        self.servers[0] = Server {
            epoch: epoch + 1,
            ..copy
        };
        format!("the shared store goes back to change {}", self.servers[0].head)
    }

    /// What a search finds is adopted at once, or later.
    fn search(&mut self, index: usize) -> String {
        let (first, most) = (self.random.below(12), 1 + self.random.below(4));
        let machine = &mut self.machines[index];
        machine.call(&self.servers[machine.team]);
        let page = machine.search(&self.servers[machine.team], first, most);
        if self.random.one_in(3) {
            machine.kept_search = Some(page);
            return "searched, and has for later what was found".to_owned();
        }
        machine.adopt(&page)
    }

    fn adopt_an_old_search(&mut self, index: usize) -> String {
        let machine = &mut self.machines[index];
        match machine.kept_search.take() {
            Some(page) => machine.adopt(&page),
            None => "has kept no search".to_owned(),
        }
    }

    fn change_team(&mut self, index: usize) -> String {
        let machine = &mut self.machines[index];
        machine.join((machine.team + 1) % TEAMS)
    }

    /// One page out, which may be lost on the way there or back, or find the process killed.
    fn push(&mut self, index: usize) -> String {
        let machine = &mut self.machines[index];
        let server = &mut self.servers[machine.team];
        machine.call(server);
        let most = 1 + self.random.below(6);
        let mut page = machine.next_to_push(most);
        if self.random.one_in(6) {
            // Something happens between the look and the sending.
            machine.read(self.random.below(usize::from(TURNS)) as u8, 1);
        }
        let sent = machine.writer().pushing(&mut page).expect("notes");
        if self.random.one_in(6) {
            return format!("a page of {} is lost on its way", page.entries.len());
        }
        machine.assert_allowed(&page);
        server.take(machine.member, machine.name, &page);
        if self.random.one_in(5) {
            machine.kill();
            return format!("pushed {}, and was killed before it knew", page.entries.len());
        }
        if self.random.one_in(5) {
            machine.read(self.random.below(usize::from(TURNS)) as u8, 2);
        }
        machine.writer().pushed(&sent).expect("notes");
        format!("pushed {} changes", page.entries.len())
    }

    fn pull(&mut self, index: usize) -> String {
        let most = 1 + self.random.below(8);
        let marks_only = self.random.one_in(4);
        let machine = &mut self.machines[index];
        machine.call(&self.servers[machine.team]);
        if self.random.one_in(4) {
            machine.want_contents();
        }
        let page = machine.pull(&self.servers[machine.team], most, marks_only);
        if self.random.one_in(5) {
            machine.kept_page = Some(page);
            return "got a page that it has for later".to_owned();
        }
        let applied = machine.apply(&page);
        format!(
            "pulled {} changes (marks only: {marks_only}): {applied:?}",
            page.changes.len()
        )
    }

    /// Until nobody has anything to tell any more.
    fn rest(&mut self, team: usize) {
        let server = &mut self.servers[team];
        for machine in &mut self.machines {
            machine.call(server);
            machine.pause(false);
            machine.want_contents();
        }
        for round in 0.. {
            assert!(round < 40, "they do not come to rest");
            let before = server.head;
            let mut moved = false;
            for machine in &mut self.machines {
                loop {
                    let mut page = machine.next_to_push(50);
                    if page.entries.is_empty() {
                        break;
                    }
                    let sent = machine.writer().pushing(&mut page).expect("notes");
                    machine.assert_allowed(&page);
                    server.take(machine.member, machine.name, &page);
                    machine.writer().pushed(&sent).expect("notes");
                    moved = true;
                }
                loop {
                    let page = machine.pull(server, 50, false);
                    let was = page.after;
                    machine.apply(&page);
                    if page.cursor == was {
                        break;
                    }
                }
                // What came may be something to tell of.
                moved |= !machine.next_to_push(1).entries.is_empty();
            }
            if !moved && before == server.head {
                self.acts
                    .push(format!("team {team} is at rest after {round} rounds, at change {before}"));
                return;
            }
        }
    }

    fn check(&self, team: usize) {
        let server = &self.servers[team];
        for machine in &self.machines {
            let name = machine.index;
            let audit = audit(&machine.path).expect("reads");
            assert_eq!(audit.faults, Vec::<String>::new(), "machine {name}");
            assert!(!machine.has_clean_up_waiting(), "machine {name}");
            machine.assert_own();
            check_copies(server, machine);
            check_pushed(server, machine);
        }
        self.check_rows(server);
        self.check_forgotten(server);
    }

    /// What is shared is shared by a machine that has it, lets it be seen and may share it.
    fn check_rows(&self, server: &Server) {
        let mut backed: BTreeMap<EpisodeUid, BTreeSet<i32>> = BTreeMap::new();
        for machine in &self.machines {
            for (uid, row) in machine.rows() {
                if row.shared_by.is_none() && !row.hidden && machine.allows(row.turn) {
                    backed.entry(uid).or_default().insert(machine.member);
                }
            }
        }
        for (uid, row) in &server.rows {
            let is_backed = backed.get(uid).is_some_and(|members| members.contains(&row.member));
            assert!(
                !matches!(row.state, State::Live(_)) || is_backed,
                "{uid} of member {} is shared by no machine of theirs",
                row.member
            );
        }
    }

    /// What was forgotten is nowhere: not at the shared store, not with its member, and with others only as their own reading.
    fn check_forgotten(&self, server: &Server) {
        for (member, turn) in server.forgotten.keys() {
            for (uid, row) in &server.rows {
                let is_it = row.member == *member && row.turn == *turn;
                assert!(
                    !is_it || matches!(row.state, State::Forgotten),
                    "{uid} was forgotten, and is shared"
                );
            }
            for machine in self.machines.iter().filter(|machine| machine.member == *member) {
                assert!(
                    machine.has_removed(*turn),
                    "machine {} does not know that {turn} was forgotten",
                    machine.index
                );
                let has = machine.rows().values().any(|row| turn_uid(row.turn) == *turn);
                assert!(!has, "machine {} has what its member forgot", machine.index);
            }
        }
    }
}

/// Of others there is what they share, and nothing else.
fn check_copies(server: &Server, machine: &Machine) {
    let rows = machine.rows();
    for (uid, row) in rows.iter().filter(|(_, row)| row.shared_by.is_some()) {
        let at_server = server.rows.get(uid).expect("it was shared once");
        let State::Live(episode) = &at_server.state else {
            panic!("machine {}: {uid} is no longer shared, and is there", machine.index);
        };
        assert_eq!((row.shared_by, &row.prompt), (Some(at_server.member), &episode.prompt));
        assert_ne!(at_server.machine, machine.name, "machine {}: {uid} is its own", machine.index);
    }
    for (uid, at_server) in &server.rows {
        let State::Live(episode) = &at_server.state else { continue };
        let is_there = rows.contains_key(uid);
        let may_lack = machine.has_removed(episode.turn_uid)
            || machine.has_passed(episode.turn_uid)
            || machine.keeps_out(episode)
            || machine.had_as_own.contains(uid)
            || at_server.machine == machine.name;
        assert!(is_there || may_lack, "machine {} lacks {uid}", machine.index);
    }
}

/// What it shares is at the shared store as it stands here, unless another shares it; what is not there, it does not take to be there.
fn check_pushed(server: &Server, machine: &Machine) {
    let pushed = machine.pushed();
    for (uid, row) in machine.rows() {
        if row.shared_by.is_some() || row.hidden || !machine.allows(row.turn) || machine.keeps_turn_out(row.turn) {
            continue;
        }
        let at_server = server.rows.get(&uid).expect("was told");
        let is_live = matches!(at_server.state, State::Live(_));
        assert!(
            is_live || !pushed.contains(&uid),
            "machine {}: {uid} of turn {} is taken to be there; it was changed last by {:?}, and is withdrawn: {}",
            machine.index,
            row.turn,
            at_server.machine,
            matches!(at_server.state, State::Withdrawn)
        );
        match &at_server.state {
            State::Live(episode) if at_server.machine == machine.name => assert_eq!(episode.prompt, row.prompt),
            State::Withdrawn => {
                assert_ne!(at_server.machine, machine.name, "machine {}: {uid}", machine.index);
                // What another machine of the member shares no more, this one shares on.
                let is_of_another = at_server.member == machine.member && at_server.machine != NOBODY;
                assert!(
                    !is_of_another || server.taken_back.contains(&uid),
                    "machine {} has {uid}, which is not shared since {:?} took it back",
                    machine.index,
                    at_server.machine
                );
            }
            State::Forgotten => assert_ne!(at_server.member, machine.member, "machine {}: {uid}", machine.index),
            State::Live(_) => {}
        }
    }
}

#[test]
fn the_texts_of_two_readings_differ() {
    let mut texts = BTreeSet::new();
    for turn in 0..TURNS {
        for part in 0..PARTS {
            for version in 0..9 {
                assert!(texts.insert(own_text(turn, part, version)));
            }
        }
    }
}
