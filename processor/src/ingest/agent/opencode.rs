//! `OpenCode`'s sessions: in its database, and as it kept them before in a tree of small JSON files, one for the session, one
//! for each message, and one for each part of a message. A row of 1.x holds what its file held, so one reading does for both;
//! from 2.x on a message has all in one (`whole`).
//!
//! Messages and parts are known by the names of their files, which are the ids of their rows; the ids within files are asked
//! only where a folder is not named like its file. A session that was taken over into the database has the same turns there.
//!
//! A forked session begins with copies of its parent's messages, which keep their times: what is older than it is not read.

mod whole;
mod wire;

use std::cell::LazyCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use remembrancer_schema::{Layout, UnixMillis};

use self::wire::{Ids, Message, Part, Session};
use super::{Context, Description, Piece, ReadFile, Shape, has_extension, list, name, stem};
use crate::ingest::assemble::Assembler;
use crate::ingest::conversation::Conversation;
use crate::ingest::json::{RecordSink, read_values};
use crate::ingest::line::Line;
use crate::ingest::parse::Parse;
use crate::ingest::problem::ProblemKind;
use crate::ingest::{ResumePoint, SourceInfo, time};

/// Parts that say nothing to remember, or what another says too.
const BOOKKEEPING: &[&str] = &[
    "agent",
    "compaction",
    "file",
    "patch",
    "reasoning",
    "retry",
    "snapshot",
    "step-finish",
    "step-start",
    "subtask",
];

pub(super) const DESCRIPTION: Description = Description {
    id: "opencode",
    name: "OpenCode",
    folders: |home| {
        let data = home.folder("XDG_DATA_HOME", ".local/share").join("opencode");
        vec![data.join("storage/session")]
    },
    flat_folders: |home| {
        let data = home.folder("XDG_DATA_HOME", ".local/share").join("opencode");
        [Some(data), (home.variable)("OPENCODE_DB")].into_iter().flatten().collect()
    },
    shape: |path| {
        if has_extension(path, "db") {
            return Some(Shape::Database(Layout::OpenCode));
        }
        let is_session = path
            .parent()
            .and_then(Path::parent)
            .is_some_and(|above| name(above) == "session");
        (is_session && has_extension(path, "json")).then_some(Shape::Document)
    },
    context,
    parser: |info, from| Box::new(OpenCode::new(info, from)),
};

/// Reads what belongs to `<storage>/session/<project>/<session>.json`: `<storage>/message/<session>/<message>.json`, and
/// `<storage>/part/<message>/<part>.json`, or before that `<storage>/part/<part>.json`.
fn context(path: &Path, read: &ReadFile<'_>) -> Context {
    let Some(storage) = path.ancestors().nth(3) else {
        return Context::default();
    };
    let (messages, parts) = (storage.join("message"), storage.join("part"));
    let loose = LazyCell::new(|| loose_parts(&parts, read));
    let piece = |path: PathBuf| {
        let content = read(&path)?;
        let named = folder_of(&parts, stem(&path), &content, read);
        let own = if named.is_empty() {
            let by_name = loose.get(stem(&path));
            let by_id = || loose.get(ids_of(&content).own.as_str());
            by_name.or_else(by_id).unwrap_or(&named)
        } else {
            &named
        };
        Some(Piece {
            name: stem(&path).to_owned(),
            parts: own.iter().filter_map(|part| read(part)).collect(),
            content,
        })
    };
    let content = read(path).unwrap_or_default();
    let messages = folder_of(&messages, stem(path), &content, read);
    Context {
        pieces: messages.into_iter().filter_map(piece).collect(),
        ..Context::default()
    }
}

/// The JSON files in a folder, by name: names are made to be in the order of time.
fn files(folder: &Path, read: &ReadFile<'_>) -> Vec<PathBuf> {
    let mut paths = list(folder, read);
    paths.retain(|path| has_extension(path, "json"));
    paths
}

/// The files in the folder of what `stem` names, or what it calls itself.
fn folder_of(place: &Path, stem: &str, content: &[u8], read: &ReadFile<'_>) -> Vec<PathBuf> {
    let named = files(&place.join(stem), read);
    let ids = ids_of(content);
    let id = ids.own.as_str();
    if !named.is_empty() || id.contains(['/', '\\']) || matches!(id, "" | "." | "..") {
        return named;
    }
    files(&place.join(id), read)
}

/// The parts that lie in no message's folder, by their message.
fn loose_parts(parts: &Path, read: &ReadFile<'_>) -> HashMap<String, Vec<PathBuf>> {
    let mut loose: HashMap<String, Vec<PathBuf>> = HashMap::new();
    for path in files(parts, read) {
        let content = read(&path).unwrap_or_default();
        if let Some(message) = ids_of(&content).message.filled() {
            loose.entry(message.to_owned()).or_default().push(path);
        }
    }
    loose
}

fn ids_of(content: &[u8]) -> Ids<'_> {
    serde_json::from_slice(content).unwrap_or_default()
}

/// Reads one session.
#[derive(Debug)]
struct OpenCode {
    conversation: Conversation,
    pieces: Vec<Piece>,
    /// What is older was copied from the session that this one was forked from.
    copied_before: Option<UnixMillis>,
}

