//! Lines that fit, in columns; what stands out where it may; and nothing of either in a pipe.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn terminal(width: usize, styled: bool) -> Terminal {
    Terminal {
        width: Some(width),
        styled,
    }
}

const PIPE: Terminal = Terminal {
    width: None,
    styled: false,
};

fn wishes(columns: Option<&str>, no_color: Option<&str>, kind: Option<&str>) -> Wishes {
    let owned = |value: Option<&str>| value.map(str::to_owned);
    Wishes {
        columns: owned(columns),
        no_color: owned(no_color),
        kind: owned(kind),
    }
}

#[rstest]
#[case::told(Some(120), wishes(None, None, None), terminal(120, true))]
#[case::wished(Some(120), wishes(Some("100"), None, None), terminal(100, true))]
#[case::nonsense(Some(120), wishes(Some("wide"), None, None), terminal(120, true))]
#[case::none(None, wishes(Some("0"), None, None), terminal(USUAL_COLUMNS, true))]
#[case::tiny(Some(3), wishes(None, None, None), terminal(LEAST_COLUMNS, true))]
#[case::plain(None, wishes(None, Some("1"), None), terminal(USUAL_COLUMNS, false))]
#[case::not_plain(None, wishes(None, Some(""), None), terminal(USUAL_COLUMNS, true))]
#[case::dumb(None, wishes(None, None, Some("dumb")), terminal(USUAL_COLUMNS, false))]
fn a_terminal_is_what_it_tells_and_the_user_wishes(
    #[case] told: Option<usize>,
    #[case] wishes: Wishes,
    #[case] expected: Terminal,
) {
    assert_eq!(Terminal::new(true, told, &wishes), expected);
    assert_eq!(Terminal::new(false, told, &wishes), PIPE);
}

#[rstest]
#[case::short("abc", 3, "abc")]
#[case::long("abcdef", 4, "abc…")]
#[case::wide("日本語", 5, "日本…")]
#[case::accents("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…")]
fn a_text_is_cut_in_columns(#[case] text: &str, #[case] width: usize, #[case] expected: &str) {
    assert_eq!(cut(text, width), expected);
}

#[test]
fn a_column_is_filled_up_in_columns() {
    assert_eq!(column("日本", 5), "日本 ");
    assert_eq!(column("abcdef", 4), "abc…");
    assert_eq!(column("\u{1b}[2J", 12), "\\u001b[2J   ");
}

#[test]
fn marked_words_stand_out_where_they_may() {
    let marks = [2..5, 9..12];
    let lines = terminal(24, true).wrap("a fox, a dog", &marks, 2);
    assert_eq!(lines, ["  a \u{1b}[1mfox\u{1b}[0m, a \u{1b}[1mdog\u{1b}[0m"]);
    assert_eq!(terminal(24, false).wrap("a fox, a dog", &marks, 2), ["  a fox, a dog"]);
    assert_eq!(PIPE.wrap("a fox, a dog", &marks, 0), ["a fox, a dog"]);
}

/// One mark.
fn marks(start: usize, end: usize) -> [Range<usize>; 1] {
    [Range { start, end }]
}

#[test]
fn a_mark_over_two_lines_stands_out_in_both() {
    let lines = terminal(LEAST_COLUMNS, true).wrap("abcdefghijkl mnopqrstuvwxyz", &marks(8, 16), 12);
    assert_eq!(
        lines.iter().map(|line| line.trim_start()).collect::<Vec<_>>(),
        ["abcdefgh\u{1b}[1mijkl\u{1b}[0m", "\u{1b}[1mmno\u{1b}[0mpqrstuvwx", "yz"]
    );
}

#[test]
fn what_acts_on_a_terminal_is_shown_and_not_done() {
    let shown = terminal(60, true).wrap("a \u{1b}[31mred\u{1b}[0m word", &marks(0, 1), 0);
    assert_eq!(shown, ["\u{1b}[1ma\u{1b}[0m \\u001b[31mred\\u001b[0m word"]);
    assert_eq!(PIPE.fit("a\u{9b}b"), "a\\u009bb");
}

#[test]
fn in_a_pipe_a_line_is_as_long_as_it_is() {
    let long = "word ".repeat(100);
    assert_eq!(PIPE.fit(&long), long);
    assert_eq!(PIPE.wrap(long.trim(), &[], 3).len(), 1);
}

proptest! {
    #[test]
    fn nothing_is_wider_than_its_terminal(text in "[a-z 日é\u{301}\u{7}]{0,80}", width in LEAST_COLUMNS..60, indent in 0usize..8) {
        let terminal = terminal(width, false);
        for line in terminal.wrap(&text, &[], indent) {
            prop_assert!(columns(&line) <= width, "{line:?} of {} columns", columns(&line));
        }
        prop_assert!(columns(&terminal.fit(&text)) <= width);
        // No word is lost, but for the blanks at which lines are broken.
        let letters = |text: &str| for_terminal(text).chars().filter(|c| *c != ' ').collect::<String>();
        let wrapped: String = terminal.wrap(&text, &[], 0).concat();
        prop_assert_eq!(letters(&wrapped), letters(&text));
    }
}

#[test]
fn a_line_is_cut_and_wrapped_by_columns() {
    assert_eq!((cut("größer", 6), cut("größer", 4)), ("größer".to_owned(), "grö…".to_owned()));
    assert_eq!(wrap_words("one two  three\nfour", 9), ["one two", "three", "four"]);
    assert_eq!(wrap_words("a verylongword b", 5), ["a", "verylongword", "b"]);
    assert_eq!(wrap_words("", 5), [""; 0]);
}

#[test]
fn a_page_has_bounds() {
    let pages = [24, 100, 500].map(|columns| terminal(columns, false).page());
    assert_eq!((pages, PIPE.page()), ([66, 100, 160], 80));
}
