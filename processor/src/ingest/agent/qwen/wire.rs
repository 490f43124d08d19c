//! Qwen Code's records as it writes them (seen: 0.21). Only what is read is named. Every field may be absent or of another
//! type.

use super::super::gemini::wire::Response;
use crate::ingest::lenient::{Flag, List, Present, Text, wire_struct};
use crate::ingest::tool::Arguments;

wire_struct! {
    /// One line.
    Record {
        "uuid" => id: Text<'a>,
        "sessionId" => session: Text<'a>,
        /// ISO 8601.
        "timestamp" => timestamp: Text<'a>,
        /// `user`, `assistant`, `tool_result`, `system`.
        "type" => kind: Text<'a>,
        "subtype" => subtype: Text<'a>,
        "cwd" => cwd: Text<'a>,
        "version" => version: Text<'a>,
        "gitBranch" => git_branch: Text<'a>,
        /// Who a user message is from, where it says so: `real_user`, `goal_control`, …
        "provenance" => provenance: Text<'a>,
        /// The subagent that it belongs to.
        "agentId" => agent: Text<'a>,
        /// The record that it is a copy of.
        "forkedFrom" => forked_from: Present,
        "message" => message: Message<'a>,
        "systemPayload" => payload: Payload<'a>,
        "toolCallResult" => result: CallResult<'a>,
    }
}

wire_struct! {
    /// What is said, as the model is sent it.
    Message {
        "parts" => parts: List<Part<'a>>,
    }
}

impl Message<'_> {
    /// Its texts as one, each from a new line on.
    pub(super) fn text(&self) -> String {
        let parts = self.parts.0.iter().filter(|part| !part.thought.0);
        parts.filter_map(|part| part.text.filled()).collect::<Vec<_>>().join("\n")
    }
}

wire_struct! {
    /// A text, a thought, a call, or what came of one.
    Part {
        "text" => text: Text<'a>,
        "thought" => thought: Flag,
        "functionCall" => call: Call<'a>,
        "functionResponse" => result: Returned<'a>,
    }
}

wire_struct! {
    /// A call of a tool.
    Call {
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "args" => arguments: Arguments<'a>,
    }
}

wire_struct! {
    /// What a tool gave.
    Returned {
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "response" => response: Response<'a>,
    }
}

wire_struct! {
    /// What is told of a call's result.
    CallResult {
        /// `success`, `error`, `cancelled`.
        "status" => status: Text<'a>,
    }
}

wire_struct! {
    /// What the client notes beside a record.
    Payload {
        /// A prompt as the person sees it.
        "displayText" => display_text: Text<'a>,
        "customTitle" => custom_title: Text<'a>,
        /// What a compression left: it begins with the summary.
        "compressedHistory" => compressed: List<Message<'a>>,
    }
}

impl Payload<'_> {
    /// The summary that a compression left.
    pub(super) fn summary(&self) -> String {
        self.compressed.0.first().map(Message::text).unwrap_or_default()
    }
}
