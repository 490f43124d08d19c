//! Kimi's wire logs: `Kimi Code`'s flat records (protocol 1.4 and 1.5), and the messages in envelopes that Kimi CLI wrote
//! before it. No record has an id. Each agent of a session has a log of its own.
//!
//! A prompt stands there as `turn.prompt` or `turn.steer`, when it was given, and again as a message of the context, when the
//! model was shown it, between the messages that the client injects: only the first is read. What was undone in the context
//! stays in the log, and is history.

mod wire;

use std::path::Path;

use self::wire::{Enveloped, Event, Origin, Record, State};
use super::{Context, Description, ReadFile, Shape, name};
use crate::ingest::conversation::Conversation;
use crate::ingest::tell::Tell;
use crate::ingest::{ResumePoint, SourceInfo};

/// Records that say nothing to remember, or what others say too: by their family, or whole.
const BOOKKEEPING: &[&str] = &[
    "config.",
    "context.append_message",
    "context.clear",
    "context.undo",
    "context.update_token_count",
    "cron.",
    "file_history.",
    "forked",
    "full_compaction.",
    "goal.",
    "interaction.",
    "interruptionReminder.",
    "llm.",
    "mcp.",
    "metadata",
    "micro_compaction.",
    "permission.",
    "plan.revision",
    "plan_mode.",
    "plugin.",
    "profile.",
    "prompt.",
    "runtime.",
    "staleGuard.",
    "swarm_mode.",
    "task.",
    "token_counting.",
    "tools.",
    "tower_mode.",
    "turn.cancel",
    "turn.ended",
    "turn.step.",
    "usage.",
];
/// Events of the agent's loop that say nothing to remember.
const EVENTS: &[&str] = &["step.begin", "step.end"];
/// Messages in envelopes that say nothing to remember: a subagent has a log of its own.
const ENVELOPED: &[&str] = &[
    "ApprovalRequest",
    "ApprovalRequestResolved",
    "ApprovalResponse",
    "BtwBegin",
    "BtwEnd",
    "CompactionBegin",
    "CompactionEnd",
    "HookRequest",
    "HookResolved",
    "HookTriggered",
    "PlanDisplay",
    "QuestionRequest",
    "StatusUpdate",
    "StepBegin",
    "StepInterrupted",
    "SubagentEvent",
    "ToolCallPart",
    "ToolCallRequest",
    "TurnEnd",
];
/// What the client puts before a subagent's task.
const GIT_CONTEXT: (&str, &str) = ("<git-context>", "</git-context>");

pub(super) const DESCRIPTION: Description = Description {
    id: "kimi",
    name: "Kimi",
    folders: |home| {
        vec![
            home.folder("KIMI_CODE_HOME", ".kimi-code").join("sessions"),
            home.folder("KIMI_SHARE_DIR", ".kimi").join("sessions"),
        ]
    },
    flat_folders: super::none,
    shape: |path| (name(path) == "wire.jsonl").then_some(Shape::Lines),
    context,
    parser: |info, from| Box::new(Kimi::new(info, from)),
};

/// What the path of a log says: `<session>/agents/<agent>/wire.jsonl`, `<session>/subagents/<agent>/wire.jsonl` or
/// `<session>/wire.jsonl`; and the session's own file.
fn context(path: &Path, read: &ReadFile<'_>) -> Context {
    let mut above = path.ancestors().skip(1);
    let (Some(agent), Some(agents)) = (above.next(), above.next()) else {
        return Context::default();
    };
    let is_agent = matches!(name(agents), "agents" | "subagents");
    let session = if is_agent { above.next().unwrap_or(agents) } else { agent };
    let state = read(&session.join("state.json")).unwrap_or_default();
    let state: State<'_> = serde_json::from_slice(&state).unwrap_or_default();
    Context {
        subagent: is_agent && name(agent) != "main",
        name: Some(format!("{}/{}", name(session), name(agent))),
        session: Some(name(session).to_owned()),
        cwd: state.work_dir.filled().or(state.cwd.filled()).map(str::to_owned),
        ..Context::default()
    }
}

/// Reads the lines of one log.
#[derive(Debug)]
struct Kimi {
    conversation: Conversation,
    /// Whether a machine speaks in the user's place here: in a subagent's log.
    is_subagent: bool,
}

