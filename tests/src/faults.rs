//! Daemons and commands killed at any moment, and whether what they leave is whole. See `docs/faults.md`.
//!
//! [`truth`] is what a harness knows must be, and [`check`] holds a home against it: both serve any harness that lets a daemon fail. [`pen`]
//! writes transcripts and tells the truth of them, [`hooks`] fires hooks by the clock. [`run()`] kills, by the [`Kind`]s of work that
//! there are.

pub mod check;
pub mod hooks;
mod kinds;
pub mod pen;
mod run;
mod strike;
mod tally;
pub mod truth;
pub mod world;

pub use kinds::Kind;
pub use run::{Plan, run};
pub use tally::{HEADER, Tally};
