//! Codex's rollouts: one JSON record a line, since 0.33 in an envelope of time and kind.
//!
//! Every text stands there twice, as an event for the screen and as an item for the model, in either order; both are read, and
//! what a turn has heard already is passed over. A fork and some subagents begin with a copy of their parent's history: it was
//! remembered when the parent was read, so nothing of it is a turn again. Rollouts that rest for some days are packed by zstd.

mod prompt;
mod wire;

use self::wire::{Payload, Record, Wrapped};
use super::{Context, Description, Shape, has_extension};
use crate::ingest::carried::Carried;
use crate::ingest::conversation::Conversation;
use crate::ingest::lenient::Prose;
use crate::ingest::tell::Tell;
use crate::ingest::tool::{Arguments, leading_number};
use crate::ingest::{ResumePoint, SourceInfo, time};

/// Kinds without an envelope that say nothing to remember: results there name no call.
const BARE: &[&str] = &[
    "",
    "error",
    "function_call_output",
    "function_result",
    "message",
    "reasoning",
    "state",
    "tool_result",
];
/// Records that say nothing to remember.
const BOOKKEEPING: &[&str] = &["world_state", "inter_agent_communication_metadata"];
/// Events that say nothing to remember, or what an item of the model says too.
const EVENTS: &[&str] = &[
    "account/rateLimits/updated",
    "agent_message_delta",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "background_event",
    "codex/event/raw_item",
    "collab_agent_interaction_end",
    "collab_agent_spawn_end",
    "collab_close_end",
    "collab_waiting_end",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "entered_review_mode",
    "error",
    "exec_command_begin",
    "exec_command_end",
    "exited_review_mode",
    "guardian_assessment",
    "image_generation_end",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "patch_apply_begin",
    "patch_apply_end",
    "plan_update",
    "stream_error",
    "sub_agent_activity",
    "thread_goal_updated",
    "thread_settings_applied",
    "token_count",
    "turn.completed",
    "turn_diff",
    "undo_completed",
    "view_image_tool_call",
    "warning",
    "web_search_begin",
    "web_search_end",
];
/// Items that say nothing to remember.
const ITEMS: &[&str] = &[
    "agent_message",
    "ghost_snapshot",
    "image_generation_call",
    "reasoning",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
];

/// How an output's frame tells the exit code, what ends the frame, and within how many bytes it stands where nothing does.
const EXIT_CODES: &[&str] = &["Exit code: ", "Process exited with code "];
const FRAME_END: &str = "\nOutput:\n";
const HEAD_WITHIN: usize = 400;

/// Copied history is written at once: records of it are never further apart than this, in ms.
const COPIED_AT_ONCE: i64 = 500;

pub(super) const DESCRIPTION: Description = Description {
    id: "codex",
    name: "Codex",
    folders: |home| {
        let folder = home.folder("CODEX_HOME", ".codex");
        vec![folder.join("sessions"), folder.join("archived_sessions")]
    },
    flat_folders: super::none,
    shape: |path| {
        let name = path.file_name()?.as_encoded_bytes();
        if !name.starts_with(b"rollout-") {
            None
        } else if name.ends_with(b".jsonl.zst") {
            Some(Shape::Archive)
        } else {
            has_extension(path, "jsonl").then_some(Shape::Lines)
        }
    },
    context: |path, _| Context {
        session: session_of(super::stem(path)),
        ..Context::default()
    },
    parser: |info, from| Box::new(Codex::new(info, from)),
};

/// The session in a rollout's name: `rollout-<local time>-<session>`.
fn session_of(stem: &str) -> Option<String> {
    let (_, session) = stem.split_at_checked("rollout-2025-09-16T14-12-31-".len())?;
    (!session.is_empty()).then(|| session.to_owned())
}

/// Reads the lines of one rollout.
#[derive(Debug)]
struct Codex {
    conversation: Conversation,
}

