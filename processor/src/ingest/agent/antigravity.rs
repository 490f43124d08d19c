//! Antigravity's transcripts, of its command line and of its editors: one step of the agent a line.
//!
//! A step names no session and no working folder: the path has the one, files of the command line the other. Calls have no ids:
//! their results follow in their order.

mod wire;

use std::collections::VecDeque;
use std::path::Path;

use self::wire::{Prompted, Step, ToolCall};
use super::{Context, Description, ReadFile, Shape};
use crate::ingest::conversation::Conversation;
use crate::ingest::tell::Tell;
use crate::ingest::tool::leading_number;
use crate::ingest::{ResumePoint, SourceInfo};

/// Folders of the products below `.gemini`.
const PRODUCTS: &[&str] = &["antigravity", "antigravity-cli", "antigravity-ide"];
/// Where a transcript lies below its conversation's folder.
const LOGS: &str = ".system_generated/logs";
/// Steps of the client.
const BOOKKEEPING: &[&str] = &["CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "SYSTEM_MESSAGE"];
/// What tools gave.
const RESULTS: &[&str] = &[
    "CODE_ACTION",
    "ERROR_MESSAGE",
    "FIND",
    "GENERIC",
    "GREP_SEARCH",
    "LIST_DIRECTORY",
    "RUN_COMMAND",
    "SEARCH_WEB",
    "TOOL_RESPONSE",
    "VIEW_FILE",
];
/// How a command's result tells its exit code.
const EXIT_CODES: &[&str] = &["exited with code ", "failed with exit code: ", "failed with exit code "];

pub(super) const DESCRIPTION: Description = Description {
    id: "antigravity",
    name: "Antigravity",
    folders: |home| {
        let gemini = home.folder.join(".gemini");
        PRODUCTS.iter().map(|product| gemini.join(product).join("brain")).collect()
    },
    flat_folders: super::none,
    shape: |path| {
        path.ends_with(Path::new(LOGS).join("transcript.jsonl"))
            .then_some(Shape::Lines)
    },
    context,
    parser: |info, from| Box::new(Antigravity::new(info, from)),
};

fn context(path: &Path, read: &ReadFile<'_>) -> Context {
    // The conversation's folder is three above the file; `brain` above it lies in the product's folder.
    let conversation = path.ancestors().nth(3);
    let session = conversation.and_then(Path::file_name).and_then(|name| name.to_str());
    let product = path.ancestors().nth(5);
    Context {
        session: session.map(str::to_owned),
        name: session.map(str::to_owned),
        cwd: session
            .zip(product)
            .and_then(|(session, product)| working_folder(session, product, read)),
        ..Context::default()
    }
}

/// The folder that a conversation was held in: that of which it is the last one, or where one of its prompts was typed.
fn working_folder(session: &str, product: &Path, read: &ReadFile<'_>) -> Option<String> {
    let last = read(&product.join("cache/last_conversations.json"));
    let last: serde_json::Value = serde_json::from_slice(&last.unwrap_or_default()).unwrap_or_default();
    let folders = last.as_object().into_iter().flatten();
    if let Some((folder, _)) = folders.into_iter().find(|(_, conversation)| *conversation == session) {
        return Some(folder.clone());
    }
    let prompts = read(&product.join("history.jsonl"))?;
    let mut prompts = serde_json::Deserializer::from_slice(&prompts)
        .into_iter::<Prompted<'_>>()
        .flatten();
    let prompt = prompts.find(|prompt| prompt.conversation.as_str() == session)?;
    prompt.workspace.filled().map(str::to_owned)
}

/// Reads the steps of one transcript.
#[derive(Debug)]
struct Antigravity {
    conversation: Conversation,
    /// Calls of the open turn whose results have not come.
    awaited: VecDeque<String>,
}

impl Antigravity {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
            awaited: VecDeque::new(),
        }
    }

    fn prompt(&mut self, content: &str) {
        self.awaited.clear();
        self.conversation.prompt("", request(content));
    }

    fn answer(&mut self, step: &Step<'_>) {
        self.conversation.say("", step.content.as_str());
        for (number, call) in step.calls.0.iter().enumerate() {
            let id = format!("{}/{number}", step.index.as_str());
            self.call(&id, call);
            self.awaited.push_back(id);
        }
    }

    fn call(&mut self, id: &str, call: &ToolCall<'_>) {
        self.conversation.call(id, call.name.as_str(), &call.arguments.plain());
    }

    fn result(&mut self, step: &Step<'_>) {
        let content = step.content.as_str();
        let failed = match exit_code(step) {
            Some(code) => code != "0",
            None => step.status.as_str() == "ERROR" || step.error.filled().is_some(),
        };
        if let Some(id) = self.awaited.pop_front() {
            let told = if content.is_empty() { step.error.as_str() } else { content };
            self.conversation.result(&id, failed, told);
        }
    }
}

/// What the person asks for in a step; what the client says around it is none of it.
fn request(content: &str) -> &str {
    let Some((_, request)) = content.split_once("<USER_REQUEST>") else {
        // Without the mark all of it is the person's, up to what the client adds.
        return content.split_once("\n<").map_or(content, |(said, _)| said);
    };
    request.rsplit_once("</USER_REQUEST>").map_or(request, |(said, _)| said)
}

/// The exit code of a command.
fn exit_code<'a>(step: &'a Step<'_>) -> Option<&'a str> {
    let told = || {
        let code = EXIT_CODES
            .iter()
            .find_map(|mark| Some(step.content.as_str().split_once(mark)?.1))?;
        Some(leading_number(code)).filter(|code| !code.is_empty())
    };
    step.exit_code.filled().or_else(told)
}

impl Tell for Antigravity {
    type Record<'a> = Step<'a>;

    fn tell(&mut self, step: &Step<'_>, at: ResumePoint) {
        self.conversation.record(at, step.created_at.as_str());
        match step.kind.as_str() {
            "USER_INPUT" if step.source.as_str() == "SYSTEM" => {}
            "USER_INPUT" => self.prompt(step.content.as_str()),
            "PLANNER_RESPONSE" => self.answer(step),
            "CHECKPOINT" => self.conversation.compacted(step.content.as_str()),
            kind if BOOKKEEPING.contains(&kind) => {}
            kind => {
                if !RESULTS.contains(&kind) {
                    self.conversation.unknown(kind);
                }
                if step.source.as_str() == "MODEL" {
                    self.result(step);
                }
            }
        }
    }

    fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }
}

#[cfg(test)]
mod tests;
