//! What most agents' parsers share: a session of prompts, texts, tool calls and their results, told in the order of the
//! transcript, becomes turns. A parser says what a record is; here is decided what comes of it.
//!
//! What a source says for all that follows (its session, its folder) is carried to where a restart reads on, and what it says
//! before each prompt is marked by [`Conversation::turn_begins`]: a restart begins at the oldest open turn, and must find the same
//! turns. Where nothing carried is known, [`Tell::tell_first`](super::tell::Tell::tell_first) takes it from the first line.

use std::borrow::Cow;

use remembrancer_schema::{Origin, UnixMillis};

use super::assemble::{Assembler, OpenTurn, Place, Replay};
use super::carried::Carried;
use super::problem::ProblemKind;
use super::redact::redact_head;
use super::tool::{Arguments, Call};
use super::{ResumePoint, SourceInfo, text};

/// Longest summary of an earlier conversation that is kept, in bytes.
pub(crate) const SUMMARY_CAP: usize = 8 * 1024;

/// One source's conversation, as told so far.
#[derive(Debug)]
pub(crate) struct Conversation {
    assembler: Assembler,
    /// What the source's path and the files beside it tell, until its records do: origin, session, folder, branch, time.
    origin: Origin,
    session: String,
    cwd: Option<String>,
    git_branch: Option<String>,
    fallback_time: UnixMillis,
    /// Of the record being told: its timestamp as written, its place.
    written: String,
    start: ResumePoint,
    /// Where the turn to come begins, if before its prompt.
    turn_start: Option<Replay>,
    /// The subagent's thread that the record belongs to; empty in the main thread.
    thread: String,
}

