//! The markers around recollected text: written by [`crate::recall`], stripped again by [`crate::ingest`], so that
//! memory never feeds on itself.
//!
//! What goes in: any text. What comes out: the text without our own blocks. An opening marker that is never closed
//! takes the rest of that text with it, since a cut-off block is still ours (CASES TC-17).

use std::borrow::Cow;

/// How every recollection block begins; attributes and `>` follow.
pub const FENCE_OPEN_PREFIX: &str = "<remembrancer-recollections";
/// How every recollection block ends.
pub const FENCE_CLOSE: &str = "</remembrancer-recollections>";

/// `text` without any recollection block.
pub fn strip_fenced(text: &str) -> Cow<'_, str> {
    if !text.contains(FENCE_OPEN_PREFIX) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(behind) = joint_opening(&mut kept, rest).or_else(|| next_opening(&mut kept, rest)) {
        rest = behind.split_once(FENCE_CLOSE).map_or("", |(_, behind)| behind);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Keeps what stands before the next opening marker in `rest`; gives what stands behind it.
fn next_opening<'a>(kept: &mut String, rest: &'a str) -> Option<&'a str> {
    let (before, behind) = rest.split_once(FENCE_OPEN_PREFIX)?;
    kept.push_str(before);
    Some(behind)
}

/// A marker whose halves stood around a block that was cut out, and met: takes the first half off what was kept, and gives what
/// stands behind the second.
fn joint_opening<'a>(kept: &mut String, rest: &'a str) -> Option<&'a str> {
    let halves = (1..FENCE_OPEN_PREFIX.len()).rev().map(|at| FENCE_OPEN_PREFIX.split_at(at));
    let (first, second) = halves
        .into_iter()
        .find(|(first, second)| kept.ends_with(first) && rest.starts_with(second))?;
    kept.truncate(kept.len() - first.len());
    Some(&rest[second.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        assert_eq!(strip_fenced(input), expected);
    }

    #[test]
    fn plain_text_is_untouched() {
        check("how do I sort a list?", "how do I sort a list?");
    }

    #[test]
    fn tc_17_the_block_is_cut_and_the_request_kept() {
        check(
            "<remembrancer-recollections prompt=\"1\">\nold\n</remembrancer-recollections>\nfix the build",
            "\nfix the build",
        );
        check(
            "before <remembrancer-recollections>x</remembrancer-recollections> after",
            "before  after",
        );
    }

    #[test]
    fn tc_17_an_unclosed_block_takes_the_rest() {
        check("fix it <remembrancer-recollections prompt=\"1\">\nold", "fix it ");
    }

    #[test]
    fn a_marker_that_a_cut_puts_together_opens_a_block() {
        let block = "<remembrancer-recollections>x</remembrancer-recollections>";
        check(&format!("a<remembrancer-re{block}collections>y{FENCE_CLOSE}b"), "ab");
        check(&format!("a<{block}rem{block}b"), "a<remb");
        check(&format!("a<remem{block}{block}brancer-recollections b"), "a");
    }

    #[test]
    fn several_blocks_go() {
        let block = "<remembrancer-recollections>x</remembrancer-recollections>";
        check(&format!("a{block}b{block}c"), "abc");
    }
}
