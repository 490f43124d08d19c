//! Whether a prompt asks for what was: "how did we fix that", "remind me of the shop you told me about".
//!
//! Who asks so wants to be reminded, and takes a nearer miss for less than silence; who asks for work to be done doesn't. English only:
//! it is one piece of evidence among others (see `Support`), and never decides by itself.

use std::sync::LazyLock;

use regex::Regex;

/// How a prompt may ask for what was, in lower case.
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let past = r"(?:\w{2,}ed|did|had|was|were|went|made|got|bought|took|saw|met|said|told|wrote|set|found|chose|kept|read|ran|spent|gave|began|came|broke|built|cut|put|left|lost|sent|thought)";
    let patterns = [
        // A question whose subject is whoever asks: "did I", "haven't we", "were we".
        r"\b(?:did|didn't|have|haven't|had|hadn't|was|wasn't|were|weren't) (?:i|we)\b".to_owned(),
        // "What was the milestone that I mentioned": a question about what was said or done before.
        format!(r"\b(?:what|which|who|whom|whose|where|when|why|how)\b.*\b(?:i|we) (?:had |have |already |just |once |first |last )?{past}\b"),
        r"\b(?:what|which|who|whom|whose|where|when|why|how)\b.*\b(?:i|we)'(?:d|ve)\b".to_owned(),
        r"\b(?:remind me|do you remember|do you recall|last time|our (?:last|previous|earlier) \w+)\b".to_owned(),
        r"\b(?:you|we) (?:had |have |already |once )?(?:mentioned|discussed|talked|spoke|suggested|recommended|told me|agreed|settled)\b".to_owned(),
    ];
    let compiled = patterns
        .iter()
        .map(|pattern| Regex::new(pattern).expect("invariant: the pattern is well-formed"));
    compiled.collect()
});

/// Whether `prompt` asks for what was.
pub(super) fn asks_for_what_was(prompt: &str) -> bool {
    let text = prompt.to_lowercase().replace('’', "'");
    PATTERNS.iter().any(|pattern| pattern.is_match(&text))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::did_we("How did we fix the flaky login test?", true)]
    #[case::have_i("How many times have I tried this?", true)]
    #[case::had_i("why hadn't we pinned it", true)]
    #[case::mentioned("What was the milestone I mentioned four weeks ago?", true)]
    #[case::remind("remind me of the shop with the milkshakes", true)]
    #[case::told("the library you recommended", true)]
    #[case::typographic("why haven’t we upgraded", true)]
    #[case::last_time("same as last time", true)]
    #[case::work("Rename the field and fix the tests", false)]
    #[case::how_do_i("How do I undo a commit?", false)]
    #[case::others("What did Caroline research?", false)]
    #[case::about_code("Why was the cache invalidated?", false)]
    #[case::a_report("I noticed the build is slow, make it faster", false)]
    fn what_was_is_asked_for(#[case] prompt: &str, #[case] expected: bool) {
        assert_eq!(asks_for_what_was(prompt), expected, "{prompt}");
    }
}
