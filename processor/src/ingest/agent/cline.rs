//! Cline's tasks: one folder each, with what the person saw (`ui_messages.json`) and what the model was sent. Only the first
//! is read: its messages carry times, and a person's words stand in it without what the client puts around them.

mod wire;

use std::path::Path;

use memchr::memmem;

use self::wire::{HistoryItem, Message, Reply, ToolUse};
use super::{Context, Description, ReadFile, Shape, name};
use crate::ingest::assemble::Assembler;
use crate::ingest::conversation::Conversation;
use crate::ingest::lenient::{List, Prose};
use crate::ingest::line::Line;
use crate::ingest::parse::Parse;
use crate::ingest::problem::ProblemKind;
use crate::ingest::tool::Arguments;
use crate::ingest::{ResumePoint, SourceInfo};

/// Messages that say nothing to remember.
const BOOKKEEPING: &[&str] = &[
    "api_req_failed",
    "api_req_finished",
    "api_req_retried",
    "api_req_started",
    "browser_action",
    "browser_action_launch",
    "browser_action_result",
    "checkpoint_created",
    "clineignore_error",
    "command_output",
    "command_permission_denied",
    "condense",
    "conditional_rules_applied",
    "deleted_api_reqs",
    "error_retry",
    "generate_explanation",
    "hook_output_stream",
    "hook_status",
    "info",
    "load_mcp_documentation",
    "mcp_notification",
    "mcp_server_request_started",
    "mcp_server_response",
    "mistake_limit_reached",
    "new_task",
    "reasoning",
    "report_bug",
    "resume_completed_task",
    "resume_task",
    "shell_integration_warning",
    "shell_integration_warning_with_suggestion",
    "subagent",
    "subagent_usage",
    "summarize_task",
    "task_progress",
    "use_subagents",
    "user_feedback_diff",
];
/// What ends a result where files were changed.
const CHANGES_MARK: &str = "HAS_CHANGES";
/// What ends a command that waits for approval.
const APPROVAL_MARK: &str = "REQ_APP";
/// What stands before and after the working folder in what the model was sent.
const FOLDER_MARKS: [&[u8]; 2] = [b"# Current Working Directory (", b") Files"];

pub(super) const DESCRIPTION: Description = Description {
    id: "cline",
    name: "Cline",
    folders: |home| {
        let data = home.folder("CLINE_DIR", ".cline").join("data");
        let data = (home.variable)("CLINE_DATA_DIR").unwrap_or(data);
        let mut folders = home.extension_folders("saoudrizwan.claude-dev");
        folders.push(data);
        folders.into_iter().map(|folder| folder.join("tasks")).collect()
    },
    flat_folders: super::none,
    shape: |path| (name(path) == "ui_messages.json").then_some(Shape::Document),
    context,
    parser: |info, from| Box::new(Cline::new(info, from)),
};

/// What the path of a task's messages says, `<storage>/tasks/<task>/ui_messages.json`, and the files beside it.
fn context(path: &Path, read: &ReadFile<'_>) -> Context {
    let mut above = path.ancestors().skip(1);
    let (Some(task), Some(storage)) = (above.next(), above.nth(1)) else {
        return Context::default();
    };
    let history = read(&storage.join("state/taskHistory.json")).unwrap_or_default();
    let List(items) = serde_json::from_slice::<List<HistoryItem<'_>>>(&history).unwrap_or_default();
    let item = items.iter().find(|item| item.id.as_str() == name(task));
    let cwd = item.and_then(|item| item.cwd.filled()).map(str::to_owned);
    Context {
        name: Some(name(task).to_owned()),
        session: Some(name(task).to_owned()),
        cwd: cwd.or_else(|| sent_folder(&read(&task.join("api_conversation_history.json"))?)),
        ..Context::default()
    }
}

