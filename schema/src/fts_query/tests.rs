//! Expressions against a real index: no text fails, and each literal token is found (TC-30, TC-31).

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::FieldWeights;
use crate::analysis::{query_terms, terms};
use crate::testing::Store;

fn check(terms: &[&str], scope: Scope, expected: Option<&str>) {
    let terms: Vec<String> = terms.iter().map(|&term| term.to_owned()).collect();
    assert_eq!(
        MatchExpression::any_of(&terms, scope)
            .map(|expression| expression.to_fts5())
            .as_deref(),
        expected
    );
}

#[rstest]
#[case::one(&["a"], Scope::All, Some("\"a\""))]
#[case::any(&["a", "b"], Scope::All, Some("\"a\" OR \"b\""))]
#[case::in_project(&["a", "b"], Scope::Project(Some(ProjectId(7))), Some("\"p=7\" AND (\"a\" OR \"b\")"))]
#[case::in_none(&["a"], Scope::Project(None), Some("\"p=0\" AND (\"a\")"))]
#[case::quotes(&["say \"hi\""], Scope::All, Some("\"say \"\"hi\"\"\""))]
#[case::nul(&["a\0b"], Scope::All, Some("\"a b\""))]
#[case::no_token(&["\"", " ", ""], Scope::All, None)]
#[case::nothing(&[], Scope::Project(None), None)]
fn terms_give_expressions(#[case] terms: &[&str], #[case] scope: Scope, #[case] expected: Option<&str>) {
    check(terms, scope, expected);
}

/// A text that holds the odd thing, and a prompt that asks for it.
#[rstest]
#[case::kebab("a state-of-the-art parser", "state-of-the-art")]
#[case::open_call("call foo(bar now", "foo(bar")]
#[case::odd_quote("an \"odd quote", "\"odd")]
#[case::variable("echo $prev", "$prev")]
#[case::column("key a:b here", "a:b")]
#[case::near("use NEAR(x y)", "NEAR(")]
#[case::and("one AND two", "AND")]
#[case::version("ubuntu 20.04 image", "ubuntu 20.04")]
#[case::injection("'; DROP TABLE episodes", "'; DROP")]
#[case::nul("before\0after", "before\0after")]
#[case::two_characters("全文索引很快", "索引")]
#[case::glued_identifier("调用getUserName函数", "getUserName")]
#[case::glued_part("调用getUserName函数", "user")]
#[case::two_letters("the db is locked", "db")]
#[case::camel_whole("getUserName failed", "getusername")]
#[case::camel_part("getUserName failed", "name")]
#[case::snake_part("max_page_count", "page")]
#[case::snake_whole("max_page_count", "max_page_count")]
#[case::path_whole("edit schema/src/open.rs please", "schema/src/open.rs")]
#[case::path_file("edit schema/src/open.rs please", "open.rs")]
#[case::path_folder("edit schema/src/open.rs please", "schema")]
#[case::stem("the parsers were failing", "parser fails")]
#[case::accent("le café", "cafe")]
fn tc_30_tc_31_literal_tokens_are_found(#[case] text: &str, #[case] prompt: &str) {
    let mut store = Store::new();
    let ids = store.fill(&["nothing of the kind", text]);
    assert!(
        store.found(prompt).contains(&ids[1]),
        "{prompt:?} finds {text:?} by {:?}",
        query_terms(prompt, 64)
    );
}

#[rstest]
#[case::emoji("🎉🎉")]
#[case::empty("")]
#[case::spaces("  \n\t ")]
#[case::controls("\0\u{1}\u{7f}")]
fn tc_30_prompts_without_words_ask_nothing(#[case] prompt: &str) {
    assert_eq!(MatchExpression::any_of(&query_terms(prompt, 64), Scope::All), None);
}

#[test]
fn tc_30_ten_thousand_characters_are_harmless() {
    let mut store = Store::new();
    let ids = store.fill(&["needle"]);
    let words = (0..1_400).map(|number| format!("w{number}x")).collect::<Vec<_>>().join(" ");
    assert_eq!(
        store.found(&format!("{words} needle")).len(),
        0,
        "the cap keeps what looks like identifiers"
    );
    assert_eq!(store.found(&format!("{} needle", "lorem ipsum ".repeat(900))), ids);
}

#[test]
fn a_prompt_can_not_ask_for_a_project() {
    let mut store = Store::new();
    store.fill(&["one", "two"]);
    assert_eq!(store.found("p=0"), []);
    assert_eq!(store.found("project:0 p0"), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any strings at all, not only analysed ones, make an expression that FTS5 takes.
    #[test]
    fn tc_30_any_string_is_a_valid_expression(strings in prop::collection::vec(any::<String>(), 0..8), project in any::<Option<Option<i64>>>()) {
        let store = STORE.with(Store::reader);
        let scope = project.map_or(Scope::All, |project| Scope::Project(project.map(ProjectId)));
        let expressions = [MatchExpression::any_of, MatchExpression::all_of, MatchExpression::any_of_facets];
        for expression in expressions.into_iter().filter_map(|made| made(&strings, scope)) {
            prop_assert!(store.bm25(&expression, FieldWeights::EQUAL, 10).is_ok(), "{}", expression.to_fts5());
        }
    }

    /// A stored text is found by its own terms.
    #[test]
    fn a_text_is_found_by_its_terms(text in "\\PC{1,60}") {
        let mut store = Store::new();
        let ids = store.fill(&[&text]);
        prop_assert_eq!(store.found(&text).is_empty(), terms(&text).is_empty());
        if let Some(all) = MatchExpression::all_of(&terms(&text), Scope::Project(None)) {
            let hits = store.reader().bm25(&all, FieldWeights::EQUAL, 10).expect("searches");
            prop_assert_eq!(hits.hits.first().map(|hit| hit.0), Some(ids[0]));
        }
    }
}

thread_local! {
    static STORE: Store = Store::new();
}
