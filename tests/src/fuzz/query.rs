//! From a prompt to a search: bounded, never refused by FTS5, and what stands literally in a document is found.

use std::collections::HashSet;

use remembrancer_processor::recall::Query;
use remembrancer_schema::{FullText, MatchExpression, ProjectId, Scope, query_terms, terms};

use super::input::{Dice, text};

/// Bounds of what a prompt asks for (`recall/query.rs`).
const MAX_TERMS: usize = 32;
const MAX_PROMPT_BYTES: usize = 16 * 1024;
/// Terms that are looked for one by one.
const LOOKED_FOR: usize = 24;

thread_local! {
    static INDEX: FullText = FullText::new();
}

pub(super) fn run(data: &[u8]) {
    let text = text(data);
    let query = Query::of(&text);
    assert!(
        query.text.len() <= MAX_PROMPT_BYTES + 1,
        "{} bytes are asked for",
        query.text.len()
    );
    assert!(query.terms.len() <= MAX_TERMS);
    assert_eq!(
        query.terms.iter().collect::<HashSet<_>>().len(),
        query.terms.len(),
        "a term twice"
    );
    let mut dice = Dice::of(data);
    let scopes = [Scope::All, Scope::Project(None), Scope::Project(Some(ProjectId(7)))];
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let raw = vec![text.clone().into_owned()];
    INDEX.with(|index| {
        let own = Some(ProjectId(7));
        index.index(&text, own);
        for asked in [&query.terms, &words, &raw] {
            for scope in scopes {
                check_taken(index, asked, scope);
            }
        }
        check_found(index, &text, &mut dice);
    });
}

/// FTS5 takes whatever is asked for.
fn check_taken(index: &FullText, asked: &[String], scope: Scope) {
    for made in [
        MatchExpression::any_of,
        MatchExpression::all_of,
        MatchExpression::any_of_facets,
    ] {
        if let Some(expression) = made(asked, scope)
            && let Err(error) = index.finds(&expression)
        {
            panic!("FTS5 refuses what was asked for: {error}");
        }
    }
}

/// A document is found by each of its terms, and by all that a prompt of the same words asks for, in its project and in no other.
fn check_found(index: &FullText, text: &str, dice: &mut Dice) {
    let found = |asked: &[String], scope| {
        let expression = MatchExpression::all_of(asked, scope)?;
        Some(index.finds(&expression).expect("a search"))
    };
    let all = terms(text);
    for _ in 0..all.len().min(LOOKED_FOR) {
        let term = dice.pick(&all);
        assert_eq!(
            found(std::slice::from_ref(term), Scope::All),
            Some(true),
            "{term:?} is not found in {text:?}"
        );
    }
    let asked = query_terms(text, MAX_TERMS);
    assert_eq!(asked.is_empty(), all.is_empty(), "what is indexed can be asked for");
    if !asked.is_empty() {
        assert_eq!(
            found(&asked, Scope::Project(Some(ProjectId(7)))),
            Some(true),
            "not found in its project: {asked:?}"
        );
        assert_eq!(
            found(&asked, Scope::Project(Some(ProjectId(8)))),
            Some(false),
            "found in another project: {asked:?}"
        );
    }
}
