//! The evaluation bench: judged sets through the real code path, every profile and every single leg, held against the first.
//!
//! In go folders of judged sets, out come measurements for [`remembrancer_processor::eval::report`]. A set is ingested and
//! embedded into a store that is thrown away, and asked as the daemon would be. The same sets, profiles and seed give the
//! same figures.

mod asker;
mod documents;
mod error;
mod measure;
mod store;
mod sweep;
mod vectors;

pub(crate) use asker::{Asked, Models};
pub(crate) use error::EvalError;
pub(crate) use measure::{Bench, Ways};
pub(crate) use sweep::Swept;
pub(crate) use vectors::Vectors;
