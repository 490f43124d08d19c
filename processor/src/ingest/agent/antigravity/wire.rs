//! Antigravity's steps as it writes them (seen: mid-2026). Only what is read is named. Every field may be absent or of another
//! type.

use crate::ingest::lenient::{List, Text, wire_struct};
use crate::ingest::tool::Arguments;

wire_struct! {
    /// One line.
    Step {
        "step_index" => index: Text<'a>,
        /// `USER_EXPLICIT`, `MODEL`, `SYSTEM`.
        "source" => source: Text<'a>,
        /// `USER_INPUT`, `PLANNER_RESPONSE`, or what a tool gave.
        "type" => kind: Text<'a>,
        /// `DONE`, `ERROR`.
        "status" => status: Text<'a>,
        /// ISO 8601.
        "created_at" => created_at: Text<'a>,
        "content" => content: Text<'a>,
        "tool_calls" => calls: List<ToolCall<'a>>,
        "exit_code" => exit_code: Text<'a>,
        "error" => error: Text<'a>,
    }
}

wire_struct! {
    /// A call of a tool.
    ToolCall {
        "name" => name: Text<'a>,
        "args" => arguments: Quoted<'a>,
    }
}

wire_struct! {
    /// A call's arguments: each is JSON in a string.
    Quoted {
        "TargetFile" => target_file: Text<'a>,
        "AbsolutePath" => absolute_path: Text<'a>,
        "CommandLine" => command: Text<'a>,
    }
}

impl Quoted<'_> {
    /// The arguments by the names that all agents have.
    pub(super) fn plain(&self) -> Arguments<'_> {
        Arguments {
            target_file: plain(&self.target_file),
            absolute_path: plain(&self.absolute_path),
            command: serde_json::from_str(self.command.as_str()).unwrap_or_default(),
            ..Arguments::default()
        }
    }
}

/// A string in a string; one that is none is taken as it stands.
fn plain<'a>(quoted: &'a Text<'_>) -> Text<'a> {
    serde_json::from_str(quoted.as_str()).unwrap_or_else(|_| Text(quoted.0.as_deref().map(Into::into)))
}

wire_struct! {
    /// A line of the history of prompts.
    Prompted {
        "conversationId" => conversation: Text<'a>,
        "workspace" => workspace: Text<'a>,
    }
}
