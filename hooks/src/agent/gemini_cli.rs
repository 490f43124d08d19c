//! Gemini CLI: Claude Code's output under names of its own. What is added before the agent begins counts for that turn alone.

use super::{Act, Host, claude_code};

pub(super) const HOST: Host = Host {
    id: "gemini-cli",
    events: &[("BeforeAgent", Act::Recall), ("AfterAgent", Act::Changed)],
    output: claude_code::specific,
};
