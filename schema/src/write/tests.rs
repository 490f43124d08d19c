//! The writer's small acts: projects, settings, re-indexing, closing.

use rstest::rstest;

use super::*;
use crate::analysis::terms;
use crate::testing::{Store, batch, turn};

fn check(store: &mut Store, keys: &[&str], expected: ProjectId) {
    let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
    assert_eq!(
        store
            .writer
            .resolve_project(&keys, "name", None, UnixMillis(1))
            .expect("resolves"),
        expected
    );
}

#[test]
fn keys_of_one_repository_name_one_project() {
    let mut store = Store::new();
    check(&mut store, &["git:a", "root:1"], ProjectId(1));
    check(&mut store, &["root:1", "dir:/a"], ProjectId(1));
    check(&mut store, &["git:b"], ProjectId(2));
    check(&mut store, &["dir:/a"], ProjectId(1));
    check(&mut store, &["git:new", "git:b", "git:a"], ProjectId(2));
    check(&mut store, &["git:a"], ProjectId(1));
    assert_eq!(store.reader().project_by_key("git:new").expect("reads"), Some(ProjectId(2)));
    assert_eq!(store.reader().project_by_key("unknown").expect("reads"), None);
    assert_eq!(
        store.reader().project_name(ProjectId(1)).expect("reads").as_deref(),
        Some("name")
    );
    assert_eq!(store.reader().projects().expect("reads").len(), 2);
    assert!(matches!(
        store.writer.resolve_project(&[], "name", None, UnixMillis(1)),
        Err(QueryError::Invalid { .. })
    ));
}

#[rstest]
#[case::not(None)]
#[case::until(Some(Pause::Until(UnixMillis(77))))]
#[case::indefinite(Some(Pause::Indefinite))]
fn a_pause_comes_back_as_set(#[case] pause: Option<Pause>) {
    let mut store = Store::new();
    store.writer.set_paused(Some(Pause::Indefinite)).expect("sets");
    store.writer.set_paused(pause).expect("sets");
    assert_eq!(store.reader().paused().expect("reads"), pause);
}

#[test]
fn counters_add_up() {
    let mut store = Store::new();
    store.writer.add_counter("b", 2).expect("counts");
    store.writer.add_counter("a", 1).expect("counts");
    store.writer.add_counter("b", 40).expect("counts");
    assert_eq!(
        store.reader().counters().expect("reads"),
        [("a".to_owned(), 1), ("b".to_owned(), 42)]
    );
}

#[test]
fn an_index_of_older_rules_is_made_anew_in_steps() {
    let mut store = Store::new();
    let ids = store.fill(&["first text", "second text", "third text"]);
    assert!(!store.writer.reindex_step(2).expect("has nothing to do"));
    // As older rules would have left it: other terms, another version.
    store
        .writer
        .db
        .execute(
            "UPDATE episodes_fts SET prompt = 'old', answer = 'old', facets = '', project = 'p=0'",
            [],
        )
        .expect("writes");
    set_meta(&store.writer.db, INDEX_ANALYSIS, "0").expect("writes");
    assert_eq!(store.found("old").len(), 3);
    assert!(store.writer.reindex_step(2).expect("does two"));
    assert_eq!(store.found("text"), ids[..2]);
    assert_eq!(store.found("old"), ids[2..], "the rest keeps serving");
    assert!(!store.writer.reindex_step(2).expect("does the last"));
    assert_eq!(store.found("text").len(), 3);
    assert_eq!(store.found("old"), []);
    assert_eq!(store.reader().stats().expect("counts").analysis_version, ANALYSIS_VERSION);
}

#[test]
fn a_rebuilt_index_is_the_index() {
    let mut store = Store::new();
    store.fill(&["alpha beta", "beta gamma", "secret"]);
    store
        .writer
        .exclude_path("/home/ada/engine", UnixMillis(1))
        .expect("excludes");
    store.writer.ingest(&batch(Vec::new())).expect("stores");
    let mut visible = turn(9, "s", &["alpha getUserName"]);
    visible.cwd = Some("/home/ada/elsewhere".to_owned());
    store.writer.ingest(&batch(vec![visible])).expect("stores");
    store.writer.rebuild_index().expect("rebuilds");
    assert_eq!(store.found("alpha"), [store.id(9, 0)], "what is hidden stays out");
    assert_eq!(store.found("user"), [store.id(9, 0)]);
    assert_eq!(store.reader().document_frequency(&terms("alpha")).expect("counts"), [1]);
    store.writer.include_path("/home/ada/engine").expect("includes");
    assert_eq!(store.found("alpha").len(), 2);
}

#[test]
fn a_copy_is_a_store_of_its_own() {
    let mut store = Store::new();
    store.fill(&["one"]);
    let copy = store.path.with_extension("copy");
    crate::copy::copy_database(&store.writer.db, &copy).expect("copies");
    store.fill(&["one", "two"]);
    crate::copy::copy_database(&store.writer.db, &copy).expect("copies over");
    assert_eq!(
        crate::Reader::open(&copy).expect("opens").stats().expect("counts").episodes,
        2
    );
}

#[test]
fn closing_empties_the_log_and_marks_the_end() {
    let mut store = Store::new();
    store.fill(&["one"]);
    let Store { writer, path, .. } = &mut store;
    let writer = std::mem::replace(writer, Writer::open(&path.with_extension("other")).expect("opens"));
    writer.close().expect("closes");
    assert!(!crate::copy::with_suffix(path, "-wal").exists());
    let db = Connection::open(&*path).expect("opens");
    assert_eq!(meta(&db, CLEAN_SHUTDOWN).expect("reads").as_deref(), Some("1"));
}
