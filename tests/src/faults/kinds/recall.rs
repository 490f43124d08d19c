//! Hooks in flight, from before the daemon listens until after it died.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::Scenario;
use crate::Sandbox;
use crate::faults::hooks::{Fired, fire};
use crate::faults::strike::{Fate, Struck, daemon};
use crate::faults::truth::Truth;
use crate::faults::world::{World, ready, until};

/// Sessions that ask at the same time.
const AT_ONCE: usize = 4;
/// Prompts of each session while a daemon runs.
const PROMPTS: usize = 8;

pub(super) struct Recall;

/// What one session asks, one after the other.
struct Asker {
    session: String,
    prompts: Vec<String>,
    /// How many of them were asked.
    asked: usize,
    fired: Vec<Fired>,
}

impl Scenario for Recall {
    fn prepare(&mut self, world: &mut World) {
        for _ in 0..6 {
            world.write(20);
        }
        world.settle(|sandbox| until(sandbox, &AtomicBool::new(false), |status| status["embedding_backlog"] == 0));
    }

    /// Asked from the start on, or as soon as the daemon answers.
    fn ways(&self) -> usize {
        2
    }

    fn strike(&mut self, world: &mut World, way: usize, fate: Fate) -> Result<Struck, String> {
        // Sessions come again in later rounds, with their files of before.
        let first = world.dice.below(3) * AT_ONCE;
        let mut askers: Vec<Asker> = (first..first + AT_ONCE)
            .map(|number| Asker {
                session: format!("in-flight-{number}"),
                prompts: (0..PROMPTS).map(|_| world.question()).collect(),
                asked: 0,
                fired: Vec::new(),
            })
            .collect();
        let mut seen = Truth::default();
        let (sandbox, cwd) = (&world.sandbox, world.pen.cwd());
        let struck = daemon(sandbox, fate, &mut seen, |stop| {
            if way == 1 {
                ready(sandbox, None, stop)?;
            }
            thread::scope(|scope| {
                for asker in &mut askers {
                    scope.spawn(move || asker.ask(sandbox, cwd, stop));
                }
            });
            Ok(())
        })?;
        for asker in askers {
            if let Some(last) = asker.asked.checked_sub(1) {
                world.truth.asked.insert(asker.session, asker.prompts[last].clone());
            }
            for fired in asker.fired {
                world.violations.extend(fired.violations.clone());
                world.fired.push(fired);
            }
        }
        world.truth.seen.extend(seen.seen);
        Ok(struck)
    }
}

impl Asker {
    fn ask(&mut self, sandbox: &Sandbox, cwd: &str, stop: &AtomicBool) {
        for prompt in &self.prompts {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            self.fired.push(fire(sandbox, &self.session, cwd, prompt));
            self.asked += 1;
        }
    }
}
