//! Codex's records as it writes them (seen: 0.30 to 0.146). Only what is read is named. Every field may be absent or of another
//! type.

use crate::ingest::lenient::{Present, Prose, Text, wire_struct};

wire_struct! {
    /// One line.
    Record {
        /// ISO 8601.
        "timestamp" => timestamp: Text<'a>,
        /// In place of `timestamp`, once.
        "created_at" => created_at: Text<'a>,
        "type" => kind: Text<'a>,
        "payload" => payload: Payload<'a>,
        /// From here on: of records without an envelope.
        "id" => id: Text<'a>,
        "role" => role: Text<'a>,
        "content" => content: Prose<'a>,
        "message" => message: Prose<'a>,
        "name" => name: Text<'a>,
        "function" => function: Function<'a>,
        "arguments" => arguments: Text<'a>,
        "call_id" => call_id: Text<'a>,
    }
}

impl Record<'_> {
    /// Its time as written.
    pub(super) fn time(&self) -> &str {
        self.timestamp.filled().unwrap_or(self.created_at.as_str())
    }

    /// The tool that a bare record calls.
    pub(super) fn tool(&self) -> &str {
        self.name.filled().unwrap_or(self.function.name.as_str())
    }
}

wire_struct! {
    /// The function of a bare call.
    Function {
        "name" => name: Text<'a>,
    }
}

wire_struct! {
    /// What an envelope holds: a beginning, a context, an item, an event.
    Payload {
        "type" => kind: Text<'a>,
        "id" => id: Text<'a>,
        "cwd" => cwd: Text<'a>,
        "cli_version" => cli_version: Text<'a>,
        "git" => git: Git<'a>,
        /// `cli`, `vscode`, `exec`, or an object that tells of a subagent.
        "source" => source: Source<'a>,
        "role" => role: Text<'a>,
        "content" => content: Prose<'a>,
        "message" => message: Prose<'a>,
        "last_agent_message" => last_agent_message: Text<'a>,
        "name" => name: Text<'a>,
        /// JSON in a string.
        "arguments" => arguments: Text<'a>,
        "input" => input: Text<'a>,
        "action" => action: Action<'a>,
        "call_id" => call_id: Text<'a>,
        "output" => output: Prose<'a>,
        "thread_name" => thread_name: Text<'a>,
        "item" => completed: Completed<'a>,
    }
}

wire_struct! {
    /// Where the folder stands in git.
    Git {
        "branch" => branch: Text<'a>,
    }
}

wire_struct! {
    /// What a `local_shell_call` does.
    Action {
        "command" => command: Prose<'a>,
    }
}

wire_struct! {
    /// An item of the paginated history.
    Completed {
        /// `UserMessage`, `AgentMessage`, `Plan`, …
        "type" => kind: Text<'a>,
        "content" => content: Prose<'a>,
        "text" => text: Text<'a>,
    }
}

wire_struct! {
    /// Who began a session, where it is an object.
    Source {
        "subagent" => subagent: Present,
    }
}

wire_struct! {
    /// What a tool gave, where its output is JSON in a string.
    Wrapped {
        "output" => output: Text<'a>,
        "metadata" => metadata: Metadata<'a>,
    }
}

wire_struct! {
    /// What is told of an output.
    Metadata {
        "exit_code" => exit_code: Text<'a>,
    }
}
