//! Transcript bytes into redacted episodes: the first of the two paths, up to the store.
//!
//! In go the bytes of one source in any chunks, out come [`Turn`]s, news of sessions and [`LineProblem`]s; then
//! [`episodes`] makes the rows of a turn. Pure: no file is opened, no clock is read, and nothing fails for what a
//! transcript holds.
//!
//! The steps, each in the file of its name: `line` → `json` → `agent/<name>` → `assemble` → `turn` → `episode` → `importance`.
//! Redaction is no step between two: `episode` sends each text and facet through `redact` before it shapes and cuts it, and so do
//! those who store folders, names and titles. A turn is not redacted yet.
//!
//! **Invariant:** any split of a file into pushes gives the same turns, and a reader that begins at
//! [`Advance::committed`] finds the same turns from there on, with the same uids and ordinals.

mod agent;
mod archive;
mod assemble;
mod blocks;
mod carried;
mod conversation;
mod episode;
mod facet;
mod importance;
mod json;
mod lenient;
mod line;
mod narration;
mod parse;
mod problem;
mod redact;
mod tell;
#[cfg(feature = "testing")]
pub mod testing;
mod text;
mod time;
mod tool;
mod turn;

use remembrancer_schema::{ByteOffset, SessionUpdate, UnixMillis};

pub use agent::{Agent, Context, Home, Piece, ReadFile, Shape};
pub use assemble::kept_folder;
pub use episode::{GrowingTurn, episodes};
pub use facet::OWN_SERVER;
pub(crate) use facet::command_key;
pub use problem::{LineProblem, ProblemKind};
pub(crate) use redact::after_cut_span;
pub use redact::{Kinds, REDACTION_VERSION, RULES, Suspects, redact, redact_episode, redact_folder, redact_stored, suspects};
pub use time::plausible_time;
pub use turn::{Step, Turn};

use carried::Carried;
use line::{Line, LineSplitter};
use parse::Parse;

/// Longest session title that is kept, in bytes.
pub(crate) const TITLE_CAP: usize = 200;

/// What is known of a source besides its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// Whose transcript it is.
    pub agent: Agent,
    /// What no other source of the agent is called, mostly the file's name without its extension: the session id where neither
    /// records nor the context name one.
    pub name: String,
    /// The file's modification time: the time of records before the first that carries one.
    pub fallback_time: UnixMillis,
    /// What its path and the files beside it tell.
    pub context: Context,
}

/// A place in a source to read on from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumePoint {
    /// Raw bytes before it.
    pub offset: ByteOffset,
    /// Lines before it.
    pub line: u64,
    /// The ordinal of the next turn.
    pub turn: u32,
}

/// What the bytes pushed since the last [`SourceReader::drain`] gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Advance {
    /// New or changed turns, in file order. A turn that may still grow is given again when it has grown.
    pub turns: Vec<Turn>,
    /// News of sessions.
    pub sessions: Vec<SessionUpdate>,
    /// What could not be read, in file order.
    pub problems: Vec<LineProblem>,
    /// JSON objects read, unknown kinds among them.
    pub records: u64,
    /// Lines and records that gave nothing: as many as there are `problems`.
    pub skipped: u64,
    /// Lines too long to be kept whole, in which data was dropped.
    pub shortened: u64,
    /// Records with a time that they can't have: they got that of the record before, or the file's.
    pub mistimed: u64,
    /// End of the last whole line.
    pub read: ResumePoint,
    /// Where a restart must begin: the oldest turn that may still grow.
    pub committed: ResumePoint,
    /// What the parser takes over there from what stands before, for [`SourceReader::resume`]: at most 16 KiB, redacted. `None` where
    /// nothing can stand before.
    pub state: Option<String>,
}

/// Reads one source as it grows.
#[derive(Debug)]
pub struct SourceReader {
    splitter: LineSplitter,
    parser: Box<dyn Parse>,
}