impl Kimi {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
            is_subagent: info.context.subagent,
        }
    }

    fn prompt(&mut self, input: &str, origin: &Origin<'_>) {
        let is_task = self.is_subagent && origin.name.as_str() == "subagent";
        if is_task || matches!(origin.kind.as_str(), "" | "user") {
            self.conversation.prompt("", without_git_context(input));
        } else {
            self.conversation.machine_prompt("", input);
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        let id = event.tool_call_id.as_str();
        match event.kind.as_str() {
            "content.part" => {
                if event.part.kind.as_str() == "text" {
                    self.conversation.say(event.uuid.as_str(), event.part.text.as_str());
                }
            }
            "tool.call" => self.conversation.call(id, event.name.as_str(), &event.args),
            "tool.result" => {
                let result = &event.result;
                self.conversation.result(id, result.is_error.0, &result.output.joined());
            }
            kind if EVENTS.contains(&kind) => {}
            kind => self.unknown("event", kind),
        }
    }

    fn enveloped(&mut self, message: &Enveloped<'_>) {
        let payload = &message.payload;
        match message.kind.as_str() {
            "TurnBegin" | "SteerInput" => self.prompt(&payload.user_input.joined(), &Origin::default()),
            "ContentPart" => {
                if payload.kind.as_str() == "text" {
                    self.conversation.say("", payload.text.as_str());
                }
            }
            "ToolCall" => {
                let arguments = serde_json::from_str(payload.function.arguments.as_str()).unwrap_or_default();
                let (id, tool) = (payload.id.as_str(), payload.function.name.as_str());
                self.conversation.call(id, tool, &arguments);
            }
            "ToolResult" => {
                let value = &payload.return_value;
                let output = value.output.joined();
                let told = if output.trim().is_empty() {
                    value.message.as_str()
                } else {
                    &output
                };
                self.conversation
                    .result(payload.tool_call_id.as_str(), value.is_error.0, told);
            }
            kind if ENVELOPED.contains(&kind) => {}
            kind => self.unknown("message", kind),
        }
    }

    fn unknown(&mut self, envelope: &str, kind: &str) {
        self.conversation.unknown(&format!("{envelope}/{kind}"));
    }
}

/// Whether a kind is the known one, or of its family where that ends with a point.
fn is_of(kind: &str, known: &str) -> bool {
    kind == known || known.ends_with('.') && kind.starts_with(known)
}

fn without_git_context(input: &str) -> &str {
    let (start, end) = GIT_CONTEXT;
    match input.trim_start().strip_prefix(start) {
        Some(rest) => rest.split_once(end).map_or("", |(_, task)| task),
        None => input,
    }
}

impl Tell for Kimi {
    type Record<'a> = Record<'a>;

    fn tell(&mut self, record: &Record<'_>, at: ResumePoint) {
        self.conversation.record(at, record.time());
        match record.kind.as_str() {
            "turn.prompt" | "turn.steer" => self.prompt(&record.input.joined(), &record.origin),
            "context.append_loop_event" => self.event(&record.event),
            "context.apply_compaction" => self.conversation.compacted(record.summary.as_str()),
            "" => self.enveloped(&record.message),
            kind if BOOKKEEPING.iter().any(|known| is_of(kind, known)) => {}
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
    #[case::main("/h/sessions/wd_a/s_1/agents/main/wire.jsonl", "s_1", "s_1/main", false)]
    #[case::subagent("/h/sessions/wd_a/s_1/agents/agent-0/wire.jsonl", "s_1", "s_1/agent-0", true)]
    #[case::before("/h/sessions/5d41/0a1b/wire.jsonl", "0a1b", "0a1b/0a1b", false)]
    #[case::subagent_before("/h/sessions/5d41/0a1b/subagents/7/wire.jsonl", "0a1b", "0a1b/7", true)]
    fn a_path_tells_the_session(#[case] path: &str, #[case] session: &str, #[case] source: &str, #[case] subagent: bool) {
        let found = context(Path::new(path), &|file| {
            (name(file) == "state.json").then(|| br#"{"workDir":"/home/ada/shop"}"#.to_vec())
        });
        let expected = Context {
            subagent,
            name: Some(source.to_owned()),
            session: Some(session.to_owned()),
            cwd: Some("/home/ada/shop".to_owned()),
            ..Context::default()
        };
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case::plain("count the tests", "count the tests")]
    #[case::context("<git-context>\nRemote: x\n</git-context>\n\ncount the tests", "\n\ncount the tests")]
    #[case::unclosed("<git-context>\nRemote: x", "")]
    fn a_task_is_told_from_its_context(#[case] input: &str, #[case] expected: &str) {
        assert_eq!(without_git_context(input), expected);
    }
}
