//! The hook's place in each agent's own settings, and the daemon's in the user's service manager.
//!
//! The text of a file comes in, the edited text goes out, and a [`Change`] holds both until it is applied: `agents` plans the changes
//! of one agent, `servers` those of the MCP server, `service` those of the service; `json` (the status line by `json/status_line`, servers by `json/servers` and `toml/servers`) and `toml` edit, keeping every byte that is not ours; `entry` says what an
//! entry of ours looks like, `command` knows one again (by the `words` of a line) and mends it, `breach` tells what around it breaks a
//! promise; `reading` tells `doctor` what stands there; `settings_file` reads, judges and replaces files. Nothing here asks or prints.

mod agents;
mod breach;
mod command;
mod entry;
mod json;
mod reading;
mod servers;
mod service;
mod settings_file;
#[cfg(feature = "testing")]
pub(crate) mod testing;
mod text;
mod toml;
mod words;

pub(crate) use agents::{Wanted, install, status_line, status_line_command, uninstall};
pub(crate) use command::Command;
pub(crate) use entry::longer_limit;
pub(crate) use json::status_line::StatusLine;
pub(crate) use reading::{Registered, registered, values};
pub(crate) use servers::{ARGUMENT as SERVER_ARGUMENT, ServerPlace, Standing};
pub(crate) use service::{CommandLine, Service};
pub(crate) use settings_file::{Change, Refusal, SettingsFile, replace};
pub(crate) use words::quoted;
