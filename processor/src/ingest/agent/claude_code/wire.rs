//! Claude Code's records as it writes them, all versions at once (seen: 1.0.24 to 2.1.284). Only what is read is named;
//! the rest is passed over without being held. Every field may be absent or of another type.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};

use crate::ingest::lenient::{Flag, Text, ignore_values, wire_struct};

wire_struct! {
    /// One object of a transcript.
    Record {
        "type" => kind: Text<'a>,
        "subtype" => subtype: Text<'a>,
        "uuid" => uuid: Text<'a>,
        "parentUuid" => parent_uuid: Text<'a>,
        "sessionId" => session_id: Text<'a>,
        "agentId" => agent_id: Text<'a>,
        /// ISO 8601.
        "timestamp" => timestamp: Text<'a>,
        "cwd" => cwd: Text<'a>,
        "version" => version: Text<'a>,
        /// Empty outside of git, `HEAD` when detached.
        "gitBranch" => git_branch: Text<'a>,
        "isSidechain" => is_sidechain: Flag,
        /// Machine text in the user's place.
        "isMeta" => is_meta: Flag,
        "isCompactSummary" => is_compact_summary: Flag,
        "isApiErrorMessage" => is_api_error: Flag,
        "message" => message: Message<'a>,
        /// Of `system` and `queue-operation` records.
        "content" => content: Content<'a>,
        "operation" => operation: Text<'a>,
        "attachment" => attachment: Attachment<'a>,
        "origin" => origin: Origin<'a>,
        "summary" => summary: Text<'a>,
        "leafUuid" => leaf_uuid: Text<'a>,
        "aiTitle" => ai_title: Text<'a>,
        "customTitle" => custom_title: Text<'a>,
    }
}

wire_struct! {
    /// What was said: the API's own message.
    Message {
        /// The same in every record that holds a block of it.
        "id" => id: Text<'a>,
        "model" => model: Text<'a>,
        "content" => content: Content<'a>,
    }
}

wire_struct! {
    /// What the client added to the context.
    Attachment {
        "type" => kind: Text<'a>,
        "prompt" => prompt: Content<'a>,
        /// `prompt` or `task-notification`.
        "commandMode" => command_mode: Text<'a>,
        "origin" => origin: Origin<'a>,
        "isMeta" => is_meta: Flag,
    }
}

wire_struct! {
    /// Who wrote a user record.
    Origin {
        /// `human`, `task-notification`, …
        "kind" => kind: Text<'a>,
    }
}

wire_struct! {
    /// One block of a message.
    Block {
        /// `text`, `thinking`, `tool_use`, `tool_result`, `image`, …
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        /// Of a `tool_use`.
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "input" => input: ToolInput<'a>,
        /// Of a `tool_result`.
        "tool_use_id" => tool_use_id: Text<'a>,
        "content" => content: Content<'a>,
        "is_error" => is_error: Flag,
    }
}

wire_struct! {
    /// The few tool arguments that are memory.
    ToolInput {
        "file_path" => file_path: Text<'a>,
        "notebook_path" => notebook_path: Text<'a>,
        "command" => command: Text<'a>,
        /// Of `ExitPlanMode`.
        "plan" => plan: Text<'a>,
        /// Of the tools that read resources of an MCP server.
        "server" => server: Text<'a>,
    }
}

/// A text, or a list of blocks.
#[derive(Debug, Default)]
pub(crate) enum Content<'a> {
    /// Nothing, or something else.
    #[default]
    None,
    /// One text.
    Text(Cow<'a, str>),
    /// Blocks, in order.
    Blocks(Vec<Block<'a>>),
}

impl Content<'_> {
    /// The texts, in order.
    pub(crate) fn texts(&self) -> Vec<&str> {
        match self {
            Self::None => Vec::new(),
            Self::Text(text) => vec![text.as_ref()],
            Self::Blocks(blocks) => blocks
                .iter()
                .filter(|block| block.kind.as_str() == "text")
                .filter_map(|block| block.text.filled())
                .collect(),
        }
    }

    /// The blocks, if it is a list.
    pub(crate) fn blocks(&self) -> &[Block<'_>] {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::None | Self::Text(_) => &[],
        }
    }
}

struct ContentVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for ContentVisitor<'a> {
    type Value = Content<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'a>, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Content<'a>, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content<'a>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = seq.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }

    ignore_values!(scalars of 'de);
    ignore_values!(maps of 'de);
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor(PhantomData))
    }
}
