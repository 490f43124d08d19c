//! Codex: Claude Code's events and output. It runs a hook only after its user has trusted it.

use super::{Act, CommandForm, Host, Registration, claude_code};

pub(super) const HOST: Host = Host {
    id: "codex",
    events: &[
        ("UserPromptSubmit", Act::Recall),
        ("SessionStart", Act::Start(&["compact", "resume"])),
        ("Stop", Act::Changed),
        ("PostCompact", Act::Changed),
    ],
    output: claude_code::specific,
    registration: Registration {
        name: "Codex",
        folder_variable: Some("CODEX_HOME"),
        folder: ".codex",
        file: "hooks.json",
        toml_file: Some("config.toml"),
        version: None,
        grouped: true,
        typed: true,
        command: CommandForm::Shell("command"),
        timeout: Some(("timeout", 2)),
        remark: Some(
            "at its next start Codex asks whether to trust the new hooks; it runs none of them before you have said yes",
        ),
    },
};
