//! Pi's sessions: a header, then one record a line; a conversation is a tree in the order of its writing, and what stands on
//! an abandoned branch is history, too. A session that was branched off into a file of its own begins with copies of records
//! under their old ids and times: they are the same turns again.
//!
//! `OpenClaw` writes the same records with what its channels put around a message, which is all that its [`Dialect`] says.

mod wire;

use self::wire::{Message, Record};
use super::{Context, Description, Shape, has_extension};
use crate::ingest::conversation::Conversation;
use crate::ingest::tell::Tell;
use crate::ingest::tool::Arguments;
use crate::ingest::{ResumePoint, SourceInfo};

/// Records that say nothing to remember, or restate what others say.
const BOOKKEEPING: &[&str] = &[
    "branch_summary",
    "context_transform",
    "custom",
    "custom_message",
    "ephemeral",
    "label",
    "model_change",
    "thinking_level_change",
];
/// Roles that neither a person nor the agent speaks in.
const MACHINE_ROLES: &[&str] = &["branchSummary", "compactionSummary", "custom", "hookMessage", "system"];
/// What is put before a person's words: an expanded skill, and files that were named on the command line.
const ATTACHED: &[(&str, &str)] = &[("<skill name=", "</skill>"), ("<file name=", "</file>")];

pub(super) const DESCRIPTION: Description = Description {
    id: "pi",
    name: "Pi",
    folders: |home| {
        let sessions = home.folder("PI_CODING_AGENT_DIR", ".pi/agent").join("sessions");
        vec![(home.variable)("PI_CODING_AGENT_SESSION_DIR").unwrap_or(sessions)]
    },
    flat_folders: super::none,
    shape: |path| has_extension(path, "jsonl").then_some(Shape::Lines),
    context: |path, _| Context {
        session: session_of(super::stem(path)),
        ..Context::default()
    },
    parser: |info, from| Box::new(Pi::new(info, from, DIALECT)),
};

const DIALECT: Dialect = Dialect {
    heard: |text| Heard::Prompt(without_attached(text)),
    told: |text| text,
};

/// The session in a file's name: `<time>_<session>`.
fn session_of(stem: &str) -> Option<String> {
    Some(stem.split_once('_')?.1.to_owned())
}

/// What a user message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard<'a> {
    /// A person's words, perhaps none.
    Prompt(&'a str),
    /// A subagent's task.
    Task(&'a str),
    /// A machine's.
    Machine,
}

/// How an agent that writes these records wraps what is said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// What a user message is.
    pub(super) heard: fn(&str) -> Heard<'_>,
    /// What the agent said, without marks for the client.
    pub(super) told: fn(&str) -> &str,
}

/// Reads the lines of one session.
#[derive(Debug)]
pub(super) struct Pi {
    conversation: Conversation,
    dialect: Dialect,
}

impl Pi {
    pub(super) fn new(info: &SourceInfo, from: ResumePoint, dialect: Dialect) -> Self {
        Self {
            conversation: Conversation::new(info, from),
            dialect,
        }
    }

    /// What the first line says of all others.
    fn begin(&mut self, header: &Record<'_>) {
        self.conversation.session(header.id.as_str());
        self.conversation.cwd(header.cwd.as_str());
    }

    fn message(&mut self, id: &str, message: &Message<'_>) {
        match message.role.as_str() {
            "user" => {
                let text = message.text();
                match (self.dialect.heard)(&text) {
                    Heard::Prompt(prompt) => self.conversation.prompt(id, prompt),
                    Heard::Task(task) => self.conversation.task(id, task),
                    Heard::Machine => self.conversation.machine_prompt(id, &text),
                }
            }
            "assistant" => self.answer(message),
            "toolResult" => {
                let failed = message.is_error.0 || !matches!(message.details.exit_code.as_str(), "" | "0");
                self.conversation
                    .result(message.tool_call_id.as_str(), failed, &message.text());
            }
            "bashExecution" => self.bash(id, message),
            role if MACHINE_ROLES.contains(&role) => {}
            role => self.conversation.unknown(&format!("message/{role}")),
        }
    }

    fn answer(&mut self, message: &Message<'_>) {
        for block in &message.content.0 {
            match block.kind.as_str() {
                "" | "text" => self.conversation.say("", (self.dialect.told)(block.text.as_str())),
                "toolCall" => {
                    let (id, name) = (block.id.as_str(), block.name.as_str());
                    self.conversation.call(id, name, &block.arguments);
                }
                _ => {}
            }
        }
    }

    /// A command that the person ran; one that the agent was not to see is none of its memory.
    fn bash(&mut self, id: &str, message: &Message<'_>) {
        if message.exclude_from_context.0 || !self.conversation.assembler().has_main() {
            return;
        }
        let arguments = Arguments {
            command: message.command.clone(),
            ..Arguments::default()
        };
        let failed = !matches!(message.exit_code.as_str(), "" | "0");
        self.conversation.call(id, "bash", &arguments);
        self.conversation.result(id, failed, message.output.as_str());
    }
}

/// A message without what stands before the person's own words.
fn without_attached(message: &str) -> &str {
    let mut said = message.trim();
    while let Some((_, end)) = ATTACHED.iter().find(|(start, _)| said.starts_with(start)) {
        said = said.split_once(end).map_or("", |(_, rest)| rest.trim_start());
    }
    said
}

impl Tell for Pi {
    type Record<'a> = Record<'a>;

    fn tell(&mut self, record: &Record<'_>, at: ResumePoint) {
        self.conversation.record(at, record.timestamp.as_str());
        match record.kind.as_str() {
            "session" => self.begin(record),
            "message" => self.message(record.id.as_str(), &record.message),
            "compaction" => self.conversation.compacted(record.summary.as_str()),
            "session_info" => self.conversation.title(record.name.as_str()),
            kind if BOOKKEEPING.contains(&kind) => {}
            kind => self.conversation.unknown(kind),
        }
    }

    fn tell_first(&mut self, record: &Record<'_>) {
        if record.kind.as_str() == "session" {
            self.begin(record);
        }
    }

    fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain(" fix it\n", "fix it")]
    #[case::skill("<skill name=\"a\" location=\"/s\">\nReferences.\n</skill>\n\nfix it", "fix it")]
    #[case::skill_alone("<skill name=\"a\" location=\"/s\">\nReferences.\n</skill>", "")]
    #[case::files(
        "<file name=\"/a\">\nx\n</file>\n<file name=\"/b\">\ny\n</file>\nwhich is right?",
        "which is right?"
    )]
    #[case::unclosed("<file name=\"/a\">\nx", "")]
    fn what_is_attached_is_taken_off(#[case] message: &str, #[case] expected: &str) {
        assert_eq!(without_attached(message), expected);
    }
}
