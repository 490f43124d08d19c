//! Goose's records by its source (1.0 on); no session was seen. Only what is read is named. Every field may be absent or
//! of another type.

use crate::ingest::lenient::{Flag, List, Present, Prose, Text, wire_struct};
use crate::ingest::tool::Arguments;

wire_struct! {
    /// One line: the session's metadata, or a message.
    Record {
        "working_dir" => working_dir: Text<'a>,
        "description" => description: Text<'a>,
        "message_count" => message_count: Present,
        /// In the database: `user`, `scheduled`, `sub_agent`, `hidden`, …
        "session_type" => session_type: Text<'a>,
        /// In the database, of a subagent.
        "parent_session_id" => parent_session: Text<'a>,
        "role" => role: Text<'a>,
        /// Epoch seconds.
        "created" => created: Text<'a>,
        "content" => content: List<Block<'a>>,
        "metadata" => metadata: Metadata<'a>,
    }
}

impl Record<'_> {
    /// Whether it is the session's metadata.
    pub(super) fn is_metadata(&self) -> bool {
        self.message_count.0 || self.working_dir.filled().is_some()
    }
}

wire_struct! {
    /// To whom a message is shown: to all where nothing is said.
    Metadata {
        "userVisible" => user_visible: Flag,
        "agentVisible" => agent_visible: Flag,
    }
}

impl Metadata<'_> {
    /// Whether only the agent is shown it.
    pub(super) fn is_hidden(&self) -> bool {
        self.agent_visible.0 && !self.user_visible.0
    }
}

wire_struct! {
    /// A piece of a message.
    Block {
        /// `text`, `thinking`, `toolRequest`, `toolResponse`, …
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "id" => id: Text<'a>,
        "toolCall" => tool_call: Called<'a>,
        "toolResult" => tool_result: Given<'a>,
    }
}

wire_struct! {
    /// A call, where it could be read.
    Called {
        "value" => value: Call<'a>,
    }
}

wire_struct! {
    /// What is called.
    Call {
        "name" => name: Text<'a>,
        "arguments" => arguments: Arguments<'a>,
    }
}

wire_struct! {
    /// What a tool gave.
    Given {
        /// `success` or `error`.
        "status" => status: Text<'a>,
        "error" => error: Text<'a>,
        "value" => value: List<Outcome<'a>>,
    }
}

wire_struct! {
    /// A piece of a result, or a whole one with its pieces.
    Outcome {
        "text" => text: Text<'a>,
        "content" => content: Prose<'a>,
        "isError" => is_error: Flag,
    }
}

impl Outcome<'_> {
    /// Its texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.text.filled().into_iter().chain(self.content.texts())
    }
}
