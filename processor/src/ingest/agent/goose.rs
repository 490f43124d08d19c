//! Goose's sessions: in its database, and as it kept them before, a file with a line of metadata, then one message a line. That
//! file is written anew with every message, since its first line counts them. From the database the same lines are read.
//!
//! Ids of messages came late and are not relied on: a message is known by its session, time and text, as it still is where the
//! session was taken over into the database.

mod wire;

use remembrancer_schema::Layout;

use self::wire::{Block, Record};
use super::{Context, Description, Piece, Shape};
use crate::ingest::assemble::Assembler;
use crate::ingest::conversation::Conversation;
use crate::ingest::json::{RecordSink, read_values};
use crate::ingest::line::{Line, LineSplitter};
use crate::ingest::parse::Parse;
use crate::ingest::problem::ProblemKind;
use crate::ingest::{ResumePoint, SourceInfo};

pub(super) const DESCRIPTION: Description = Description {
    id: "goose",
    name: "Goose",
    folders: |home| {
        let data = home.folder("XDG_DATA_HOME", ".local/share").join("goose");
        let data = (home.variable)("GOOSE_PATH_ROOT").map_or(data, |root| root.join("data"));
        vec![data.join("sessions")]
    },
    flat_folders: super::none,
    shape: |path| match path.extension()?.to_str()? {
        "jsonl" => Some(Shape::Document),
        "db" => Some(Shape::Database(Layout::Goose)),
        _ => None,
    },
    context: |_, _| Context::default(),
    parser: |info, from| Box::new(Goose::new(info, from)),
};

/// Reads one session.
#[derive(Debug)]
struct Goose {
    conversation: Conversation,
    /// The messages, where they are no lines of a file.
    pieces: Vec<Piece>,
    /// Whether no person asks in it.
    is_machines: bool,
}

impl Goose {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
            pieces: info.context.pieces.clone(),
            is_machines: false,
        }
    }

    fn read(&mut self, record: &Record<'_>, at: ResumePoint) {
        self.conversation.record(at, record.created.as_str());
        match record.role.as_str() {
            "" if record.is_metadata() => self.session(record),
            // What only the agent is shown, the client wrote.
            "user" | "assistant" if record.metadata.is_hidden() => {}
            "user" => {
                let texts = record.content.0.iter().filter(|block| block.kind.as_str() == "text");
                let texts: Vec<&str> = texts.filter_map(|block| block.text.filled()).collect();
                if self.is_machines {
                    self.conversation.machine_prompt("", &texts.join("\n"));
                } else {
                    self.conversation.prompt("", &texts.join("\n"));
                }
                record.content.0.iter().for_each(|block| self.result(block));
            }
            "assistant" => record.content.0.iter().for_each(|block| self.answer(block)),
            role => self.conversation.unknown(role),
        }
    }

    fn session(&mut self, session: &Record<'_>) {
        self.conversation.cwd(session.working_dir.as_str());
        match session.session_type.as_str() {
            "sub_agent" => {
                self.conversation.session(session.parent_session.as_str());
                self.conversation.by_subagent();
            }
            // A recipe that a timer starts, and what the client asks for itself.
            "scheduled" | "hidden" => self.is_machines = true,
            _ => self.conversation.title(session.description.as_str()),
        }
        for piece in std::mem::take(&mut self.pieces) {
            read_values(&Line::whole(&piece.content), self);
        }
    }

    fn answer(&mut self, block: &Block<'_>) {
        match block.kind.as_str() {
            "text" => self.conversation.say("", block.text.as_str()),
            "toolRequest" | "frontendToolRequest" => {
                let call = &block.tool_call.value;
                self.conversation.call(block.id.as_str(), call.name.as_str(), &call.arguments);
            }
            _ => {}
        }
    }

    fn result(&mut self, block: &Block<'_>) {
        if block.kind.as_str() == "toolResponse" {
            let result = &block.tool_result;
            let failed = result.status.as_str() == "error" || result.value.0.iter().any(|outcome| outcome.is_error.0);
            let texts: Vec<&str> = result.value.0.iter().flat_map(wire::Outcome::texts).collect();
            let told = result.error.filled().map_or_else(|| texts.join("\n"), str::to_owned);
            self.conversation.result(block.id.as_str(), failed, &told);
        }
    }
}

impl Parse for Goose {
    fn line(&mut self, line: &Line<'_>) {
        let mut lines = LineSplitter::new(0, 0);
        lines.push(line.bytes, |line| read_values(line, self));
        if !line.bytes.ends_with(b"\n") {
            lines.push(b"\n", |line| read_values(line, self));
        }
    }

    fn assembler(&mut self) -> &mut Assembler {
        self.conversation.assembler()
    }
}

impl RecordSink for Goose {
    type Record<'a> = Record<'a>;

    fn record(&mut self, record: Record<'_>, at: ResumePoint) {
        self.read(&record, at);
    }

    fn problem(&mut self, kind: ProblemKind, at: ResumePoint) {
        self.conversation.assembler().problem(kind, at);
    }
}
