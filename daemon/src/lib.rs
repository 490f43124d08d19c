//! What runs: the daemon, and the command line that asks it.
//!
//! The path of a transcript line: `watch` (hint) → `scan` (what is new) → `source_file` (bytes to turns, by the processor;
//! rows by way of `databases`)
//! → `ingest_task` → `store` (one transaction) → `backlog_task` → `embedder` → `store`; and of what was shown before,
//! `feedback` counts what the line shows to have been used.
//!
//! The path of a prompt: `server` → `operations` → `recall_task` (deadline) → `store`'s reader with the processor's recall,
//! and `embedder` beside it → `recollection_files` → reply. What has become of the files that are spoken of, `changes` finds out
//! beforehand.

mod backlog_task;
mod backups;
mod causes;
mod changes;
mod cli;
mod clock;
mod codes;
pub mod config;
mod control;
mod conversations;
mod counts;
mod daemon;
mod databases;
mod doctor;
mod drift;
mod embedder;
mod eval;
mod exclusions;
mod explanation;
mod feedback;
mod files;
mod forgotten;
mod git;
mod guarded;
mod health;
mod ingest_task;
mod install;
mod instructions;
mod logging;
mod mailbox;
mod mcp;
mod mending;
mod operations;
mod page;
mod page_task;
mod paths;
mod percentile;
mod plural;
mod politeness;
mod presence;
mod printable;
mod progress;
mod project;
mod reason;
mod recall_task;
mod recollection_files;
mod recovery;
mod redaction_task;
mod removals;
mod reranker;
mod restoring;
mod retention;
mod roots;
#[cfg(test)]
mod sample_rows;
mod scan;
mod server;
mod share;
mod single;
mod sizes;
mod socket;
mod source_file;
mod status;
mod store;
mod system;
#[cfg(feature = "testing")]
pub mod testing;
mod threads;
mod upkeep;
mod watch;
mod watchdog;
mod whose;

pub use cli::main;
pub use daemon::{STOP, Setup, run};
