//! Starts and stops: the first start of all, a start on what is there, and the time between the order to stop and the end.

use std::time::Duration;

use remembrancer_hooks::protocol::Request;
use rustix::process::Signal;

use super::Scenario;
use crate::faults::strike::{Fate, Struck, daemon, wait};
use crate::faults::truth::Truth;
use crate::faults::world::{World, ask, ready};
use crate::{eventually, timed};

const FIRST_START: usize = 0;
const STOP: usize = 2;
/// How long an ordered stop is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) struct Life;

impl Scenario for Life {
    fn prepare(&mut self, world: &mut World) {
        world.write(20);
        world.settle(|_| Ok(()));
    }

    fn ways(&self) -> usize {
        3
    }

    fn strike(&mut self, world: &mut World, way: usize, fate: Fate) -> Result<Struck, String> {
        if world.one_in(4) {
            world.write(3);
        }
        if way == STOP {
            return stop(world, fate);
        }
        let places = world.sandbox.places();
        if way == FIRST_START {
            for folder in [places.data_dir(), places.state_dir()] {
                fs_err::remove_dir_all(folder).ok();
            }
            world.truth.store_is_removed();
        }
        let mut seen = Truth::default();
        let sandbox = &world.sandbox;
        let struck = daemon(sandbox, fate, &mut seen, |stop| ready(sandbox, None, stop))?;
        world.truth.seen.extend(seen.seen);
        Ok(struck)
    }
}

/// Tells a daemon to stop, and kills it while it does.
fn stop(world: &mut World, fate: Fate) -> Result<Struck, String> {
    let sandbox = &world.sandbox;
    let mut daemon = sandbox.start_unready();
    ready(sandbox, Some(&mut daemon), &false.into())?;
    if world.dice.below(2) == 0 {
        ask(sandbox, &Request::Flush)?;
    }
    let Fate::Killed { after, witnessed } = fate else {
        let took = daemon.stop(Signal::TERM).1;
        return Ok(Struck { took, hit: false });
    };
    if witnessed {
        world.truth.witness(&sandbox.places());
    }
    daemon.signal(Signal::TERM);
    let ((), took) = timed(|| wait(after));
    let hit = daemon.ended().is_none();
    if hit {
        daemon.stop(Signal::KILL);
    } else {
        eventually("the daemon's end", PATIENCE, || daemon.ended());
    }
    Ok(Struck { took, hit })
}
