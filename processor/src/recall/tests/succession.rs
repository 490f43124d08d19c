//! Of what says the same the newest is shown, and what takes something back goes before it.

use super::*;

/// What was decided at first, and what later.
const FIRST: &str = "The exporter writes its flux capacitor table as CSV, one row a cell, with a header in the first line and a point in each number, so that the spreadsheet of the workshop reads it without any help";
const LATER: &str = "The exporter now uses Parquet for its flux capacitor table: the workshop reads it a hundred times faster";

/// What is remembered of a file, `age_days` ago.
fn of_a_file<'a>(prompt: &'a str, answer: &'a str, age_days: i64, vector: Embedding) -> Memory<'a> {
    Memory {
        prompt,
        answer,
        age_days,
        facets: Facets {
            files: vec!["src/export.rs".to_owned()],
            ..Facets::default()
        },
        vector: Some(vector),
        ..Memory::default()
    }
}

fn gates(recall: &Recall) -> Vec<Option<&str>> {
    recall
        .log
        .candidates
        .iter()
        .map(|candidate| candidate.gate.as_deref())
        .collect()
}

#[test]
fn of_near_duplicates_the_newest_is_shown_once() {
    let mut store = Store::new();
    store.fill(5);
    let newer_answer = FIRST.replace("without any help", "without much help");
    store.remember(&of_a_file(PROMPT, FIRST, 40, vector(0.9, 3)));
    let newest = store.remember(&of_a_file(PROMPT, &newer_answer, 2, vector(0.88, 3)));
    store.remember(&of_a_file(PROMPT, FIRST, 9, vector(0.9, 3)));
    let recall = store.ask(PROMPT);
    assert_eq!(uids(&recall), [newest], "it was ranked behind the others");
    assert_eq!(gates(&recall)[..3], [None, Some("duplicate-of"), Some("duplicate-of")]);
}

#[test]
fn what_says_another_thing_is_no_duplicate() {
    let mut store = Store::new();
    store.fill(5);
    let first = store.remember(&of_a_file(PROMPT, FIRST, 40, vector(0.9, 3)));
    // As near by its vector, and about as long, in other words.
    let other = "A fan was missing beside it, and the housing let no air pass: both were ordered on Monday, and the crew will put them in as soon as the parts are here and the old ones are out of the way";
    let second = store.remember(&of_a_file(PROMPT, other, 2, vector(0.9, 3)));
    // Its words are the same, but for those that are asked for.
    let third = store.remember(&of_a_file(
        "why does the turbine stutter",
        &FIRST.replace("flux capacitor", "turbine blade"),
        1,
        vector(0.85, 3),
    ));
    let recall = store.ask(PROMPT);
    let mut shown = uids(&recall);
    shown.sort_unstable();
    let mut all = vec![first, second, third];
    all.sort_unstable();
    assert_eq!(shown, all);
}

#[test]
fn what_takes_a_decision_back_goes_before_it() {
    let mut store = Store::new();
    store.fill(5);
    let first = store.remember(&of_a_file(PROMPT, FIRST, 40, vector(0.95, 3)));
    let prompt = "Write the flux capacitor table as Parquet instead of CSV";
    let later = store.remember(&of_a_file(prompt, LATER, 2, vector(0.7, 3)));
    assert_eq!(uids(&store.ask(PROMPT)), [later, first]);
}

#[test]
fn without_a_link_or_a_word_of_it_the_order_stays() {
    let later = "Write the flux capacitor table as Parquet instead of CSV";
    let plain = "Write the flux capacitor table as Parquet, too";
    for (prompt, answer, axis, why) in [
        (plain, "It is written.", 3, "it takes nothing back"),
        (later, LATER, 9, "it is about another matter"),
    ] {
        let mut store = Store::new();
        store.fill(5);
        let first = store.remember(&of_a_file(PROMPT, FIRST, 40, vector(0.9, 3)));
        // Along one axis the cosine of the two is 0.85; of the first axis alone, 0.48.
        let second = store.remember(&of_a_file(prompt, answer, 2, vector(0.53, axis)));
        assert_eq!(uids(&store.ask(PROMPT)), [first, second], "{why}");
    }
}

#[test]
fn what_was_pinned_is_not_taken_back_by_what_was_not() {
    let mut store = Store::new();
    store.fill(5);
    let pinned = store.remember(&Memory {
        importance: Importance::High,
        ..of_a_file(PROMPT, FIRST, 40, vector(0.95, 3))
    });
    let later = store.remember(&of_a_file(
        "Use Parquet instead, for the flux capacitor",
        LATER,
        2,
        vector(0.7, 3),
    ));
    assert_eq!(uids(&store.ask(PROMPT)), [pinned, later]);
}

#[test]
fn what_falls_out_of_the_three_since_a_later_one_came_in_is_named() {
    let mut store = Store::new();
    store.fill(5);
    let strong = |answer, axis| Memory {
        prompt: PROMPT,
        answer,
        age_days: 3,
        vector: Some(vector(0.97, axis)),
        ..Memory::default()
    };
    store.remember(&strong("a fan was missing", 11));
    store.remember(&strong("the housing let no air pass", 12));
    store.remember(&of_a_file(PROMPT, FIRST, 40, vector(0.95, 3)));
    let later = store.remember(&of_a_file(
        "Use Parquet instead, for the flux capacitor",
        LATER,
        2,
        vector(0.7, 3),
    ));
    let recall = store.ask(PROMPT);
    assert_eq!(uids(&recall)[2], later);
    assert_eq!(gates(&recall)[3], Some("superseded-by"));
}

/// What is the later word keeps its place beside what it takes back, whichever sessions they are of.
#[test]
fn the_later_word_does_not_give_way_to_another_session() {
    let mut store = Store::new();
    store.fill(5);
    let mut remember = |session, prompt, answer, age_days, cosine, axis| {
        store.remember(&Memory {
            session,
            ..of_a_file(prompt, answer, age_days, vector(cosine, axis))
        })
    };
    let best = remember("monday", PROMPT, "the flux capacitor lacked a fan", 30, 0.90, 5);
    let later = remember("monday", PROMPT, LATER, 2, 0.89, 3);
    let earlier = remember("friday", PROMPT, FIRST, 40, 0.88, 3);
    let other = remember("sunday", PROMPT, "the flux capacitor hums at night", 20, 0.87, 7);
    let shown = uids(&store.ask_with(PROMPT, &SessionState::default(), &RecallSettings::default(), &Ok(asked())));
    let place = |uid| shown.iter().position(|one| *one == uid);
    assert!(place(later).is_some(), "{shown:?} lacks {later:?}; {best:?}, {other:?}");
    assert!(place(earlier).is_none_or(|earlier| Some(earlier) > place(later)), "{shown:?}");
}
