//! Records into turns: which turn is open in which thread, what belongs to it, and from where a restart must read again.
//!
//! A source has one main thread, and in old transcripts side threads of subagents in the same file. A prompt in the main
//! thread closes every open turn. A restart begins at the oldest open turn and finds the same turns again, since all that a
//! parser knows of an open turn is read after its beginning, or was [`Carried`] there.

mod folder;
mod open_turn;
mod place;
mod rewrite;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use remembrancer_schema::{ByteOffset, Origin, SessionKey, SessionUpdate, UnixMillis};

use super::agent::Agent;
use super::carried::Carried;
use super::problem::{LineProblem, ProblemKind};
use super::redact::{redact, redact_head};
use super::tool::Call;
use super::turn::{Turn, TurnName, short_hash};
use super::{ResumePoint, SourceInfo, text, time};

pub use folder::kept_folder;
pub(crate) use place::Place;

/// A place from which a restart may read, and what is carried there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replay {
    pub(crate) point: ResumePoint,
    pub(crate) carried: Carried,
}

/// A turn that may still grow.
#[derive(Debug)]
pub(crate) struct OpenTurn {
    pub(crate) turn: Turn,
    /// Calls of tools whose results are awaited, by id.
    pub(crate) calls: HashMap<String, Call>,
    /// Commands that failed, and whether something was changed since.
    failing: Vec<(String, bool)>,
    replay_from: Replay,
    /// The record that told something of it last, or was judged by it.
    told_in: Option<ByteOffset>,
    /// Read but never given: warm-ups.
    discard: bool,
    dirty: bool,
    seen: HashSet<u64>,
    /// The texts that may be written again, by the message's id.
    rewritable: HashMap<u64, Rewritable>,
    /// How many private spans the agent has left open.
    private: usize,
    /// How many texts the agent has said; one that is written again counts once.
    said: usize,
    /// The spelling of the prompt as it stood before it was redacted.
    spelling: u64,
    text_bytes: usize,
}

/// A text that may be written again.
#[derive(Clone, Copy, Debug)]
struct Rewritable {
    /// Its step; none while nothing of it was kept.
    step: Option<usize>,
    /// How many private spans were open before it.
    private: usize,
    /// Which of the agent's texts it is, by when it was said first.
    order: usize,
}

/// Builds turns of one source.
#[derive(Debug)]
pub(crate) struct Assembler {
    agent: Agent,
    /// The source's name.
    source: String,
    next_ordinal: u32,
    main: Option<OpenTurn>,
    side: BTreeMap<String, OpenTurn>,
    finished: Vec<Turn>,
    sessions: BTreeMap<String, SessionUpdate>,
    /// Sessions whose beginning was noted; none are when the reader did not begin at the file's start.
    begun: HashSet<u64>,
    from_start: bool,
    /// What a restart must read again though no turn is open from there on: the beginning of what can't be read from elsewhere.
    pub(crate) held: Option<ResumePoint>,
    /// What is carried to the next record.
    pub(crate) carried: Carried,
    /// The record being read, and what was carried to it.
    record: Replay,
    /// The last record that said something of a turn which was open before it, and from where that turn must be read again.
    entangled: Option<(ByteOffset, Replay)>,
    pub(crate) problems: Vec<LineProblem>,
    pub(crate) records: u64,
    /// Lines in which data was dropped.
    pub(crate) shortened: u64,
    /// Records with a time that they can't have.
    pub(crate) mistimed: u64,
    /// The latest time that a record can have.
    pub(crate) latest: UnixMillis,
}

