//! Qwen Code's chats: one JSON record a line, each with its session, working folder and branch.
//!
//! A branch of a session begins with a copy of its parent's records, which say so: they were read there. What was rewound did
//! happen, and stays.

mod wire;

use self::wire::{Part, Record};
use super::gemini::{printed_by_failed, prompt};
use super::{Context, Description, Shape, folder_name, has_extension, is_below};
use crate::ingest::conversation::Conversation;
use crate::ingest::tell::Tell;
use crate::ingest::{ResumePoint, SourceInfo};

/// User messages that are the client's.
const MACHINE_USERS: &[&str] = &["background_task_completed", "cron", "goal_runtime", "notification"];
/// System records that say nothing to remember, or what another record says too.
const BOOKKEEPING: &[&str] = &[
    "agent_bootstrap",
    "agent_launch_prompt",
    "agent_retry",
    "agent_session_ready",
    "at_command",
    "attribution_snapshot",
    "background_task_completed",
    "branch_checkpoint",
    "cron",
    "file_history_snapshot",
    "goal_runtime",
    "goal_state",
    "goal_turn_end",
    "managed_session_commit_v1",
    "managed_session_event_v1",
    "managed_session_header_v1",
    "notification",
    "omni_recall",
    "parent_session",
    "realtime_message",
    "rewind",
    "session_approval_mode",
    "session_artifact_event",
    "session_artifact_snapshot",
    "session_execution_engine",
    "session_model",
    "session_notes",
    "session_source",
    "session_sources_snapshot",
    "slash_command",
    "turn_result",
    "ui_telemetry",
    "user_text_elements",
];

pub(super) const DESCRIPTION: Description = Description {
    id: "qwen-code",
    name: "Qwen Code",
    folders: |home| {
        let runtime = (home.variable)("QWEN_RUNTIME_DIR").unwrap_or_else(|| home.folder("QWEN_HOME", ".qwen"));
        vec![runtime.join("projects")]
    },
    flat_folders: super::none,
    shape: |path| {
        let is_chat = is_below(path, "chats") || is_below(path, "subagents");
        (is_chat && has_extension(path, "jsonl")).then_some(Shape::Lines)
    },
    context: |path, _| {
        let subagent = is_below(path, "subagents");
        Context {
            subagent,
            session: subagent.then(|| folder_name(path).to_owned()),
            ..Context::default()
        }
    },
    parser: |info, from| Box::new(Qwen::new(info, from)),
};

/// Reads the lines of one chat.
#[derive(Debug)]
struct Qwen {
    conversation: Conversation,
    /// Whether it is a subagent's chat: the session is the parent's, which the path names.
    subagent: bool,
}

impl Qwen {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
            subagent: info.context.subagent,
        }
    }

    /// A person's prompt, or a subagent's task.
    fn user(&mut self, record: &Record<'_>) {
        let is_persons = matches!(record.provenance.as_str(), "" | "real_user");
        if !is_persons || (!self.subagent && record.agent.filled().is_some()) {
            return;
        }
        let shown = record.payload.display_text.filled().map(str::to_owned);
        let text = shown.unwrap_or_else(|| record.message.text());
        if let Some(said) = prompt::said(&text) {
            self.conversation.prompt(record.id.as_str(), said);
        }
    }

    fn part(&mut self, part: &Part<'_>) {
        if !part.thought.0 {
            // Several records may have one id: what was heard is known by itself.
            self.conversation.say("", part.text.as_str());
        }
        let call = &part.call;
        if let Some(name) = call.name.filled() {
            self.conversation.call(call.id.as_str(), name, &call.arguments);
        }
    }

    fn results(&mut self, record: &Record<'_>) {
        let status = record.result.status.as_str();
        if status == "cancelled" {
            return;
        }
        for part in &record.message.parts.0 {
            let result = &part.result;
            let output = result.response.text().unwrap_or_default();
            let printed = printed_by_failed(output);
            let failed = status == "error" || printed.is_some() || result.response.error.filled().is_some();
            self.conversation
                .result(result.id.as_str(), failed, printed.unwrap_or(output));
        }
    }
}

impl Tell for Qwen {
    type Record<'a> = Record<'a>;

    fn tell(&mut self, record: &Record<'_>, at: ResumePoint) {
        self.conversation.record(at, record.timestamp.as_str());
        if record.forked_from.0 {
            return;
        }
        if !self.subagent {
            self.conversation.session(record.session.as_str());
        }
        self.conversation.version(record.version.as_str());
        self.conversation.cwd(record.cwd.as_str());
        self.conversation.git_branch(record.git_branch.as_str());
        match (record.kind.as_str(), record.subtype.as_str()) {
            ("user", "" | "mid_turn_user_message") => self.user(record),
            ("user", subtype) if MACHINE_USERS.contains(&subtype) => {}
            ("assistant", _) => record.message.parts.0.iter().for_each(|part| self.part(part)),
            ("tool_result", _) => self.results(record),
            ("system", "custom_title") => self.conversation.title(record.payload.custom_title.as_str()),
            ("system", "chat_compression") => self.conversation.compacted(&record.payload.summary()),
            ("system", subtype) if BOOKKEEPING.contains(&subtype) => {}
            (kind, "") => self.conversation.unknown(kind),
            (kind, subtype) => self.conversation.unknown(&format!("{kind}/{subtype}")),
        }
    }

    fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }
}
