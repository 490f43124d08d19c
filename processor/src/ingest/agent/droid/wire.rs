//! Factory Droid's records as it writes them, in its session store (seen: 0.81 and its SDK's schema) and as `droid exec` streams
//! them. Only what is read is named. Every field may be absent or of another type.

use crate::ingest::blocks::Blocks;
use crate::ingest::lenient::{Flag, Text, TextOr, wire_struct};
use crate::ingest::tool::Arguments;

wire_struct! {
    /// One line of either.
    Record {
        "type" => kind: Text<'a>,
        /// Of a `session_start`, the session's.
        "id" => id: Text<'a>,
        /// ISO 8601; in a stream also epoch milliseconds.
        "timestamp" => timestamp: Text<'a>,
        "cwd" => cwd: Text<'a>,
        /// The first prompt, until `sessionTitle` names it.
        "title" => first_title: Text<'a>,
        "sessionTitle" => title: Text<'a>,
        /// The session that began this one as its subagent.
        "callingSessionId" => calling_session: Text<'a>,
        "message" => message: Message<'a>,
        /// Of a `compaction_state`.
        "summaryText" => summary: Text<'a>,
        /// From here on: of a stream.
        "sessionId" => session_id: Text<'a>,
        "session_id" => session_id_snake: Text<'a>,
        "role" => role: Text<'a>,
        "text" => text: Text<'a>,
        "toolCallId" => call_id: Text<'a>,
        "toolName" => tool: Text<'a>,
        "parameters" => parameters: Arguments<'a>,
        "isError" => is_error: Flag,
        "value" => value: TextOr<'a, Output<'a>>,
        "finalText" => final_text: Text<'a>,
    }
}

impl Record<'_> {
    /// The session that a streamed record names.
    pub(super) fn session(&self) -> &str {
        self.session_id.filled().unwrap_or(self.session_id_snake.as_str())
    }

    /// The id that a streamed call and its result share.
    pub(super) fn call(&self) -> &str {
        self.call_id.filled().unwrap_or(self.id.as_str())
    }
}

wire_struct! {
    /// What was said and done.
    Message {
        "role" => role: Text<'a>,
        "content" => content: Blocks<'a>,
        /// `llm_only` or `user_only`, where it is not for both.
        "visibility" => visibility: Text<'a>,
        /// `automation`, where no person wrote it.
        "userMessageSource" => source: Text<'a>,
        /// Of what a hook did.
        "hookEventName" => hook: Text<'a>,
    }
}

wire_struct! {
    /// What a shell gave.
    Output {
        "stdout" => stdout: Text<'a>,
        "stderr" => stderr: Text<'a>,
        "exitCode" => exit_code: Text<'a>,
    }
}
