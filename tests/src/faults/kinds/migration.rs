//! An older store brought to this version (TC-38): killed, started again, killed again, until it is let through.

use std::path::PathBuf;

use remembrancer_schema::{SCHEMA_VERSION, make_older};

use super::Scenario;
use crate::faults::check::Moment;
use crate::faults::strike::{Fate, Struck, command, daemon};
use crate::faults::truth::Truth;
use crate::faults::world::{World, ready, until, until_indexed};

const BY_A_COMMAND: usize = 1;

#[derive(Default)]
pub(super) struct Migration {
    /// A store of this version that knows all transcripts.
    complete: PathBuf,
    /// Whether the store of the last strike has not come to rest yet.
    under_way: bool,
}

impl Scenario for Migration {
    fn prepare(&mut self, world: &mut World) {
        for _ in 0..5 {
            world.write(20);
        }
        world.settle(|sandbox| until(sandbox, &false.into(), |status| status["embedding_backlog"] == 0));
        self.complete = world.sandbox.home().join("complete.db");
        fs_err::copy(world.sandbox.places().database_file(), &self.complete).unwrap();
    }

    /// By the daemon, and by a command where no daemon runs.
    fn ways(&self) -> usize {
        2
    }

    fn strike(&mut self, world: &mut World, way: usize, fate: Fate) -> Result<Struck, String> {
        if !(self.under_way && world.one_in(2)) {
            if self.under_way {
                self.settle(world);
            }
            self.make_older(world);
        }
        self.under_way = true;
        if way == BY_A_COMMAND {
            let elsewhere = world.sandbox.project("elsewhere");
            let exclude = world.sandbox.command(&["exclude", &elsewhere]);
            return command(exclude, fate).map(|(struck, _)| struck);
        }
        let mut seen = Truth::default();
        let sandbox = &world.sandbox;
        let struck = daemon(sandbox, fate, &mut seen, |stop| ready(sandbox, None, stop))?;
        world.truth.seen.extend(seen.seen);
        Ok(struck)
    }

    fn settle(&mut self, world: &mut World) {
        // What is older than the index is indexed step by step, once the daemon runs.
        world.settle(|sandbox| until_indexed(sandbox, &false.into()));
        self.under_way = false;
    }
}

impl Migration {
    /// Puts a store of an older version in place, with all that such a one can hold.
    fn make_older(&self, world: &mut World) {
        let database = world.sandbox.places().database_file();
        let folder = database.parent().expect("invariant: the database lies in a folder");
        for entry in fs_err::read_dir(folder).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with("memory.db") {
                fs_err::remove_file(entry.path()).unwrap();
            }
        }
        fs_err::copy(&self.complete, &database).unwrap();
        make_older(&database, 1 + world.dice.below(SCHEMA_VERSION as usize - 1) as u32);
        fs_err::set_permissions(&database, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        world.truth.store_is_removed();
        // What it holds must be there from now on.
        world.check(Moment::Crashed);
    }
}
