//! What runs: the daemon, and the command line that asks it.
//!
//! The path of a transcript line: `watch` (hint) → `scan` (what is new) → `source_file` (bytes to turns, by the processor)
//! → `ingest_task` → `store` (one transaction) → `backlog_task` → `embedder` → `store`; and of what was shown before,
//! `feedback` counts what the line shows to have been used.
//!
//! The path of a prompt: `server` → `operations` → `recall_task` (deadline) → `store`'s reader with the processor's recall,
//! and `embedder` beside it → `files` (the recollection file) → reply.

mod backlog_task;
mod cli;
mod clock;
pub mod config;
mod control;
mod conversations;
mod daemon;
mod embedder;
mod eval;
mod feedback;
mod files;
mod guard;
mod ingest_task;
mod install;
mod logging;
mod operations;
mod politeness;
mod progress;
mod project;
mod recall_task;
mod reranker;
mod scan;
mod server;
mod single;
mod source_file;
mod status;
mod store;
mod threads;
mod watch;

pub use cli::main;
pub use daemon::{STOP, Setup, run};
