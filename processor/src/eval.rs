//! What measures recall: judged sets of questions in, figures with their uncertainty out.
//!
//! [`dataset`] reads a set, [`exact`] makes a stratum of verbatim questions from its corpus, [`noise`] has prompts that no
//! memory answers; whoever asks those of a store hands the ranked lists to [`report`], which figures by [`metrics`] and
//! judges differences by [`statistics`]. Nothing here opens a store or ranks.

mod random;

pub mod dataset;
pub mod exact;
pub mod noise;
pub mod pasted;

pub mod metrics;
pub mod statistics;

pub mod report;
