//! Copilot CLI's events as it writes them (seen: 0.0.420 to 1.0.77; names of later fields as its SDK documents them). Only what
//! is read is named. Every field may be absent or of another type.

use crate::ingest::lenient::{Flag, Prose, Text, wire_struct};
use crate::ingest::tool::Given;

wire_struct! {
    /// One line.
    Event {
        "type" => kind: Text<'a>,
        "id" => id: Text<'a>,
        /// ISO 8601.
        "timestamp" => timestamp: Text<'a>,
        /// The subagent that it comes from.
        "agentId" => agent_id: Text<'a>,
        "data" => data: Data<'a>,
    }
}

wire_struct! {
    /// What an event tells.
    Data {
        "sessionId" => session_id: Text<'a>,
        "copilotVersion" => version: Text<'a>,
        /// Of `session.start` and `session.resume`; `session.context_changed` has its fields itself.
        "context" => context: Place<'a>,
        "cwd" => cwd: Text<'a>,
        "branch" => branch: Text<'a>,
        "title" => title: Text<'a>,
        "content" => content: Text<'a>,
        /// Who speaks in the user's place; absent where it is the user.
        "source" => source: Text<'a>,
        "isAutopilotContinuation" => is_continuation: Flag,
        /// Of events of a subagent, before they had an `agentId`: the call that began it.
        "parentToolCallId" => parent_call: Text<'a>,
        "toolCallId" => call_id: Text<'a>,
        "toolName" => tool: Text<'a>,
        "arguments" => arguments: Given<'a>,
        "success" => success: Flag,
        "result" => result: Outcome<'a>,
        "error" => error: Failure<'a>,
        /// Of `session.task_complete`.
        "summary" => summary: Text<'a>,
        /// Of `session.compaction_complete`.
        "summaryContent" => compacted: Text<'a>,
    }
}

wire_struct! {
    /// Where a session works.
    Place {
        "cwd" => cwd: Text<'a>,
        "branch" => branch: Text<'a>,
    }
}

wire_struct! {
    /// What a tool gave.
    Outcome {
        "content" => content: Prose<'a>,
    }
}

wire_struct! {
    /// Why a tool gave nothing.
    Failure {
        "message" => message: Text<'a>,
    }
}
