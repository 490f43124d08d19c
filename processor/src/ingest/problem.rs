//! What could not be read of a transcript: one [`LineProblem`] a line or record, with its place and its kind.
//! Contents never appear here, so that problems can be logged and counted.

use std::borrow::Cow;

use remembrancer_schema::ByteOffset;

use super::redact::redact_head;

/// A line, or a record of it, that gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// 1-based number of the line.
    pub line: u64,
    /// Where the line (or the record in it) begins, in raw bytes.
    pub offset: ByteOffset,
    /// What was wrong.
    pub kind: ProblemKind,
    /// Bytes that were not read for it: the line's, over the records or the problems in it, whichever are more. Of a document,
    /// which is one line, that is what its records have on an average.
    pub bytes: u64,
    /// The version of the agent, as the transcript tells it before; empty where it tells none.
    pub version: String,
}

/// What was wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProblemKind {
    /// Not JSON, from the place named to the end of the line.
    MalformedJson,
    /// JSON, but a string, number, list or the like.
    NotAnObject,
    /// Nothing but white space (or NUL bytes, as a crash leaves them).
    BlankLine,
    /// A line that begins with `//`.
    CommentLine,
    /// Longer than the cap even without its media.
    OversizeLine,
    /// An archive that can't be unpacked from some place on, or that unpacks to more than is read of one.
    DamagedArchive,
    /// A message that was written before, and again; or one that is older than the turn before it and follows nothing in it, which looks
    /// the same.
    RepeatedRecord,
    /// A record of a kind that this version doesn't know; the name as the agent writes it, cut and cleaned.
    UnknownRecord(String),
}

/// Longest name of an unknown record kind, or of a version, that is kept, in bytes.
const NAME_CAP: usize = 40;

impl ProblemKind {
    /// The names of all kinds; that of an unknown record is followed by a colon and the record's own.
    pub const NAMES: [&str; 8] = [
        "malformed-json",
        "not-an-object",
        "blank-line",
        "comment-line",
        "oversize-line",
        "damaged-archive",
        "repeated-record",
        "unknown-record",
    ];

    /// An unknown record kind by its cleaned name.
    pub fn unknown_record(name: &str) -> Self {
        Self::UnknownRecord(cleaned(name))
    }

    /// The kind's name in counters, `status` and logs.
    pub fn as_str(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::MalformedJson => "malformed-json",
            Self::NotAnObject => "not-an-object",
            Self::BlankLine => "blank-line",
            Self::CommentLine => "comment-line",
            Self::OversizeLine => "oversize-line",
            Self::DamagedArchive => "damaged-archive",
            Self::RepeatedRecord => "repeated-record",
            Self::UnknownRecord(name) => return Cow::Owned(format!("unknown-record:{name}")),
        })
    }
}

/// A name that a transcript gives, redacted and cut: all but letters, digits and `-_./+` becomes `_`.
pub(crate) fn cleaned(name: &str) -> String {
    let keep = |c: char| {
        if c.is_ascii_alphanumeric() || "-_./+".contains(c) {
            c
        } else {
            '_'
        }
    };
    redact_head(name, NAME_CAP).chars().take(NAME_CAP).map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_name_among_all() {
        let kinds = [
            ProblemKind::MalformedJson,
            ProblemKind::NotAnObject,
            ProblemKind::BlankLine,
            ProblemKind::CommentLine,
            ProblemKind::OversizeLine,
            ProblemKind::DamagedArchive,
            ProblemKind::RepeatedRecord,
            ProblemKind::unknown_record("x"),
        ];
        let names = kinds.map(|kind| kind.as_str().split(':').next().unwrap_or_default().to_owned());
        assert_eq!(names, ProblemKind::NAMES);
    }

    #[test]
    fn names_of_unknown_records_are_cleaned_and_cut() {
        let long = format!("new kind\n{}", "x".repeat(100));
        let kind = ProblemKind::unknown_record(&long);
        assert_eq!(kind.as_str(), format!("unknown-record:new_kind_{}", "x".repeat(31)));
    }
}
