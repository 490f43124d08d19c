//! What changes a store that is there: forgetting, excluding and including, facts, memories that are muted, an index of older rules, a
//! damaged one. Through the daemon and by commands.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use remembrancer_hooks::protocol::{ForgetTarget, Request, Steering};
use remembrancer_schema::{Audit, EpisodeUid, damage_index, make_analysis_older};

use super::Scenario;
use crate::faults::check::{Broken, Violation};
use crate::faults::pen::Pen;
use crate::faults::strike::{Fate, Struck, command, daemon};
use crate::faults::truth::{Truth, Wish};
use crate::faults::world::{World, ask, ready, until, until_indexed};
use crate::{Sandbox, any_file_holds};

/// Sessions at the beginning, and their turns: more than one step of indexing anew.
const SESSIONS: usize = 30;
const TURNS: u32 = 8;
/// Of so many forgotten sessions a word is looked for in all files, the last ones first.
const LOOKED_FOR: usize = 6;

#[derive(Default)]
pub(super) struct Upkeep {
    /// Sessions of which it was said that they are forgotten.
    acknowledged: Vec<String>,
    /// Whether a command said last that the folder is excluded: only then another may include it.
    excluded: bool,
    /// Facts said so far.
    facts: u32,
    /// Of which episodes it was said that they are muted.
    muted: BTreeSet<EpisodeUid>,
}

impl Scenario for Upkeep {
    fn prepare(&mut self, world: &mut World) {
        for _ in 0..SESSIONS {
            world.write(TURNS);
        }
        world.settle(|sandbox| until(sandbox, &AtomicBool::new(false), |status| status["embedding_backlog"] == 0));
    }

    fn ways(&self) -> usize {
        10
    }

    fn strike(&mut self, world: &mut World, way: usize, fate: Fate) -> Result<Struck, String> {
        match way {
            0 => self.forget(world, fate, false),
            1 => self.forget(world, fate, true),
            2 => {
                self.excluded = false;
                by_daemon(world, fate, |sandbox, cwd, _| {
                    ask(sandbox, &Request::Exclude { path: cwd.to_owned() })?;
                    ask(sandbox, &Request::Include { path: cwd.to_owned() }).map(drop)
                })
            }
            3 => {
                let act = if self.excluded { "include" } else { "exclude" };
                let asked = world.sandbox.command(&[act, world.pen.cwd()]);
                let (struck, good) = command(asked, fate)?;
                self.excluded = good && act == "exclude";
                Ok(struck)
            }
            4 => {
                make_analysis_older(&world.sandbox.places().database_file());
                by_daemon(world, fate, |sandbox, _, stop| until_indexed(sandbox, stop))
            }
            5 => self.remember(world, fate, false),
            6 => self.remember(world, fate, true),
            7 => self.mute(world, fate, false),
            8 => self.mute(world, fate, true),
            _ => {
                damage_index(&world.sandbox.places().database_file());
                // Until a daemon came to rest, the store may be as it is now.
                world.damaged_on_purpose = true;
                by_daemon(world, fate, |_, _, _| Ok(()))
            }
        }
    }

    fn settle(&mut self, world: &mut World) {
        // It may have been left excluded; where it was not, the command says so and changes nothing.
        self.excluded = false;
        world.sandbox.run(&["include", world.pen.cwd()]);
        let audit = world.settle(|_| Ok(()));
        self.no_byte_is_left(world);
        if let Some(audit) = audit {
            self.all_are_muted(world, &audit);
        }
    }
}

/// Lets `work` be done with a daemon once it answers.
fn by_daemon(
    world: &mut World,
    fate: Fate,
    work: impl FnOnce(&Sandbox, &str, &AtomicBool) -> Result<(), String> + Send,
) -> Result<Struck, String> {
    let mut seen = Truth::default();
    let (sandbox, cwd) = (&world.sandbox, world.pen.cwd());
    let struck = daemon(sandbox, fate, &mut seen, |stop| {
        ready(sandbox, None, stop)?;
        work(sandbox, cwd, stop)
    })?;
    world.truth.seen.extend(seen.seen);
    world.truth.buried.extend(seen.buried);
    Ok(struck)
}

/// Has something decided by a command of these `words` or, where there are none, by `request` of a daemon. Says whether it was said to be
/// done.
fn decide<const N: usize>(
    world: &mut World,
    fate: Fate,
    words: Option<&[&str; N]>,
    request: &Request,
) -> Result<(Struck, bool), String> {
    if let Some(words) = words {
        return command(world.sandbox.command(words), fate);
    }
    let mut acknowledged = false;
    let struck = by_daemon(world, fate, |sandbox, _, _| {
        ask(sandbox, request)?;
        acknowledged = true;
        Ok(())
    })?;
    Ok((struck, acknowledged))
}

