//! Gemini CLI: Claude Code's output under names of its own. What is added before the agent begins counts for that turn
//! alone, so that a session that goes on begins without any. Nothing tells that it was compressed.

use std::time::Duration;

use super::{
    Act, CommandForm, Host, HostSide, Limits, MachineText, OffSwitch, PluginSign, Registration, Room, TimeLimit, claude_code,
    host_side,
};

/// What it says in the user's place; Qwen Code, which began as a copy of it, says the same and more.
pub(super) const MACHINE_TEXT: MachineText = MachineText {
    starts: &[
        "<session_context>",
        "<hook_context>",
        "<state_snapshot>",
        "<task-notification>",
        "<qwen:",
        "I ran the following shell command:\n```sh",
        "System: Please continue.",
        "This is the Gemini CLI. We are setting up the context for our chat.",
        "This is the Qwen Code. We are setting up the context for our chat.",
    ],
    elements: &["system-reminder"],
};

pub(super) const HOST: Host = Host {
    id: "gemini-cli",
    events: &[
        ("BeforeAgent", Act::Recall),
        ("SessionStart", Act::Start(&["resume"])),
        ("AfterAgent", Act::Changed),
    ],
    machine_text: MACHINE_TEXT,
    limits: Limits {
        room: Room::Unknown,
        patience: Some(Duration::from_mins(1)),
    },
    output: claude_code::specific,
    registration: Registration {
        name: "Gemini CLI",
        folder_variable: None,
        folder: ".gemini",
        file: "settings.json",
        plugin: None,
        toml_file: None,
        version: None,
        grouped: true,
        typed: true,
        command: CommandForm::Shell("command"),
        timeout: Some(TimeLimit {
            key: "timeout",
            count: 2_000,
            unit: Duration::from_millis(1),
        }),
        status_line: None,
        remark: None,
    },
    running: HostSide {
        payload: |firing| host_side::common_and(firing, [("timestamp", "2026-01-01T00:00:00.000Z".into())]),
        context_at: claude_code::SPECIFIC_CONTEXT,
        off_switches: &[OffSwitch {
            file: "settings.json",
            path: &["hooksConfig", "enabled"],
            off: false,
        }],
        plugin: Some(PluginSign::Folder("extensions/remembrancer")),
        trusted_in: None,
    },
};
