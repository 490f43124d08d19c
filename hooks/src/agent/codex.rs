//! Codex: Claude Code's events and output. It runs a hook only after its user has trusted it.

use super::{Act, Host, claude_code};

pub(super) const HOST: Host = Host {
    id: "codex",
    events: &[
        ("UserPromptSubmit", Act::Recall),
        ("SessionStart", Act::Start(&["compact", "resume"])),
        ("Stop", Act::Changed),
        ("PostCompact", Act::Changed),
    ],
    output: claude_code::specific,
};
