//! Messages in blocks, as the Messages API of Anthropic has them and several agents write them: what they say is the caller's,
//! what they do is told to the conversation.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};

use super::conversation::Conversation;
use super::lenient::{Flag, Prose, Text, ignore_values, wire_struct};
use super::tool::Arguments;

/// Blocks that are nobody's words.
const SILENT: &[&str] = &["document", "file", "image", "redacted_thinking", "thinking"];
/// How a result begins that is a failure though nothing marks it.
const FAILED: &str = "Error: ";

wire_struct! {
    /// One block of a message.
    Block {
        /// `text`, `thinking`, `tool_use`, `tool_result`, `image`, …
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        /// Of a `tool_use`.
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "input" => input: Arguments<'a>,
        /// Of a `tool_result`.
        "tool_use_id" => tool_use_id: Text<'a>,
        "content" => content: Prose<'a>,
        "is_error" => is_error: Flag,
    }
}

/// What a message holds: one text, or blocks in order.
#[derive(Debug, Default)]
pub(crate) struct Blocks<'a>(Vec<Block<'a>>);

impl<'a> Blocks<'a> {
    fn of_text(text: Cow<'a, str>) -> Self {
        Self(vec![Block {
            kind: Text(Some(Cow::Borrowed("text"))),
            text: Text(Some(text)),
            ..Block::default()
        }])
    }

    /// The texts, in order.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(|block| block.kind.as_str() == "text")
            .map(|block| block.text.as_str())
    }

    /// The arguments of the tools it calls.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Arguments<'a>> {
        self.0.iter().filter(|block| block.is_call()).map(|block| &block.input)
    }

    /// Tells the conversation of the calls and results, in order, and gives each text to `text` in its place.
    pub(crate) fn tell(&self, conversation: &mut Conversation, mut text: impl FnMut(&mut Conversation, &str)) {
        for block in &self.0 {
            match block.kind.as_str() {
                "text" => text(conversation, block.text.as_str()),
                "tool_result" | "tool-result" => {
                    let content = block.content.joined();
                    let failed = block.is_error.0 || content.starts_with(FAILED);
                    conversation.result(block.tool_use_id.as_str(), failed, &content);
                }
                _ if block.is_call() => conversation.call(block.id.as_str(), block.name.as_str(), &block.input),
                kind if SILENT.contains(&kind) => {}
                kind => conversation.unknown(&format!("content/{kind}")),
            }
        }
    }
}

impl Block<'_> {
    fn is_call(&self) -> bool {
        matches!(self.kind.as_str(), "tool_use" | "tool_call")
    }
}

struct BlocksVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for BlocksVisitor<'a> {
    type Value = Blocks<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Blocks<'a>, E> {
        Ok(Blocks::of_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Blocks<'a>, E> {
        Ok(Blocks::of_text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Blocks<'a>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = seq.next_element()? {
            blocks.push(block);
        }
        Ok(Blocks(blocks))
    }

    ignore_values!(scalars of 'de);
    ignore_values!(maps of 'de);
}

impl<'de: 'a, 'a> Deserialize<'de> for Blocks<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BlocksVisitor(PhantomData))
    }
}
