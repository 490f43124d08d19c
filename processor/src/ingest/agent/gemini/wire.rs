//! Gemini CLI's records as it writes them (seen: early 2026, as documents, and 0.40, as lines). Only what is read is named.
//! Every field may be absent or of another type.

use std::borrow::Cow;

use crate::ingest::lenient::{List, Present, Prose, Text, wire_struct};
use crate::ingest::tool::Arguments;

wire_struct! {
    /// A document, a line, or a message of a document: what they hold differs, not what a field means.
    Record {
        "sessionId" => session: Text<'a>,
        /// `main`, `subagent`; of documents `chat`.
        "kind" => kind: Text<'a>,
        "summary" => summary: Text<'a>,
        "messages" => messages: List<Record<'a>>,
        /// In place of `messages`, once.
        "history" => history: List<Record<'a>>,
        /// What changes of the metadata.
        "$set" => change: Option<Change<'a>>,
        /// The message that is taken back, with all after it.
        "$rewindTo" => rewind: Present,
        /// From here on: of messages.
        "id" => id: Text<'a>,
        /// ISO 8601.
        "timestamp" => timestamp: Text<'a>,
        /// In place of `timestamp`, once: epoch seconds.
        "ts" => ts: Text<'a>,
        /// `user`, `gemini`, `info`, …
        "type" => of: Text<'a>,
        /// In place of `type`, once.
        "role" => role: Text<'a>,
        "content" => content: Prose<'a>,
        /// In place of `content`, once.
        "parts" => parts: Prose<'a>,
        /// What the person sees of `content`.
        "displayContent" => display: Prose<'a>,
        "toolCalls" => calls: List<ToolCall<'a>>,
    }
}

impl Record<'_> {
    /// Its time as written.
    pub(super) fn time(&self) -> &str {
        self.timestamp.filled().unwrap_or(self.ts.as_str())
    }

    /// Who speaks; empty where it is no message.
    pub(super) fn role(&self) -> &str {
        self.of.filled().unwrap_or(self.role.as_str())
    }

    /// Whether it is of the chat, and no message in it.
    pub(super) fn is_metadata(&self) -> bool {
        let tells = self.change.is_some() || self.rewind.0 || self.session.filled().is_some();
        self.role().is_empty() && (tells || !self.messages.0.is_empty() || !self.history.0.is_empty())
    }

    /// What it says to the model.
    pub(super) fn said(&self) -> Cow<'_, str> {
        [&self.content, &self.parts]
            .into_iter()
            .find(|text| !text.is_empty())
            .map(Prose::joined)
            .unwrap_or_default()
    }

    /// What it says to the person.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        if self.display.is_empty() {
            self.said()
        } else {
            self.display.joined()
        }
    }
}

wire_struct! {
    /// What changes of the metadata. Messages in it stand in the chat already.
    Change {
        "summary" => summary: Text<'a>,
    }
}

wire_struct! {
    /// A call of a tool, and what came of it so far.
    ToolCall {
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "args" => arguments: Arguments<'a>,
        /// `success`, `error`, `cancelled`, or a state before them.
        "status" => status: Text<'a>,
        "result" => results: List<Returned<'a>>,
    }
}

impl ToolCall<'_> {
    /// What the tool gave.
    pub(super) fn output(&self) -> &str {
        let mut outputs = self.results.0.iter().filter_map(|result| result.function.response.text());
        outputs.next_back().unwrap_or_default()
    }
}

wire_struct! {
    /// A part of a result.
    Returned {
        "functionResponse" => function: FunctionResponse<'a>,
    }
}

wire_struct! {
    /// What a function gave.
    FunctionResponse {
        "response" => response: Response<'a>,
    }
}

wire_struct! {
    /// It, as it is handed to the model. Qwen Code's is the same.
    Response {
        "output" => output: Text<'a>,
        "error" => error: Text<'a>,
    }
}

impl Response<'_> {
    /// Its error, or else its output.
    pub(crate) fn text(&self) -> Option<&str> {
        self.error.filled().or(self.output.filled())
    }
}
