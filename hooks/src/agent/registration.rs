//! How an agent's own settings are told to run the hook: which file, and what an entry in it looks like. Facts alone; the daemon's
//! `install` reads and writes the files.

use std::time::Duration;

/// How an agent's own settings are told to run the hook.
#[derive(Debug)]
pub struct Registration {
    /// The agent's name as people know it.
    pub name: &'static str,
    /// The variable that names the agent's folder, where it knows one.
    pub folder_variable: Option<&'static str>,
    /// The agent's folder otherwise, below the user's home.
    pub folder: &'static str,
    /// The file below the folder that is to hold the hooks: JSON, but for a `plugin`.
    pub file: &'static str,
    /// The text of `file` where it is a program of ours that the host loads, and no settings: it names the hook once, as
    /// `"remembrancer-hook"`.
    pub plugin: Option<&'static str>,
    /// A file in TOML below the folder that holds hooks as well; it is used where hooks stand in it and none in `file`.
    pub toml_file: Option<&'static str>,
    /// What `"version"` must be at the top of the file, where the host asks for one.
    pub version: Option<u32>,
    /// Whether the handlers of an event stand in groups, `{"matcher": …, "hooks": [handler]}`, or in the event's list itself.
    pub grouped: bool,
    /// Whether a handler says `"type": "command"`.
    pub typed: bool,
    /// How a handler names the command.
    pub command: CommandForm,
    /// A handler's time limit; `None` where the host's own stays.
    pub timeout: Option<TimeLimit>,
    /// The member of `file` that names the command of the host's status line, where it has one: `{"type": "command", "command": …}`.
    pub status_line: Option<&'static str>,
    /// What the user has to know or do after the hook was added.
    pub remark: Option<&'static str>,
}

/// How a handler names its time limit.
#[derive(Debug)]
pub struct TimeLimit {
    /// Its key.
    pub key: &'static str,
    /// The number at the key, in the host's unit.
    pub count: u32,
    /// The host's unit.
    pub unit: Duration,
}

impl TimeLimit {
    /// The time after which the host ends the hook.
    pub fn duration(&self) -> Duration {
        self.unit * self.count
    }
}

/// How a handler names its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandForm {
    /// `"command": program, "args": [arguments]`: the host starts the program itself.
    Direct,
    /// One line for a shell, under this key.
    Shell(&'static str),
}
