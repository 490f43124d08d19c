//! What every agent's parser is: lines of one source in, turns out through its assembler.

use std::fmt;

use super::assemble::Assembler;
use super::line::Line;

/// An agent's parser of one source.
pub(crate) trait Parse: fmt::Debug + Send {
    /// Reads a whole line; of a document, all of it.
    fn line(&mut self, line: &Line<'_>);

    /// Reads the source's first line for a reader that begins further on: what it says of all lines after it. Nothing of it
    /// is counted or becomes a turn.
    fn head(&mut self, _line: &Line<'_>) {}

    /// What became of the lines.
    fn assembler(&mut self) -> &mut Assembler;
}
