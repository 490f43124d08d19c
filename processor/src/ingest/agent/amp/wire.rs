//! Amp's threads as public readers of them document them; no thread was seen. Only what is read is named. Every field may be
//! absent or of another type.

use crate::ingest::lenient::{List, Text, wire_struct};
use crate::ingest::tool::Arguments;

wire_struct! {
    /// A thread.
    Thread {
        "id" => id: Text<'a>,
        /// Epoch milliseconds.
        "created" => created: Text<'a>,
        "title" => title: Text<'a>,
        "env" => environment: Environments<'a>,
        "messages" => messages: List<Message<'a>>,
    }
}

wire_struct! {
    /// Where a thread ran.
    Environments {
        "initial" => initial: Environment<'a>,
    }
}

wire_struct! {
    /// Where it began.
    Environment {
        "cwd" => cwd: Text<'a>,
        "trees" => trees: List<Tree<'a>>,
    }
}

wire_struct! {
    /// An open folder.
    Tree {
        "uri" => uri: Text<'a>,
        "repository" => repository: Repository<'a>,
    }
}

wire_struct! {
    /// Where a folder stands in git.
    Repository {
        "ref" => reference: Text<'a>,
    }
}

wire_struct! {
    /// A message.
    Message {
        "role" => role: Text<'a>,
        /// Its number in the thread.
        "messageId" => number: Text<'a>,
        "content" => content: List<Block<'a>>,
        "meta" => meta: Meta<'a>,
    }
}

wire_struct! {
    /// What is told of a person's message.
    Meta {
        /// Epoch milliseconds.
        "sentAt" => sent_at: Text<'a>,
    }
}

wire_struct! {
    /// A piece of a message.
    Block {
        /// `text`, `thinking`, `tool_use`, `tool_result`, …
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "input" => input: Arguments<'a>,
        "toolUseID" => tool_use_id: Text<'a>,
        "run" => run: Run<'a>,
    }
}

impl Block<'_> {
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind.as_str(), "" | "text")
    }
}

wire_struct! {
    /// How a tool ran.
    Run {
        /// `done`, `error`, `cancelled`, `rejected-by-user`.
        "status" => status: Text<'a>,
        "result" => result: List<Outcome<'a>>,
        "error" => error: List<Failure<'a>>,
    }
}

wire_struct! {
    /// What a tool gave; a string is its text.
    Outcome {
        "text" => text: Text<'a>,
        "output" => output: Text<'a>,
        "exitCode" => exit_code: Text<'a>,
    }
}

wire_struct! {
    /// Why a tool failed; a string is its text.
    Failure {
        "text" => text: Text<'a>,
        "message" => message: Text<'a>,
    }
}
