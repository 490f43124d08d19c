//! Terms of texts: the tables say what a person would look for, the properties what must hold for any text.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn check(text: &str, expected: &[&str]) {
    assert_eq!(terms(text), expected, "terms of {text:?}");
}

#[rstest]
#[case::stemming("running runs easily", &["run", "run", "easili"])]
#[case::case("HELLO Hello", &["hello", "hello"])]
#[case::camel("getUserName", &["getusernam", "get", "user", "name"])]
#[case::acronym("HTTPServer", &["httpserver", "http", "server"])]
#[case::snake("max_page_count", &["max_page_count", "max", "page", "count"])]
#[case::kebab("state-of-the-art", &["state-of-the-art", "state", "of", "the", "art"])]
#[case::path("./src/query/bm25.rs", &["src/query/bm25.rs", "src", "queri", "bm25.rs", "bm25", "bm", "25", "rs"])]
#[case::place("src/main.rs:42", &["src/main.rs:42", "src/main.rs", "src", "main.rs", "main", "rs", "42"])]
#[case::module("std::fs::File", &["std::fs::file", "std", "fs", "file"])]
#[case::dunder("__init__", &["init"])]
#[case::version("ubuntu 20.04", &["ubuntu", "20.04", "20", "04"])]
#[case::digits("utf8", &["utf8", "utf", "8"])]
#[case::url("https://example.org/a", &["https", "example.org/a", "example.org", "exampl", "org", "a"])]
#[case::language("C++ and C# or F#", &["c", "c++", "and", "c", "c#", "or", "f", "f#"])]
#[case::hash("3f9ac1d0", &["3f9ac1d0"])]
#[case::sentence("It ends here. Next...one", &["it", "end", "here", "next", "one"])]
#[case::flag("--no-verify $prev", &["no-verify", "no", "verifi", "prev"])]
#[case::apostrophe("don't", &["don", "t"])]
#[case::accents("Café CAFÉ cafe\u{301}", &["cafe", "cafe", "cafe"])]
#[case::width("ＦＯＯ ｂａｒ", &["foo", "bar"])]
#[case::ligature("eﬃcient", &["effici"])]
#[case::fraction("½", &["1", "2"])]
#[case::chinese("全文検索", &["全文", "文検", "検索"])]
#[case::two_characters("索引", &["索引"])]
#[case::one_character("猫", &["猫"])]
#[case::glued("用户getName函数", &["用户", "getnam", "get", "name", "函数"])]
#[case::korean("메모리", &["메모", "모리"])]
#[case::thai("ภาษา", &["ภา", "าษ", "ษา"])]
#[case::russian("Ёлка", &["елка"])]
#[case::hindi("हिन्दी", &["हिन्दी"])]
#[case::emoji("❤️ 🎉 👩‍💻", &[])]
#[case::three_marks("a---b.:./c", &["a", "b", "c"])]
#[case::marks_at_the_end("a:--", &["a"])]
#[case::nothing("", &[])]
#[case::marks_only("'\"(){}[]<>;,!?*&^%$#@~`|\\ -- .. ::", &[])]
#[case::controls("a\0b\u{7}c", &["a", "b", "c"])]
#[case::replacement("\u{fffd}x", &["x"])]
fn text_gives_terms(#[case] text: &str, #[case] expected: &[&str]) {
    check(text, expected);
}

#[test]
fn encoded_data_is_cut() {
    let data = "QUJD".repeat(20_000);
    assert!(terms(&data).iter().all(|term| term.chars().count() <= 64));
    assert_eq!(terms(&data).len(), 1);
    let joined = "abc/".repeat(200);
    assert!(
        !terms(&joined).iter().any(|term| term.contains('/')),
        "a joined term that long is no identifier"
    );
}

#[rstest]
#[case::stop_words_go("how do I fix the parser", 9, &["fix", "parser"])]
#[case::each_once("parser Parser parsers", 9, &["parser"])]
#[case::stop_words_stay_alone("AND", 9, &["and"])]
#[case::over_the_cap("tiny enormous src/a.rs word", 2, &["src/a.rs", "a.rs"])]
#[case::longest_words_first("ab abcdef abc", 1, &["abcdef"])]
#[case::in_order("zebra apple mango", 3, &["zebra", "appl", "mango"])]
#[case::none("", 3, &[])]
fn prompts_give_query_terms(#[case] prompt: &str, #[case] max: usize, #[case] expected: &[&str]) {
    assert_eq!(query_terms(prompt, max), expected);
}

#[test]
fn remembered_stems_are_those_of_the_stemmer() {
    // More words than are remembered, asked twice.
    for _ in 0..2 {
        for number in 0..40_000_u32 {
            let letters: String = number
                .to_string()
                .bytes()
                .map(|digit| char::from(digit - b'0' + b'a'))
                .collect();
            check(
                &format!("{letters}zing"),
                &[&rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English).stem(&format!("{letters}zing"))],
            );
        }
    }
}

proptest! {
    #[test]
    fn terms_are_clean(text in ".{0,200}") {
        for term in terms(&text) {
            prop_assert!(!term.is_empty());
            prop_assert!(term.chars().count() <= 130);
            prop_assert!(!term.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"' || c == '='), "{term:?}");
        }
    }

    #[test]
    fn index_text_is_the_terms(text in "\\PC{0,200}") {
        prop_assert_eq!(index_text(&text), terms(&text).join(" "));
    }

    #[test]
    fn case_of_plain_words_is_irrelevant(text in "[a-z ]{0,80}") {
        prop_assert_eq!(terms(&text), terms(&text.to_uppercase()));
    }

    #[test]
    fn query_terms_are_terms_and_capped(text in "\\PC{0,200}", max in 0_usize..10) {
        let all = terms(&text);
        let asked = query_terms(&text, max);
        prop_assert!(asked.len() <= max);
        prop_assert!(asked.iter().all(|term| all.contains(term)));
        prop_assert_eq!(query_terms(&text, 1_000).is_empty(), all.is_empty());
    }
}
