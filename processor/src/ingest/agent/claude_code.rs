//! Claude Code's transcripts: one JSON record a line into turns.
//!
//! A user record without a tool's result and with a person's words opens a turn; texts and tool calls of the assistant
//! belong to it until the next. Everything else is bookkeeping, or machine text in the user's place (see [`prompt`]).
//! Side threads: in 1.0 and 2.0 a subagent's records stand in the main file, tied by `parentUuid` or `agentId`; later they
//! have files of their own, which are read as a main thread of origin subagent.
//!
//! One API message stands in several records, a block in each. The extension of an editor that resumes a session writes its
//! records once more, under new ids but with their times: what is older than the open turn and follows nothing in it is
//! such a copy, and what the open turn has heard of a message is not told again.

mod beside;
mod kinds;
mod prompt;
mod queue;
mod tools;
mod wire;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use remembrancer_schema::{Origin, UnixMillis};

use self::beside::folder_beside;
use self::kinds::{BOOKKEEPING, SYSTEM_BOOKKEEPING};
use self::prompt::{Said, said};
use self::queue::{Queue, Queued};
use self::wire::{Attachment, Content, Record};
use super::{Context, Description, Shape, folder_name, has_extension, is_below, stem};
use crate::ingest::assemble::{Assembler, OpenTurn, Place};
use crate::ingest::json::{RecordSink, read_values};
use crate::ingest::line::Line;
use crate::ingest::parse::Parse;
use crate::ingest::problem::ProblemKind;
use crate::ingest::redact::redact_head;
use crate::ingest::turn::short_hash;
use crate::ingest::{ResumePoint, SourceInfo, text, time};

/// Longest summary of an earlier conversation that is kept, in bytes.
const SUMMARY_CAP: usize = 8 * 1024;

/// Reads the lines of one transcript.
#[derive(Debug)]
pub(crate) struct ClaudeCode {
    /// The session of records that name none.
    session: String,
    subagent_file: bool,
    /// The working folder of records before which none is named.
    cwd: Option<String>,
    fallback_time: UnixMillis,
    pub(crate) assembler: Assembler,
    /// Side thread of each record in it, by hash of the record's id, since the last main prompt.
    threads: HashMap<u64, String>,
    queue: Queue,
    /// Ids of this source's records, for summaries that name their last one.
    ids: HashSet<u64>,
    /// Those of them since the last main prompt.
    turn_ids: HashSet<u64>,
}

pub(super) const DESCRIPTION: Description = Description {
    id: "claude-code",
    name: "Claude Code",
    folders: |home| vec![home.folder("CLAUDE_CONFIG_DIR", ".claude").join("projects")],
    flat_folders: super::none,
    // Beside a session lie results of its tools that were too large for it.
    shape: |path| (has_extension(path, "jsonl") && !is_below(path, "tool-results")).then_some(Shape::Lines),
    context: |path, read| Context {
        subagent: is_subagent(path),
        session: parent_session(path),
        cwd: is_subagent(path).then(|| folder_beside(path, read)).flatten(),
        ..Context::default()
    },
    parser: |info, from| Box::new(ClaudeCode::new(info, from)),
};

/// Whether a file is a subagent's own.
fn is_subagent(path: &Path) -> bool {
    is_below(path, "subagents") || stem(path).starts_with("agent-")
}

/// The session that a subagent's own file belongs to, where its place tells: `<session>/subagents/…/agent-<id>.jsonl`.
fn parent_session(path: &Path) -> Option<String> {
    let subagents = path.ancestors().find(|above| above.ends_with("subagents"))?;
    Some(folder_name(subagents).to_owned())
}

