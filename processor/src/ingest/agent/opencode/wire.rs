//! `OpenCode`'s files as it writes them (seen: 0.1 and 1.3). Only what is read is named. Every field may be absent or of another
//! type.

use crate::ingest::lenient::{Flag, Text, wire_struct};
use crate::ingest::tool::Arguments;

wire_struct! {
    /// What a file calls itself, and to what it belongs.
    Ids {
        "id" => own: Text<'a>,
        "messageID" => message: Text<'a>,
    }
}

wire_struct! {
    /// A session.
    Session {
        "directory" => directory: Text<'a>,
        /// Of a subagent's session.
        "parentID" => parent_id: Text<'a>,
        "title" => title: Text<'a>,
        "time" => time: Time<'a>,
    }
}

wire_struct! {
    /// When something was.
    Time {
        /// Epoch milliseconds.
        "created" => created: Text<'a>,
    }
}

wire_struct! {
    /// A message.
    Message {
        "role" => role: Text<'a>,
        "time" => time: Time<'a>,
        /// `true` of what the agent made of the conversation before; else an object.
        "summary" => is_summary: Flag,
    }
}

wire_struct! {
    /// A part of a message.
    Part {
        /// `text`, `reasoning`, `tool`, `file`, …
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        /// The client's text in another's place.
        "synthetic" => is_synthetic: Flag,
        "ignored" => is_ignored: Flag,
        "callID" => call_id: Text<'a>,
        "tool" => tool: Text<'a>,
        "state" => state: State<'a>,
    }
}

impl Part<'_> {
    /// Whether it is what a person or the agent said.
    pub(super) fn is_said(&self) -> bool {
        self.kind.as_str() == "text" && !self.is_synthetic.0 && !self.is_ignored.0
    }
}

wire_struct! {
    /// How a call stands.
    State {
        /// `pending`, `running`, `completed`, `error`.
        "status" => status: Text<'a>,
        "input" => input: Arguments<'a>,
        "output" => output: Text<'a>,
        "error" => error: Text<'a>,
        "metadata" => metadata: Metadata<'a>,
    }
}

wire_struct! {
    /// What a tool tells of its result.
    Metadata {
        "exit" => exit_code: Text<'a>,
    }
}

impl State<'_> {
    /// Whether there is a result.
    pub(super) fn is_settled(&self) -> bool {
        !matches!(self.status.as_str(), "pending" | "running")
    }

    pub(super) fn failed(&self) -> bool {
        self.status.as_str() == "error" || !matches!(self.metadata.exit_code.as_str(), "" | "0")
    }

    /// What the tool said.
    pub(super) fn told(&self) -> &str {
        self.error.filled().unwrap_or(self.output.as_str())
    }
}
