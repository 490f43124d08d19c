//! What came of all kills of a kind, and the table of it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::check::{Broken, Violation};
use super::kinds::Kind;
use crate::Spread;

/// What came of the kills of one kind.
#[derive(Debug, Clone)]
pub struct Tally {
    kind: Kind,
    /// Homes in which it was done.
    pub homes: u64,
    /// Processes that were killed, or were to be.
    pub kills: u64,
    /// Of these, those that lived and had work to do.
    pub hits: u64,
    /// Daemons that were started on what a kill left, and read everything.
    pub restarts: u64,
    /// Broken promises.
    pub broken: BTreeMap<Broken, u64>,
    /// How long each hook took.
    pub hooks: Vec<Duration>,
    /// How long it took in all.
    pub took: Duration,
}

impl Tally {
    /// Nothing yet.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            homes: 0,
            kills: 0,
            hits: 0,
            restarts: 0,
            broken: BTreeMap::new(),
            hooks: Vec::new(),
            took: Duration::ZERO,
        }
    }

    /// Counts broken promises.
    pub fn count(&mut self, violations: &[Violation]) {
        for violation in violations {
            *self.broken.entry(violation.broken).or_default() += 1;
        }
    }

    /// Whether nothing was broken.
    pub fn is_whole(&self) -> bool {
        self.broken.is_empty()
    }
}

/// The names of the columns, over lines of tallies.
pub const HEADER: &str =
    "kind       homes  kills   hits  restarts  integrity  lost  doubled  other  hooks  late  slowest hook      took";

/// A line of the table.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let broken = |of: Broken| self.broken.get(&of).copied().unwrap_or(0);
        let named = [Broken::Integrity, Broken::Lost, Broken::Doubled, Broken::HookLate].map(broken);
        let [integrity, lost, doubled, late] = named;
        let other = self.broken.values().sum::<u64>() - named.iter().sum::<u64>();
        write!(
            f,
            "{:9}  {:5}  {:5}  {:5}  {:8}  {integrity:9}  {lost:4}  {doubled:7}  {other:5}  {:5}  {late:4}  {:9.1} ms  {:6.0} s",
            self.kind.name(),
            self.homes,
            self.kills,
            self.hits,
            self.restarts,
            self.hooks.len(),
            Spread::from(self.hooks.clone()).millis(1.0),
            self.took.as_secs_f64(),
        )
    }
}
