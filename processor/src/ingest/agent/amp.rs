//! Amp's legacy threads: one JSON document each, from before threads were kept on its server. Messages are numbered within
//! their thread; only a person's carry a time.

mod wire;

use self::wire::{Block, Environment, Message, Thread};
use super::uri::path_of;
use super::{Context, Description, Shape, has_extension, stem};
use crate::ingest::conversation::Conversation;
use crate::ingest::tell::Tell;
use crate::ingest::{ResumePoint, SourceInfo};

/// How a run of a tool ended that was not done.
const FAILED: &[&str] = &["cancelled", "error", "rejected-by-user"];
/// Roles that neither a person nor the agent speaks in.
const MACHINE_ROLES: &[&str] = &["info", "system"];

pub(super) const DESCRIPTION: Description = Description {
    id: "amp",
    name: "Amp",
    folders: |home| {
        let mut folders = vec![home.folder("XDG_DATA_HOME", ".local/share").join("amp/threads")];
        let extension = home.extension_folders("sourcegraph.amp");
        folders.extend(extension.into_iter().map(|folder| folder.join("threads3")));
        folders
    },
    flat_folders: super::none,
    shape: |path| (stem(path).starts_with("T-") && has_extension(path, "json")).then_some(Shape::Document),
    context: |_, _| Context::default(),
    parser: |info, from| Box::new(Amp::new(info, from)),
};

/// Reads one thread.
#[derive(Debug)]
struct Amp {
    conversation: Conversation,
}

impl Amp {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
        }
    }

    fn environment(&mut self, environment: &Environment<'_>) {
        let tree = environment.trees.0.first();
        let uri = tree.map(|tree| tree.uri.as_str()).unwrap_or_default();
        self.conversation.cwd(&path_of(uri));
        self.conversation.cwd(environment.cwd.as_str());
        let reference = tree.map(|tree| tree.repository.reference.as_str()).unwrap_or_default();
        self.conversation
            .git_branch(reference.strip_prefix("refs/heads/").unwrap_or_default());
    }

    fn message(&mut self, message: &Message<'_>) {
        match message.role.as_str() {
            "user" => {
                let number = message.number.as_str();
                let id = if number.is_empty() {
                    String::new()
                } else {
                    format!("{}:{number}", self.conversation.session_id())
                };
                let texts = message.content.0.iter().filter(|block| block.is_text());
                let texts: Vec<&str> = texts.filter_map(|block| block.text.filled()).collect();
                self.conversation.prompt(&id, &texts.join("\n"));
                message.content.0.iter().for_each(|block| self.result(block));
            }
            "assistant" => message.content.0.iter().for_each(|block| self.answer(block)),
            role if MACHINE_ROLES.contains(&role) => {}
            role => self.conversation.unknown(&format!("message/{role}")),
        }
    }

    fn answer(&mut self, block: &Block<'_>) {
        if block.is_text() {
            self.conversation.say("", block.text.as_str());
        } else if block.kind.as_str() == "tool_use" {
            let (id, tool) = (block.id.as_str(), block.name.as_str());
            self.conversation.call(id, tool, &block.input);
        }
    }

    fn result(&mut self, block: &Block<'_>) {
        if block.kind.as_str() != "tool_result" {
            return;
        }
        let run = &block.run;
        let outcome = run.result.0.first();
        let code = outcome.map(|outcome| outcome.exit_code.as_str()).unwrap_or_default();
        let failed = FAILED.contains(&run.status.as_str()) || !matches!(code, "" | "0");
        let errors = run.error.0.iter().flat_map(|error| [&error.message, &error.text]);
        let outputs = outcome.into_iter().flat_map(|outcome| [&outcome.output, &outcome.text]);
        let told = errors.chain(outputs).find_map(|text| text.filled());
        self.conversation
            .result(block.tool_use_id.as_str(), failed, told.unwrap_or_default());
    }
}

impl Tell for Amp {
    type Record<'a> = Thread<'a>;

    fn tell(&mut self, thread: &Thread<'_>, at: ResumePoint) {
        self.conversation.record(at, thread.created.as_str());
        self.conversation.session(thread.id.as_str());
        self.conversation.title(thread.title.as_str());
        self.environment(&thread.environment.initial);
        for message in &thread.messages.0 {
            self.conversation.record(at, message.meta.sent_at.as_str());
            self.message(message);
        }
    }

    fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }
}
