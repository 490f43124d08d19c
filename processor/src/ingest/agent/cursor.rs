//! Cursor's agent transcripts: one message a line, and before that text files ([`legacy`]). Conversations that have none, as
//! all of before, are in the store of its editor ([`store`]).
//!
//! In a transcript no line has an id, and of times there is none but what heads newer prompts. The working folder is told by a file beside the
//! transcripts where there is one; elsewhere by the first absolute path in a call, since their folder's name is made of it.
//! So a turn of a transcript can't be told to be one of the store: what has a transcript is read from it alone (see
//! [`told_by`](super::Agent::told_by)). That of a conversation has its id as its name.

mod legacy;
mod stamp;
mod store;
mod wire;
mod workspace;

use std::path::Path;

use remembrancer_schema::Layout;

use self::wire::{Record, Trusted};
use super::wrapped::said;
use super::{Context, Description, Piece, ReadFile, Shape, folder_name, has_extension, is_below};
use crate::ingest::assemble::Assembler;
use crate::ingest::conversation::Conversation;
use crate::ingest::json::{RecordSink, read_values};
use crate::ingest::line::Line;
use crate::ingest::parse::Parse;
use crate::ingest::problem::ProblemKind;
use crate::ingest::{ResumePoint, SourceInfo};

/// The folder of a project's transcripts, and that of a conversation's subagents.
const TRANSCRIPTS: &str = "agent-transcripts";
const SUBAGENTS: &str = "subagents";
/// The name of the store, and the folder in which editors keep theirs.
const STORE: &str = "state.vscdb";
const GLOBAL_STORAGE: &str = "Cursor/User/globalStorage";
/// What Cursor writes in place of what it keeps to itself.
const REDACTED: &str = "[REDACTED]";

pub(super) const DESCRIPTION: Description = Description {
    id: "cursor",
    name: "Cursor",
    folders: |home| vec![home.folder("CURSOR_DATA_DIR", ".cursor").join("projects")],
    flat_folders: |home| {
        let config = home.folder("XDG_CONFIG_HOME", ".config");
        let library = home.folder.join("Library/Application Support");
        [config, library].map(|place| place.join(GLOBAL_STORAGE)).into()
    },
    shape: |path| match path {
        _ if path.file_name().is_some_and(|name| name == STORE) => Some(Shape::Database(Layout::Cursor)),
        _ if !is_below(path, TRANSCRIPTS) => None,
        _ if has_extension(path, "jsonl") => Some(Shape::Lines),
        _ if has_extension(path, "txt") => Some(Shape::Document),
        _ => None,
    },
    context,
    parser: |info, from| Box::new(Cursor::new(info, from)),
};

/// A subagent's file stands in a folder `subagents` of its conversation's.
fn context(path: &Path, read: &ReadFile<'_>) -> Context {
    let subagent = folder_name(path) == SUBAGENTS;
    let session = subagent.then(|| path.parent().map(folder_name)).flatten();
    let transcripts = path
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == TRANSCRIPTS));
    let trusted = transcripts.and_then(|folder| read(&folder.with_file_name(".workspace-trusted")));
    Context {
        subagent,
        session: session.map(str::to_owned),
        cwd: trusted.and_then(|file| {
            let trusted: Trusted<'_> = serde_json::from_slice(&file).ok()?;
            trusted.folder.filled().map(str::to_owned)
        }),
        folder_slug: transcripts.map(folder_name).map(str::to_owned),
        ..Context::default()
    }
}

/// Reads one transcript.
#[derive(Debug)]
struct Cursor {
    conversation: Conversation,
    /// What Cursor made of the working folder's path; empty where the folder is known.
    slug: String,
    /// The messages, where they are no lines of a file.
    pieces: Vec<Piece>,
}

impl Cursor {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        let context = &info.context;
        let slug = context.folder_slug.clone().filter(|_| context.cwd.is_none());
        Self {
            conversation: Conversation::new(info, from),
            slug: slug.unwrap_or_default(),
            pieces: context.pieces.clone(),
        }
    }

    fn read(&mut self, record: &Record<'_>, at: ResumePoint) {
        if let Some(composer) = &record.composer {
            let is_subagent = record.is_subagent.as_str() == "1";
            let messages = std::mem::take(&mut self.pieces);
            return store::tell(&mut self.conversation, composer, &record.header, is_subagent, &messages, at);
        }
        let content = &record.message.content;
        let written = match record.role.as_str() {
            "user" => content.texts().find_map(stamp::heading),
            _ => None,
        };
        self.conversation.record(at, &written.unwrap_or_default());
        match (record.role.as_str(), record.kind.as_str()) {
            ("user", _) => {
                let mut prompt = Vec::new();
                content.tell(&mut self.conversation, |_, text| prompt.push(said(text).to_owned()));
                self.conversation.prompt("", &prompt.join("\n"));
            }
            ("assistant", _) => {
                for arguments in content.arguments() {
                    workspace::note(&self.slug, &mut self.conversation, arguments);
                }
                content.tell(&mut self.conversation, |conversation, text| {
                    conversation.say("", &text.replace(REDACTED, ""));
                });
            }
            (_, "turn_ended") => {}
            (role, "") => self.conversation.unknown(&format!("role/{role}")),
            (_, kind) => self.conversation.unknown(kind),
        }
    }

    fn read_legacy(&mut self, transcript: &str) {
        for (is_person, text) in legacy::messages(transcript) {
            let written = if is_person { stamp::heading(&text) } else { None };
            self.conversation.record(ResumePoint::default(), &written.unwrap_or_default());
            if is_person {
                self.conversation.prompt("", said(&text));
            } else {
                legacy::tell(&self.slug, &mut self.conversation, &text.replace(REDACTED, ""));
            }
        }
    }
}

impl Parse for Cursor {
    fn line(&mut self, line: &Line<'_>) {
        if legacy::is_one(line.bytes) {
            self.read_legacy(&String::from_utf8_lossy(line.bytes));
        } else {
            read_values(line, self);
        }
    }

    fn assembler(&mut self) -> &mut Assembler {
        self.conversation.assembler()
    }
}

impl RecordSink for Cursor {
    type Record<'a> = Record<'a>;

    fn record(&mut self, record: Record<'_>, at: ResumePoint) {
        self.assembler().begin_record(at);
        self.read(&record, at);
    }

    fn problem(&mut self, kind: ProblemKind, at: ResumePoint) {
        self.conversation.assembler().problem(kind, at);
    }
}