impl Codex {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        let mut conversation = Conversation::new(info, from);
        let mut carried = Carried::default();
        carried.set_begun(from.offset.0 > 0);
        conversation.assembler().resume(carried);
        Self { conversation }
    }

    /// Whether a record is one of the parent's, copied: those that follow the parent's own beginning at once.
    fn is_copied(&mut self, record: &Record<'_>) -> bool {
        let carried = self.conversation.carried();
        let Some(until) = carried.copied_until else {
            return false;
        };
        let at = time::parse(record.time()).unwrap_or(until);
        let copied = at.0 - until.0 <= COPIED_AT_ONCE;
        carried.copied_until = copied.then_some(at);
        copied
    }

    /// The beginning of a session: the first is the rollout's own, another session's after it heads a copy of that one's
    /// history.
    fn meta(&mut self, meta: &Payload<'_>, record: &Record<'_>) {
        let id = meta.id.as_str();
        if self.conversation.carried().has_begun() && !id.is_empty() && id != self.conversation.session_id() {
            // Without a time nothing tells where the copy ends.
            self.conversation.carried().copied_until = time::parse(record.time());
            return;
        }
        self.conversation.carried().set_begun(true);
        self.conversation.session(id);
        self.conversation.version(meta.cli_version.as_str());
        self.conversation.cwd(meta.cwd.as_str());
        self.conversation.git_branch(meta.git.branch.as_str());
        if meta.source.subagent.0 {
            self.conversation.by_subagent();
        }
    }

    fn item(&mut self, item: &Payload<'_>) {
        match item.kind.as_str() {
            "message" => self.message(item),
            "function_call" => {
                // The arguments are JSON in a string.
                let arguments = serde_json::from_str(item.arguments.as_str()).unwrap_or_default();
                self.call(item, &arguments);
            }
            "custom_tool_call" => {
                let arguments = Arguments {
                    input: item.input.clone(),
                    ..serde_json::from_str(item.input.as_str()).unwrap_or_default()
                };
                self.call(item, &arguments);
            }
            "local_shell_call" => {
                let arguments = Arguments {
                    command: item.action.command.clone(),
                    ..Arguments::default()
                };
                self.conversation.call(item.call_id.as_str(), "shell", &arguments);
            }
            "function_call_output" | "custom_tool_call_output" => self.result(item),
            kind if ITEMS.contains(&kind) => {}
            kind => self.unknown("response_item", kind),
        }
    }

    fn event(&mut self, event: &Payload<'_>) {
        match event.kind.as_str() {
            "task_started" | "turn_started" => self.conversation.turn_begins(),
            "user_message" => self.prompt(&event.message),
            "agent_message" => self.say(event.message.joined().as_ref()),
            "task_complete" => self.say(event.last_agent_message.as_str()),
            "thread_name_updated" => self.conversation.title(event.thread_name.as_str()),
            "item_completed" => self.completed(&event.completed),
            "turn_aborted" | "context_compacted" => {}
            kind if EVENTS.contains(&kind) => {}
            kind => self.unknown("event_msg", kind),
        }
    }

    /// An item of the paginated history.
    fn completed(&mut self, item: &wire::Completed<'_>) {
        match item.kind.as_str() {
            "UserMessage" => self.prompt(&item.content),
            "AgentMessage" => self.say(item.content.joined().as_ref()),
            "Plan" => self.say(item.text.as_str()),
            _ => {}
        }
    }

    fn message(&mut self, item: &Payload<'_>) {
        match item.role.as_str() {
            "user" => self.prompt(&item.content),
            "assistant" => self.say(item.content.joined().as_ref()),
            _ => {}
        }
    }

    /// A record without an envelope, as before 0.33.
    fn bare(&mut self, record: &Record<'_>) {
        let text = if record.content.is_empty() {
            &record.message
        } else {
            &record.content
        };
        match (record.kind.as_str(), record.role.as_str()) {
            ("" | "message", "user") => self.prompt(text),
            ("" | "message", "assistant") => self.say(text.joined().as_ref()),
            ("", "") if !record.id.as_str().is_empty() => self.conversation.session(record.id.as_str()),
            ("tool_call" | "function_call", _) => {
                let arguments = serde_json::from_str(record.arguments.as_str()).unwrap_or_default();
                self.conversation.call(record.call_id.as_str(), record.tool(), &arguments);
            }
            (kind, _) if BARE.contains(&kind) => {}
            (kind, _) => self.conversation.unknown(kind),
        }
    }

    fn call(&mut self, item: &Payload<'_>, arguments: &Arguments<'_>) {
        self.conversation.call(item.call_id.as_str(), item.name.as_str(), arguments);
    }

    fn result(&mut self, item: &Payload<'_>) {
        let text = item.output.joined();
        let wrapped: Wrapped<'_> = serde_json::from_str(&text).unwrap_or_default();
        let (content, code) = match wrapped.output.filled() {
            Some(output) => (output, wrapped.metadata.exit_code.as_str()),
            None => framed(&text),
        };
        let failed = !matches!(code, "" | "0");
        self.conversation.result(item.call_id.as_str(), failed, content);
    }

    /// What the client adds stands beside what the person typed, a piece each.
    fn prompt(&mut self, content: &Prose<'_>) {
        let said: Vec<&str> = content.texts().filter_map(prompt::said).collect();
        if !said.is_empty() {
            self.conversation.prompt("", &said.join("\n"));
        }
    }

    fn say(&mut self, text: &str) {
        self.conversation.say("", text);
    }

    fn unknown(&mut self, envelope: &str, kind: &str) {
        self.conversation.unknown(&format!("{envelope}/{kind}"));
    }
}

/// What a tool gave, without the frame that heads it, and the exit code in that; empty where there is none.
fn framed(output: &str) -> (&str, &str) {
    let head = &output[..output.floor_char_boundary(HEAD_WITHIN)];
    let (head, printed) = output.split_once(FRAME_END).unwrap_or((head, output));
    let code = EXIT_CODES.iter().find_map(|mark| Some(head.rsplit_once(mark)?.1));
    match leading_number(code.unwrap_or_default()) {
        "" => (output, ""),
        code => (printed, code),
    }
}

impl Tell for Codex {
    type Record<'a> = Record<'a>;

    fn tell(&mut self, record: &Record<'_>, at: ResumePoint) {
        self.conversation.record(at, record.time());
        if self.is_copied(record) {
            return;
        }
        let item = &record.payload;
        match record.kind.as_str() {
            "session_meta" => self.meta(item, record),
            "turn_context" => {
                self.conversation.turn_begins();
                self.conversation.cwd(item.cwd.as_str());
            }
            "response_item" => self.item(item),
            "event_msg" => self.event(item),
            "compacted" => self.conversation.compacted(item.message.joined().as_ref()),
            kind if BOOKKEEPING.contains(&kind) => {}
            _ => self.bare(record),
        }
    }

    fn tell_first(&mut self, record: &Record<'_>) {
        self.conversation.carried().set_begun(false);
        self.meta(&record.payload, record);
        self.conversation.carried().set_begun(true);
    }

    fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }
}
