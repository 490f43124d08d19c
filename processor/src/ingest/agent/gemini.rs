//! Gemini CLI's chats: until early 2026 one JSON document, since then one JSON record a line.
//!
//! A message is written again whenever it grows, its tool calls with it: the last counts. One that was told in an earlier turn
//! may be written again, too, with nothing new but the results of its calls. What a rewind or a checkpoint takes out of the
//! agent's context did happen, and stays.

pub(super) mod prompt;
pub(super) mod wire;

use std::path::Path;

use sha2::{Digest, Sha256};

use self::wire::{Record, ToolCall};
use super::{Context, Description, ReadFile, Shape, folder_name, has_extension, is_below};
use crate::ingest::conversation::Conversation;
use crate::ingest::tell::Tell;
use crate::ingest::tool::leading_number;
use crate::ingest::{ResumePoint, SourceInfo};

/// Messages of the client to the person.
const NOTICES: &[&str] = &["error", "info", "warning"];
/// Where a chat lies: everything of it is below a folder of this name in its project's folder.
const CHATS: &str = "chats";

pub(super) const DESCRIPTION: Description = Description {
    id: "gemini-cli",
    name: "Gemini CLI",
    folders: |home| {
        let home = (home.variable)("GEMINI_CLI_HOME").unwrap_or_else(|| home.folder.to_owned());
        vec![home.join(".gemini").join("tmp")]
    },
    flat_folders: super::none,
    shape: |path| {
        if !is_below(path, CHATS) {
            None
        } else if has_extension(path, "json") {
            Some(Shape::Document)
        } else {
            has_extension(path, "jsonl").then_some(Shape::Lines)
        }
    },
    context,
    parser: |info, from| Box::new(Gemini::new(info, from)),
};

/// A subagent's chat lies in a folder of its parent session's name, and neither names its working folder.
fn context(path: &Path, read: &ReadFile<'_>) -> Context {
    let above = folder_name(path);
    let subagent = above != CHATS;
    let project = path.ancestors().find(|above| above.ends_with(CHATS)).and_then(Path::parent);
    Context {
        subagent,
        session: subagent.then(|| above.to_owned()),
        cwd: project.and_then(|project| project_root(project, read)),
        ..Context::default()
    }
}

/// The working folder that a project's folder stands for: a file in it says so, or the register of all projects, where it
/// has a name of its own; before that it was named by the hash of the working folder.
fn project_root(project: &Path, read: &ReadFile<'_>) -> Option<String> {
    if let Some(root) = read(&project.join(".project_root")) {
        let root = String::from_utf8(root).ok()?;
        return Some(root.trim().to_owned());
    }
    let name = project.file_name()?.to_str()?;
    let register = read(&project.parent()?.parent()?.join("projects.json"))?;
    let register: serde_json::Value = serde_json::from_slice(&register).ok()?;
    let roots = register.get("projects")?.as_object()?;
    let is_it = |root: &str, slug: &serde_json::Value| slug == name || is_hash(name, root);
    roots
        .iter()
        .find(|(root, slug)| is_it(root, slug))
        .map(|(root, _)| root.clone())
}

/// Whether a project's name is the hash of a working folder.
fn is_hash(name: &str, root: &str) -> bool {
    let byte = |digits: &[u8]| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok();
    let bytes = name.as_bytes().chunks(2).map(byte);
    bytes.eq(Sha256::digest(root).iter().map(|byte| Some(*byte)))
}

/// Reads the records of one chat.
#[derive(Debug)]
struct Gemini {
    conversation: Conversation,
    /// Whether the session is the parent's, which the path names and no record.
    subagent: bool,
}

impl Gemini {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
            subagent: info.context.subagent,
        }
    }

    /// What the first line says of all others.
    fn begin(&mut self, record: &Record<'_>) {
        if !self.subagent {
            self.conversation.session(record.session.as_str());
        }
        if record.kind.as_str() == "subagent" {
            self.conversation.by_subagent();
        }
    }

    fn message(&mut self, message: &Record<'_>) {
        match message.role() {
            "user" => {
                if let Some(said) = prompt::said(&message.shown()) {
                    self.conversation.prompt(message.id.as_str(), said);
                }
            }
            "gemini" | "model" => self.answer(message),
            role if NOTICES.contains(&role) => {}
            role => self.conversation.unknown(role),
        }
    }

    fn answer(&mut self, message: &Record<'_>) {
        if self.conversation.judge_as_earlier() {
            return;
        }
        let said = message.said();
        match message.id.as_str() {
            "" => self.conversation.say("", &said),
            id => self.conversation.say_latest(id, &said),
        }
        for call in &message.calls.0 {
            self.call(call);
        }
    }

    fn call(&mut self, call: &ToolCall<'_>) {
        let status = call.status.as_str();
        if !matches!(status, "success" | "error") {
            // Not yet done, or the person did not want it.
            return;
        }
        let id = call.id.as_str();
        let output = call.output();
        let printed = printed_by_failed(output);
        let failed = status == "error" || printed.is_some();
        self.conversation.call(id, call.name.as_str(), &call.arguments);
        self.conversation.result(id, failed, printed.unwrap_or(output));
    }
}

/// What a failed command printed, of a shell's output as the client frames it; none where the output is no shell's or the
/// command did not fail. Qwen Code's is the same.
pub(super) fn printed_by_failed(output: &str) -> Option<&str> {
    let (framed, code) = output.rsplit_once("Exit Code: ")?;
    if matches!(leading_number(code), "" | "0") {
        return None;
    }
    let printed = framed.split_once("Output: ").map_or(framed, |(_, printed)| printed);
    Some(printed.trim_end().trim_end_matches("Error: (none)"))
}

impl Tell for Gemini {
    type Record<'a> = Record<'a>;

    fn tell(&mut self, record: &Record<'_>, at: ResumePoint) {
        self.begin(record);
        self.conversation.record(at, record.time());
        self.conversation.title(record.summary.as_str());
        if let Some(change) = &record.change {
            self.conversation.title(change.summary.as_str());
        }
        if !record.is_metadata() {
            self.message(record);
        }
        for message in record.messages.0.iter().chain(&record.history.0) {
            self.conversation.record(at, message.time());
            self.message(message);
        }
    }

    fn tell_first(&mut self, record: &Record<'_>) {
        self.begin(record);
    }

    fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }
}

#[cfg(test)]
mod tests;
