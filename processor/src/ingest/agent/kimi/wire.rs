//! Kimi's records as it writes them: of `Kimi Code` seen, of Kimi CLI's older logs by its documentation. Only what is read is
//! named. Every field may be absent or of another type.

use crate::ingest::lenient::{Flag, Prose, Text, wire_struct};
use crate::ingest::tool::Arguments;

wire_struct! {
    /// One line.
    Record {
        /// Empty in Kimi CLI's older logs.
        "type" => kind: Text<'a>,
        /// Epoch milliseconds.
        "time" => time: Text<'a>,
        /// Epoch seconds, of the older logs.
        "timestamp" => timestamp: Text<'a>,
        /// Of `turn.prompt` and `turn.steer`.
        "input" => input: Prose<'a>,
        "origin" => origin: Origin<'a>,
        "event" => event: Event<'a>,
        /// Of `context.apply_compaction`.
        "summary" => summary: Text<'a>,
        "message" => message: Enveloped<'a>,
    }
}

impl Record<'_> {
    /// Its time as written.
    pub(super) fn time(&self) -> &str {
        self.time.filled().unwrap_or(self.timestamp.as_str())
    }
}

wire_struct! {
    /// Who asks.
    Origin {
        /// `user`, `system_trigger`, …
        "kind" => kind: Text<'a>,
        "name" => name: Text<'a>,
    }
}

wire_struct! {
    /// What the agent's loop did.
    Event {
        "type" => kind: Text<'a>,
        "uuid" => uuid: Text<'a>,
        "part" => part: Part<'a>,
        "toolCallId" => tool_call_id: Text<'a>,
        "name" => name: Text<'a>,
        "args" => args: Arguments<'a>,
        "result" => result: Outcome<'a>,
    }
}

wire_struct! {
    /// A piece of a message.
    Part {
        /// `text`, `think`, …
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
    }
}

wire_struct! {
    /// What a tool gave.
    Outcome {
        "output" => output: Prose<'a>,
        "isError" => is_error: Flag,
    }
}

wire_struct! {
    /// A message of the older logs.
    Enveloped {
        "type" => kind: Text<'a>,
        "payload" => payload: Payload<'a>,
    }
}

wire_struct! {
    /// What an older message holds.
    Payload {
        "user_input" => user_input: Prose<'a>,
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "id" => id: Text<'a>,
        "function" => function: Function<'a>,
        "tool_call_id" => tool_call_id: Text<'a>,
        "return_value" => return_value: ReturnValue<'a>,
    }
}

wire_struct! {
    /// The function that an older call names.
    Function {
        "name" => name: Text<'a>,
        /// JSON in a string.
        "arguments" => arguments: Text<'a>,
    }
}

wire_struct! {
    /// What a tool gave in an older log.
    ReturnValue {
        "is_error" => is_error: Flag,
        "output" => output: Prose<'a>,
        "message" => message: Text<'a>,
    }
}

wire_struct! {
    /// What `state.json` says of a session.
    State {
        "workDir" => work_dir: Text<'a>,
        "cwd" => cwd: Text<'a>,
    }
}
