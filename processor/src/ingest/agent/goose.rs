//! Goose's sessions as it kept them before its database: a line of metadata, then one message a line. The file is written anew
//! with every message, since its first line counts them.
//!
//! Ids of messages came late and are not relied on: a message is known by its session, time and text, as it still is where the
//! session was taken over into the database.

mod wire;

use self::wire::{Block, Record};
use super::{Context, Description, Shape, has_extension};
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
    shape: |path| has_extension(path, "jsonl").then_some(Shape::Document),
    context: |_, _| Context::default(),
    parser: |info, from| Box::new(Goose::new(info, from)),
};

/// Reads one session.
#[derive(Debug)]
struct Goose {
    conversation: Conversation,
}

impl Goose {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
        }
    }

    fn read(&mut self, record: &Record<'_>, at: ResumePoint) {
        self.conversation.record(at, record.created.as_str());
        match record.role.as_str() {
            "" if record.is_metadata() => {
                self.conversation.cwd(record.working_dir.as_str());
                self.conversation.title(record.description.as_str());
            }
            // What only the agent is shown, the client wrote.
            "user" | "assistant" if record.metadata.is_hidden() => {}
            "user" => {
                let texts = record.content.0.iter().filter(|block| block.kind.as_str() == "text");
                let texts: Vec<&str> = texts.filter_map(|block| block.text.filled()).collect();
                self.conversation.prompt("", &texts.join("\n"));
                record.content.0.iter().for_each(|block| self.result(block));
            }
            "assistant" => record.content.0.iter().for_each(|block| self.answer(block)),
            role => self.conversation.unknown(role),
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
