//! Cline's messages by its source (`ExtensionMessage`, 2024 to 2026); no task was seen. Only what is read is named. Every
//! field may be absent or of another type.

use crate::ingest::lenient::{Flag, Text, wire_struct};

wire_struct! {
    /// A message, as the person saw it.
    Message {
        /// Epoch milliseconds.
        "ts" => time: Text<'a>,
        /// What it is, where it says something; else where it asks.
        "say" => say: Text<'a>,
        "ask" => ask: Text<'a>,
        "text" => text: Text<'a>,
        "partial" => is_partial: Flag,
    }
}

impl Message<'_> {
    /// What it is.
    pub(super) fn kind(&self) -> &str {
        self.say.filled().unwrap_or(self.ask.as_str())
    }
}

wire_struct! {
    /// What the agent answers or asks, where its text is JSON.
    Reply {
        "response" => response: Text<'a>,
        "question" => question: Text<'a>,
    }
}

impl Reply<'_> {
    /// What it says.
    pub(super) fn text(&self) -> Option<&str> {
        self.response.filled().or(self.question.filled())
    }
}

wire_struct! {
    /// A call of a tool, besides its arguments.
    ToolUse {
        "tool" => tool: Text<'a>,
        /// Of an MCP server's tool.
        "toolName" => tool_name: Text<'a>,
    }
}

impl ToolUse<'_> {
    /// The tool's name.
    pub(super) fn name(&self) -> &str {
        self.tool.filled().unwrap_or(self.tool_name.as_str())
    }
}

wire_struct! {
    /// What the list of tasks says of one.
    HistoryItem {
        "id" => id: Text<'a>,
        "cwdOnTaskInitialization" => cwd: Text<'a>,
    }
}