impl ClaudeCode {
    fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            session: info.context.session.clone().unwrap_or_else(|| info.name.clone()),
            subagent_file: info.context.subagent,
            cwd: info.context.cwd.clone(),
            fallback_time: info.fallback_time,
            assembler: Assembler::new(info, from),
            threads: HashMap::new(),
            queue: Queue::default(),
            ids: HashSet::new(),
            turn_ids: HashSet::new(),
        }
    }

    fn read(&mut self, record: &Record<'_>, start: ResumePoint) {
        self.assembler.records += 1;
        self.assembler.carried.tell_version(record.version.as_str());
        self.assembler.tell_time(record.timestamp.as_str());
        if self.is_copy(record) {
            return self.assembler.problem(ProblemKind::RepeatedRecord, start);
        }
        if !self.assembler.has_main() {
            // What came before a turn is none of it, and not known after a restart.
            self.turn_ids.clear();
        }
        if let Some(id) = record.uuid.filled() {
            self.ids.insert(short_hash(id));
            self.turn_ids.insert(short_hash(id));
        }
        let session = record.session_id.filled().unwrap_or(&self.session).to_owned();
        // Where a record names none, it was written where the one before it was, or where what lies beside it was.
        self.assembler.carried.tell_cwd(record.cwd.as_str());
        let carried = self.assembler.carried.cwd().or(self.cwd.as_deref()).map(str::to_owned);
        let place = Place {
            id: record.uuid.as_str(),
            written: record.timestamp.as_str(),
            at: self.assembler.carried.at.unwrap_or(self.fallback_time),
            session: &session,
            cwd: carried.as_deref(),
            git_branch: record.git_branch.filled(),
            start,
            replay: None,
        };
        self.dispatch(record, &place);
    }

    /// Whether a message of an earlier turn is written again: it is older than the open turn, and follows no record of it. (The whole
    /// record is passed over then, so that no turn begins in it.)
    fn is_copy(&self, record: &Record<'_>) -> bool {
        let (Some(at), Some(since)) = (time::parse(record.timestamp.as_str()), self.assembler.main_since()) else {
            return false;
        };
        let is_astray = match (record.kind.as_str(), record.parent_uuid.filled()) {
            ("user" | "assistant", Some(parent)) => !self.turn_ids.contains(&short_hash(parent)),
            ("user", None) => true,
            _ => false,
        };
        at < since && is_astray && !record.is_sidechain.0
    }

    fn dispatch(&mut self, record: &Record<'_>, place: &Place<'_>) {
        match record.kind.as_str() {
            "user" => self.user(record, place),
            "assistant" => self.assistant(record, place),
            "attachment" => self.attachment(&record.attachment, record, place),
            "system" => self.system(record, place),
            "queue-operation" => self.queue_operation(record, place),
            "ai-title" => self.title(record.ai_title.as_str(), false, place),
            "custom-title" => self.title(record.custom_title.as_str(), true, place),
            "summary" => self.summary_title(record, place),
            kind if BOOKKEEPING.contains(&kind) => {}
            kind => {
                let name = if kind.is_empty() { "untyped" } else { kind };
                self.assembler.problem(ProblemKind::unknown_record(name), place.start);
            }
        }
    }

    fn user(&mut self, record: &Record<'_>, place: &Place<'_>) {
        self.assembler.note_session(place.session, place.at);
        let content = &record.message.content;
        if content.blocks().iter().any(|block| block.kind.as_str() == "tool_result") {
            self.settle_queue(place);
            return self.results(record, content, place);
        }
        if record.is_meta.0 || !is_human(record.origin.kind.as_str()) {
            return;
        }
        match said(&content.texts(), record.is_compact_summary.0) {
            Said::Prompt(text) => self.prompt(record, text, place),
            Said::Summary(summary) => self.compacted(&summary, record, place),
            Said::Nothing => {}
        }
    }

    fn prompt(&mut self, record: &Record<'_>, text: String, place: &Place<'_>) {
        let subagent = self.subagent_file || record.is_sidechain.0;
        let warm_up = subagent && text == "Warmup";
        if record.is_sidechain.0 && !self.subagent_file {
            let thread = self.side_thread(record).unwrap_or_else(|| record.uuid.as_str().to_owned());
            self.threads.insert(short_hash(record.uuid.as_str()), thread.clone());
            return self.assembler.open_side(&thread, place, text, warm_up);
        }
        if !place.written.is_empty() && self.assembler.main_is(place.at, &text) {
            return;
        }
        self.threads.clear();
        self.queue = Queue::default();
        self.turn_ids = HashSet::from([short_hash(place.id)]);
        self.assembler
            .open_main(place, if subagent { Origin::Subagent } else { Origin::User }, text, warm_up);
    }

    fn compacted(&mut self, summary: &str, record: &Record<'_>, place: &Place<'_>) {
        if record.is_sidechain.0 && !self.subagent_file {
            return;
        }
        self.assembler.note_compaction(place.session, place.at);
        if self.assembler.is_untouched() && !summary.is_empty() {
            let origin = self.origin();
            let redacted = redact_head(summary, SUMMARY_CAP);
            self.assembler
                .open_carried(place, origin, text::head(&redacted, SUMMARY_CAP).to_owned());
        }
    }

    fn assistant(&mut self, record: &Record<'_>, place: &Place<'_>) {
        self.assembler.note_session(place.session, place.at);
        self.settle_queue(place);
        if record.is_api_error.0 || record.message.model.as_str() == "<synthetic>" {
            return;
        }
        let Some(open) = self.turn_of(record, place) else { return };
        if !open.is_new(place.id) {
            return;
        }
        let message = record.message.id.as_str();
        match &record.message.content {
            Content::Text(text) => say(open, message, place.at, text),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block.kind.as_str() {
                        "text" => say(open, message, place.at, block.text.as_str()),
                        "tool_use" if open.is_new(block.id.as_str()) => tools::call(open, place.at, block),
                        _ => {}
                    }
                }
            }
            Content::None => {}
        }
    }

    fn results(&mut self, record: &Record<'_>, content: &Content<'_>, place: &Place<'_>) {
        let Some(open) = self.turn_of(record, place) else { return };
        if !open.is_new(place.id) {
            return;
        }
        for block in content.blocks().iter().filter(|block| block.kind.as_str() == "tool_result") {
            let call = block.tool_use_id.filled();
            if call.is_none_or(|call| open.is_new(&format!("result of {call}"))) {
                tools::result(open, place.at, block);
            }
        }
    }

    /// The open turn that a record belongs to; none for a side thread whose beginning was not seen, and for a subagent's words
    /// that follow nothing: some versions write the reply to a warm-up without the prompt.
    fn turn_of(&mut self, record: &Record<'_>, place: &Place<'_>) -> Option<&mut OpenTurn> {
        if self.subagent_file && record.parent_uuid.filled().is_none() && !self.assembler.has_main() {
            return None;
        }
        if !record.is_sidechain.0 || self.subagent_file {
            let origin = self.origin();
            return Some(self.assembler.main_turn(place, origin));
        }
        let thread = self.side_thread(record)?;
        let open = self.assembler.side_turn(&thread)?;
        self.threads.insert(short_hash(record.uuid.as_str()), thread);
        Some(open)
    }

    fn side_thread(&self, record: &Record<'_>) -> Option<String> {
        let by_agent = record.agent_id.filled().map(str::to_owned);
        by_agent.or_else(|| self.threads.get(&short_hash(record.parent_uuid.filled()?)).cloned())
    }

    fn origin(&self) -> Origin {
        if self.subagent_file { Origin::Subagent } else { Origin::User }
    }

    fn attachment(&mut self, attachment: &Attachment<'_>, record: &Record<'_>, place: &Place<'_>) {
        if attachment.kind.as_str() != "queued_command" {
            return;
        }
        // What left the queue is here, so it is not lost.
        self.queue.removed = None;
        let machine = attachment.is_meta.0 || attachment.command_mode.as_str() == "task-notification";
        if machine || !is_human(attachment.origin.kind.as_str()) {
            return;
        }
        let texts = attachment.prompt.texts();
        if texts.iter().any(|text| prompt::is_client_command(text)) {
            return;
        }
        if let Said::Prompt(text) = said(&texts, false) {
            self.prompt(record, text, place);
        }
    }

    fn system(&mut self, record: &Record<'_>, place: &Place<'_>) {
        match record.subtype.as_str() {
            "compact_boundary" => self.assembler.note_compaction(place.session, place.at),
            "away_summary" if self.assembler.has_main() => {
                let recap = record.content.texts().join("\n");
                let recap = recap.split(" (disable recaps").next().unwrap_or_default();
                let cleaned = text::clean(recap);
                if let Some(open) = self.turn_of(record, place)
                    && open.is_new(place.id)
                    && !cleaned.trim().is_empty()
                {
                    open.add_text(place.at, &format!("Recap: {}", cleaned.trim()));
                }
            }
            "away_summary" | "" => {}
            subtype if SYSTEM_BOOKKEEPING.contains(&subtype) => {}
            subtype => {
                let kind = ProblemKind::unknown_record(&format!("system/{subtype}"));
                self.assembler.problem(kind, place.start);
            }
        }
    }

    /// Keeps track of what a person types while a turn runs.
    fn queue_operation(&mut self, record: &Record<'_>, place: &Place<'_>) {
        // Before any turn there is none to find it in again.
        if self.assembler.has_main() {
            let text = record.content.texts().join("\n");
            self.queue.operate(
                record.operation.as_str(),
                Queued {
                    text,
                    written: place.written.to_owned(),
                    at: place.at,
                },
            );
        }
    }

    /// Opens the turn of a prompt that left the queue and was not recorded otherwise.
    fn settle_queue(&mut self, place: &Place<'_>) {
        let Some(queued) = self.queue.removed.take() else { return };
        if prompt::is_client_command(&queued.text) || !self.assembler.has_main() {
            return;
        }
        if let Said::Prompt(text) = said(&[&queued.text], false) {
            let id = format!("queued:{text}");
            let place = Place {
                id: &id,
                written: &queued.written,
                at: queued.at,
                ..*place
            };
            self.threads.clear();
            self.assembler.open_noted(&place, text);
        }
    }

    /// A title; one that the user gave is not replaced by one that the agent made up.
    fn title(&mut self, title: &str, by_user: bool, place: &Place<'_>) {
        let session = short_hash(place.session);
        if by_user {
            self.assembler.carried.tell_titled(session);
        }
        if by_user || !self.assembler.carried.is_titled(session) {
            self.assembler.note_title(place.session, title);
        }
    }

    /// A `summary` record heads a file and mostly names another session's last record; only our own count.
    fn summary_title(&mut self, record: &Record<'_>, place: &Place<'_>) {
        if record
            .leaf_uuid
            .filled()
            .is_some_and(|leaf| self.ids.contains(&short_hash(leaf)))
        {
            self.title(record.summary.as_str(), false, place);
        }
    }
}

/// Adds a text of a message, unless the turn has heard it of the same message already.
fn say(open: &mut OpenTurn, message: &str, at: UnixMillis, text: &str) {
    let heard = !message.is_empty() && !open.is_new(&format!("{message}\n{text}"));
    if !heard && text.trim() != "(no content)" {
        open.say(at, text);
    }
}

/// Whether a record's origin, where it names one, is a person.
fn is_human(origin: &str) -> bool {
    matches!(origin, "" | "human")
}

impl Parse for ClaudeCode {
    fn line(&mut self, line: &Line<'_>) {
        read_values(line, self);
    }

    fn assembler(&mut self) -> &mut Assembler {
        &mut self.assembler
    }
}

impl RecordSink for ClaudeCode {
    type Record<'a> = Record<'a>;

    fn record(&mut self, record: Record<'_>, at: ResumePoint) {
        self.assembler.begin_record(at);
        self.read(&record, at);
    }

    fn problem(&mut self, kind: ProblemKind, at: ResumePoint) {
        self.assembler.problem(kind, at);
    }
}
