//! One line of the log: its time and its level, as `tracing` writes them, in front of what is said. A line without them goes with the
//! one before it.

use clap::ValueEnum;
use serde_json::{Value, json};

/// How grave a line is, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Level {
    /// Something is lost.
    Error,
    /// Something goes less well.
    Warn,
    /// What happens in a daemon's life.
    Info,
    /// What happens with each episode.
    Debug,
    /// What happens with each line.
    Trace,
}

impl Level {
    fn parse(name: &str) -> Option<Self> {
        let named = |level: &Self| level.as_str().eq_ignore_ascii_case(name);
        Self::value_variants().iter().copied().find(named)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    at: Option<String>,
    level: Option<Level>,
    /// The whole of it.
    pub(super) text: String,
}

impl Line {
    fn parse(text: &str) -> Self {
        let text = without_colours(text.trim_end_matches(['\n', '\r']));
        let mut words = text.split_whitespace();
        let at = words
            .next()
            .filter(|word| word.parse::<jiff::Timestamp>().is_ok())
            .map(str::to_owned);
        let level = at.as_ref().and_then(|_| Level::parse(words.next()?));
        Self { at, level, text }
    }

    pub(super) fn json(&self) -> Value {
        json!({"at": self.at, "level": self.level.map(Level::as_str), "text": self.text})
    }
}

/// Without the sequences by which a log in a terminal is coloured.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, behind)| behind);
    }
    plain.push_str(rest);
    plain
}

/// Picks the lines that are grave enough.
#[derive(Debug)]
pub(super) struct Lines {
    least: Option<Level>,
    /// The level of the last line that had one.
    present: Option<Level>,
}

impl Lines {
    /// All where there is no level.
    pub(super) fn of_level(least: Option<Level>) -> Self {
        Self { least, present: None }
    }

    /// The next line, if it is grave enough.
    pub(super) fn take(&mut self, text: &str) -> Option<Line> {
        let line = Line::parse(text);
        // A line of a manager's own has a time of none: it follows nothing of ours.
        self.present = line.level.or(self.present.filter(|_| line.at.is_none()));
        let is_picked = self
            .least
            .is_none_or(|least| self.present.is_some_and(|level| level <= least));
        is_picked.then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const INFO: &str = "2026-11-29T06:00:00.000000Z  INFO the daemon is ready pid=7";

    #[test]
    fn a_line_is_read() {
        let line = Line::parse(INFO);
        assert_eq!(line.level, Some(Level::Info));
        assert_eq!(
            line.json(),
            json!({"at": "2026-11-29T06:00:00.000000Z", "level": "info", "text": INFO})
        );
        assert_eq!(
            Line::parse("thread panicked\n").json(),
            json!({"at": null, "level": null, "text": "thread panicked"})
        );
    }

    #[test]
    fn colours_are_no_part_of_a_line() {
        let line = Line::parse("\u{1b}[2m2026-11-29T06:00:00Z\u{1b}[0m \u{1b}[33m WARN\u{1b}[0m slow\r\n");
        assert_eq!(
            (line.level, line.text.as_str()),
            (Some(Level::Warn), "2026-11-29T06:00:00Z  WARN slow")
        );
    }

    #[rstest]
    #[case::all(None, 5)]
    #[case::errors(Some(Level::Error), 2)]
    #[case::warnings(Some(Level::Warn), 3)]
    #[case::traces(Some(Level::Trace), 5)]
    fn grave_lines_are_picked_with_what_follows_them(#[case] least: Option<Level>, #[case] expected: usize) {
        let log = [
            INFO,
            "2026-11-29T06:00:01Z ERROR it broke",
            "  at some place",
            "2026-11-29T06:00:02Z  WARN slow",
            "2026-11-29T06:00:03Z DEBUG an episode",
        ];
        let mut lines = Lines::of_level(least);
        assert_eq!(log.iter().filter_map(|text| lines.take(text)).count(), expected);
    }
}
