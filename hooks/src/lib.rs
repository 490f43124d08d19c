//! What an editor runs for every prompt, and the wire between it and the daemon.
//!
//! The binary `remembrancer-hook` is a thin `main` around [`run_hook`]. A prompt passes through the modules in this order:
//!
//! 1. `hook` reads the monotonic clock, starts the worker and waits for it no longer than the deadline;
//! 2. `arguments` and `environment` say for which agent, with which budget, and where things are;
//! 3. `payload` turns the host's JSON on stdin into a prompt, or into nothing;
//! 4. [`recollection_file`] takes away the file of the session's previous prompt;
//! 5. `client` asks the daemon in the words of [`protocol`] at the sockets that [`places`] names;
//! 6. `output` writes the one JSON object that the host expects, or nothing.
//!
//! [`run_status_line`] is what an editor runs for the line below its prompt; it goes the same way.
//!
//! The daemon uses [`protocol`], [`places`], [`clock`], [`recollection_file`], [`backoff`] and [`guarded`] from the other side, and its command
//! line uses [`Client`]. This crate links neither tokio nor SQLite nor candle, and it never starts a daemon.

mod hook;

mod agent;
mod arguments;
pub mod backoff;
mod client;
pub mod clock;
mod digest;
mod environment;
pub mod guarded;
mod output;
mod payload;
pub mod places;
pub mod protocol;
pub mod recollection_file;
mod status_line;
mod system;
#[cfg(feature = "testing")]
pub mod testing;

pub use agent::{Agent, CommandForm, Firing, HostSide, OffSwitch, PluginSign, Registration, TimeLimit};
pub use client::{Client, ClientError, WaitingFor};
pub use digest::hex;
pub use environment::Environment;
pub use hook::{answer, run_hook};
pub use output::MAX_CONTEXT_CHARS;
pub use status_line::{STATUS_LINE_BUDGET, run_status_line, status_line};

/// The version of this library, of the hook and of the daemon, which are released together.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
