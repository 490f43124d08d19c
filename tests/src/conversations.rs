//! Judged conversations played through the real path: what counts is what the user would be shown.
//!
//! In: a judged set of conversations. [`History`] makes sessions of turns and questions of it, [`write`] puts the sessions
//! as transcripts into a home, [`Play`] asks through the real hook and tells which turns were shown, and [`Scores`] counts.
//! Nothing here ranks, and nothing here knows how recall works. See docs/quality.md.

mod history;
mod noise;
mod play;
mod report;
mod sample;
mod score;

pub use history::{History, Question, Session, Turn};
pub use noise::noise;
pub use play::{Play, write};
pub use report::Report;
pub use score::{Scores, Share, Shown, Verdict};
