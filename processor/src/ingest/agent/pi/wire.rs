//! Pi's records as it and `OpenClaw` write them (seen: version 3; 1 and 2 by the documentation). Only what is read is named.
//! Every field may be absent or of another type.

use crate::ingest::lenient::{Flag, List, Prose, Text, wire_struct};
use crate::ingest::tool::Arguments;

wire_struct! {
    /// One line.
    Record {
        "type" => kind: Text<'a>,
        /// Of a `session`: its id; else the record's, from version 2 on.
        "id" => id: Text<'a>,
        /// ISO 8601.
        "timestamp" => timestamp: Text<'a>,
        "cwd" => cwd: Text<'a>,
        "message" => message: Message<'a>,
        /// Of a `compaction`.
        "summary" => summary: Text<'a>,
        /// Of a `session_info`.
        "name" => name: Text<'a>,
    }
}

wire_struct! {
    /// What was said.
    Message {
        "role" => role: Text<'a>,
        "content" => content: List<Block<'a>>,
        /// Of a `toolResult`.
        "toolCallId" => tool_call_id: Text<'a>,
        "isError" => is_error: Flag,
        "details" => details: Details<'a>,
        /// Of a `bashExecution`.
        "command" => command: Prose<'a>,
        "output" => output: Text<'a>,
        "exitCode" => exit_code: Text<'a>,
        "excludeFromContext" => exclude_from_context: Flag,
    }
}

impl Message<'_> {
    /// Its texts as one.
    pub(super) fn text(&self) -> String {
        let texts = self
            .content
            .0
            .iter()
            .filter(|block| matches!(block.kind.as_str(), "" | "text"));
        texts.filter_map(|block| block.text.filled()).collect::<Vec<_>>().join("\n")
    }
}

wire_struct! {
    /// A piece of a message.
    Block {
        /// `text`, `thinking`, `toolCall`, `image`.
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "arguments" => arguments: Arguments<'a>,
    }
}

wire_struct! {
    /// What a tool tells of its result.
    Details {
        "exitCode" => exit_code: Text<'a>,
    }
}
