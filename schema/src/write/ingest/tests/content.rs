//! What growing, changing and shrinking turns do to the rows of their episodes.

use super::{check, outcome, row};
use crate::testing::{MODEL, Store, batch, turn};
use crate::{CandidateRow, Importance, ProjectId, TurnUpsert, UnixMillis};

#[test]
fn reading_again_changes_nothing() {
    let mut store = Store::new();
    let turns = vec![turn(1, "s", &["one", "two"]), turn(2, "s", &["three"])];
    check(&mut store, turns.clone(), outcome(|it| it.added = 3));
    let (before, ids) = (row(&store, 1), [store.id(1, 0), store.id(1, 1), store.id(2, 0)]);
    check(&mut store, turns, outcome(|it| it.unchanged = 3));
    assert_eq!(row(&store, 1), before);
    assert_eq!([store.id(1, 0), store.id(1, 1), store.id(2, 0)], ids);
    assert_eq!(store.reader().indexed_episodes().expect("counts"), 3);
    assert_eq!(before.accessed_at, before.created_at);
}

#[test]
fn several_passes_are_stored_in_their_order_or_none_is() {
    let mut store = Store::new();
    let (first, grown) = (
        batch(vec![turn(1, "s", &["one"])]),
        batch(vec![turn(1, "s", &["one", "two"])]),
    );
    let outcomes = store.writer.ingest_all([&first, &grown]).expect("stores");
    assert_eq!(
        outcomes,
        [outcome(|it| it.added = 1), outcome(|it| (it.unchanged, it.added) = (1, 1))]
    );
    let (sound, mut broken) = (batch(vec![turn(2, "s", &["three"])]), batch(vec![turn(3, "s", &["four"])]));
    broken.turns[0].project = Some(crate::ProjectRef::Known(ProjectId(99)));
    store
        .writer
        .ingest_all([&sound, &broken])
        .expect_err("there is no such project");
    assert_eq!(store.reader().indexed_episodes().expect("counts"), 2);
}

#[test]
fn an_open_turn_grows_under_its_uid() {
    let mut store = Store::new();
    check(
        &mut store,
        vec![turn(1, "s", &["head", "crocodile"])],
        outcome(|it| it.added = 2),
    );
    store.embed();
    let before = row(&store, 1);
    let grown = turn(1, "s", &["head", "alligator", "tail"]);
    check(
        &mut store,
        vec![grown],
        outcome(|it| (it.unchanged, it.updated, it.added) = (1, 1, 1)),
    );
    assert_eq!(store.found("crocodile"), []);
    assert_eq!(store.found("alligator"), [store.id(1, 1)]);
    assert_eq!(row(&store, 1), before, "the unchanged part keeps its embedding");
    let backlog = store.reader().embedding_backlog(MODEL, 9).expect("reads");
    assert_eq!(
        backlog.iter().map(|row| row.id).collect::<Vec<_>>(),
        [store.id(1, 1), store.id(1, 2)]
    );
    let mut codes = Vec::new();
    store.reader().for_each_code(|id, _, _| codes.push(id)).expect("reads");
    assert_eq!(codes, [store.id(1, 0)], "a changed text has no code of the old one");
}

#[test]
fn a_change_of_content_keeps_times_and_counts() {
    let mut store = Store::new();
    store.fill(&["zero", "first"]);
    store.writer.record_use(store.id(1, 0), UnixMillis(77_000)).expect("counts");
    let before = row(&store, 1);
    let mut changed = turn(1, "s", &["second"]);
    changed.episodes[0].importance = Importance::High;
    changed.episodes[0].created_at = UnixMillis(999);
    check(&mut store, vec![changed], outcome(|it| it.updated = 1));
    assert_eq!(
        row(&store, 1),
        CandidateRow {
            importance: Importance::High,
            ..before
        }
    );
}

#[test]
fn importance_alone_changes_in_place() {
    let mut store = Store::new();
    store.fill(&["zero", "one"]);
    store.embed();
    let before = row(&store, 1);
    let mut important = turn(1, "s", &["one"]);
    important.episodes[0].importance = Importance::High;
    important.episodes[0].importance_rule = "commit".to_owned();
    check(&mut store, vec![important], outcome(|it| it.unchanged = 1));
    assert!(before.embedding.is_some());
    assert_eq!(
        row(&store, 1),
        CandidateRow {
            importance: Importance::High,
            ..before
        }
    );
    assert_eq!(
        store.reader().texts(&[store.id(1, 0)]).expect("reads")[0].importance_rule,
        "commit"
    );
    assert_eq!(store.reader().embedding_backlog(MODEL, 9).expect("reads"), []);
}

#[test]
fn what_is_as_it_was_is_not_written() {
    let mut store = Store::new();
    let changes = |store: &Store| -> i64 {
        store
            .writer
            .db
            .query_row("SELECT total_changes()", [], |row| row.get(0))
            .expect("counts")
    };
    let mut written_again = |turn: TurnUpsert| {
        let pass = batch(vec![turn]);
        store.writer.ingest(&pass).expect("stores");
        let before = changes(&store);
        store.writer.ingest(&pass).expect("stores");
        changes(&store) - before
    };
    let (one, many) = (
        written_again(turn(1, "s", &["one"])),
        written_again(turn(2, "s", &["one", "two", "three", "four"])),
    );
    assert_eq!(one, many, "only the source and the session");
}

#[test]
fn facets_are_content() {
    let mut store = Store::new();
    check(&mut store, vec![turn(1, "s", &["x"])], outcome(|it| it.added = 1));
    let mut changed = turn(1, "s", &["x"]);
    changed.episodes[0].facets.files.push("src/hidden_gem.rs".to_owned());
    changed.episodes[0].facets.tools.push("Bash".to_owned());
    check(&mut store, vec![changed.clone()], outcome(|it| it.updated = 1));
    assert_eq!(store.found("hidden_gem"), [store.id(1, 0)]);
    assert_eq!(store.found("bash"), [], "tools are not indexed");
    assert_eq!(
        store.reader().texts(&[store.id(1, 0)]).expect("reads")[0].facets,
        changed.episodes[0].facets
    );
}

#[test]
fn parts_that_are_gone_are_retired() {
    let mut store = Store::new();
    check(
        &mut store,
        vec![turn(1, "s", &["one", "two"]), turn(2, "s", &["three"])],
        outcome(|it| it.added = 3),
    );
    check(
        &mut store,
        vec![turn(1, "s", &["one"])],
        outcome(|it| (it.unchanged, it.retired) = (1, 1)),
    );
    assert_eq!(store.found("two"), []);
    check(&mut store, vec![turn(1, "s", &[])], outcome(|it| it.retired = 1));
    assert_eq!(store.reader().indexed_episodes().expect("counts"), 1);
    check(&mut store, vec![turn(1, "s", &["one"])], outcome(|it| it.added = 1));
}
