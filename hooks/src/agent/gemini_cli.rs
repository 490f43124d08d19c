//! Gemini CLI: Claude Code's output under names of its own. What is added before the agent begins counts for that turn alone.

use super::{Act, CommandForm, Host, HostSide, OffSwitch, PluginSign, Registration, claude_code, host_side};

pub(super) const HOST: Host = Host {
    id: "gemini-cli",
    events: &[("BeforeAgent", Act::Recall), ("AfterAgent", Act::Changed)],
    output: claude_code::specific,
    registration: Registration {
        name: "Gemini CLI",
        folder_variable: None,
        folder: ".gemini",
        file: "settings.json",
        toml_file: None,
        version: None,
        grouped: true,
        typed: true,
        command: CommandForm::Shell("command"),
        timeout: Some(("timeout", 2000)),
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
