//! Editing of a project's files on plain texts, for the fuzz targets: nothing that runs uses it.

use super::block::{self, Mark};

/// What of ours stands in a file of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ours<'a> {
    /// The fenced block.
    Block(&'a str),
    /// One line.
    Line(&'a str),
}

impl<'a> Ours<'a> {
    fn mark(self) -> Mark<'a> {
        match self {
            Self::Block(_) => Mark::Fence,
            Self::Line(line) => Mark::Line(line),
        }
    }

    /// Whether it stands in `text`.
    ///
    /// # Errors
    /// What keeps the text from being edited.
    pub fn is_in(self, text: &str) -> Result<bool, String> {
        block::find(text, self.mark())
            .map(|found| found.is_some())
            .map_err(|damage| damage.to_string())
    }

    /// `text` with it.
    ///
    /// # Errors
    /// As [`Ours::is_in`].
    pub fn put(self, text: &str) -> Result<String, String> {
        let (Self::Block(ours) | Self::Line(ours)) = self;
        block::put(text, self.mark(), ours).map_err(|damage| damage.to_string())
    }

    /// `text` without it; `None` where there is nothing of it.
    ///
    /// # Errors
    /// As [`Ours::is_in`].
    pub fn take(self, text: &str) -> Result<Option<String>, String> {
        block::take(text, self.mark()).map_err(|damage| damage.to_string())
    }
}
