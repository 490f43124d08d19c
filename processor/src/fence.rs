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
    while let Some(start) = rest.find(FENCE_OPEN_PREFIX) {
        kept.push_str(&rest[..start]);
        let block = &rest[start..];
        rest = match block.find(FENCE_CLOSE) {
            Some(end) => &block[end + FENCE_CLOSE.len()..],
            None => "",
        };
    }
    kept.push_str(rest);
    Cow::Owned(kept)
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
    fn several_blocks_go() {
        let block = "<remembrancer-recollections>x</remembrancer-recollections>";
        check(&format!("a{block}b{block}c"), "abc");
    }
}
