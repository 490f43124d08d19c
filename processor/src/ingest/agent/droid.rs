//! Factory Droid's sessions: its store, whose first line tells the session and the folder, and the stream that `droid exec`
//! prints, where someone kept it. A record's kind tells which of them it is of.

mod wire;

use self::wire::{Message, Output, Record};
use super::wrapped::behind_blocks;
use super::{Context, Description, Shape, has_extension};
use crate::ingest::conversation::Conversation;
use crate::ingest::lenient::TextOr;
use crate::ingest::tell::Tell;
use crate::ingest::{ResumePoint, SourceInfo};

/// Records that say nothing to remember.
const BOOKKEEPING: &[&str] = &[
    "agent_turn_outcome",
    "error",
    "reasoning",
    "session_end",
    "session_settings",
    "todo_state",
];
/// Who writes a message in the user's place that is no person.
const AUTOMATION: &str = "automation";

pub(super) const DESCRIPTION: Description = Description {
    id: "droid",
    name: "Factory Droid",
    folders: |home| {
        // The variable replaces the home folder, not Droid's own.
        let home = (home.variable)("FACTORY_HOME_OVERRIDE").unwrap_or_else(|| home.folder.to_owned());
        vec![home.join(".factory/sessions"), home.join(".factory/projects")]
    },
    flat_folders: super::none,
    shape: |path| has_extension(path, "jsonl").then_some(Shape::Lines),
    context: |_, _| Context::default(),
    parser: |info, from| Box::new(Droid::new(info, from)),
};

/// Reads one session.
#[derive(Debug)]
struct Droid {
    conversation: Conversation,
}

impl Droid {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
        }
    }

    /// What the first line says of all others.
    fn begin(&mut self, record: &Record<'_>) {
        self.conversation.cwd(record.cwd.as_str());
        if record.kind.as_str() != "session_start" {
            return self.conversation.session(record.session());
        }
        match record.calling_session.filled() {
            Some(calling) => {
                self.conversation.by_subagent();
                self.conversation.session(calling);
            }
            None => self.conversation.session(record.id.as_str()),
        }
    }

    fn message(&mut self, id: &str, message: &Message<'_>) {
        if message.visibility.filled().is_some() || message.hook.filled().is_some() {
            return;
        }
        match message.role.as_str() {
            "user" => {
                let mut texts = Vec::new();
                message
                    .content
                    .tell(&mut self.conversation, |_, text| texts.push(text.to_owned()));
                if message.source.as_str() != AUTOMATION {
                    self.prompt(id, texts.iter().map(String::as_str));
                }
            }
            "assistant" => message
                .content
                .tell(&mut self.conversation, |conversation, text| conversation.say("", text)),
            role => self.conversation.unknown(&format!("role/{role}")),
        }
    }

    fn prompt<'t>(&mut self, id: &str, texts: impl IntoIterator<Item = &'t str>) {
        let said: Vec<&str> = texts.into_iter().map(behind_blocks).collect();
        self.conversation.prompt(id, &said.join("\n"));
    }

    fn result(&mut self, record: &Record<'_>) {
        let nothing = Output::default();
        let (text, output) = match &record.value {
            TextOr::Text(text) => (text.as_str(), &nothing),
            TextOr::Object(output) => (output.stderr.filled().unwrap_or(output.stdout.as_str()), output),
        };
        let failed = record.is_error.0 || !matches!(output.exit_code.as_str(), "" | "0");
        self.conversation.result(record.call(), failed, text);
    }
}

impl Tell for Droid {
    type Record<'a> = Record<'a>;

    fn tell(&mut self, record: &Record<'_>, at: ResumePoint) {
        self.conversation.record(at, record.timestamp.as_str());
        self.conversation.session(record.session());
        match (record.kind.as_str(), record.role.as_str()) {
            ("session_start" | "system", _) => {
                self.begin(record);
                let title = record.title.filled().unwrap_or(record.first_title.as_str());
                self.conversation.title(title);
            }
            ("message", "") => self.message(record.id.as_str(), &record.message),
            ("message", "user") => self.prompt(record.id.as_str(), [record.text.as_str()]),
            ("message", "assistant") => self.conversation.say("", record.text.as_str()),
            ("message", role) => self.conversation.unknown(&format!("role/{role}")),
            ("tool_call", _) => {
                let tool = record.tool.as_str();
                self.conversation.call(record.call(), tool, &record.parameters);
            }
            ("tool_result", _) => self.result(record),
            ("completion", _) => self.conversation.say("", record.final_text.as_str()),
            ("compaction_state", _) => self.conversation.compacted(record.summary.as_str()),
            (kind, _) if BOOKKEEPING.contains(&kind) => {}
            (kind, _) => self.conversation.unknown(kind),
        }
    }

    fn tell_first(&mut self, record: &Record<'_>) {
        self.begin(record);
    }

    fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }
}
