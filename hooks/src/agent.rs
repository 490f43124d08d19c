//! The coding agents whose prompt hook this crate speaks. A name comes in, an [`Agent`] goes out.

/// A coding agent that runs the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// `OpenAI`'s Codex CLI, whose prompt hook has Claude Code's keys on stdin and on stdout.
    Codex,
}

impl Agent {
    /// Every agent, in the order in which `--help` names them.
    pub const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    /// The name on the command line, on the wire and in the recollection file's name.
    pub fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// Finds the agent with this [`id`](Self::id).
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_parses_to_its_agent() {
        for agent in Agent::ALL {
            assert_eq!(Agent::parse(agent.id()), Some(agent));
        }
        assert_eq!(Agent::parse("Claude-Code"), None);
    }
}
