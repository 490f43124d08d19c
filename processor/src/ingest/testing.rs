//! What is private here, on plain values, for the fuzz targets: nothing that runs uses it.

use remembrancer_schema::ByteOffset;

use super::ResumePoint;
use super::json::{RecordSink, read_values};
use super::lenient::{Flag, List, Present, Prose, Text, TextOr, wire_struct};
use super::line::{Line, LineSplitter};
use super::problem::ProblemKind;
use super::{episode, redact};

/// A line of more bytes is squeezed.
pub const LONGEST_WHOLE_LINE: usize = super::line::SQUEEZE_ABOVE;

/// A line as the line reader gives it.
#[derive(Debug)]
pub struct SeenLine<'a>(&'a Line<'a>);

impl SeenLine<'_> {
    /// Raw offset of its first byte.
    pub fn start(&self) -> u64 {
        self.0.start
    }

    /// Lines before it.
    pub fn index(&self) -> u64 {
        self.0.index
    }

    /// Its bytes, perhaps squeezed.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes
    }

    /// Whether it was too long to keep.
    pub fn oversize(&self) -> bool {
        self.0.oversize
    }

    /// The raw offset of its byte at `at`.
    pub fn raw_offset(&self, at: usize) -> u64 {
        self.0.raw_offset(at)
    }
}

/// Gives the whole lines of `chunks`. Returns the end of the last: its raw offset, and lines before it.
pub fn lines(chunks: &[&[u8]], mut each: impl FnMut(&SeenLine<'_>)) -> (u64, u64) {
    let mut splitter = LineSplitter::new(0, 0);
    for chunk in chunks {
        splitter.push(chunk, |line| each(&SeenLine(line)));
    }
    splitter.position()
}

wire_struct! {
    /// A record with a field of each lenient kind.
    Lenient {
        "text" => text: Text<'a>,
        "flag" => flag: Flag,
        "present" => present: Present,
        "prose" => prose: Prose<'a>,
        "list" => list: List<Text<'a>>,
        "either" => either: TextOr<'a, Inner<'a>>,
        "inner" => inner: Inner<'a>,
    }
}

wire_struct! {
    /// An object in an object.
    Inner {
        "text" => text: Text<'a>,
    }
}

/// What a line of JSON gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeenValue {
    /// A record, whose fields are those of the lenient kinds.
    Record {
        /// Where it begins.
        offset: u64,
        /// `text`, as a string.
        text: Option<String>,
        /// `flag`.
        flag: bool,
        /// `present`: whether there is anything.
        present: bool,
        /// `prose`: its texts.
        prose: Vec<String>,
        /// `list`: as strings.
        list: Vec<Option<String>>,
        /// `either`: a string, or the `text` of an object.
        either: Option<String>,
        /// `inner`: the `text` of an object.
        inner: Option<String>,
    },
    /// Something unreadable.
    Problem {
        /// Where it begins.
        offset: u64,
        /// What it is.
        kind: String,
    },
}

#[derive(Default)]
struct Seen(Vec<SeenValue>);

fn owned(text: Text<'_>) -> Option<String> {
    text.0.map(std::borrow::Cow::into_owned)
}

impl RecordSink for Seen {
    type Record<'a> = Lenient<'a>;

    fn record(&mut self, record: Lenient<'_>, at: ResumePoint) {
        self.0.push(SeenValue::Record {
            offset: at.offset.0,
            text: owned(record.text),
            flag: record.flag.0,
            present: record.present.0,
            prose: record.prose.texts().map(str::to_owned).collect(),
            list: record.list.0.into_iter().map(owned).collect(),
            either: match record.either {
                TextOr::Text(text) => owned(text),
                TextOr::Object(inner) => owned(inner.text),
            },
            inner: owned(record.inner.text),
        });
    }

    fn problem(
        &mut self,
        kind: ProblemKind,
        ResumePoint {
            offset: ByteOffset(offset),
            ..
        }: ResumePoint,
    ) {
        let kind = kind.as_str().into_owned();
        self.0.push(SeenValue::Problem { offset, kind });
    }
}

/// What one line of JSON gives, in order.
pub fn values(line: &[u8]) -> Vec<SeenValue> {
    let mut seen = Seen::default();
    read_values(&Line::whole(line), &mut seen);
    seen.0
}

/// The parts of texts, given the limits in tokens for the first part and for the later ones.
pub fn cut_texts(first: usize, later: usize, texts: &[&str]) -> Vec<String> {
    episode::cut_alone(first, later, texts)
}

/// What the cutter takes the tokens of a text for.
pub fn tokens(text: &str) -> usize {
    episode::tokens_of(text)
}

/// Of every rule of redaction its name, a text that holds such a secret, and what of it was made up: the same at every run.
pub fn example_secrets() -> Vec<(&'static str, String, Vec<String>)> {
    redact::examples::secrets()
}

/// The head of a text, redacted, of which the first `bytes` are to be kept.
pub fn redacted_head(text: &str, bytes: usize) -> String {
    redact::redact_head(text, bytes).into_owned()
}
