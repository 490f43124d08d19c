//! The whole system: the real binaries, each test in a home of its own. A file a topic; see `sandbox!` for the homes.
//!
//! Nothing here sleeps: a test waits for what it expects, and gives up when [`PATIENCE`] ends. Times that are asserted are
//! those of the design with room for a busy machine; the measured ones are printed.

#![expect(clippy::unwrap_used, reason = "the helpers of these tests are tests, too")]
#![expect(clippy::print_stderr, reason = "a test prints what it measured, or why it is skipped")]

mod access;
mod agents;
mod archives;
mod as_transcripts;
mod audit;
mod backups;
mod bad_input;
mod book;
mod browsing;
mod budget;
mod cli;
mod commands;
mod config;
mod damage;
mod databases;
mod deleted_and_rewritten;
mod disk_full;
mod doctor;
mod doctor_fix;
mod elsewhere;
mod eval;
mod explain;
mod export;
mod faults;
mod feedback;
mod first_run;
mod fork;
mod hook;
mod hosts;
mod import;
mod injected;
mod install;
mod instruct;
mod json;
mod kill;
mod leaks;
mod line_to_recollection;
mod logs;
mod mcp;
mod mcp_lines;
mod opencode;
mod packages;
mod packaging;
mod page;
mod page_asked;
mod page_guard;
mod privacy;
mod real_transcripts;
mod redaction;
mod restart;
mod retention;
mod self_echo;
mod service;
mod session_rules;
mod share;
mod shutdown;
mod soak;
mod statusline;
mod steer;
mod steering;
mod still_true;
mod stuck;
mod subagents;
mod tailing;
mod untrusted;

use std::time::Duration;

/// How long a test waits for what must happen: far longer than it takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Times are asserted at this many times what the design promises, since test machines are busy.
const LENIENCY: u32 = 3;

#[test]
fn no_file_is_forgotten() {
    let modules = include_str!("main.rs");
    for entry in fs_err::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/e2e")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            name == "main" || modules.contains(&format!("mod {name};\n")),
            "{} is not part of any test",
            path.display()
        );
    }
}