impl Upkeep {
    /// Forgets a session that the store knows whole.
    fn forget(&mut self, world: &mut World, fate: Fate, by_command: bool) -> Result<Struck, String> {
        let seen: BTreeSet<&String> = world.truth.seen.values().collect();
        let is_known = |session: &str| {
            let turns = &world.truth.turns;
            let mut of_it = turns.iter().filter(|(_, turn)| turn.session == session);
            of_it.all(|(prompt, turn)| turn.wish == Wish::Kept && seen.contains(prompt))
        };
        let known: Vec<String> = world
            .pen
            .sessions()
            .filter(|session| is_known(session))
            .map(str::to_owned)
            .collect();
        drop(seen);
        if known.len() < SESSIONS / 3 {
            world.write(TURNS);
            world.write(TURNS);
        }
        let Some(session) = known.first().cloned() else {
            return Err("no session is left to forget".to_owned());
        };
        world.truth.wish(&session, Wish::Forgetting);
        let target = ForgetTarget::Session(session.clone());
        let words = by_command.then_some(["forget", "--yes", "--session", &*session]);
        let (struck, acknowledged) = decide(world, fate, words.as_ref(), &Request::Forget { target })?;
        if acknowledged {
            world.truth.wish(&session, Wish::Forgotten);
            self.acknowledged.push(session);
        }
        Ok(struck)
    }

    /// Says a fact, which no transcript tells. Once it was said that it is kept, it must be there; before, either is right.
    fn remember(&mut self, world: &mut World, fate: Fate, by_command: bool) -> Result<Struck, String> {
        self.facts += 1;
        let fact = format!("The fact of number {} holds in all projects.", self.facts);
        world.truth.prompt("said", &fact);
        let request = Request::Remember {
            text: fact.clone(),
            project: None,
        };
        let words = by_command.then_some(["remember", "--everywhere", &*fact]);
        let (struck, acknowledged) = decide(world, fate, words.as_ref(), &request)?;
        if acknowledged {
            // It has no answer, and that is all of it.
            world.truth.answered(&fact, "");
        }
        Ok(struck)
    }

    /// Mutes a memory that the store has and that nobody wanted forgotten.
    fn mute(&mut self, world: &mut World, fate: Fate, by_command: bool) -> Result<Struck, String> {
        let is_kept = |prompt: &String| world.truth.turns.get(prompt).is_some_and(|turn| turn.wish == Wish::Kept);
        let mut loud = world
            .truth
            .seen
            .iter()
            .filter(|(uid, prompt)| !self.muted.contains(*uid) && is_kept(prompt));
        let Some(uid) = loud.next_back().map(|(uid, _)| *uid) else {
            return Err("nothing is left to mute".to_owned());
        };
        let id = uid.to_string();
        let request = Request::Steer {
            how: Steering::Mute,
            ids: vec![id.clone()],
        };
        let words = by_command.then_some(["mute", &*id]);
        let (struck, acknowledged) = decide(world, fate, words.as_ref(), &request)?;
        if acknowledged {
            self.muted.insert(uid);
        }
        Ok(struck)
    }

    /// What was said to be muted is so, where it was not forgotten since.
    fn all_are_muted(&self, world: &mut World, audit: &Audit) {
        let listed = world.sandbox.json(&["mute", "--list"]);
        let listed: BTreeSet<&str> = listed["turns"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|turn| turn["id"].as_str())
            .collect();
        let stored: BTreeSet<EpisodeUid> = audit.episodes.iter().map(|episode| episode.uid).collect();
        for uid in self.muted.intersection(&stored) {
            if !listed.iter().any(|id| uid.to_string().starts_with(id)) {
                let detail = format!("{uid} was muted, and is not any more");
                world.violations.push(Violation::new(Broken::Lost, detail));
            }
        }
    }

    /// No file of ours holds a word of what was acknowledged last to be forgotten, once a daemon has come to rest. (What was forgotten as its
    /// writer died is not looked for: nobody was told.)
    fn no_byte_is_left(&self, world: &mut World) {
        let places = world.sandbox.places();
        let turns = world.truth.turns.iter();
        let forgotten = turns.filter(|(_, turn)| turn.wish == Wish::Forgotten);
        for session in self.acknowledged.iter().rev().take(LOOKED_FOR) {
            let prompt = forgotten.clone().find(|(_, turn)| turn.session == *session);
            let Some(mark) = prompt.and_then(|(prompt, _)| Pen::mark(prompt)) else {
                continue;
            };
            for folder in [places.data_dir(), places.state_dir()] {
                if let Some(file) = any_file_holds(&folder, mark.as_bytes()) {
                    let detail = format!("{} holds {mark}, which was forgotten", file.display());
                    world.violations.push(Violation::new(Broken::CameBack, detail));
                }
            }
        }
    }
}
