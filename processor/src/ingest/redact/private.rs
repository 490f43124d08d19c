//! What the user marked as private: `<private>` to `</private>`, in any case, with attributes, over several lines, one within
//! another. What is opened and not closed is private to the end of its text, and so is a tag that is cut short: whoever
//! writes about the tag loses some words by it, which is the lesser harm.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr_iter;

use super::view::{Cut, View};

/// What is said in the place of a span.
const KIND: &str = "private";
const NAME: &[u8] = b"private";
/// Bytes in which an opening tag ends, attributes and all; what goes on longer is text that begins like one.
const MAX_TAG: usize = 256;

/// A tag, and whether it opens a span.
struct Tag {
    range: Range<usize>,
    opens: bool,
}

/// The private spans of a text that goes on where another ended: `depth` were open there, and what closes them stands here or in what
/// follows. Also gives how many are open at the end of this one. What was open before has its placeholder there, and none here.
pub(super) fn spans(text: &str, depth: usize) -> (Vec<Cut>, usize) {
    let kind = |begins: Option<usize>| begins.map(|_| KIND);
    let mut cuts = Vec::new();
    let (mut depth, mut opened_at) = (depth, None);
    for tag in tags(text) {
        if tag.opens {
            if depth == 0 {
                opened_at = Some(tag.range.start);
            }
            depth += 1;
        } else if depth > 0 {
            depth -= 1;
            if depth == 0 {
                cuts.push(Cut {
                    range: opened_at.unwrap_or(0)..tag.range.end,
                    kind: kind(opened_at.take()),
                });
            }
        }
    }
    if depth > 0 {
        cuts.push(Cut {
            range: opened_at.unwrap_or(0)..text.len(),
            kind: kind(opened_at),
        });
    }
    (cuts, depth)
}

/// `text` without the private spans of it, as [`spans`] tells them, in whatever way its tags are spelled.
pub(crate) fn redact_private_after(text: &str, depth: usize) -> (Cow<'_, str>, usize) {
    let mut view = View::read(text);
    let (cuts, open) = spans(view.text(), depth);
    view.take_out(&cuts);
    (view.restored(), open)
}

/// The texts of one message, in order, without what is private: a span may be opened in one and closed in another.
pub(crate) fn redact_private_across<'t>(texts: &[&'t str]) -> Vec<Cow<'t, str>> {
    let mut depth = 0;
    let mut redacted = Vec::with_capacity(texts.len());
    for text in texts {
        let (kept, open) = redact_private_after(text, depth);
        depth = open;
        redacted.push(kept);
    }
    redacted
}

/// Of the tail of a text that was cut: what is no part of a span that began in what was cut away.
pub(crate) fn after_cut_span(tail: &str) -> &str {
    // Each closing tag that closes more than the tail has opened belongs to what came before.
    let view = View::read(tail);
    let (mut depth, mut unopened_to) = (0_usize, 0);
    for tag in tags(view.text()) {
        if tag.opens {
            depth += 1;
        } else if depth > 0 {
            depth -= 1;
        } else {
            unopened_to = tag.range.end;
        }
    }
    &tail[view.place(unopened_to)..]
}

fn tags(text: &str) -> impl Iterator<Item = Tag> {
    memchr_iter(b'<', text.as_bytes()).filter_map(move |start| tag(text, start))
}

/// What a tag begins with.
struct Opening {
    /// Bytes up to the end of its name.
    bytes: usize,
    /// Whether it opens a span.
    opens: bool,
    /// Whether there are blanks before its name, as no program writes it: then nothing else may stand in it.
    is_spaced: bool,
}

