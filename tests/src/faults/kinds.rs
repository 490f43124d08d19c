//! What is interrupted: a kind of work each, with the ways in which it is done.

use clap::ValueEnum;

use super::strike::{Fate, Struck};
use super::world::World;

mod embedding;
mod ingest;
mod life;
mod migration;
mod recall;
mod upkeep;

/// A kind of work that is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Kind {
    /// A backfill, and live transcripts that grow by half lines.
    Ingest,
    /// Vectors.
    Embedding,
    /// An older store brought to this version, by the daemon or by a command.
    Migration,
    /// Hooks in flight.
    Recall,
    /// Forgetting, excluding, a new analysis, a damaged index.
    Upkeep,
    /// Starts and stops.
    Life,
}

/// How a kind of work is prepared, done and ended.
pub(super) trait Scenario {
    /// Makes of an empty home one in which the work can begin.
    fn prepare(&mut self, world: &mut World);

    /// In how many ways the work is done; each is measured before anything is killed in it.
    fn ways(&self) -> usize;

    /// Does it once.
    ///
    /// # Errors
    /// Why a work that was spared did not come to its end.
    fn strike(&mut self, world: &mut World, way: usize, fate: Fate) -> Result<Struck, String>;

    /// Lets a daemon come to rest, and holds the home against the truth.
    fn settle(&mut self, world: &mut World) {
        world.settle(|_| Ok(()));
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Ingest,
        Self::Embedding,
        Self::Migration,
        Self::Recall,
        Self::Upkeep,
        Self::Life,
    ];

    /// Its name, as the command line takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Embedding => "embedding",
            Self::Migration => "migration",
            Self::Recall => "recall",
            Self::Upkeep => "upkeep",
            Self::Life => "life",
        }
    }

    pub(super) fn scenario(self) -> Box<dyn Scenario> {
        match self {
            Self::Ingest => Box::new(ingest::Ingest),
            Self::Embedding => Box::new(embedding::Embedding),
            Self::Migration => Box::new(migration::Migration::default()),
            Self::Recall => Box::new(recall::Recall),
            Self::Upkeep => Box::new(upkeep::Upkeep::default()),
            Self::Life => Box::new(life::Life),
        }
    }
}
