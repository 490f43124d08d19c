//! Vectors: a daemon dies while it loads its model, embeds, and stores what it embedded. What has come to rest has a vector an episode.

use remembrancer_hooks::protocol::Request;

use super::Scenario;
use crate::faults::check::{Broken, Violation};
use crate::faults::strike::{Fate, Struck, daemon};
use crate::faults::truth::Truth;
use crate::faults::world::{World, ask, ready, until};

pub(super) struct Embedding;

impl Scenario for Embedding {
    fn prepare(&mut self, world: &mut World) {
        world.sandbox.configure("[backfill]\ncpu = \"100%\"\n");
        world.write(10);
    }

    fn ways(&self) -> usize {
        1
    }

    fn strike(&mut self, world: &mut World, _: usize, fate: Fate) -> Result<Struck, String> {
        for _ in 0..3 {
            let turns = 10 + world.dice.below(10) as u32;
            world.write(turns);
        }
        let mut seen = Truth::default();
        let sandbox = &world.sandbox;
        let struck = daemon(sandbox, fate, &mut seen, |stop| {
            ready(sandbox, None, stop)?;
            ask(sandbox, &Request::Flush)?;
            until(sandbox, stop, |status| status["embedding_backlog"] == 0)
        })?;
        world.truth.seen.extend(seen.seen);
        Ok(struck)
    }

    fn settle(&mut self, world: &mut World) {
        let audit = world.settle(|sandbox| until(sandbox, &false.into(), |status| status["embedding_backlog"] == 0));
        let without = audit.map_or(0, |audit| audit.episodes.iter().filter(|episode| !episode.embedded).count());
        if without > 0 {
            let detail = format!("{without} episodes have no vector, though nothing waits for one");
            world.violations.push(Violation::new(Broken::Lost, detail));
        }
    }
}