/// The opening of a tag, if `rest` begins with one.
fn opening(rest: &[u8]) -> Option<Opening> {
    let blanks = |from: usize| {
        rest[from..]
            .iter()
            .take(MAX_TAG)
            .take_while(|byte| byte.is_ascii_whitespace())
            .count()
    };
    let slash = 1 + blanks(1);
    let opens = rest.get(slash) != Some(&b'/');
    let name = if opens { slash } else { slash + 1 + blanks(slash + 1) };
    let end = name + NAME.len();
    if !rest.get(name..end)?.eq_ignore_ascii_case(NAME) {
        return None;
    }
    let is_spaced = name > if opens { 1 } else { 2 };
    let ends = match rest.get(end) {
        Some(byte) => byte.is_ascii_whitespace() || *byte == b'>',
        None => !is_spaced,
    };
    ends.then_some(Opening {
        bytes: end,
        opens,
        is_spaced,
    })
}

/// The tag at `start`, if one begins there. `<private/>` has nothing in it, and is none.
fn tag(text: &str, start: usize) -> Option<Tag> {
    let rest = &text.as_bytes()[start..];
    let Opening { bytes, opens, is_spaced } = opening(rest)?;
    let rest = &rest[bytes..];
    let end = rest.iter().take(MAX_TAG).position(|byte| matches!(byte, b'>' | b'<'));
    let length = match end {
        _ if is_spaced => {
            let end = end.filter(|end| rest[*end] == b'>' && rest[..*end].iter().all(u8::is_ascii_whitespace))?;
            end + 1
        }
        // Another tag cuts this one short, and what opened stays open. Without this it would be one once the other is taken out.
        Some(end) if rest[end] == b'<' && opening(&rest[end..]).is_some() => end,
        Some(end) if rest[end] == b'<' => return None,
        Some(end) if opens && end > 0 && rest[end - 1] == b'/' => return None,
        Some(end) => end + 1,
        None if rest.len() <= MAX_TAG => rest.len(),
        None => return None,
    };
    let end = start + bytes + length;
    Some(Tag {
        range: start..end,
        opens,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::ingest::redact;

    fn redact_private(text: &str) -> Cow<'_, str> {
        redact_private_after(text, 0).0
    }

    #[rstest]
    #[case::nothing("a < b and private > c", "a < b and private > c")]
    #[case::one("a <private>SECRET</private> b", "a [redacted:private] b")]
    #[case::two(
        "<private>SECRET</private> and <private>SECRET</private>",
        "[redacted:private] and [redacted:private]"
    )]
    #[case::lines("a\n<private>\nSECRET\n\nSECRET\n</private>\nb", "a\n[redacted:private]\nb")]
    #[case::unclosed("a <private>SECRET", "a [redacted:private]")]
    #[case::unclosed_after_one("<private>x</private> a <private>SECRET", "[redacted:private] a [redacted:private]")]
    #[case::nested("a <private>SECRET <private>SECRET</private> SECRET</private> b", "a [redacted:private] b")]
    #[case::nested_unclosed("a <private>SECRET <private>SECRET</private> SECRET", "a [redacted:private]")]
    #[case::capitals("a <PRIVATE>SECRET</Private> b", "a [redacted:private] b")]
    #[case::attribute("a <private reason=\"mine\">SECRET</private> b", "a [redacted:private] b")]
    #[case::attribute_on_lines("a <private\n  by='me'\n>SECRET</private\n> b", "a [redacted:private] b")]
    #[case::an_example_in_a_fence("```\n<private>SECRET</private>\n```", "```\n[redacted:private]\n```")]
    #[case::a_cut_tag("a <private", "a [redacted:private]")]
    #[case::a_cut_tag_with_an_attribute("a <private note=\"SECRET", "a [redacted:private]")]
    #[case::only_closed("a </private> b", "a </private> b")]
    #[case::empty("a <private></private> b", "a [redacted:private] b")]
    #[case::nothing_in_it("a <private/> b", "a <private/> b")]
    #[case::another_word("a <privateer>b</privateer>", "a <privateer>b</privateer>")]
    #[case::spaced("a < private >SECRET</ private > b", "a [redacted:private] b")]
    #[case::spaced_on_lines("a <\nprivate\n>SECRET< / private> b", "a [redacted:private] b")]
    #[case::spaced_and_cut("a < private", "a < private")]
    #[case::a_comparison("if a < private && b > c", "if a < private && b > c")]
    #[case::entities("a &lt;private&gt;SECRET&lt;/private&gt; b", "a [redacted:private] b")]
    #[case::entities_by_number("a &#60;private&#x3e;SECRET&#x3C;/private&gt; b", "a [redacted:private] b")]
    #[case::json("a \\u003cprivate\\u003eSECRET\\u003c/private\\u003e b", "a [redacted:private] b")]
    #[case::in_a_url("a=%3Cprivate%3ESECRET%3C/private%3E&b", "a=[redacted:private]&b")]
    #[case::zero_width("a <pri\u{200b}vate>SECRET</priv\u{ad}ate> b", "a [redacted:private] b")]
    #[case::an_escape_sequence("a <\u{1b}[1mprivate>SECRET</private\u{1b}[0m> b", "a [redacted:private] b")]
    #[case::cut_by_another("a <private <private>SECRET</private> SECRET", "a [redacted:private]")]
    #[case::cut_by_its_end("a <private note </private> b", "a [redacted:private] b")]
    #[case::cut_by_several(
        "a <private <private\n<private>SECRET</private> SECRET </private> SECRET",
        "a [redacted:private]"
    )]
    #[case::less_than("if x <private and y < 3", "if x <private and y < 3")]
    #[case::not_ascii("é <private>SECRET ü</private> ñ", "é [redacted:private] ñ")]
    fn tc_41_a_private_span_goes_whole(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(redact_private(text), expected);
        assert_eq!(redact(text), expected, "by the one way in, too");
        assert!(!redact(&redact(text)).contains("SECRET"));
    }

    #[rstest]
    #[case::closed_in_the_next(&["a <private>SECRET", "SECRET</private> b"], &["a [redacted:private]", " b"])]
    #[case::in_the_last(
        &["a <private>SECRET", "SECRET", "SECRET</private> b", "c"],
        &["a [redacted:private]", "", " b", "c"]
    )]
    #[case::nested(&["<private>SECRET <private>SECRET", "</private> SECRET", "</private>b"], &["[redacted:private]", "", "b"])]
    #[case::opened_again(
        &["<private>SECRET", "SECRET</private> b <private>SECRET", "SECRET"],
        &["[redacted:private]", " b [redacted:private]", ""]
    )]
    #[case::closed_and_whole(
        &["<private>SECRET", "</private>b<private>SECRET</private>c"],
        &["[redacted:private]", "b[redacted:private]c"]
    )]
    #[case::never_closed(&["a <private>SECRET", "SECRET"], &["a [redacted:private]", ""])]
    #[case::nothing(&["a", "b </private> c"], &["a", "b </private> c"])]
    fn tc_41_a_span_goes_on_in_the_next_text(#[case] texts: &[&str], #[case] expected: &[&str]) {
        assert_eq!(redact_private_across(texts), expected);
    }

    #[rstest]
    #[case::none("what about the garden", "what about the garden")]
    #[case::of_before("SECRET</private> garden", " garden")]
    #[case::nested_in_it("SECRET <private>SECRET</private> SECRET</private> garden", " garden")]
    #[case::twice("SECRET</private> SECRET</private> garden", " garden")]
    #[case::its_own("the <private>x</private> garden", "the <private>x</private> garden")]
    fn tc_41_the_rest_of_a_span_goes(#[case] tail: &str, #[case] expected: &str) {
        assert_eq!(after_cut_span(tail), expected);
    }

    proptest! {
        #[test]
        fn nothing_of_a_span_is_left(before in "[a-z <>/]{0,20}", inside in "[a-z<>/ ]{0,40}", after in "[a-z ]{0,20}") {
            let text = format!("{before} <private>{inside} sEcReT </private>{after}");
            let redacted = redact_private(&text);
            prop_assert!(!redacted.contains("sEcReT"), "{redacted}");
            prop_assert_eq!(redact_private(&redacted), &*redacted);
        }
    }
}
