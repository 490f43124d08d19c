//! Hermes Agent's session logs: one JSON document each, beside its database. No message has an id or a time: a prompt is known
//! by its session, its text, the prompt before it, and how often the two followed each other. So a compaction that takes out
//! earlier prompts renames the first one it leaves, and no other.

mod wire;

use std::collections::HashMap;

use self::wire::{Message, Outcome, Session};
use super::{Context, Description, Shape, has_extension, is_below, stem};
use crate::ingest::conversation::Conversation;
use crate::ingest::tell::Tell;
use crate::ingest::{ResumePoint, SourceInfo};

/// Roles that neither a person nor the agent speaks in.
const MACHINE_ROLES: &[&str] = &["session_meta", "system"];
/// Beginnings of messages that no person wrote.
const MACHINE_STARTS: &[&str] = &["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]", "[SYSTEM:", "[System note:"];
/// How the name of a session's log begins.
const LOG: &str = "session_";

pub(super) const DESCRIPTION: Description = Description {
    id: "hermes",
    name: "Hermes Agent",
    folders: |home| {
        let hermes = home.folder("HERMES_HOME", ".hermes");
        vec![hermes.join("sessions"), hermes.join("profiles")]
    },
    flat_folders: super::none,
    shape: |path| {
        let is_log = stem(path).starts_with(LOG) && has_extension(path, "json");
        (is_log && is_below(path, "sessions")).then_some(Shape::Document)
    },
    context: |path, _| Context {
        session: stem(path).strip_prefix(LOG).map(str::to_owned),
        ..Context::default()
    },
    parser: |info, from| Box::new(Hermes::new(info, from)),
};

/// Reads one log.
#[derive(Debug)]
struct Hermes {
    conversation: Conversation,
    /// The prompt before.
    before: String,
    /// How often each prompt was given after the same one.
    given: HashMap<String, u32>,
}

impl Hermes {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
            before: String::new(),
            given: HashMap::new(),
        }
    }

    fn message(&mut self, message: &Message<'_>) {
        let text = message.content.joined();
        match message.role.as_str() {
            "user" => self.prompt(&text),
            "assistant" => {
                self.conversation.say("", &text);
                for call in &message.tool_calls.0 {
                    let arguments = serde_json::from_str(call.function.arguments.as_str()).unwrap_or_default();
                    let (id, tool) = (call.id.as_str(), call.function.name.as_str());
                    self.conversation.call(id, tool, &arguments);
                }
            }
            "tool" => {
                let outcome: Outcome<'_> = serde_json::from_str(&text).unwrap_or_default();
                let failed = outcome.failed() || message.finish_reason.as_str() == "error";
                let told = outcome.told().unwrap_or(&text);
                self.conversation.result(message.tool_call_id.as_str(), failed, told);
            }
            role if MACHINE_ROLES.contains(&role) => {}
            role => self.conversation.unknown(&format!("message/{role}")),
        }
    }

    fn prompt(&mut self, text: &str) {
        let before = std::mem::replace(&mut self.before, text.to_owned());
        let pair = format!("{before}\0{text}");
        let times = self.given.entry(pair.clone()).or_default();
        *times += 1;
        let id = format!("{}\n{times}\n{pair}", self.conversation.session_id());
        if MACHINE_STARTS.iter().any(|start| text.trim_start().starts_with(start)) {
            self.conversation.machine_prompt(&id, text);
        } else {
            self.conversation.prompt(&id, text);
        }
    }
}

impl Tell for Hermes {
    type Record<'a> = Session<'a>;

    fn tell(&mut self, session: &Session<'_>, at: ResumePoint) {
        self.conversation.record(at, session.start.as_str());
        self.conversation.session(session.id.as_str());
        // A folder by its place in a home is none that a project can be known by.
        let folders = [session.cwd.as_str(), session.model_config.cwd.as_str()];
        if let Some(cwd) = folders.iter().find(|cwd| !cwd.is_empty() && !cwd.starts_with('~')) {
            self.conversation.cwd(cwd);
        }
        for message in &session.messages.0 {
            self.conversation.record(at, session.start.as_str());
            self.message(message);
        }
    }

    fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }
}
