//! The postings and the scores against FTS5's own, which are the reference.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::testing::{Store, batch, in_project, turn};
use crate::{ProjectId, TurnUpsert, UnixMillis};

const DEFAULT: FieldWeights = FieldWeights {
    prompt: 3.0,
    answer: 1.0,
    facets: 1.0,
};

/// Asserts that a search finds what FTS5 finds, in its order and with its scores.
fn check(reader: &Reader, expression: &MatchExpression, weights: FieldWeights, limit: usize) {
    let found = reader.bm25(expression, weights, limit).expect("searches");
    let expected = reader.bm25_of_fts5(expression, weights, limit).expect("searches");
    let ids = |hits: &[(EpisodeId, Bm25)]| hits.iter().map(|hit| hit.0).collect::<Vec<_>>();
    assert_eq!(ids(&found.hits), ids(&expected), "{expression:?}");
    for (found, expected) in found.hits.iter().zip(&expected) {
        assert!((found.1.0 - expected.1.0).abs() < 1e-12, "{found:?} is not {expected:?}");
    }
    if !expression.is_of_facets() {
        let counts = count_by_fts5(&reader.db, expression.terms()).expect("counts");
        assert_eq!(found.document_frequencies, counts);
        assert_eq!(reader.document_frequency(expression.terms()).expect("counts"), counts);
    }
}

fn check_all(reader: &Reader, words: &[&str], scope: Scope) {
    let terms: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    for made in [
        MatchExpression::any_of,
        MatchExpression::all_of,
        MatchExpression::any_of_facets,
    ] {
        let Some(expression) = made(&terms, scope) else { continue };
        for weights in [FieldWeights::EQUAL, DEFAULT] {
            for limit in [1, 7, 1_000] {
                check(reader, &expression, weights, limit);
            }
        }
    }
}

/// Words of very different frequency: the n-th stands in every n-th text, more than once in some.
const WORDS: [&str; 8] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];

fn text(number: usize) -> String {
    let words = WORDS
        .iter()
        .enumerate()
        .filter(|(place, _)| number.is_multiple_of(place * place + 1));
    words
        .map(|(place, word)| format!("{word} ").repeat(1 + (number + place) % 3))
        .collect::<String>()
        + &format!("own{number}")
}

/// A turn of one episode, of which the word `number` picks stands among the files.
fn facet_turn(number: usize) -> TurnUpsert {
    let mut turn = turn(0, "s", &[&text(number)]);
    let mut uid = [7; 16];
    uid[..8].copy_from_slice(&(number as u64).to_be_bytes());
    turn.turn_uid.0 = uid;
    turn.episodes[0].turn_uid.0 = uid;
    turn.episodes[0].uid = crate::EpisodeUid::of(&turn.turn_uid, 0);
    turn.episodes[0].facets.files = vec![WORDS[number % WORDS.len()].to_owned()];
    turn
}

/// Some thousand episodes in many segments, some of them replaced and some forgotten.
fn many() -> (Store, ProjectId) {
    let mut store = Store::new();
    let keys = ["k".to_owned()];
    let project = store
        .writer
        .resolve_project(&keys, "k", None, UnixMillis(1))
        .expect("resolves");
    let numbers: Vec<usize> = (0..4_000).collect();
    for (round, numbers) in numbers.chunks(97).enumerate() {
        let turns = numbers.iter().map(|number| {
            let turn = facet_turn(*number);
            if number % 3 == 0 { in_project(turn, project) } else { turn }
        });
        store.writer.ingest(&batch(turns.collect())).expect("stores");
        if round % 5 == 4 {
            let mut changed = facet_turn(numbers[3] / 2);
            changed.episodes[0].answer = "alpha omega".to_owned();
            store.writer.ingest(&batch(vec![changed])).expect("replaces");
        }
    }
    (store, project)
}

#[test]
fn many_segments_with_deleted_rows_are_read_as_fts5_reads_them() {
    let (store, project) = many();
    let db = Connection::open(&store.path).expect("opens");
    for one_segment in [false, true] {
        if one_segment {
            db.execute("INSERT INTO episodes_fts (episodes_fts) VALUES ('optimize')", [])
                .expect("merges");
        }
        let segments: i64 = db
            .query_row("SELECT count(DISTINCT segid) FROM episodes_fts_idx", [], |row| row.get(0))
            .expect("counts");
        assert_eq!(segments == 1, one_segment, "{segments} segments");
        let reader = store.reader();
        for scope in [Scope::All, Scope::Project(Some(project)), Scope::Project(None)] {
            check_all(&reader, &["alpha"], scope);
            check_all(&reader, &["theta", "own17", "nowhere"], scope);
            check_all(&reader, &WORDS, scope);
            check_all(&reader, &["omega", "alpha", "alpha"], scope);
            check_all(&reader, &["nowhere"], scope);
        }
    }
}

#[test]
fn a_store_of_before_the_lengths_is_measured_when_it_opens() {
    let (store, _) = many();
    let db = Connection::open(&store.path).expect("opens");
    db.execute("DELETE FROM episode_lengths", []).expect("deletes");
    check_all(&store.reader(), &WORDS, Scope::All);
    let _writer = crate::Writer::open(&store.path).expect("opens");
    let blocks: i64 = db
        .query_row("SELECT count(*) FROM episode_lengths", [], |row| row.get(0))
        .expect("counts");
    assert_eq!(blocks, 2);
    check_all(&store.reader(), &WORDS, Scope::All);
}

