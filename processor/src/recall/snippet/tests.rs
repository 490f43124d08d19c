//! Snippets: the passage that holds most of the terms, in a bounded number of characters, with its terms marked.

use proptest::prelude::*;
use remembrancer_schema::query_terms;
use rstest::rstest;

use super::*;

fn of(text: &str, query: &str, width: usize) -> Snippet {
    snippet(text, &query_terms(query, 32), width)
}

fn marked(snippet: &Snippet) -> Vec<String> {
    let chars: Vec<char> = snippet.text.chars().collect();
    snippet
        .marks
        .iter()
        .map(|mark| chars[mark.clone()].iter().collect())
        .collect()
}

#[rstest]
#[case::another_form("all tests passed", "testing", &["tests"])]
#[case::marks_around("(see `login`), please", "login", &["login"])]
#[case::a_part_of_a_name("look into src/main.rs:42, there", "main", &["src/main.rs:42"])]
#[case::accents("the CAFÉ opens", "café", &["CAFÉ"])]
#[case::a_short_run_of_unspaced("これは日本語です", "日本", &["これは日本語です"])]
#[case::nothing("all is well", "disaster", &[])]
fn what_the_index_would_find_is_marked(#[case] text: &str, #[case] query: &str, #[case] expected: &[&str]) {
    let found = of(text, query, 80);
    assert_eq!(
        (found.text.as_str(), marked(&found)),
        (text, expected.iter().map(|word| (*word).to_owned()).collect())
    );
}

#[test]
fn in_a_long_run_of_unspaced_text_what_is_written_is_marked() {
    let text = format!("{}日本語{}", "あ".repeat(90), "い".repeat(90));
    let found = of(&text, "日本語", 40);
    assert_eq!(marked(&found), ["日本語"], "{}", found.text);
}

#[test]
fn the_passage_with_most_terms_is_given() {
    let filler = "nothing to see here ".repeat(30);
    let text = format!("login once {filler} the login hangs in the test, since {filler} test");
    let found = of(&text, "login test hangs", 60);
    assert!(found.text.contains("login hangs in the test"), "{}", found.text);
    assert_eq!(
        (found.terms, marked(&found)),
        (3, vec!["login".into(), "hangs".into(), "test".into()])
    );
    assert!(found.text.starts_with('…') && found.text.ends_with('…'));
}

#[test]
fn a_text_without_a_match_is_given_from_its_beginning() {
    let text = "one two three ".repeat(30);
    let found = of(&text, "absent", 30);
    assert!(
        found.text.starts_with("one two three") && found.text.ends_with('…'),
        "{}",
        found.text
    );
    assert_eq!(found.terms, 0);
    assert_eq!(of("", "absent", 30), Snippet::default());
}

#[test]
fn a_match_at_the_end_has_the_words_before_it() {
    let text = format!("{}the end is near", "some words ".repeat(30));
    let found = of(&text, "near", 40);
    assert!(
        found.text.ends_with("the end is near") && found.text.chars().count() > 25,
        "{}",
        found.text
    );
}

#[test]
fn lines_become_one() {
    assert_eq!(of("one\n\n  two\tthree", "two", 80).text, "one two three");
}

proptest! {
    #[test]
    fn no_snippet_is_longer_than_asked_or_marks_what_is_not_there(
        text in "([a-d]{1,9}|日本|\\PC{0,3}|[a-z]{70}| |\n){0,60}", query in "[a-d]{1,3}( [a-d]{1,3}){0,3}", width in 8usize..120,
    ) {
        let found = of(&text, &query, width);
        let length = found.text.chars().count();
        prop_assert!(length <= width, "{length} of {width}: {}", found.text);
        let mut end = 0;
        for mark in &found.marks {
            prop_assert!(mark.start >= end && mark.start < mark.end && mark.end <= length);
            end = mark.end;
        }
        prop_assert!(!found.text.contains('\n'));
    }
}
