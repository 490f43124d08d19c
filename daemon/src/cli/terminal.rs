//! What is written at a terminal: how wide its lines are, whether some words stand out, and texts that are made to fit. In a pipe
//! lines are as long as they are, and nothing stands out.
//!
//! Widths are counted in columns, as a terminal shows them: a letter of Chinese takes two, an accent none.

use std::io::IsTerminal;
use std::ops::Range;

use anstyle::{Effects, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::printable::for_terminal;
use crate::system;

/// The width of a terminal that does not tell its own.
const USUAL_COLUMNS: usize = 80;
/// The least that a line is made to fit: below, nothing of it could be read.
const LEAST_COLUMNS: usize = 24;
/// The least and the most columns of a page of running text.
const PAGE_COLUMNS: (usize, usize) = (66, 160);
/// How a word stands out: by weight, so that no choice of colours hides it.
const OUTSTANDING: Style = Style::new().effects(Effects::BOLD);
/// How what is beside the point looks.
const FAINT: Style = Style::new().effects(Effects::DIMMED);
/// Stands for what is cut off.
const ELLIPSIS: &str = "…";

/// What standard output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terminal {
    /// How many columns a line may have; `None` where there is no terminal.
    width: Option<usize>,
    /// Whether something may stand out.
    styled: bool,
}

/// What the environment says of it.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    /// `COLUMNS`.
    pub columns: Option<String>,
    /// `NO_COLOR`.
    pub no_color: Option<String>,
    /// `TERM`.
    pub kind: Option<String>,
}

impl Terminal {
    /// What standard output of this process is.
    pub(super) fn of_process(wishes: &Wishes) -> Self {
        Self::new(std::io::stdout().is_terminal(), system::columns(), wishes)
    }

    fn new(is_terminal: bool, told: Option<usize>, wishes: &Wishes) -> Self {
        if !is_terminal {
            return Self {
                width: None,
                styled: false,
            };
        }
        let asked_for = wishes.columns.as_deref().and_then(|columns| columns.trim().parse().ok());
        let width = asked_for.filter(|columns| *columns > 0).or(told).unwrap_or(USUAL_COLUMNS);
        // <https://no-color.org>: set to anything but nothing.
        let plain = wishes.no_color.as_deref().is_some_and(|value| !value.is_empty()) || wishes.kind.as_deref() == Some("dumb");
        Self {
            width: Some(width.max(LEAST_COLUMNS)),
            styled: !plain,
        }
    }

    /// Columns of a page of running text: no line of it is made for less than can hold a table, nor for more than the eye follows.
    pub(super) fn page(self) -> usize {
        self.width
            .map_or(USUAL_COLUMNS, |width| width.clamp(PAGE_COLUMNS.0, PAGE_COLUMNS.1))
    }

    /// Whether something may stand out.
    pub(super) fn is_styled(self) -> bool {
        self.styled
    }

    /// A line of it, cut to the width.
    pub(super) fn fit(self, line: &str) -> String {
        let shown = for_terminal(line);
        match self.width {
            None => shown.into_owned(),
            Some(width) => cut(&shown, width),
        }
    }

    /// A text that stands out, or is `faint`.
    pub(super) fn styled(self, text: &str, faint: bool) -> String {
        let style = if faint { FAINT } else { OUTSTANDING };
        let shown = for_terminal(text);
        if self.styled && !shown.is_empty() {
            format!("{style}{shown}{style:#}")
        } else {
            shown.into_owned()
        }
    }

    /// A text of one line in as many lines as it takes, each indented by so many blanks, in which the marked places (in characters)
    /// stand out.
    pub(super) fn wrap(self, text: &str, marks: &[Range<usize>], indent: usize) -> Vec<String> {
        let blanks = " ".repeat(indent);
        let width = self
            .width
            .map_or(usize::MAX, |width| width.saturating_sub(indent).max(LEAST_COLUMNS / 2));
        lines_of(text, width)
            .into_iter()
            .map(|line| blanks.clone() + &self.marked(text, line, marks))
            .collect()
    }

    /// The part of a text between two characters, with the marks in it.
    fn marked(self, text: &str, line: Range<usize>, marks: &[Range<usize>]) -> String {
        let piece = |range: Range<usize>| -> String { text.chars().skip(range.start).take(range.len()).collect() };
        let mut shown = String::new();
        let mut at = line.start;
        for mark in marks {
            let (start, end) = (mark.start.clamp(at, line.end), mark.end.clamp(at, line.end));
            if start < end {
                shown.push_str(&for_terminal(&piece(at..start)));
                shown.push_str(&self.styled(&piece(start..end), false));
                at = end;
            }
        }
        shown.push_str(&for_terminal(&piece(at..line.end)));
        shown
    }
}

/// How many columns a text takes.
pub(super) fn columns(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// A text of so many columns at most.
pub(super) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = columns(ELLIPSIS);
    for grapheme in text.graphemes(true) {
        used += columns(grapheme);
        if used > width {
            break;
        }
        kept.push_str(grapheme);
    }
    kept + ELLIPSIS
}

/// `text` in lines of at most `most` columns, broken between words; a word that is longer has a line of its own.
pub(super) fn wrap_words(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A text cut or filled up with blanks to so many columns.
pub(super) fn column(text: &str, width: usize) -> String {
    let shown = cut(&for_terminal(text), width);
    let missing = width.saturating_sub(columns(&shown));
    shown + &" ".repeat(missing)
}

/// The lines into which a text falls, as ranges of characters: broken at blanks, and inside of words that are longer than a line.
fn lines_of(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let (mut start, mut used, mut blank) = (0, 0, None);
    let mut at = 0;
    for grapheme in text.graphemes(true) {
        let (chars, wide) = (grapheme.chars().count(), columns(&for_terminal(grapheme)));
        if grapheme == " " {
            blank = Some(at);
        }
        while used + wide > width && at > start {
            let end = blank.filter(|blank| *blank > start).unwrap_or(at);
            lines.push(start..end);
            start = if Some(end) == blank { end + 1 } else { end };
            let rest: String = text.chars().skip(start).take(at.saturating_sub(start)).collect();
            used = columns(&for_terminal(&rest));
            blank = None;
        }
        // A blank at which a line was broken is in none.
        if at >= start {
            used += wide;
        }
        at += chars;
    }
    if start < at {
        lines.push(start..at);
    }
    lines
}

#[cfg(test)]
mod tests;
