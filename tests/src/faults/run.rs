//! Kills, one after the other: homes are made, interrupted many times each, and held against the truth after every kill.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::check::{Broken, Moment, Violation};
use super::kinds::{Kind, Scenario};
use super::strike::Fate;
use super::tally::Tally;
use super::world::World;
use crate::timed;

/// Kills in one home.
const KILLS_A_HOME: u64 = 25;
/// After so many kills, at random, a daemon may come to rest.
const REST_EVERY: usize = 4;
/// Moments are drawn from so many thousandths of the measured time, so that the end of the work is among them.
const BEYOND: usize = 1_100;
/// Of so many kills one falls into the first part of the work, where a process starts.
const EARLY_EVERY: usize = 5;
/// That part.
const EARLY: u32 = 8;

/// What to kill, and how often.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The program, and its hook.
    pub binaries: (String, String),
    /// From which all homes' seeds follow.
    pub seed: u64,
    /// What is interrupted.
    pub kind: Kind,
    /// How many kills.
    pub kills: u64,
    /// The first home's number: to do one again that failed.
    pub first_home: u64,
}

/// Does it. Each broken promise is told by `tell`, with the home that is kept and how to do it again.
///
/// # Panics
/// Where the harness itself fails: no folder, no process.
pub fn run(plan: &Plan, tell: &mut dyn FnMut(String)) -> Tally {
    let mut tally = Tally::new(plan.kind);
    let ((), took) = timed(|| {
        for number in plan.first_home.. {
            if tally.kills >= plan.kills {
                break;
            }
            tally.homes += 1;
            Home::new(plan, number).run(&mut tally, tell);
        }
    });
    tally.took = took;
    tally
}

/// One home in which processes are killed.
struct Home<'a> {
    plan: &'a Plan,
    number: u64,
    world: World,
    scenario: Box<dyn Scenario>,
    /// How long each way of doing the work takes.
    lengths: BTreeMap<usize, Duration>,
}

impl<'a> Home<'a> {
    fn new(plan: &'a Plan, number: u64) -> Self {
        let (program, hook) = &plan.binaries;
        // Kinds and homes of one seed have nothing in common.
        let seed = plan.seed.wrapping_mul(1_000_003) ^ (number << 8) ^ plan.kind as u64;
        Self {
            plan,
            number,
            world: World::new(program, hook, seed),
            scenario: plan.kind.scenario(),
            lengths: BTreeMap::new(),
        }
    }

    fn run(mut self, tally: &mut Tally, tell: &mut dyn FnMut(String)) {
        self.scenario.prepare(&mut self.world);
        for kill in 0..KILLS_A_HOME.min(self.plan.kills - tally.kills) {
            if !self.world.violations.is_empty() {
                break;
            }
            if let Err(why) = self.kill(tally) {
                self.world.violations.push(Violation::new(Broken::Stuck, why));
            }
            let is_last = kill + 1 == KILLS_A_HOME || tally.kills == self.plan.kills;
            if self.world.violations.is_empty() && (is_last || self.world.one_in(REST_EVERY)) {
                self.scenario.settle(&mut self.world);
            }
        }
        tally.restarts += self.world.starts;
        tally.hooks.extend(self.world.fired.iter().map(|fired| fired.took));
        tally.count(&self.world.violations);
        self.tell(tell);
    }

    /// Kills once, and holds what is left against the truth.
    fn kill(&mut self, tally: &mut Tally) -> Result<(), String> {
        let world = &mut self.world;
        let way = world.dice.below(self.scenario.ways());
        let length = if let Some(length) = self.lengths.get(&way) {
            *length
        } else {
            let length = self.scenario.strike(world, way, Fate::Spared)?.took;
            world.check(Moment::Crashed);
            self.lengths.insert(way, length);
            length
        };
        let reach = if world.one_in(EARLY_EVERY) { length / EARLY } else { length };
        let fate = Fate::Killed {
            after: reach * world.dice.below(BEYOND) as u32 / 1_000,
            witnessed: world.one_in(2),
        };
        let struck = self.scenario.strike(world, way, fate)?;
        tally.kills += 1;
        tally.hits += u64::from(struck.hit);
        world.check(Moment::Crashed);
        if world.one_in(2) {
            // Nobody answers now.
            world.fire();
            world.check(Moment::Crashed);
        }
        Ok(())
    }

    fn tell(self, tell: &mut dyn FnMut(String)) {
        let violations = self.world.violations;
        if violations.is_empty() {
            return;
        }
        let (kind, number, seed) = (self.plan.kind.name(), self.number, self.plan.seed);
        let folder: PathBuf = self.world.sandbox.keep();
        tell(format!(
            "--seed {seed} --kind {kind} --home {number}: kept in {}",
            folder.display()
        ));
        for violation in violations {
            tell(format!("  {violation}"));
        }
    }
}
