//! Gemini CLI: Claude Code's output under names of its own. What is added before the agent begins counts for that turn alone.

use super::{Act, CommandForm, Host, Registration, claude_code};

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
};