#[rstest]
#[case::phrase(&["alpha beta"])]
#[case::capital(&["ALPHA"])]
#[case::quotes(&["\"alpha\"", "beta"])]
fn what_is_no_single_token_is_left_to_fts5(#[case] words: &[&str]) {
    let mut store = Store::new();
    store.fill(&["alpha beta", "beta alpha", "alpha"]);
    let terms: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let expression = MatchExpression::any_of(&terms, Scope::All).expect("has terms");
    let reader = store.reader();
    let hits = reader.bm25(&expression, DEFAULT, 9).expect("searches").hits;
    assert_eq!(hits, reader.bm25_of_fts5(&expression, DEFAULT, 9).expect("searches"));
    assert!(!hits.is_empty());
}

#[test]
fn an_empty_store_has_no_hits() {
    let store = Store::new();
    check_all(&store.reader(), &["alpha"], Scope::All);
}

#[test]
fn a_format_of_another_version_is_left_to_fts5() {
    let mut store = Store::new();
    store.fill(&["alpha"]);
    Connection::open(&store.path)
        .expect("opens")
        .execute("UPDATE episodes_fts_config SET v = 3 WHERE k = 'version'", [])
        .expect("changes");
    assert!(matches!(PostingsReader::new(&store.reader().db), Err(ReadError::Format)));
}

#[test]
fn the_commonest_terms_are_left_out_beyond_the_bound() {
    assert_eq!(
        affordable(&[MOST_PAGES, 3, MOST_PAGES - 5, 0, 2]),
        [false, true, true, true, true]
    );
    assert_eq!(
        affordable(&[MOST_PAGES * 2, MOST_PAGES, MOST_PAGES + 1]),
        [false, true, true],
        "the rarest are read, however common"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_texts_are_found_as_fts5_finds_them(
        texts in prop::collection::vec("([a-e]{1,2} ){0,30}", 1..40),
        asked in prop::collection::vec("[a-f]{1,2}", 1..6),
    ) {
        let mut store = Store::new();
        store.fill(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        check_all(&store.reader(), &asked, Scope::All);
    }
}

#[test]
fn what_is_out_of_scope_takes_no_place_and_changes_no_score() {
    let mut store = Store::new();
    let texts: Vec<String> = (0..40).map(|number| format!("alpha {}", "alpha ".repeat(number))).collect();
    let ids = store.fill(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let reader = store.reader();
    let expression = MatchExpression::any_of(&["alpha".to_owned()], Scope::All).expect("has a term");
    let all = reader.bm25(&expression, FieldWeights::EQUAL, 99).expect("searches").hits;
    let early = crate::EpisodeFilter {
        until: Some(crate::UnixMillis(10_000)),
        ..crate::EpisodeFilter::default()
    };
    let within = reader.episodes_within(&early).expect("reads");
    let mut expected: Vec<_> = all.iter().filter(|(id, _)| ids[..10].contains(id)).copied().collect();
    let found = |limit| {
        reader
            .bm25_within(&expression, FieldWeights::EQUAL, limit, &within)
            .expect("searches")
    };
    assert_eq!((found(99), expected.len()), (expected.clone(), 10));
    expected.truncate(3);
    assert!(
        found(3) == expected && all[..3] != expected[..],
        "the best of all are of later"
    );
    assert_eq!(
        reader
            .bm25_within(&expression, FieldWeights::EQUAL, 9, &crate::EpisodeIds::default())
            .expect("searches"),
        []
    );
}

#[test]
fn a_scope_within_a_project_is_of_both() {
    let mut store = Store::new();
    let keys = ["k".to_owned()];
    let project = store
        .writer
        .resolve_project(&keys, "k", None, crate::UnixMillis(1))
        .expect("resolves");
    let turns = vec![
        crate::testing::in_project(crate::testing::turn(1, "s", &["alpha"]), project),
        crate::testing::turn(2, "s", &["alpha"]),
        crate::testing::in_project(crate::testing::turn(3, "s", &["alpha"]), project),
    ];
    store.writer.ingest(&crate::testing::batch(turns)).expect("stores");
    let reader = store.reader();
    let late = crate::EpisodeFilter {
        since: Some(crate::UnixMillis(2_000)),
        ..crate::EpisodeFilter::default()
    };
    let within = reader.episodes_within(&late).expect("reads");
    let terms = ["alpha".to_owned()];
    for (scope, expected) in [
        (Scope::All, vec![store.id(2, 0), store.id(3, 0)]),
        (Scope::Project(Some(project)), vec![store.id(3, 0)]),
    ] {
        let expression = MatchExpression::any_of(&terms, scope).expect("has a term");
        let hits = reader
            .bm25_within(&expression, FieldWeights::EQUAL, 9, &within)
            .expect("searches");
        assert_eq!(hits.iter().map(|(id, _)| *id).collect::<Vec<_>>(), expected);
    }
}
