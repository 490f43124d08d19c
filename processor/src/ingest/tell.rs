//! What most agents' parsers are: records of one kind, told one after the other to a [`Conversation`]. Such a parser says what
//! a record means; lines, problems and the first line of a reader that begins further on are seen to here.

use std::fmt;

use serde::Deserialize;

use super::ResumePoint;
use super::assemble::Assembler;
use super::conversation::Conversation;
use super::json::{RecordSink, read_values};
use super::line::Line;
use super::parse::Parse;
use super::problem::ProblemKind;

/// A parser that tells its records to a conversation.
pub(crate) trait Tell: fmt::Debug + Send {
    /// The agent's wire type.
    type Record<'a>: Deserialize<'a>;

    /// Tells a record that begins at `at`.
    fn tell(&mut self, record: &Self::Record<'_>, at: ResumePoint);

    /// Takes from the source's first record what it says of all after it, and nothing else.
    fn tell_first(&mut self, _record: &Self::Record<'_>) {}

    /// The conversation.
    fn conversation(&mut self) -> &mut Conversation;
}

impl<T: Tell> Parse for T {
    fn line(&mut self, line: &Line<'_>) {
        read_values(line, &mut Every(self));
    }

    fn head(&mut self, line: &Line<'_>) {
        read_values(line, &mut First(self));
    }

    fn assembler(&mut self) -> &mut Assembler {
        self.conversation().assembler()
    }
}

/// Tells every record.
struct Every<'p, T>(&'p mut T);

impl<T: Tell> RecordSink for Every<'_, T> {
    type Record<'a> = T::Record<'a>;

    fn record(&mut self, record: T::Record<'_>, at: ResumePoint) {
        self.0.assembler().begin_record(at);
        self.0.tell(&record, at);
    }

    fn problem(&mut self, kind: ProblemKind, at: ResumePoint) {
        self.0.assembler().problem(kind, at);
    }
}

/// Tells the first record to a parser that begins further on, which has no use for problems before its beginning.
struct First<'p, T>(&'p mut T);

impl<T: Tell> RecordSink for First<'_, T> {
    type Record<'a> = T::Record<'a>;

    fn record(&mut self, record: T::Record<'_>, _at: ResumePoint) {
        self.0.tell_first(&record);
    }

    fn problem(&mut self, _kind: ProblemKind, _at: ResumePoint) {}
}