impl Assembler {
    pub(crate) fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            agent: info.agent,
            source: info.name.clone(),
            next_ordinal: from.turn,
            main: None,
            side: BTreeMap::new(),
            finished: Vec::new(),
            sessions: BTreeMap::new(),
            begun: HashSet::new(),
            from_start: from.offset.0 == 0,
            held: None,
            carried: Carried::default(),
            record: Replay {
                point: from,
                carried: Carried::default(),
            },
            entangled: None,
            problems: Vec::new(),
            records: 0,
            shortened: 0,
            mistimed: 0,
            latest: UnixMillis(i64::MAX),
        }
    }

    /// Takes the time of the record being read, as written, for it and for those after it that have none. One that it can't have is
    /// counted and passed over.
    pub(crate) fn tell_time(&mut self, written: &str) {
        match time::parse(written).filter(|at| *at <= self.latest) {
            Some(at) => self.carried.at = Some(at),
            None => self.mistimed += u64::from(!written.trim().is_empty()),
        }
    }

    /// Goes on with what was carried to the place where reading begins.
    pub(crate) fn resume(&mut self, carried: Carried) {
        self.record.carried = carried.clone();
        self.carried = carried;
    }

    /// Notes that a record begins at `start`: before anything of it is told. Several may begin at one place.
    pub(crate) fn begin_record(&mut self, start: ResumePoint) {
        if start.offset != self.record.point.offset {
            self.record = Replay {
                point: ResumePoint {
                    turn: self.next_ordinal,
                    ..start
                },
                carried: self.carried.clone(),
            };
        }
    }

    /// The record being read.
    pub(crate) fn record(&self) -> &Replay {
        &self.record
    }

    /// Shares out a line of `bytes` among the problems in it: those after the first `problems`, met after `records` records.
    pub(crate) fn share_line(&mut self, bytes: usize, problems: usize, records: u64) {
        let new = &mut self.problems[problems..];
        let parts = (self.records - records).max(new.len() as u64).max(1);
        for problem in new {
            problem.bytes = bytes as u64 / parts;
        }
    }

    /// Notes what could not be read.
    pub(crate) fn problem(&mut self, kind: ProblemKind, at: ResumePoint) {
        self.problems.push(LineProblem {
            line: at.line + 1,
            offset: at.offset,
            kind,
            bytes: 0,
            version: self.carried.version().to_owned(),
        });
    }

    /// Opens a turn in the main thread, which ends all others. A prompt that repeats the open one before anything came of
    /// it is the same turn.
    pub(crate) fn open_main(&mut self, place: &Place<'_>, origin: Origin, prompt: String, discard: bool) {
        if let Some(open) = &mut self.main {
            let untouched = open.turn.steps.is_empty() && open.turn.carried_summary.is_none();
            let repeats = untouched && open.spelling == spelling(&prompt);
            let same_record = !place.id.is_empty() && !open.is_new(place.id);
            let is_same = repeats || same_record;
            if is_same || open.told_in == Some(self.record.point.offset) {
                let replay_from = open.replay_from.clone();
                self.entangle(replay_from);
            }
            if is_same {
                return;
            }
        }
        self.close_all();
        let mut open = self.begin(place, origin, prompt, discard);
        // Read from here alone, what this record says of the turn before would be a turn of its own.
        if let Some((_, replay_from)) = self
            .entangled
            .as_ref()
            .filter(|(record, _)| *record == self.record.point.offset)
        {
            open.replay_from = replay_from.clone();
        }
        self.main = Some(open);
    }

    /// Notes that the record being read says something of a turn that must be read from `replay_from` on: a turn of the main thread that
    /// begins in this record, too, must be read from there.
    fn entangle(&mut self, replay_from: Replay) {
        let record = self.record.point.offset;
        let earliest = self
            .entangled
            .take()
            .filter(|(known, earlier)| *known == record && earlier.point.offset <= replay_from.point.offset);
        self.entangled = earliest.or(Some((record, replay_from)));
    }

    /// Opens a turn in the main thread whose prompt was noted in the midst of the turn before it: a restart must read
    /// from there.
    pub(crate) fn open_noted(&mut self, place: &Place<'_>, prompt: String) {
        let replay_from = self.main.as_ref().map(|open| open.replay_from.clone());
        self.open_main(place, Origin::User, prompt, false);
        if let (Some(open), Some(replay_from)) = (&mut self.main, replay_from) {
            open.replay_from = replay_from;
        }
    }

    /// Opens a turn in a side thread.
    pub(crate) fn open_side(&mut self, thread: &str, place: &Place<'_>, prompt: String, discard: bool) {
        if let Some(open) = self.side.get_mut(thread)
            && !open.is_new(place.id)
        {
            let replay_from = open.replay_from.clone();
            return self.entangle(replay_from);
        }
        let mut open = self.begin(place, Origin::Subagent, prompt, discard);
        if let Some(old) = self.side.remove(thread) {
            // What is known of the thread was read since then, and holds on.
            open.replay_from = old.replay_from.clone();
            self.finish(old);
        }
        self.side.insert(thread.to_owned(), open);
    }

    /// The open turn of the main thread; one without a prompt where the transcript begins in the middle.
    pub(crate) fn main_turn(&mut self, place: &Place<'_>, origin: Origin) -> &mut OpenTurn {
        if self.main.is_none() {
            let mut open = self.begin(place, origin, String::new(), false);
            // Its first record is no prompt: what it says belongs to the turn.
            open.seen.clear();
            self.main = Some(open);
        }
        let open = self.main.as_mut().expect("invariant: the main turn was just opened");
        open.told_in = Some(self.record.point.offset);
        open.dirty |= place.fill_in(&mut open.turn);
        open
    }

    /// The open turn of a side thread, if there is one.
    pub(crate) fn side_turn(&mut self, thread: &str) -> Option<&mut OpenTurn> {
        self.side.get_mut(thread)
    }

    /// Judges the record being read by the open turn of the main thread: whether `at` is before it began. If so, it is noted that what
    /// becomes of the record depends on that turn.
    pub(crate) fn judge_by_main(&mut self, at: UnixMillis) -> bool {
        let record = self.record.point.offset;
        let open = self.main.as_mut().filter(|open| at < open.turn.started_at);
        open.map(|open| open.told_in = Some(record)).is_some()
    }

    /// When the open turn of the main thread began, if there is one.
    pub(crate) fn main_since(&self) -> Option<UnixMillis> {
        self.main.as_ref().map(|open| open.turn.started_at)
    }

    /// Whether the open turn of the main thread is that of this prompt, given at this time.
    pub(crate) fn main_is(&self, at: UnixMillis, prompt: &str) -> bool {
        self.main
            .as_ref()
            .is_some_and(|open| open.turn.started_at == at && open.spelling == spelling(prompt))
    }

    /// Whether the main thread has an open turn.
    pub(crate) fn has_main(&self) -> bool {
        self.main.is_some()
    }

    /// Whether any thread has an open turn.
    pub(crate) fn has_open(&self) -> bool {
        self.main.is_some() || !self.side.is_empty()
    }

    /// Whether no turn was ever begun in this source.
    pub(crate) fn is_untouched(&self) -> bool {
        self.next_ordinal == 0
    }

    /// Keeps the host's redacted summary of what came before, as a turn of its own until there is something else.
    pub(crate) fn open_carried(&mut self, place: &Place<'_>, origin: Origin, summary: String) {
        let open = self.main_turn(place, origin);
        open.turn.carried_summary = Some(summary);
        open.dirty = true;
    }

    /// Notes that a session exists, and when it began.
    pub(crate) fn note_session(&mut self, session: &str, at: UnixMillis) {
        if self.from_start && self.begun.insert(short_hash(session)) {
            self.session(session).started_at = Some(at);
        }
    }

    /// Notes a compaction.
    pub(crate) fn note_compaction(&mut self, session: &str, at: UnixMillis) {
        self.session(session).compacted_at = Some(at);
    }

    /// Notes a title.
    pub(crate) fn note_title(&mut self, session: &str, title: &str) {
        let cleaned = text::clean(title);
        let redacted = redact_head(cleaned.trim(), super::TITLE_CAP);
        let title = text::head_words(&redacted, super::TITLE_CAP);
        if !title.is_empty() {
            self.session(session).title = Some(title.into_owned());
        }
    }

    /// Takes everything new or changed since the last time: turns in file order, and news of sessions.
    pub(crate) fn take(&mut self) -> (Vec<Turn>, Vec<SessionUpdate>) {
        let mut turns = std::mem::take(&mut self.finished);
        for open in self.main.iter_mut().chain(self.side.values_mut()) {
            if std::mem::take(&mut open.dirty) && !open.discard {
                turns.push(open.turn.clone());
            }
        }
        turns.sort_by_key(|turn| turn.ordinal);
        (turns, std::mem::take(&mut self.sessions).into_values().collect())
    }

    /// From where a restart must read, and what is carried there as text: the oldest open turn, or what is held, or `read` if nothing
    /// is. What can't be written is read from the beginning.
    pub(crate) fn committed(&self, read: ResumePoint) -> (ResumePoint, Option<String>) {
        let next = |point| ResumePoint {
            turn: self.next_ordinal,
            ..point
        };
        let open = self.main.iter().chain(self.side.values()).map(|open| &open.replay_from);
        let (point, carried) = match (self.held, open.min_by_key(|open| open.point.offset)) {
            // Held is what can be read from its beginning alone.
            (Some(held), _) => (next(held), None),
            (None, Some(open)) => (open.point, open.carried.to_text()),
            (None, None) => (next(read), self.carried.to_text()),
        };
        match carried {
            None if self.held.is_none() => (ResumePoint::default(), None),
            carried => (point, carried),
        }
    }

    fn begin(&mut self, place: &Place<'_>, origin: Origin, prompt: String, discard: bool) -> OpenTurn {
        let ordinal = self.next_ordinal;
        self.next_ordinal += 1;
        let name = if place.id.is_empty() {
            TurnName::Place {
                source: &self.source,
                ordinal,
                raw_prompt: &prompt,
            }
        } else {
            TurnName::Record {
                id: place.id,
                written: place.written,
            }
        };
        let uid = name.uid(self.agent);
        let spelling = spelling(&prompt);
        let redacted = Some(redact(&prompt))
            .filter(|text| matches!(text, Cow::Owned(_)))
            .map(Cow::into_owned);
        let mut turn = Turn {
            uid,
            agent: self.agent,
            session: place.session.to_owned(),
            origin,
            ordinal,
            started_at: place.at,
            cwd: None,
            git_branch: None,
            prompt: redacted.unwrap_or(prompt),
            steps: Vec::new(),
            carried_summary: None,
            committed: false,
            error_fixed: false,
        };
        place.fill_in(&mut turn);
        OpenTurn {
            turn,
            calls: HashMap::new(),
            failing: Vec::new(),
            replay_from: place.replay.unwrap_or(&self.record).clone(),
            told_in: None,
            discard,
            dirty: true,
            seen: HashSet::from([short_hash(place.id)]),
            rewritable: HashMap::new(),
            private: 0,
            said: 0,
            spelling,
            text_bytes: 0,
        }
    }

    fn close_all(&mut self) {
        if let Some(mut main) = self.main.take() {
            // A summary is kept only where nothing else is left of its session.
            if main.turn.carried_summary.take().is_some() {
                main.dirty = true;
            }
            self.finish(main);
        }
        for open in std::mem::take(&mut self.side).into_values() {
            self.finish(open);
        }
    }

    fn finish(&mut self, open: OpenTurn) {
        if open.dirty && !open.discard {
            self.finished.push(open.turn);
        }
    }

    fn session(&mut self, session: &str) -> &mut SessionUpdate {
        let agent = self.agent;
        self.sessions.entry(session.to_owned()).or_insert_with(|| SessionUpdate {
            session: SessionKey {
                agent: agent.id().to_owned(),
                external_id: session.to_owned(),
            },
            title: None,
            compacted_at: None,
            started_at: None,
        })
    }
}

/// A stand-in for a prompt that is the same whatever white space parts its pieces: where an agent writes it twice, it may join
/// them otherwise.
fn spelling(prompt: &str) -> u64 {
    short_hash(&prompt.split_whitespace().collect::<String>())
}
