//! Qwen Code: Claude Code's events and output. Its versions differ in the unit of a time limit (milliseconds, later seconds) and in
//! whether a handler has arguments, so an entry names no limit and is a line for a shell.

use std::time::Duration;

use super::gemini_cli::MACHINE_TEXT;
use super::{Act, CommandForm, Host, HostSide, Limits, OffSwitch, PluginSign, Registration, Room, claude_code, host_side};

pub(super) const HOST: Host = Host {
    id: "qwen-code",
    events: &[
        ("UserPromptSubmit", Act::Recall),
        ("SessionStart", Act::Start(&["compact", "resume"])),
        ("Stop", Act::Changed),
    ],
    machine_text: MACHINE_TEXT,
    limits: Limits {
        room: Room::Unknown,
        patience: Some(Duration::from_mins(1)),
    },
    output: claude_code::specific,
    registration: Registration {
        name: "Qwen Code",
        folder_variable: None,
        folder: ".qwen",
        file: "settings.json",
        plugin: None,
        toml_file: None,
        version: None,
        grouped: true,
        typed: true,
        command: CommandForm::Shell("command"),
        timeout: None,
        status_line: None,
        remark: None,
    },
    running: HostSide {
        payload: |firing| host_side::common_and(firing, [("timestamp", "2026-01-01T00:00:00.000Z".into())]),
        context_at: claude_code::SPECIFIC_CONTEXT,
        off_switches: &[
            OffSwitch {
                file: "settings.json",
                path: &["disableAllHooks"],
                off: true,
            },
            // Earlier versions have Gemini CLI's.
            OffSwitch {
                file: "settings.json",
                path: &["hooksConfig", "enabled"],
                off: false,
            },
        ],
        plugin: Some(PluginSign::Folder("extensions/remembrancer")),
        trusted_in: None,
    },
};
