//! How wide lines may be: as wide as the terminal, and 80 columns where there is none. Asked once a command, changes nothing.

use std::io::IsTerminal as _;

use super::terminal::columns as columns_of;
pub(super) use super::terminal::cut;
use crate::system;

/// Where nobody tells.
const USUAL: usize = 80;
/// No line is made for less than this, nor for more: beyond it the eye loses the line.
const BOUNDS: (usize, usize) = (66, 160);

/// Columns of standard output.
pub(super) fn columns() -> usize {
    let told = if std::io::stdout().is_terminal() {
        system::columns()
    } else {
        None
    };
    told.map_or(USUAL, |columns| columns.clamp(BOUNDS.0, BOUNDS.1))
}

/// `text` in lines of at most `columns` columns, broken between words; a word that is longer has a line of its own.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if columns_of(line) + 1 + columns_of(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_and_wrapped_by_columns() {
        assert_eq!((cut("größer", 6), cut("größer", 4)), ("größer".to_owned(), "grö…".to_owned()));
        assert_eq!(wrap("one two  three\nfour", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("a verylongword b", 5), ["a", "verylongword", "b"]);
        assert_eq!(wrap("", 5), [""; 0]);
    }
}
