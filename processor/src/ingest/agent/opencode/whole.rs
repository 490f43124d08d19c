//! `OpenCode`'s messages from 2.x on, each whole in one row.

use super::OpenCode;
use super::wire::{Item, Whole};

/// Messages that say nothing to remember: what the client notes or shows the agent, and commands that a person ran beside it.
const BOOKKEEPING: &[&str] = &[
    "agent-switched",
    "idle",
    "model-switched",
    "shell",
    "skill",
    "synthetic",
    "system",
];

impl OpenCode {
    /// Tells a message of this kind.
    pub(super) fn whole(&mut self, id: &str, kind: &str, message: &Whole<'_>) {
        match kind {
            "user" => self.conversation.prompt(id, message.text.as_str()),
            "assistant" => message.content.0.iter().for_each(|item| self.item(item)),
            "compaction" if message.status.as_str() == "completed" => self.conversation.compacted(message.summary.as_str()),
            "compaction" => {}
            "location-switched" => self.conversation.cwd(message.location.directory.as_str()),
            kind if BOOKKEEPING.contains(&kind) => {}
            kind => self.conversation.unknown(&format!("message/{kind}")),
        }
    }

    fn item(&mut self, item: &Item<'_>) {
        match item.kind.as_str() {
            "text" => self.conversation.say("", item.text.as_str()),
            "tool" => {
                let (id, state) = (item.id.as_str(), &item.state);
                self.conversation.call(id, item.name.as_str(), &state.input);
                if state.is_settled() {
                    self.conversation.result(id, state.failed(), &state.told());
                }
            }
            "reasoning" => {}
            kind => self.conversation.unknown(&format!("part/{kind}")),
        }
    }
}
