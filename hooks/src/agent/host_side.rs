//! What has to be known to play a host's part: what it writes on the hook's stdin, where on stdout it looks for a context, and what
//! of its own keeps it from running a hook. Facts alone; the daemon's `doctor` acts on them.

use serde_json::{Value, json};

/// How a host runs the hook, seen from the host.
pub struct HostSide {
    /// What it writes on stdin at an event.
    pub(crate) payload: fn(&Firing<'_>) -> Value,
    /// Where the context stands in the object on stdout: a JSON pointer.
    pub(crate) context_at: &'static str,
    /// Settings of its own by which it runs no hook of the user's.
    pub off_switches: &'static [OffSwitch],
    /// Where it shows that a plugin of ours is on.
    pub plugin: Option<PluginSign>,
    /// The file in TOML, below its folder, whose `[hooks.state]` says which hooks its user trusts; `None` where it asks nobody.
    pub trusted_in: Option<&'static str>,
}

/// One firing of the hook.
#[derive(Debug, Clone, Copy)]
pub struct Firing<'a> {
    /// The event, as the host names it.
    pub event: &'a str,
    /// The host's id of the conversation.
    pub session: &'a str,
    /// The working folder.
    pub cwd: &'a str,
    /// What was typed; no host tells it at a session's start.
    pub prompt: &'a str,
}

/// A setting by which a host runs no hook of the user's.
#[derive(Debug)]
pub struct OffSwitch {
    /// The file, in JSON or (by its name) TOML: below the host's folder, or an absolute path.
    pub file: &'static str,
    /// The keys that lead to the value.
    pub path: &'static [&'static str],
    /// The value at which hooks are off.
    pub off: bool,
}

/// Where a host shows that a plugin is on.
#[derive(Debug)]
pub enum PluginSign {
    /// In a file below its folder, a table at this key: of plugins by name, `NAME@MARKET`, each `true` or a table with `enabled`.
    Listed {
        /// The file, in JSON or (by its name) TOML.
        file: &'static str,
        /// The table's key.
        key: &'static str,
    },
    /// A folder below its own.
    Folder(&'static str),
}

/// What Claude Code and its kin write, with members of their own.
pub(super) fn common_and<const N: usize>(firing: &Firing<'_>, members: [(&str, Value); N]) -> Value {
    let mut payload = json!({
        "session_id": firing.session,
        "transcript_path": null,
        "cwd": firing.cwd,
        "hook_event_name": firing.event,
        "prompt": firing.prompt,
    });
    for (name, value) in members {
        payload[name] = value;
    }
    payload
}
