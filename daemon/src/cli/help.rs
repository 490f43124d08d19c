//! Help, and what is said of a command line that can't be read: clap's text comes in, lines that fit the terminal go out, broken between
//! words. What stands in a column of its own is continued in that column.

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches};

use super::Arguments;
use super::examples;
use super::output::{tell_styled, warn_styled};
use super::surroundings;
use super::terminal::columns;

/// What stands before the command line of a usage.
const USAGE: &str = "Usage: ";

/// The whole command line, with its examples.
pub(super) fn command() -> Command {
    examples::added(Arguments::command())
}

/// Reads the command line of this process.
///
/// # Errors
/// The exit code, once help was shown, or what is wrong was said.
pub(super) fn parse() -> Result<Arguments, u8> {
    let read = command()
        .try_get_matches()
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    read.map_err(|error| {
        let terminal = surroundings::terminal();
        let styled = error.render();
        let is_help = !error.use_stderr();
        let text = if is_help && terminal.is_styled() {
            styled.ansi().to_string()
        } else {
            styled.to_string()
        };
        let fitted = match error.kind() {
            ErrorKind::DisplayVersion => text,
            _ => fitted(&text, terminal.page()),
        };
        if is_help {
            tell_styled(&fitted);
        } else {
            warn_styled(&fitted);
        }
        u8::try_from(error.exit_code()).unwrap_or(2)
    })
}

/// `text` in lines of at most `most` columns, but for a word that is longer.
pub(super) fn fitted(text: &str, most: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        lines.extend(fitted_line(line.trim_end(), most));
    }
    lines.join("\n") + "\n"
}

fn fitted_line(line: &str, most: usize) -> Vec<String> {
    let plain = without_styles(line);
    if columns(&plain) <= most {
        return vec![line.to_owned()];
    }
    // A column that leaves next to nothing would be a tower of words.
    let hang = hang(&plain);
    let hang = if hang > most / 2 { indent(&plain) + 4 } else { hang };
    let (mut begun, rest) = split_at_column(line, hang);
    let mut lines = Vec::new();
    let mut is_begin = true;
    for word in rest.split(' ').filter(|word| !word.is_empty()) {
        let blank = usize::from(!is_begin);
        if !is_begin && columns(&without_styles(&begun)) + blank + columns(&without_styles(word)) > most {
            lines.push(std::mem::replace(&mut begun, " ".repeat(hang)));
        } else if !is_begin {
            begun.push(' ');
        }
        begun.push_str(word);
        is_begin = false;
    }
    lines.push(begun);
    lines
}

/// The column in which the further lines of `line` begin.
fn hang(line: &str) -> usize {
    let indent = indent(line);
    let body = &line[indent..];
    if line.starts_with(USAGE) {
        return USAGE.len();
    }
    let behind_name = body.find("  ").map(|at| {
        let gap = body[at..].len() - body[at..].trim_start().len();
        columns(&body[..at]) + gap
    });
    match behind_name {
        Some(column) if indent > 0 => indent + column,
        _ if body.starts_with("- ") => indent + 2,
        _ => indent,
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// A line in two: what fills the first `column` columns, and the rest.
fn split_at_column(line: &str, column: usize) -> (String, &str) {
    let mut width = 0;
    let mut is_style = false;
    for (at, c) in line.char_indices() {
        if is_style {
            is_style = c != 'm';
            continue;
        }
        if c == '\u{1b}' {
            is_style = true;
            continue;
        }
        if width >= column {
            return (line[..at].to_owned(), &line[at..]);
        }
        width += columns(c.encode_utf8(&mut [0; 4]));
    }
    (line.to_owned(), "")
}

/// A text without the sequences that style it.
fn without_styles(text: &str) -> String {
    let mut is_style = false;
    let shown = text.chars().filter(|c| {
        let is_shown = !is_style && *c != '\u{1b}';
        is_style = (is_style && *c != 'm') || *c == '\u{1b}';
        is_shown
    });
    shown.collect()
}

#[cfg(test)]
mod tests;
