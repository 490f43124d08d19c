//! Codex: Claude Code's events and output. It runs a hook only after its user has trusted it.

use std::time::Duration;

use super::{
    Act, CommandForm, Host, HostSide, Limits, MachineText, OffSwitch, PluginSign, Registration, Room, TimeLimit, claude_code,
    host_side,
};

pub(super) const HOST: Host = Host {
    id: "codex",
    events: &[
        ("UserPromptSubmit", Act::Recall),
        ("SessionStart", Act::Start(&["compact", "resume"])),
        ("Stop", Act::Changed),
        ("PostCompact", Act::Changed),
    ],
    machine_text: MachineText {
        starts: &[
            "<environment_context>",
            "<user_instructions>",
            "<INSTRUCTIONS>",
            "<turn_aborted>",
            "<recommended_plugins>",
            "<permissions instructions>",
            "<collaboration_mode>",
            "<skill>",
            "<user_shell_command>",
            "<subagent_notification>",
            "# AGENTS.md instructions",
        ],
        elements: &[],
    },
    limits: Limits {
        room: Room::Tokens(2_500),
        patience: Some(Duration::from_mins(10)),
    },
    output: claude_code::specific,
    registration: Registration {
        name: "Codex",
        folder_variable: Some("CODEX_HOME"),
        folder: ".codex",
        file: "hooks.json",
        plugin: None,
        toml_file: Some("config.toml"),
        version: None,
        grouped: true,
        typed: true,
        command: CommandForm::Shell("command"),
        timeout: Some(TimeLimit {
            key: "timeout",
            count: 2,
            unit: Duration::from_secs(1),
        }),
        status_line: None,
        remark: Some(
            "at its next start Codex asks whether to trust the new hooks; it runs none of them before you have said yes",
        ),
    },
    running: HostSide {
        payload: |firing| {
            let members = [
                ("turn_id", firing.session.into()),
                ("model", "gpt".into()),
                ("permission_mode", "default".into()),
            ];
            host_side::common_and(firing, members)
        },
        context_at: claude_code::SPECIFIC_CONTEXT,
        off_switches: &[
            OffSwitch {
                file: "config.toml",
                path: &["features", "hooks"],
                off: false,
            },
            // Its name before hooks were on by default.
            OffSwitch {
                file: "config.toml",
                path: &["features", "codex_hooks"],
                off: false,
            },
        ],
        plugin: Some(PluginSign::Listed {
            file: "config.toml",
            key: "plugins",
        }),
        trusted_in: Some("config.toml"),
    },
};
