//! Searches over a real store with vectors made by hand: what each mode finds, in what order, and what narrows it.

use remembrancer_schema::{EpisodeFilter, EpisodeUid};
use rstest::rstest;

use super::super::tests::{MODEL, Memory, NOW, Store, asked, vector};
use super::*;

const DAY: i64 = 86_400_000;

/// One that holds the words, one that means it, one that does both, and many that do neither.
fn store() -> (Store, [EpisodeUid; 3]) {
    let mut store = Store::new();
    store.fill(20);
    let by_words = store.remember(&Memory {
        prompt: "the flux capacitor overheats",
        age_days: 9,
        vector: Some(vector(-0.6, 3)),
        ..Memory::default()
    });
    let by_meaning = store.remember(&Memory {
        prompt: "the drive is too hot",
        age_days: 2,
        vector: Some(vector(0.9, 4)),
        ..Memory::default()
    });
    let by_both = store.remember(&Memory {
        prompt: "cool the flux capacitor",
        age_days: 3,
        project: "other",
        vector: Some(vector(0.8, 5)),
        ..Memory::default()
    });
    (store, [by_words, by_meaning, by_both])
}

fn found(store: &Store, mode: SearchMode, filter: &EpisodeFilter) -> Vec<EpisodeUid> {
    let reader = store.reader();
    let within = (!filter.is_open()).then(|| reader.episodes_within(filter).unwrap());
    let terms = search_terms("flux capacitor");
    let embedding = asked();
    let sought = Sought {
        terms: &terms,
        embedding: Some(&embedding),
        mode,
        within: within.as_ref(),
        now: NOW,
    };
    let searched = Searched {
        reader: &reader,
        codes: &store.codes,
        model_id: MODEL,
    };
    let found = search(searched, &sought).unwrap();
    found.into_iter().map(|fused| fused.candidate.row.uid).collect()
}

#[test]
fn a_lexical_search_finds_what_holds_the_words_and_nothing_else() {
    let (store, [by_words, _, by_both]) = store();
    let mut all = found(&store, SearchMode::Lexical, &EpisodeFilter::default());
    all.sort_unstable();
    let mut expected = [by_words, by_both];
    expected.sort_unstable();
    assert_eq!(all, expected);
}

#[test]
fn a_semantic_search_is_ordered_by_the_cosine() {
    let (store, [by_words, by_meaning, by_both]) = store();
    let all = found(&store, SearchMode::Semantic, &EpisodeFilter::default());
    assert_eq!(
        (all.len(), &all[..2]),
        (23, &[by_meaning, by_both][..]),
        "no floor keeps anything back"
    );
    assert_eq!(all.last(), Some(&by_words));
}

#[test]
fn a_hybrid_search_puts_what_both_find_first() {
    let (store, [by_words, by_meaning, by_both]) = store();
    let all = found(&store, SearchMode::Hybrid, &EpisodeFilter::default());
    assert_eq!(all[0], by_both);
    let mut next = [all[1], all[2]];
    next.sort_unstable();
    let mut expected = [by_words, by_meaning];
    expected.sort_unstable();
    assert_eq!(next, expected);
}

#[rstest]
#[case::lexical(SearchMode::Lexical)]
#[case::semantic(SearchMode::Semantic)]
#[case::hybrid(SearchMode::Hybrid)]
fn what_narrows_acts_before_the_cut(#[case] mode: SearchMode) {
    let (mut store, [by_words, _, by_both]) = store();
    let filter = EpisodeFilter {
        project: Some(store.project("other")),
        ..EpisodeFilter::default()
    };
    assert_eq!(found(&store, mode, &filter), [by_both]);
    let early = EpisodeFilter {
        until: Some(UnixMillis(NOW.0 - 5 * DAY)),
        ..EpisodeFilter::default()
    };
    assert_eq!(found(&store, mode, &early), [by_words]);
}

#[test]
fn a_search_leaves_no_trace() {
    let (store, _) = store();
    let rows = || {
        let reader = store.reader();
        let within = found(&store, SearchMode::Hybrid, &EpisodeFilter::default());
        let ids: Vec<_> = within
            .iter()
            .map(|uid| reader.find_episode(&uid.to_string()).unwrap()[0].id)
            .collect();
        reader.candidates(&ids, MODEL).unwrap()
    };
    let before = rows();
    assert_eq!(rows(), before);
    assert_eq!(store.reader().last_recollection(None).unwrap(), None);
}

#[test]
fn without_an_embedding_there_is_nothing_by_meaning() {
    let (store, _) = store();
    let reader = store.reader();
    let sought = Sought {
        terms: &[],
        embedding: None,
        mode: SearchMode::Hybrid,
        within: None,
        now: NOW,
    };
    let searched = Searched {
        reader: &reader,
        codes: &store.codes,
        model_id: MODEL,
    };
    assert!(search(searched, &sought).unwrap().is_empty());
}

#[rstest]
#[case::words("why do the tests hang", &["test", "hang"])]
#[case::nothing_but_stop_words("the of", &["the", "of"])]
#[case::nothing("?!", &[])]
fn a_query_s_terms_are_those_that_tell_most(#[case] query: &str, #[case] expected: &[&str]) {
    assert_eq!(search_terms(query), expected);
}

#[test]
fn a_secret_is_not_searched_for() {
    let text = search_text(" ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789 refused ");
    assert!(!text.contains("aBcDeFgHiJ") && text.ends_with("refused"), "{text}");
}
