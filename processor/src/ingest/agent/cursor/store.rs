//! A conversation in the store of Cursor's editor: its own record, and its messages ("bubbles") by their ids in the order that
//! the record tells. Those that it does not name were taken back. Old versions kept the messages in the record itself.

use std::collections::HashMap;

use super::REDACTED;
use crate::ingest::ResumePoint;
use crate::ingest::agent::Piece;
use crate::ingest::agent::uri::path_of;
use crate::ingest::agent::wrapped::said;
use crate::ingest::conversation::Conversation;
use crate::ingest::lenient::{Flag, List, Prose, Text, TextOr, wire_struct};
use crate::ingest::problem::ProblemKind;
use crate::ingest::tool::Given;

wire_struct! {
    /// What stands at `composerData:<id>`.
    Composer {
        "name" => name: Text<'a>,
        "createdAt" => created: Text<'a>,
        "subagentInfo" => subagent: Subagent<'a>,
        "fullConversationHeadersOnly" => order: List<Named<'a>>,
        /// Of old versions: the messages.
        "conversation" => conversation: List<Bubble<'a>>,
    }
}

wire_struct! {
    /// What newer versions know of a conversation without opening it.
    Header {
        "name" => name: Text<'a>,
        "subagentInfo" => subagent: Subagent<'a>,
        "workspaceIdentifier" => workspace: Workspace<'a>,
    }
}

wire_struct! {
    /// Whose subagent a conversation is.
    Subagent {
        "parentComposerId" => parent: Text<'a>,
    }
}

wire_struct! {
    /// The folder that was open; absent where none or several were.
    Workspace {
        "uri" => uri: Folder<'a>,
    }
}

wire_struct! {
    /// A folder.
    Folder {
        "fsPath" => path: Text<'a>,
    }
}

wire_struct! {
    /// A message's place in a conversation.
    Named {
        "bubbleId" => id: Text<'a>,
    }
}

wire_struct! {
    /// A message: a person's words, or a text, a thought or a call of the agent.
    Bubble {
        "bubbleId" => id: Text<'a>,
        /// 1 for the person, 2 for the agent.
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "createdAt" => created: Text<'a>,
        /// The folders that were open.
        "workspaceUris" => folders: Prose<'a>,
        "toolFormerData" => call: Call<'a>,
    }
}

wire_struct! {
    /// A call with its result.
    Call {
        "toolCallId" => id: Text<'a>,
        "name" => name: Text<'a>,
        /// `completed`, `error`, `cancelled`, `loading`, …
        "status" => status: Text<'a>,
        /// What the model wrote; what Cursor made of it.
        "rawArgs" => raw: Text<'a>,
        "params" => params: Given<'a>,
        "result" => result: TextOr<'a, Outcome<'a>>,
        "error" => error: TextOr<'a, Fault<'a>>,
        "additionalData" => additional: Additional<'a>,
    }
}

wire_struct! {
    /// What a tool gave.
    Outcome {
        "output" => output: Text<'a>,
        "exitCode" => exit_code: Text<'a>,
        "rejected" => rejected: Flag,
    }
}

wire_struct! {
    /// Why a tool gave nothing.
    Fault {
        "clientVisibleErrorMessage" => message: Text<'a>,
    }
}

wire_struct! {
    /// What became of a command.
    Additional {
        "status" => status: Text<'a>,
    }
}

/// Tells a conversation of its record, which begins at `at`, and its messages.
pub(super) fn tell(
    conversation: &mut Conversation,
    composer: &Composer<'_>,
    header: &Header<'_>,
    is_subagent: bool,
    messages: &[Piece],
    at: ResumePoint,
) {
    conversation.record(at, composer.created.as_str());
    conversation.cwd(header.workspace.uri.path.as_str());
    let parents = [&composer.subagent.parent, &header.subagent.parent];
    let parent = parents.into_iter().find_map(Text::filled);
    if is_subagent || parent.is_some() {
        conversation.session(parent.unwrap_or_default());
        conversation.by_subagent();
    } else {
        conversation.title(composer.name.filled().unwrap_or(header.name.as_str()));
    }
    for bubble in &composer.conversation.0 {
        tell_bubble(conversation, bubble.id.as_str(), bubble, at);
    }
    let messages: HashMap<&str, &Piece> = messages.iter().map(|message| (message.name.as_str(), message)).collect();
    let in_order = composer.order.0.iter().filter_map(|named| messages.get(named.id.as_str()));
    for message in in_order {
        match serde_json::from_slice::<Bubble<'_>>(&message.content) {
            Ok(bubble) => tell_bubble(conversation, &message.name, &bubble, at),
            Err(_) => conversation.assembler().problem(ProblemKind::MalformedJson, at),
        }
    }
}

fn tell_bubble(conversation: &mut Conversation, id: &str, bubble: &Bubble<'_>, at: ResumePoint) {
    conversation.record(at, bubble.created.as_str());
    match bubble.kind.as_str() {
        "1" => {
            let mut folders = bubble.folders.texts();
            if let (Some(folder), None) = (folders.next(), folders.next()) {
                conversation.cwd(&path_of(folder));
            }
            conversation.prompt(id, said(bubble.text.as_str()));
        }
        "2" => {
            conversation.say(id, &bubble.text.as_str().replace(REDACTED, ""));
            if bubble.call.name.filled().is_some() {
                bubble.call.tell(conversation, id);
            }
        }
        kind => conversation.unknown(&format!("bubble/{kind}")),
    }
}

impl Call<'_> {
    /// Tells the call and, where it is over and no person stopped it, its result. No single field says how it ended.
    fn tell(&self, conversation: &mut Conversation, bubble: &str) {
        let id = self.id.filled().unwrap_or(bubble);
        let raw = self.raw.filled().map(|raw| TextOr::Text(Text(Some(raw.into()))));
        raw.as_ref().unwrap_or(&self.params).read(|arguments| {
            conversation.call(id, self.name.as_str(), arguments);
        });
        let parsed;
        let (outcome, text) = match &self.result {
            TextOr::Object(outcome) => (outcome, ""),
            TextOr::Text(text) => {
                parsed = serde_json::from_str::<Outcome<'_>>(text.as_str()).unwrap_or_default();
                (&parsed, text.as_str())
            }
        };
        let stopped = outcome.rejected.0 || self.additional.status.as_str() == "rejected";
        let failed = self.status.as_str() == "error"
            || self.additional.status.as_str() == "error"
            || !matches!(outcome.exit_code.as_str(), "" | "0");
        if !stopped && (failed || self.status.as_str() == "completed") {
            let told = self
                .fault()
                .unwrap_or_else(|| outcome.output.filled().unwrap_or(text).to_owned());
            conversation.result(id, failed, &told);
        }
    }

    /// Why it failed, as the person was told.
    fn fault(&self) -> Option<String> {
        match &self.error {
            TextOr::Object(fault) => fault.message.filled().map(str::to_owned),
            TextOr::Text(text) => {
                let fault = serde_json::from_str::<Fault<'_>>(text.as_str()).unwrap_or_default();
                fault.message.filled().or(text.filled()).map(str::to_owned)
            }
        }
    }
}
