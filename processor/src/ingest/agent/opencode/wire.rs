//! `OpenCode`'s files and rows as it writes them (seen: files of 0.1 and 1.3; rows by its source, 1.2 to 2.0). Only what is read
//! is named. Every field may be absent or of another type.

use std::borrow::Cow;

use crate::ingest::lenient::{Flag, List, Prose, Text, wire_struct};
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
        /// From 2.x on: `user`, `assistant`, `compaction`, …
        "type" => kind: Text<'a>,
        /// From 2.x on: all of it.
        "data" => data: Whole<'a>,
    }
}

impl Message<'_> {
    /// When it was, as written.
    pub(super) fn written(&self) -> &str {
        self.time.created.filled().unwrap_or(self.data.time.created.as_str())
    }
}

wire_struct! {
    /// A message that holds all of it.
    Whole {
        "time" => time: Time<'a>,
        "text" => text: Text<'a>,
        "content" => content: List<Item<'a>>,
        /// Of a compaction: `running`, `completed`, `failed`.
        "status" => status: Text<'a>,
        "summary" => summary: Text<'a>,
        "location" => location: Location<'a>,
    }
}

wire_struct! {
    /// Where a session goes on.
    Location {
        "directory" => directory: Text<'a>,
    }
}

wire_struct! {
    /// A piece of what the agent said and did.
    Item {
        /// `text`, `reasoning`, `tool`.
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "state" => state: Outcome<'a>,
    }
}

wire_struct! {
    /// How a call stands.
    Outcome {
        /// `streaming`, `running`, `completed`, `error`.
        "status" => status: Text<'a>,
        "input" => input: Arguments<'a>,
        "content" => content: Prose<'a>,
        "error" => error: Failure<'a>,
        "metadata" => metadata: Metadata<'a>,
    }
}

wire_struct! {
    /// Why a call failed.
    Failure {
        "message" => message: Text<'a>,
    }
}

impl Outcome<'_> {
    /// Whether there is a result.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "error")
    }

    pub(super) fn failed(&self) -> bool {
        self.status.as_str() == "error" || self.metadata.tells_failure()
    }

    /// What the tool said.
    pub(super) fn told(&self) -> Cow<'_, str> {
        let content = self.content.joined();
        if content.is_empty() {
            Cow::Borrowed(self.error.message.as_str())
        } else {
            content
        }
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

impl Metadata<'_> {
    /// Whether a program ended with another code than 0.
    fn tells_failure(&self) -> bool {
        !matches!(self.exit_code.as_str(), "" | "0")
    }
}

impl State<'_> {
    /// Whether there is a result.
    pub(super) fn is_settled(&self) -> bool {
        !matches!(self.status.as_str(), "pending" | "running")
    }

    pub(super) fn failed(&self) -> bool {
        self.status.as_str() == "error" || self.metadata.tells_failure()
    }

    /// What the tool said.
    pub(super) fn told(&self) -> &str {
        self.error.filled().unwrap_or(self.output.as_str())
    }
}