impl SourceReader {
    /// A reader of the source from a place on: its beginning, or an earlier reader's [`Advance::committed`].
    pub fn new(info: &SourceInfo, from: ResumePoint) -> Self {
        Self {
            splitter: LineSplitter::new(from.offset.0, from.line),
            parser: Agent::parser(info, from),
        }
    }

    /// A reader that goes on at an earlier one's [`Advance::committed`] with its [`Advance::state`]; `None` where that can't be read, as
    /// when it is damaged or a newer version's: then the source is to be read from its beginning.
    pub fn resume(info: &SourceInfo, from: ResumePoint, state: &str) -> Option<Self> {
        let carried = Carried::parse(state)?;
        let mut reader = Self::new(info, from);
        reader.parser.assembler().resume(carried);
        Some(reader)
    }

    /// Lets a reader that does not begin at the source's start, and has no state, know what the source's first line says of all others, as some
    /// agents write it: `bytes` are those of its start. A first line longer than they are is not known.
    pub fn head(&mut self, bytes: &[u8]) {
        let mut first = true;
        LineSplitter::new(0, 0).push(bytes, |line| {
            if std::mem::take(&mut first) {
                self.parser.head(line);
            }
        });
        let assembler = self.parser.assembler();
        assembler.resume(assembler.carried.clone());
    }

    /// Tells the reader what time it is, before it is given anything: a record that is dated more than a day later has no time.
    pub fn by(&mut self, now: UnixMillis) {
        self.parser.assembler().latest = time::latest(now);
    }

    /// Takes the next bytes of the source. A line without its newline waits for the rest.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { splitter, parser } = self;
        splitter.push(bytes, |line| read(parser.as_mut(), line));
    }

    /// Takes a whole document ([`Shape::Document`]) in place of lines.
    pub fn document(&mut self, bytes: &[u8]) {
        read(self.parser.as_mut(), &Line::whole(bytes));
        self.splitter = LineSplitter::new(bytes.len() as u64, 1);
    }

    /// Takes a whole archive ([`Shape::Archive`]), whose lines are those of the transcript before it was packed. What stands
    /// before a damage is read. Places of problems are those in the unpacked transcript.
    pub fn archive(&mut self, packed: &[u8]) {
        let whole = archive::unpack(packed, |bytes| self.push(bytes));
        let (offset, line) = self.splitter.position();
        let assembler = self.parser.assembler();
        if whole.is_err() {
            let at = ResumePoint {
                offset: ByteOffset(offset),
                line,
                turn: 0,
            };
            assembler.problem(ProblemKind::DamagedArchive, at);
        }
        // It can only be read from its start, as a document.
        assembler.held = Some(ResumePoint::default());
        self.splitter = LineSplitter::new(packed.len() as u64, line);
    }

    /// Takes what the bytes pushed so far gave.
    pub fn drain(&mut self) -> Advance {
        let assembler = self.parser.assembler();
        let (turns, sessions) = assembler.take();
        let problems = std::mem::take(&mut assembler.problems);
        let (offset, line) = self.splitter.position();
        let read = ResumePoint {
            offset: ByteOffset(offset),
            line,
            turn: 0,
        };
        let (committed, state) = assembler.committed(read);
        Advance {
            turns,
            sessions,
            records: std::mem::take(&mut assembler.records),
            shortened: std::mem::take(&mut assembler.shortened),
            mistimed: std::mem::take(&mut assembler.mistimed),
            skipped: problems.len() as u64,
            problems,
            read: ResumePoint {
                turn: committed.turn,
                ..read
            },
            committed,
            state,
        }
    }
}

fn read(parser: &mut dyn Parse, line: &Line<'_>) {
    let assembler = parser.assembler();
    let (problems, records) = (assembler.problems.len(), assembler.records);
    assembler.shortened += u64::from(line.is_shortened());
    parser.line(line);
    parser.assembler().share_line(line.bytes.len(), problems, records);
}
