//! Qwen Code: Claude Code's events and output.

use super::{Act, Host, claude_code};

pub(super) const HOST: Host = Host {
    id: "qwen-code",
    events: &[
        ("UserPromptSubmit", Act::Recall),
        ("SessionStart", Act::Start(&["compact", "resume"])),
        ("Stop", Act::Changed),
    ],
    output: claude_code::specific,
};