impl Conversation {
    /// A conversation that is told from a place on.
    pub(crate) fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        let context = &info.context;
        Self {
            assembler: Assembler::new(info, from),
            origin: if context.subagent { Origin::Subagent } else { Origin::User },
            session: context.session.clone().unwrap_or_else(|| info.name.clone()),
            cwd: context.cwd.clone(),
            git_branch: context.git_branch.clone(),
            fallback_time: info.fallback_time,
            written: String::new(),
            start: from,
            turn_start: None,
            thread: String::new(),
        }
    }

    /// What became of it.
    pub(crate) fn assembler(&mut self) -> &mut Assembler {
        &mut self.assembler
    }

    /// What is carried to the next record.
    pub(crate) fn carried(&mut self) -> &mut Carried {
        &mut self.assembler.carried
    }

    /// Begins to tell a record: where it begins, and its timestamp as written. One without a time has that of the record before.
    pub(crate) fn record(&mut self, start: ResumePoint, written: &str) {
        self.assembler.records += 1;
        self.start = start;
        self.thread.clear();
        written.clone_into(&mut self.written);
        self.assembler.tell_time(written);
    }

    /// Sets the session, unless it is empty.
    pub(crate) fn session(&mut self, session: &str) {
        self.assembler.carried.tell_session(session);
    }

    /// The session so far.
    pub(crate) fn session_id(&self) -> &str {
        self.assembler.carried.session().unwrap_or(&self.session)
    }

    /// The time of the record being told, or that of the one before.
    fn at(&self) -> UnixMillis {
        self.assembler.carried.at.unwrap_or(self.fallback_time)
    }

    /// Who speaks.
    fn origin(&self) -> Origin {
        if self.assembler.carried.is_subagent() {
            Origin::Subagent
        } else {
            self.origin
        }
    }

    /// Sets the working folder from here on, unless it is empty.
    pub(crate) fn cwd(&mut self, cwd: &str) {
        self.assembler.carried.tell_cwd(cwd);
    }

    /// Sets the agent's version from here on, unless it is empty.
    pub(crate) fn version(&mut self, version: &str) {
        self.assembler.carried.tell_version(version);
    }

    /// Sets the branch from here on, unless it is empty.
    pub(crate) fn git_branch(&mut self, branch: &str) {
        self.assembler.carried.tell_git_branch(branch);
    }

    /// From here on a subagent speaks.
    pub(crate) fn by_subagent(&mut self) {
        self.assembler.carried.tell_subagent();
    }

    /// The record being told belongs to a subagent whose thread stands in the same source. Its turn opens with its prompt and
    /// ends with the main thread's; without it nothing is kept.
    pub(crate) fn in_thread(&mut self, thread: &str) {
        thread.clone_into(&mut self.thread);
    }

    /// The record being told says something of the turn whose prompt comes next: a restart must read it, too.
    pub(crate) fn turn_begins(&mut self) {
        let record = self.assembler.record();
        self.turn_start.get_or_insert_with(|| record.clone());
    }

    /// A person's prompt (of a subagent: its task), by the id of its record; where it has none, by session, time and text, and
    /// where it has no time either, by its place. Nothing where it is blank.
    pub(crate) fn prompt(&mut self, id: &str, prompt: &str) {
        self.begin(id, prompt, self.origin(), false);
    }

    /// A subagent's task, where only the prompt itself tells that it is one.
    pub(crate) fn task(&mut self, id: &str, task: &str) {
        self.begin(id, task, Origin::Subagent, false);
    }

    /// What no person asks but a timer or the client: neither it nor what the agent makes of it becomes memory.
    pub(crate) fn machine_prompt(&mut self, id: &str, prompt: &str) {
        self.begin(id, prompt, self.origin(), true);
    }

    /// Begins a turn, which ends the one before.
    fn begin(&mut self, id: &str, prompt: &str, origin: Origin, discard: bool) {
        let cleaned = text::clean(prompt);
        let prompt = cleaned.trim();
        let begins = if self.thread.is_empty() {
            self.turn_start.take()
        } else {
            None
        };
        if prompt.is_empty() {
            return;
        }
        let (prompt, thread) = (prompt.to_owned(), self.thread.clone());
        let id = if id.is_empty() && !self.written.is_empty() {
            Cow::Owned(format!("{}\n{prompt}", self.session_id()))
        } else {
            Cow::Borrowed(id)
        };
        self.with_place(&id, begins.as_ref(), |assembler, place| {
            if !discard {
                assembler.note_session(place.session, place.at);
            }
            if thread.is_empty() {
                assembler.open_main(place, origin, prompt, discard);
            } else {
                assembler.open_side(&thread, place, prompt, discard);
            }
        });
    }

    /// A text of the agent, by the id of its message; where it has none, by itself. What its turn has heard is passed over.
    pub(crate) fn say(&mut self, id: &str, said: &str) {
        let at = self.at();
        if said.trim().is_empty() {
            return;
        }
        if let Some(open) = self.heard(if id.is_empty() { said.trim() } else { id }) {
            open.say(at, said);
        }
    }

    /// A text of the agent, by the id of its message, which is written again as it grows: the last counts.
    pub(crate) fn say_latest(&mut self, id: &str, said: &str) {
        let at = self.at();
        if !said.trim().is_empty()
            && let Some(open) = self.open(id)
        {
            open.say_latest(id, at, said);
        }
    }

    /// Judges whether the record being told is older than the open turn: one of an earlier turn, written again.
    pub(crate) fn judge_as_earlier(&mut self) -> bool {
        self.assembler.judge_by_main(self.at())
    }

    /// A call of a tool, by its id.
    pub(crate) fn call(&mut self, id: &str, tool: &str, arguments: &Arguments<'_>) {
        let at = self.at();
        if let Some(open) = self.heard(id) {
            let call = arguments.call(open, at, tool);
            if !id.is_empty() {
                open.calls.insert(id.to_owned(), call);
            }
        }
    }

    /// A call's result, by the call's id. Of a success the content is not needed.
    pub(crate) fn result(&mut self, id: &str, failed: bool, content: &str) {
        let at = self.at();
        if let Some(open) = self.open("") {
            let call = open.calls.remove(id).unwrap_or(Call::Other);
            call.settle(open, at, failed, content);
        }
    }

    /// The context was compacted; `summary` is what the agent made of it, kept where nothing else is left of the session.
    pub(crate) fn compacted(&mut self, summary: &str) {
        let (session, at) = (self.session_id().to_owned(), self.at());
        self.assembler.note_compaction(&session, at);
        let cleaned = text::clean(summary);
        if self.assembler.is_untouched() && !cleaned.trim().is_empty() {
            let redacted = redact_head(cleaned.trim(), SUMMARY_CAP);
            let (origin, summary) = (self.origin(), text::head(&redacted, SUMMARY_CAP).to_owned());
            self.with_place("", None, |assembler, place| assembler.open_carried(place, origin, summary));
        }
    }

    /// The session's title.
    pub(crate) fn title(&mut self, title: &str) {
        let session = self.session_id().to_owned();
        self.assembler.note_title(&session, title);
    }

    /// A record of a kind that this version doesn't know.
    pub(crate) fn unknown(&mut self, kind: &str) {
        let kind = if kind.is_empty() { "untyped" } else { kind };
        self.assembler.problem(ProblemKind::unknown_record(kind), self.start);
    }

    /// The open turn, unless it has heard this id already.
    fn heard(&mut self, id: &str) -> Option<&mut OpenTurn> {
        let open = self.open(id)?;
        open.is_new(id).then_some(open)
    }

    fn open(&mut self, id: &str) -> Option<&mut OpenTurn> {
        if !self.thread.is_empty() {
            return self.assembler.side_turn(&self.thread);
        }
        // What was marked as said for the turn to come was said in the midst of this one.
        self.turn_start = None;
        let origin = self.origin();
        Some(self.with_place(id, None, |assembler, place| assembler.main_turn(place, origin)))
    }

    fn with_place<'s, T>(
        &'s mut self,
        id: &str,
        begins: Option<&Replay>,
        act: impl FnOnce(&'s mut Assembler, &Place<'_>) -> T,
    ) -> T {
        let (at, carried) = (self.at(), self.assembler.carried.clone());
        let place = Place {
            id,
            written: &self.written,
            at,
            session: carried.session().unwrap_or(&self.session),
            cwd: carried.cwd().or(self.cwd.as_deref()),
            git_branch: carried.git_branch().or(self.git_branch.as_deref()),
            start: self.start,
            replay: begins,
        };
        act(&mut self.assembler, &place)
    }
}
