//! A backfill of new files, forks and subagents' files, while live transcripts grow by lines and halves of lines (TC-08, TC-09, TC-37).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use remembrancer_hooks::protocol::Request;

use super::Scenario;
use crate::Sandbox;
use crate::corpus::Numbers;
use crate::faults::pen::Pen;
use crate::faults::strike::{Fate, Struck, daemon, wait};
use crate::faults::truth::Truth;
use crate::faults::world::{World, ask, ready};

/// Steps by which live transcripts grow while a daemon runs.
const STEPS: usize = 40;

pub(super) struct Ingest;

impl Scenario for Ingest {
    fn prepare(&mut self, world: &mut World) {
        // The processor is for reading: what is embedded is another kind's.
        world.sandbox.configure("[backfill]\ncpu = \"5%\"\n");
        world.write(20);
    }

    fn ways(&self) -> usize {
        1
    }

    fn strike(&mut self, world: &mut World, _: usize, fate: Fate) -> Result<Struck, String> {
        for _ in 0..2 + world.dice.below(4) {
            let turns = 3 + world.dice.below(20) as u32;
            world.write(turns);
        }
        if world.one_in(3) {
            world.pen.fork(&mut world.truth, 2);
        }
        if world.one_in(3) {
            world.pen.subagents(&mut world.truth, 6);
        }
        let mut seen = Truth::default();
        let World {
            sandbox,
            truth,
            pen,
            dice,
            ..
        } = world;
        let home = &*sandbox;
        let struck = daemon(home, fate, &mut seen, |stop| grow(home, pen, truth, dice, stop))?;
        world.truth.seen.extend(seen.seen);
        Ok(struck)
    }
}

/// Lets live transcripts grow, from before the daemon is ready, and waits until all is read.
fn grow(sandbox: &Sandbox, pen: &mut Pen, truth: &mut Truth, dice: &mut Numbers, stop: &AtomicBool) -> Result<(), String> {
    for step in 0..STEPS {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        pen.step(truth, dice);
        wait(Duration::from_millis(dice.below(10) as u64));
        if step == STEPS / 4 {
            ready(sandbox, None, stop)?;
        }
    }
    ask(sandbox, &Request::Flush).map(drop)
}
