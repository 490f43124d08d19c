//! Grok's sessions: a folder each, below one that is named after the working folder, with what the model is sent in
//! `chat_history.jsonl` and what names the session in `summary.json`.
//!
//! No record has a time. After a compaction the file is written anew, from the summary on: what was remembered of it stays.

mod wire;

use std::path::Path;

use self::wire::{Record, Summary};
use super::wrapped::said;
use super::{Context, Description, ReadFile, Shape, folder_name};
use crate::ingest::conversation::Conversation;
use crate::ingest::tell::Tell;
use crate::ingest::{ResumePoint, SourceInfo};

const HISTORY: &str = "chat_history.jsonl";
/// Records that say nothing to remember.
const BOOKKEEPING: &[&str] = &["backend_tool_call", "reasoning", "system"];
/// Why the client says something in the user's place: it compacted the conversation.
const COMPACTED: &str = "compaction_meta";
/// How the kinds of subagents' sessions begin.
const SUBAGENT: &str = "subagent";
/// What heads the output of a command.
const EXIT_CODE: &str = "exit: ";

pub(super) const DESCRIPTION: Description = Description {
    id: "grok",
    name: "Grok",
    folders: |home| vec![home.folder("GROK_HOME", ".grok").join("sessions")],
    flat_folders: super::none,
    shape: |path| path.ends_with(HISTORY).then_some(Shape::Lines),
    context,
    parser: |info, from| Box::new(Grok::new(info, from)),
};

fn context(path: &Path, read: &ReadFile<'_>) -> Context {
    let folder = folder_name(path);
    let file = read(&path.with_file_name("summary.json")).unwrap_or_default();
    let summary: Summary<'_> = serde_json::from_slice(&file).unwrap_or_default();
    let session = summary.parent.filled().or(summary.info.id.filled()).unwrap_or(folder);
    let cwd = summary.info.cwd.filled().map(str::to_owned);
    Context {
        subagent: summary.kind.as_str().starts_with(SUBAGENT),
        session: Some(session.to_owned()),
        cwd: cwd.or_else(|| path.parent().and_then(|session| unescaped(folder_name(session)))),
        git_branch: summary.branch.filled().map(str::to_owned),
        name: Some(folder.to_owned()),
        ..Context::default()
    }
}

/// The absolute path in a folder's name, its slashes escaped as in an address; none where the name is no such path.
fn unescaped(name: &str) -> Option<String> {
    let mut parts = name.split('%');
    let mut path = parts.next()?.as_bytes().to_vec();
    for part in parts {
        path.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        path.extend_from_slice(&part.as_bytes()[2..]);
    }
    let path = String::from_utf8(path).ok()?;
    Path::new(&path).is_absolute().then_some(path)
}

/// Reads the history of one session.
#[derive(Debug)]
struct Grok {
    conversation: Conversation,
    /// The session's folder, which names its prompts.
    name: String,
}

impl Grok {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
            name: info.name.clone(),
        }
    }

    fn user(&mut self, record: &Record<'_>, at: ResumePoint) {
        match record.reason.as_str() {
            "" | "human" => self.prompt(record, at),
            COMPACTED => self.conversation.compacted(&record.content.joined()),
            _ => {}
        }
    }

    /// A prompt is named by its session, its number and itself: where the history was written anew, its place is another.
    fn prompt(&mut self, record: &Record<'_>, at: ResumePoint) {
        let said: Vec<&str> = record.content.texts().map(said).collect();
        let said = said.join("\n");
        let number = match record.prompt_index.filled() {
            Some(index) => index.to_owned(),
            None => format!("@{}", at.offset.0),
        };
        self.conversation.prompt(&format!("{}\n{number}\n{said}", self.name), &said);
    }

    fn assistant(&mut self, record: &Record<'_>) {
        self.conversation.say("", &record.content.joined());
        for call in &record.calls.0 {
            let (id, tool) = (call.id.as_str(), call.name.as_str());
            call.arguments.read(|arguments| self.conversation.call(id, tool, arguments));
        }
    }
}

impl Tell for Grok {
    type Record<'a> = Record<'a>;

    fn tell(&mut self, record: &Record<'_>, at: ResumePoint) {
        self.conversation.record(at, "");
        match record.kind.as_str() {
            "user" => self.user(record, at),
            "assistant" => self.assistant(record),
            "tool_result" => {
                let content = record.content.joined();
                let code = content.strip_prefix(EXIT_CODE).and_then(|rest| rest.lines().next());
                let failed = code.is_some_and(|code| code.trim() != "0");
                self.conversation.result(record.call_id.as_str(), failed, &content);
            }
            kind if BOOKKEEPING.contains(&kind) => {}
            kind => self.conversation.unknown(kind),
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
    #[case::path("%2Fhome%2Fada%2Fmy%20shop", Some("/home/ada/my shop"))]
    #[case::characters("%2Fhome%2F%C3%A9", Some("/home/\u{e9}"))]
    #[case::no_path("shop", None)]
    #[case::cut("%2Fhome%2", None)]
    #[case::no_digits("%2Fhome%zz", None)]
    fn a_folders_name_is_a_path(#[case] name: &str, #[case] expected: Option<&str>) {
        assert_eq!(unescaped(name).as_deref(), expected);
    }
}
