//! Claude Code: its hooks, and the shape that Codex, Gemini CLI and Qwen Code have taken over from it.

use std::time::Duration;

use serde::Serialize;

use super::{
    Act, CommandForm, Host, HostSide, Limits, MachineText, OffSwitch, PluginSign, Registration, Room, TimeLimit, host_side,
};

/// After a compaction what was added before is gone from the context. Stop and compaction are when a turn has just been written.
pub(super) const HOST: Host = Host {
    id: "claude-code",
    events: &[
        ("UserPromptSubmit", Act::Recall),
        ("SessionStart", Act::Start(&["compact", "resume"])),
        ("Stop", Act::Changed),
        ("PostCompact", Act::Changed),
    ],
    machine_text: MachineText {
        starts: &[
            "<task-notification>",
            "<bash-notification>",
            "<agent-notification>",
            "<agent-message",
            "<teammate-message",
            "<cross-session-message",
            "Another Claude session sent a message:",
            "Stop hook feedback:",
            "Base directory for this skill:",
            "This session is being continued from a previous conversation",
        ],
        elements: &[
            "system-reminder",
            "local-command-caveat",
            "local-command-stdout",
            "local-command-stderr",
            "bash-input",
            "bash-stdout",
            "bash-stderr",
            "tick",
        ],
    },
    limits: Limits {
        room: Room::Characters(10_000),
        patience: Some(Duration::from_secs(30)),
    },
    output: specific,
    registration: Registration {
        name: "Claude Code",
        folder_variable: Some("CLAUDE_CONFIG_DIR"),
        folder: ".claude",
        file: "settings.json",
        plugin: None,
        toml_file: None,
        version: None,
        grouped: true,
        typed: true,
        command: CommandForm::Direct,
        timeout: Some(TimeLimit {
            key: "timeout",
            count: 2,
            unit: Duration::from_secs(1),
        }),
        status_line: Some("statusLine"),
        remark: None,
    },
    running: HostSide {
        payload: |firing| host_side::common_and(firing, [("permission_mode", "default".into())]),
        context_at: SPECIFIC_CONTEXT,
        off_switches: &[
            OffSwitch {
                file: "settings.json",
                path: &["disableAllHooks"],
                off: true,
            },
            OffSwitch {
                file: "/etc/claude-code/managed-settings.json",
                path: &["allowManagedHooksOnly"],
                off: true,
            },
            OffSwitch {
                file: "/Library/Application Support/ClaudeCode/managed-settings.json",
                path: &["allowManagedHooksOnly"],
                off: true,
            },
        ],
        plugin: Some(PluginSign::Listed {
            file: "settings.json",
            key: "enabledPlugins",
        }),
        trusted_in: None,
    },
};

/// Where [`specific`] puts the context.
pub(super) const SPECIFIC_CONTEXT: &str = "/hookSpecificOutput/additionalContext";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    hook_specific_output: HookSpecificOutput<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookSpecificOutput<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// `{"hookSpecificOutput":{"hookEventName":…,"additionalContext":…}}`, and not one key more: Codex refuses any other.
pub(super) fn specific(event: &str, context: &str) -> Option<String> {
    let output = Output {
        hook_specific_output: HookSpecificOutput {
            hook_event_name: event,
            additional_context: context,
        },
    };
    serde_json::to_string(&output).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn tc_22_exactly_one_object_with_two_keys() {
        let printed: Value = serde_json::from_str(&specific("UserPromptSubmit", "a \"quoted\"\nline").unwrap()).unwrap();
        assert_eq!(
            printed,
            json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "a \"quoted\"\nline"}})
        );
    }
}
