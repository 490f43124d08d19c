//! Hermes Agent's session logs as it writes them (seen: April 2026). Only what is read is named. Every field may be absent or
//! of another type.

use crate::ingest::lenient::{List, Prose, Text, wire_struct};

wire_struct! {
    /// A session.
    Session {
        "session_id" => id: Text<'a>,
        /// ISO 8601, often without an offset.
        "session_start" => start: Text<'a>,
        "cwd" => cwd: Text<'a>,
        "model_config" => model_config: ModelConfig<'a>,
        "messages" => messages: List<Message<'a>>,
    }
}

wire_struct! {
    /// How the model was set up.
    ModelConfig {
        "cwd" => cwd: Text<'a>,
    }
}

wire_struct! {
    /// A message, in the shape of `OpenAI`'s chats.
    Message {
        "role" => role: Text<'a>,
        "content" => content: Prose<'a>,
        "tool_calls" => tool_calls: List<ToolCall<'a>>,
        "tool_call_id" => tool_call_id: Text<'a>,
        "finish_reason" => finish_reason: Text<'a>,
    }
}

wire_struct! {
    /// A call of a tool.
    ToolCall {
        "id" => id: Text<'a>,
        "function" => function: Function<'a>,
    }
}

wire_struct! {
    /// What is called.
    Function {
        "name" => name: Text<'a>,
        /// JSON in a string.
        "arguments" => arguments: Text<'a>,
    }
}

wire_struct! {
    /// What a tool gave, where its content is JSON.
    Outcome {
        "output" => output: Text<'a>,
        "exit_code" => exit_code: Text<'a>,
        "error" => error: Text<'a>,
    }
}

impl Outcome<'_> {
    /// Whether it says that the tool failed.
    pub(super) fn failed(&self) -> bool {
        self.error.filled().is_some() || !matches!(self.exit_code.as_str(), "" | "0")
    }

    /// What it says of that.
    pub(super) fn told(&self) -> Option<&str> {
        self.error.filled().or(self.output.filled())
    }
}