impl OpenCode {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
            pieces: info.context.pieces.clone(),
            copied_before: None,
        }
    }

    fn session(&mut self, session: &Session<'_>, at: ResumePoint) {
        self.conversation.record(at, session.time.created.as_str());
        self.conversation.cwd(session.directory.as_str());
        if let Some(parent) = session.parent_id.filled() {
            self.conversation.session(parent);
            self.conversation.by_subagent();
        } else {
            self.conversation.title(session.title.as_str());
        }
        let begun = time::parse(session.time.created.as_str());
        self.copied_before = begun.filter(|_| is_fork(session.title.as_str()));
        for piece in std::mem::take(&mut self.pieces) {
            self.piece(&piece, at);
        }
    }

    fn piece(&mut self, piece: &Piece, at: ResumePoint) {
        let Ok(message) = serde_json::from_slice::<Message<'_>>(&piece.content) else {
            return self.problem(ProblemKind::MalformedJson, at);
        };
        let written = message.written();
        if time::parse(written).is_some_and(|written| self.copied_before.is_some_and(|begun| written < begun)) {
            return;
        }
        self.conversation.record(at, written);
        if let Some(kind) = message.kind.filled() {
            return self.whole(&piece.name, kind, &message.data);
        }
        let mut parts: Vec<Part<'_>> = Vec::new();
        for part in &piece.parts {
            match serde_json::from_slice(part) {
                Ok(part) => parts.push(part),
                Err(_) => self.problem(ProblemKind::MalformedJson, at),
            }
        }
        let texts = parts.iter().filter(|part| part.is_said());
        let text = texts.filter_map(|part| part.text.filled()).collect::<Vec<_>>().join("\n");
        match message.role.as_str() {
            "user" => self.conversation.prompt(&piece.name, &text),
            "assistant" if message.is_summary.0 => self.conversation.compacted(&text),
            "assistant" => parts.iter().for_each(|part| self.answer(part)),
            role => self.conversation.unknown(&format!("message/{role}")),
        }
    }

    fn answer(&mut self, part: &Part<'_>) {
        match part.kind.as_str() {
            "text" if part.is_said() => self.conversation.say("", part.text.as_str()),
            "text" => {}
            "tool" => {
                let (id, state) = (part.call_id.as_str(), &part.state);
                self.conversation.call(id, part.tool.as_str(), &state.input);
                if state.is_settled() {
                    self.conversation.result(id, state.failed(), state.told());
                }
            }
            kind if BOOKKEEPING.contains(&kind) => {}
            kind => self.conversation.unknown(&format!("part/{kind}")),
        }
    }
}

/// Whether a session's title says that it was forked: `OpenCode` adds ` (fork #1)` to the parent's.
fn is_fork(title: &str) -> bool {
    let number = title.rsplit_once(" (fork #").and_then(|(_, number)| number.strip_suffix(')'));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

impl Parse for OpenCode {
    fn line(&mut self, line: &Line<'_>) {
        read_values(line, self);
    }

    fn assembler(&mut self) -> &mut Assembler {
        self.conversation.assembler()
    }
}

impl RecordSink for OpenCode {
    type Record<'a> = Session<'a>;

    fn record(&mut self, session: Session<'_>, at: ResumePoint) {
        self.session(&session, at);
    }

    fn problem(&mut self, kind: ProblemKind, at: ResumePoint) {
        self.conversation.assembler().problem(kind, at);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::first("Rounding (fork #1)", true)]
    #[case::later("Rounding (fork #12)", true)]
    #[case::of_a_person("Compare (fork #one)", false)]
    #[case::none("Rounding", false)]
    fn a_fork_is_known_by_its_title(#[case] title: &str, #[case] expected: bool) {
        assert_eq!(is_fork(title), expected);
    }

    #[test]
    fn loose_parts_are_looked_through_once() {
        let files = HashMap::from([
            ("/s/session/shop/ses.json", r#"{"id":"ses"}"#),
            ("/s/message/ses", "a.json\nb.json\nc.json"),
            ("/s/message/ses/a.json", r#"{"id":"a"}"#),
            ("/s/message/ses/b.json", r#"{"id":"b"}"#),
            ("/s/message/ses/c.json", r#"{"id":"other"}"#),
            ("/s/part", "1.json\n2.json\n3.json"),
            ("/s/part/1.json", r#"{"messageID":"a","text":"1"}"#),
            ("/s/part/2.json", r#"{"messageID":"other","text":"2"}"#),
            ("/s/part/3.json", r#"{"messageID":"a","text":"3"}"#),
        ]);
        let reads = RefCell::new(HashMap::<PathBuf, u32>::new());
        let found = context(Path::new("/s/session/shop/ses.json"), &|path| {
            *reads.borrow_mut().entry(path.to_owned()).or_default() += 1;
            files.get(path.to_str()?).map(|content| content.as_bytes().to_vec())
        });
        let parts: Vec<usize> = found.pieces.iter().map(|piece| piece.parts.len()).collect();
        assert_eq!(parts, [2, 0, 1]);
        // Once for its message, and once as that one's part.
        let is_part = |path: &Path| path.starts_with("/s/part") && has_extension(path, "json");
        let reads = reads.into_inner();
        assert!(reads.iter().all(|(path, times)| !is_part(path) || *times <= 2), "{reads:?}");
    }
}
