//! Grok's records and its session's summary as it writes them (seen: of Grok 4.5's client). Only what is read is named. Every
//! field may be absent or of another type.

use crate::ingest::lenient::{List, Prose, Text, wire_struct};
use crate::ingest::tool::Given;

wire_struct! {
    /// One line.
    Record {
        "type" => kind: Text<'a>,
        /// A list of pieces of a user's, one text of an agent's and of a tool's.
        "content" => content: Prose<'a>,
        /// Why the client says something in the user's place; absent where it is the user.
        "synthetic_reason" => reason: Text<'a>,
        /// The prompt's number in its session.
        "prompt_index" => prompt_index: Text<'a>,
        "tool_calls" => calls: List<Call<'a>>,
        "tool_call_id" => call_id: Text<'a>,
    }
}

wire_struct! {
    /// A call of a tool.
    Call {
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        /// JSON in a string.
        "arguments" => arguments: Given<'a>,
    }
}

wire_struct! {
    /// What `summary.json` tells of a session.
    Summary {
        "info" => info: Info<'a>,
        "parent_session_id" => parent: Text<'a>,
        /// `subagent`, `subagent_fork`, …
        "session_kind" => kind: Text<'a>,
        "head_branch" => branch: Text<'a>,
    }
}

wire_struct! {
    /// What names a session.
    Info {
        "id" => id: Text<'a>,
        "cwd" => cwd: Text<'a>,
    }
}
