//! GitHub Copilot CLI's sessions: a folder each, with the events in `events.jsonl` and where it works in `workspace.yaml`.
//!
//! A message in the user's place is the person's only where nothing else is named as its source; `transformedContent` is what
//! the model was sent, with what the client adds, and is never read. Subagents speak in the same file: each has a thread of its
//! own, whose prompt is the task that the main thread gave it.

mod kinds;
mod wire;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use self::kinds::BOOKKEEPING;
use self::wire::{Data, Event};
use super::{Context, Description, ReadFile, Shape, folder_name, has_extension, stem};
use crate::ingest::conversation::Conversation;
use crate::ingest::tell::Tell;
use crate::ingest::{ResumePoint, SourceInfo};

/// The events' file in a session's folder, and the folder of all sessions.
const EVENTS: &str = "events.jsonl";
const SESSIONS: &str = "session-state";
/// How the last line of a shell's output tells its exit code, as in `<shellId: 1 completed with exit code 0>`.
const EXIT_CODE: &str = "exit code ";

pub(super) const DESCRIPTION: Description = Description {
    id: "copilot-cli",
    name: "GitHub Copilot CLI",
    folders: |home| vec![home.folder("COPILOT_HOME", ".copilot").join(SESSIONS)],
    flat_folders: super::none,
    shape: |path| {
        // Before sessions had folders, each was one file.
        let is_session = path.ends_with(EVENTS) || folder_name(path) == SESSIONS && has_extension(path, "jsonl");
        is_session.then_some(Shape::Lines)
    },
    context,
    parser: |info, from| Box::new(CopilotCli::new(info, from)),
};

fn context(path: &Path, read: &ReadFile<'_>) -> Context {
    if !path.ends_with(EVENTS) {
        return Context {
            session: Some(stem(path).to_owned()),
            ..Context::default()
        };
    }
    let workspace = read(&path.with_file_name("workspace.yaml")).unwrap_or_default();
    let workspace = String::from_utf8_lossy(&workspace);
    let value = |key| flat_value(&workspace, key);
    let folder = folder_name(path).to_owned();
    Context {
        session: value("id").or_else(|| Some(folder.clone())),
        cwd: value("cwd"),
        git_branch: value("branch"),
        name: Some(folder),
        ..Context::default()
    }
}

/// The value of a key of a flat YAML file, with or without quotes.
fn flat_value(yaml: &str, key: &str) -> Option<String> {
    let value = yaml
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?
        .trim();
    let bare = ['"', '\'']
        .iter()
        .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(value);
    (!bare.is_empty()).then(|| bare.to_owned())
}

/// Reads the events of one session.
#[derive(Debug)]
struct CopilotCli {
    conversation: Conversation,
    /// Of the open turns, and empty while there are none, so that a restart knows of them, too: tasks by the call that gives them, the calls that began subagents by their agents, and the threads
    /// that were opened.
    tasks: HashMap<String, String>,
    agents: HashMap<String, String>,
    threads: HashSet<String>,
}