/// The working folder as the model was told of it.
fn sent_folder(sent: &[u8]) -> Option<String> {
    let [before, after] = FOLDER_MARKS;
    let start = memmem::find(sent, before)? + before.len();
    let length = memmem::find(&sent[start..], after)?;
    // It stands in a string of JSON.
    let quoted = [b"\"", &sent[start..start + length], b"\""].concat();
    serde_json::from_slice(&quoted).ok()
}

/// Reads one task.
#[derive(Debug)]
struct Cline {
    conversation: Conversation,
}

impl Cline {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
        }
    }

    fn message(&mut self, message: &Message<'_>, is_first: bool, at: ResumePoint) {
        self.conversation.record(at, message.time.as_str());
        // One that is still written comes again whole.
        if message.is_partial.0 {
            return;
        }
        let text = message.text.as_str();
        match message.kind() {
            "task" | "user_feedback" => self.conversation.prompt("", text),
            // The task itself, as older versions wrote it.
            "text" if is_first => self.conversation.prompt("", text),
            "text" => self.conversation.say("", text),
            "completion_result" => {
                let said = text.strip_suffix(CHANGES_MARK).unwrap_or(text);
                self.conversation.say("", said);
            }
            "followup" | "plan_mode_respond" | "act_mode_respond" => {
                let reply: Reply<'_> = serde_json::from_str(text).unwrap_or_default();
                self.conversation.say("", reply.text().unwrap_or(text));
            }
            "command" => {
                let command = text.strip_suffix(APPROVAL_MARK).unwrap_or(text);
                let arguments = Arguments {
                    command: Prose::from(command),
                    ..Arguments::default()
                };
                self.conversation.call("", "execute_command", &arguments);
            }
            "tool" | "use_mcp_server" => {
                let arguments = serde_json::from_str(text).unwrap_or_default();
                let tool: ToolUse<'_> = serde_json::from_str(text).unwrap_or_default();
                self.conversation.call("", tool.name(), &arguments);
            }
            "error" | "diff_error" => self.conversation.result("", true, text),
            kind if BOOKKEEPING.contains(&kind) => {}
            kind => self.conversation.unknown(kind),
        }
    }
}

impl Parse for Cline {
    fn line(&mut self, line: &Line<'_>) {
        let at = ResumePoint::default();
        let Ok(List(messages)) = serde_json::from_slice::<List<Message<'_>>>(line.bytes) else {
            return self.conversation.assembler().problem(ProblemKind::MalformedJson, at);
        };
        for (number, message) in messages.iter().enumerate() {
            self.message(message, number == 0, at);
        }
    }

    fn assembler(&mut self) -> &mut Assembler {
        self.conversation.assembler()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const HISTORY: &str = "state/taskHistory.json";
    const SENT: &str = "tasks/2/api_conversation_history.json";

    #[rstest]
    #[case::history(
        HISTORY,
        r#"[{"id":"1","cwdOnTaskInitialization":"/no"},{"id":"2","cwdOnTaskInitialization":"/home/ada/shop"}]"#,
        Some("/home/ada/shop")
    )]
    #[case::sent(SENT, r"# Current Working Directory (/home/ada/shop) Files\nsrc/", Some("/home/ada/shop"))]
    #[case::sent_with_brackets(
        SENT,
        r"# Current Working Directory (/home/ada/shop (2)) Files\n",
        Some("/home/ada/shop (2)")
    )]
    #[case::sent_escaped(SENT, r"# Current Working Directory (C:\\code\\shop) Files\n", Some(r"C:\code\shop"))]
    #[case::sent_by_a_person(SENT, r"My Working Directory (the second) Files", None)]
    fn a_tasks_folder_is_known_by_the_files_beside_it(#[case] file: &str, #[case] content: &str, #[case] folder: Option<&str>) {
        let found = context(Path::new("/s/tasks/2/ui_messages.json"), &|path| {
            (path == Path::new("/s").join(file)).then(|| content.as_bytes().to_vec())
        });
        assert_eq!((found.session.as_deref(), found.cwd.as_deref()), (Some("2"), folder));
    }
}
