//! How wide lines may be: as wide as the terminal, and 80 columns where there is none. Asked once a command, changes nothing.

use std::io::IsTerminal as _;

/// Where nobody tells.
const USUAL: usize = 80;
/// No line is made for less than this, nor for more: beyond it the eye loses the line.
const BOUNDS: (usize, usize) = (66, 160);

/// Columns of standard output.
pub(super) fn columns() -> usize {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return USUAL;
    }
    let told = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
    if told == 0 { USUAL } else { told.clamp(BOUNDS.0, BOUNDS.1) }
}

/// `text` in at most `columns` columns, with `…` for what is cut off. A character counts as one.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// `text` in lines of at most `columns` columns, broken between words; a word that is longer has a line of its own.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
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
    fn a_line_is_cut_and_wrapped_by_characters() {
        assert_eq!((cut("größer", 6), cut("größer", 4)), ("größer".to_owned(), "grö…".to_owned()));
        assert_eq!(wrap("one two  three\nfour", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("a verylongword b", 5), ["a", "verylongword", "b"]);
        assert_eq!(wrap("", 5), [""; 0]);
    }
}