impl CopilotCli {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            conversation: Conversation::new(info, from),
            tasks: HashMap::new(),
            agents: HashMap::new(),
            threads: HashSet::new(),
        }
    }

    /// What the session's start says of all of it.
    fn begin(&mut self, data: &Data<'_>) {
        self.conversation.session(data.session_id.as_str());
        self.conversation.version(data.version.as_str());
        self.place(data.context.cwd.as_str(), data.context.branch.as_str());
    }

    /// Notes where the session works from here on.
    fn place(&mut self, cwd: &str, branch: &str) {
        self.conversation.cwd(cwd);
        self.conversation.git_branch(branch);
    }

    /// The subagent's thread that an event belongs to, by the call that began it; empty in the main thread.
    fn thread(&self, event: &Event<'_>) -> String {
        let agent = event.agent_id.as_str();
        let by_agent = || self.agents.get(agent).map_or(agent, String::as_str);
        let thread = match event.kind.as_str() {
            "subagent.started" => event.data.call_id.as_str(),
            _ => event.data.parent_call.filled().unwrap_or_else(by_agent),
        };
        thread.to_owned()
    }

    fn prompt(&mut self, event: &Event<'_>) {
        let data = &event.data;
        let is_person = matches!(data.source.as_str(), "" | "user") && !data.is_continuation.0;
        if is_person && !data.content.as_str().trim().is_empty() {
            self.tasks.clear();
            self.agents.clear();
            self.threads.clear();
            self.conversation.prompt(event.id.as_str(), data.content.as_str());
        }
    }

    fn call(&mut self, data: &Data<'_>) {
        let (id, tool) = (data.call_id.as_str(), data.tool.as_str());
        let task = data.arguments.read(|arguments| {
            self.conversation.call(id, tool, arguments);
            arguments.prompt.filled().map(str::to_owned)
        });
        // One without an id is known again by nothing: whose thread it begins can't be told.
        if let Some(task) = task
            && !id.is_empty()
            && self.conversation.assembler().has_open()
        {
            self.tasks.insert(id.to_owned(), task);
        }
    }

    fn result(&mut self, data: &Data<'_>) {
        let content = data.result.content.joined();
        let told = data.error.message.filled().unwrap_or(&content);
        let failed = !data.success.0 || exit_code(&content).is_some_and(|code| code != "0");
        self.conversation.result(data.call_id.as_str(), failed, told);
    }

    fn subagent(&mut self, event: &Event<'_>) {
        let call = event.data.call_id.as_str();
        if call.is_empty() {
            // Its thread is called by its own name.
            return;
        }
        if let Some(agent) = event.agent_id.filled()
            && self.conversation.assembler().has_open()
        {
            self.agents.entry(agent.to_owned()).or_insert_with(|| call.to_owned());
        }
        if let Some(task) = self.tasks.remove(call) {
            self.task(call, call, &task);
        }
    }

    /// What a subagent is to do, told once: by the call that began it, or by the first message to it.
    fn task(&mut self, thread: &str, id: &str, task: &str) {
        if self.threads.insert(thread.to_owned()) {
            self.conversation.prompt(id, task);
            if !self.conversation.assembler().has_open() {
                self.threads.clear();
            }
        }
    }
}

/// The exit code that ends a shell's output, if there is one.
fn exit_code(output: &str) -> Option<&str> {
    let last = output.trim_end().lines().last()?.strip_prefix('<')?;
    Some(last.strip_suffix('>')?.rsplit_once(EXIT_CODE)?.1)
}

impl Tell for CopilotCli {
    type Record<'a> = Event<'a>;

    fn tell(&mut self, event: &Event<'_>, at: ResumePoint) {
        let data = &event.data;
        self.conversation.record(at, event.timestamp.as_str());
        let thread = self.thread(event);
        self.conversation.in_thread(&thread);
        match event.kind.as_str() {
            "session.start" => self.begin(data),
            "session.resume" => self.place(data.context.cwd.as_str(), data.context.branch.as_str()),
            "session.context_changed" => self.place(data.cwd.as_str(), data.branch.as_str()),
            "session.title_changed" => self.conversation.title(data.title.as_str()),
            "user.message" if thread.is_empty() => self.prompt(event),
            "user.message" => self.task(&thread, event.id.as_str(), data.content.as_str()),
            "assistant.message" => self.conversation.say("", data.content.as_str()),
            "tool.execution_start" => self.call(data),
            "tool.execution_complete" => self.result(data),
            "subagent.started" => self.subagent(event),
            "session.task_complete" => self.conversation.say("", data.summary.as_str()),
            "session.compaction_complete" => self.conversation.compacted(data.compacted.as_str()),
            kind if BOOKKEEPING.contains(&kind) => {}
            kind => self.conversation.unknown(kind),
        }
    }

    fn tell_first(&mut self, event: &Event<'_>) {
        self.begin(&event.data);
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
    #[case::plain("id: 1\ncwd: /home/ada/shop\n", Some("/home/ada/shop"))]
    #[case::windows("cwd: D:\\shop\r\nbranch: main\r\n", Some("D:\\shop"))]
    #[case::quoted("cwd: \"/home/ada/a: b\"\n", Some("/home/ada/a: b"))]
    #[case::other_key("cwd_before: /x\n", None)]
    #[case::empty("cwd:\n", None)]
    fn a_flat_file_gives_its_values(#[case] yaml: &str, #[case] expected: Option<&str>) {
        assert_eq!(flat_value(yaml, "cwd").as_deref(), expected);
    }

    #[rstest]
    #[case::shell("ok\n<shellId: 1 completed with exit code 0>", Some("0"))]
    #[case::earlier("no\n<exited with exit code 101>\n", Some("101"))]
    #[case::in_the_midst("<exited with exit code 1>\nmore", None)]
    #[case::a_file("exit code 1", None)]
    #[case::empty("", None)]
    fn a_shells_last_line_tells_its_exit_code(#[case] output: &str, #[case] expected: Option<&str>) {
        assert_eq!(exit_code(output), expected);
    }
}
