//! What the editors of both formats share: a place in a text, and why a text can't be edited.

/// Why a text can't be edited, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {what}")]
pub(crate) struct Problem {
    line: usize,
    column: usize,
    what: String,
}

impl Problem {
    /// `what` is wrong at the byte `offset` of `text`; lines and columns count from 1, columns in characters.
    pub(super) fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what: what.into(),
        }
    }
}

/// The mark that some editors put before a text in UTF-8.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Takes the byte order mark off a text. Returns it, or nothing, and the rest.
pub(super) fn split_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (BYTE_ORDER_MARK, rest),
        None => ("", text),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::first(0, "1:1: x")]
    #[case::after_a_wide_character(3, "1:3: x")]
    #[case::second_line(5, "2:2: x")]
    #[case::inside_a_character(2, "1:2: x")]
    #[case::the_end(6, "2:3: x")]
    fn a_place_counts_lines_and_characters(#[case] offset: usize, #[case] expected: &str) {
        assert_eq!(Problem::at("aé\nbc", offset, "x").to_string(), expected);
    }
}
