//! Editing by tables, and for any text: what is put in is taken out again.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

const OPEN: &str = "<remembrancer-recollections>";
const BLOCK: &str = "<remembrancer-recollections>\nnew\n</remembrancer-recollections>";
const LINE: Mark<'_> = Mark::Line("@./x.md");

/// A text in which `{}` stands for a block that holds `inside`, with the text's own line breaks.
fn with_block(text: &str, inside: &str) -> String {
    let newline = newline_of(text);
    text.replace("{}", &format!("{OPEN}{newline}{inside}{newline}{FENCE_CLOSE}"))
}

#[rstest]
#[case::no_text("", "{}\n")]
#[case::one_line("a\n", "a\n\n{}\n")]
#[case::no_final_newline("a", "a\n{}\n")]
#[case::carriage_returns("a\r\nb\r\n", "a\r\nb\r\n\r\n{}\r\n")]
#[case::carriage_returns_without_the_last("a\r\nb", "a\r\nb\r\n{}\r\n")]
#[case::mark_alone("\u{feff}", "\u{feff}\n{}\n")]
#[case::mark("\u{feff}a\n", "\u{feff}a\n\n{}\n")]
#[case::front_matter("---\nx: 1\n---\n", "---\nx: 1\n---\n\n{}\n")]
#[case::closed_code("```\na\n```\n", "```\na\n```\n\n{}\n")]
#[case::an_example_in_code(
    "~~~\n<remembrancer-recollections>\n~~~\n",
    "~~~\n<remembrancer-recollections>\n~~~\n\n{}\n"
)]
fn a_block_goes_behind_all_else(#[case] text: &str, #[case] expected: &str) {
    let added = put(text, Mark::Fence, BLOCK).unwrap();
    assert_eq!(added, with_block(expected, "new"));
    assert_eq!(take(&added, Mark::Fence).unwrap().as_deref(), Some(text));
}

#[rstest]
#[case::at_the_start("{}\na\n", "a\n")]
#[case::in_the_middle("a\n\n{}\nb\n", "a\nb\n")]
#[case::in_the_middle_of_paragraphs("a\n\n{}\n\nb\n", "a\n\nb\n")]
#[case::written_on_behind_it("a\n{}\nb", "a\nb")]
#[case::at_the_end("a\n\n{}\n", "a\n")]
#[case::at_the_end_without_a_newline("a\n\n{}", "a\n")]
#[case::carriage_returns("a\r\n\r\n{}\r\nb\r\n", "a\r\nb\r\n")]
#[case::at_the_end_after_a_carriage_return("a\r\n\r\n{}", "a\r\n")]
#[case::alone("{}", "")]
fn a_block_is_replaced_where_it_stands_and_taken_out(#[case] text: &str, #[case] without: &str) {
    let old = with_block(text, "# old");
    assert_eq!(put(&old, Mark::Fence, BLOCK).unwrap(), with_block(text, "new"));
    assert_eq!(take(&old, Mark::Fence).unwrap().as_deref(), Some(without));
}

#[test]
fn code_inside_a_block_hides_nothing() {
    let text = with_block("a\n\n{}\n", "```\nnot closed");
    assert_eq!(take(&text, Mark::Fence), Ok(Some("a\n".to_owned())));
}

#[rstest]
#[case::unclosed("a\n<remembrancer-recollections>\nb\n", Damage::Unclosed(2))]
#[case::opened_again("{}\n<remembrancer-recollections prompt=\"1\">\n", Damage::Unclosed(4))]
#[case::nested("<remembrancer-recollections>\n{}\n", Damage::Unclosed(1))]
#[case::unopened("a\n</remembrancer-recollections>\n", Damage::Unopened(2))]
#[case::twice("{}\n\n{}\n", Damage::Twice(7))]
fn a_text_with_damaged_markers_is_left_alone(#[case] text: &str, #[case] expected: Damage) {
    let text = with_block(text, "x");
    assert_eq!(put(&text, Mark::Fence, BLOCK), Err(expected));
    assert_eq!(take(&text, Mark::Fence), Err(expected));
}

#[test]
fn nothing_is_added_to_open_code() {
    assert_eq!(put("```rust\nfn x() {}\n", Mark::Fence, BLOCK), Err(Damage::InsideCode));
    assert_eq!(put("a ``` b\n", Mark::Fence, BLOCK).map(|_| ()), Ok(()));
    assert_eq!(put("```a``` b\n", Mark::Fence, BLOCK).map(|_| ()), Ok(()));
    assert_eq!(put("    ```\n", Mark::Fence, BLOCK).map(|_| ()), Ok(()));
}

#[rstest]
#[case::named_in_a_sentence("see <remembrancer-recollections> there\n")]
#[case::another_tag("<remembrancer-recollections-old>\n")]
#[case::indented("  <remembrancer-recollections>\n")]
fn what_only_looks_like_a_marker_is_none(#[case] text: &str) {
    assert_eq!(find(text, Mark::Fence), Ok(None));
}

#[rstest]
#[case::no_text("", "@./x.md\n")]
#[case::behind("# Mine\n", "# Mine\n\n@./x.md\n")]
fn a_line_is_put_once_and_taken_out(#[case] text: &str, #[case] expected: &str) {
    let added = put(text, LINE, "@./x.md").unwrap();
    assert_eq!(added, expected);
    assert_eq!(put(&added, LINE, "@./x.md").unwrap(), added);
    assert_eq!(take(&added, LINE).unwrap().as_deref(), Some(text));
    assert_eq!(take(text, LINE), Ok(None));
    assert_eq!(
        take(&format!("{added}{added}"), LINE).map_err(|damage| matches!(damage, Damage::Twice(_))),
        Err(true)
    );
}

/// Texts that are made of what matters here, and any others.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\r".to_owned()),
        Just("```".to_owned()),
        Just("~~~~".to_owned()),
        Just("\u{feff}".to_owned()),
        Just(OPEN.to_owned()),
        Just(FENCE_CLOSE.to_owned()),
        Just("@./x.md".to_owned()),
        any::<String>(),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_put_in_is_taken_out_again(text in texts(), line in any::<bool>()) {
        let (mark, ours) = if line { (LINE, "@./x.md") } else { (Mark::Fence, BLOCK) };
        if find(&text, mark) == Ok(None) && let Ok(added) = put(&text, mark, ours) {
            prop_assert_eq!(put(&added, mark, ours), Ok(added.clone()));
            prop_assert_eq!(take(&added, mark), Ok(Some(text)));
        }
    }
}
