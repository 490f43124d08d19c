//! The agents whose transcripts we read, and the parser of each. One name here is one folder below.

pub(crate) mod claude_code;

/// A coding agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    /// Anthropic's Claude Code: `<config>/projects/<project>/<session>.jsonl`.
    ClaudeCode,
}

impl Agent {
    /// Every agent.
    pub const ALL: &[Self] = &[Self::ClaudeCode];

    /// The id that rows and file names carry.
    pub fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
        }
    }

    /// The agent with this id.
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|agent| agent.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_back_and_forth() {
        for agent in Agent::ALL {
            assert_eq!(Agent::parse(agent.id()), Some(*agent));
        }
        assert_eq!(Agent::parse("ed"), None);
    }
}
