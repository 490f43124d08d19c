//! Ingest: what reading again, growing, forking, shrinking, replacing and forgetting a transcript does to the store.

use crate::testing::{MODEL, Store, batch, in_project, session, source, turn, turn_uid};
use crate::{
    ByteOffset, CandidateRow, EpisodeUid, FieldWeights, ForgetTarget, Importance, IngestBatch, IngestOutcome, MatchExpression,
    ProblemCount, ProjectId, QueryError, Scope, SessionUpdate, TurnUpsert, UnixMillis,
};

/// Stores `turns` and compares what happened.
fn check(store: &mut Store, turns: Vec<TurnUpsert>, expected: IngestOutcome) {
    check_batch(store, &batch(turns), expected);
}

fn check_batch(store: &mut Store, batch: &IngestBatch, expected: IngestOutcome) {
    let outcome = store.writer.ingest(batch).expect("stores");
    assert_eq!(outcome.removed.len() as u64, outcome.retired, "what is gone is named");
    let mut expected = expected;
    expected.removed.clone_from(&outcome.removed);
    assert_eq!(outcome, expected);
}

fn outcome(change: impl FnOnce(&mut IngestOutcome)) -> IngestOutcome {
    let mut outcome = IngestOutcome::default();
    change(&mut outcome);
    outcome
}

fn row(store: &Store, number: u8) -> CandidateRow {
    let id = store.id(number, 0);
    store.reader().candidates(&[id], MODEL).expect("reads").remove(0)
}

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
    broken.turns[0].project = Some(ProjectId(99));
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

#[test]
fn a_fork_is_a_copy() {
    let mut store = Store::new();
    check(&mut store, vec![turn(1, "original", &["one"])], outcome(|it| it.added = 1));
    let before = row(&store, 1);
    let fork = vec![turn(1, "fork", &["one"]), turn(2, "fork", &["two"])];
    check(&mut store, fork.clone(), outcome(|it| (it.copies, it.added) = (1, 1)));
    check(&mut store, fork, outcome(|it| (it.copies, it.unchanged) = (1, 1)));
    assert_eq!(row(&store, 1), before);
    let reader = store.reader();
    assert_eq!(reader.live_context(&session("original")).expect("reads"), [store.id(1, 0)]);
    assert_eq!(
        reader.live_context(&session("fork")).expect("reads"),
        [store.id(1, 0), store.id(2, 0)]
    );
    assert_eq!(reader.live_context(&session("unknown")).expect("reads"), []);
}

/// A turn of two parts, of which the second has been answered so far by `answer`.
fn answered(session: &str, answer: &str) -> TurnUpsert {
    let mut turn = turn(1, session, &["head", "tail"]);
    answer.clone_into(&mut turn.episodes[1].answer);
    turn
}

#[test]
fn the_longer_copy_of_a_turn_is_kept_whoever_was_read_first() {
    const SHORT: &str = "a crocodile";
    const LONG: &str = "a crocodile and an alligator";
    for order in [["fork", "original"], ["original", "fork"]] {
        let mut store = Store::new();
        let answer = |store: &Store| store.reader().texts(&[store.id(1, 1)]).expect("reads")[0].answer.clone();
        let text = |session: &str| if session == "fork" { SHORT } else { LONG };
        for session in order.into_iter().chain(order).chain(["fork"]) {
            store
                .writer
                .ingest(&batch(vec![answered(session, text(session))]))
                .expect("stores");
        }
        assert_eq!(answer(&store), LONG, "{order:?}");
        assert_eq!(store.found("alligator"), [store.id(1, 1)]);
        assert_eq!(store.reader().texts(&[store.id(1, 1)]).expect("reads")[0].session, order[0]);
        // Another text is no longer one, and an owner alone may take back what it said.
        let other = answered(order[1], "a tortoise, which is longer than the others");
        check(&mut store, vec![other], outcome(|it| it.copies = 2));
        assert_eq!(answer(&store), LONG);
    }
    let mut store = Store::new();
    check(&mut store, vec![answered("s", LONG)], outcome(|it| it.added = 2));
    check(
        &mut store,
        vec![answered("s", SHORT)],
        outcome(|it| (it.unchanged, it.updated) = (1, 1)),
    );
}

#[test]
fn compaction_empties_the_context() {
    let mut store = Store::new();
    let compacted = |at| SessionUpdate {
        session: session("s"),
        title: None,
        compacted_at: Some(UnixMillis(at)),
        started_at: None,
    };
    let mut pass = batch(vec![
        turn(1, "s", &["one"]),
        turn(2, "s", &["two"]),
        turn(3, "s", &["three"]),
        turn(1, "fork", &["one"]),
    ]);
    pass.sessions = vec![compacted(2_000)];
    store.writer.ingest(&pass).expect("stores");
    assert_eq!(
        store.reader().live_context(&session("s")).expect("reads"),
        [store.id(2, 0), store.id(3, 0)]
    );
    pass.sessions = vec![compacted(1_000)];
    store.writer.ingest(&pass).expect("stores");
    assert_eq!(
        store.reader().live_context(&session("s")).expect("reads").len(),
        2,
        "an older compaction undoes nothing"
    );
    pass.sessions = vec![SessionUpdate {
        session: session("fork"),
        ..compacted(5_000)
    }];
    store.writer.ingest(&pass).expect("stores");
    assert_eq!(
        store.reader().live_context(&session("fork")).expect("reads"),
        [],
        "copies leave the context too"
    );
}

#[test]
fn a_title_is_kept_only_beside_an_episode_that_may_be_seen() {
    let mut store = Store::new();
    let title = |store: &Store| -> Option<String> {
        let db = rusqlite::Connection::open(&store.path).expect("opens");
        db.query_row("SELECT title FROM sessions WHERE external_id = 's'", [], |row| row.get(0))
            .expect("a session")
    };
    let mut pass = batch(vec![turn(1, "s", &["one"])]);
    pass.sessions = vec![SessionUpdate {
        session: session("s"),
        title: Some("About one".to_owned()),
        compacted_at: None,
        started_at: None,
    }];
    store.writer.ingest(&pass).expect("stores");
    assert_eq!(title(&store).as_deref(), Some("About one"));
    let forgotten = ForgetTarget::Session {
        agent: None,
        external_id: "s".to_owned(),
    };
    store.writer.forget(&forgotten, UnixMillis(9)).expect("forgets");
    store.writer.ingest(&pass).expect("stores");
    assert_eq!(title(&store), None, "what was forgotten does not come back by its title");
}

#[test]
fn replaced_content_retires_what_was_not_seen_again() {
    const WORDS: [&str; 6] = ["zero", "one", "two", "three", "four", "five"];
    let mut store = Store::new();
    let turns = |numbers: &[u8]| {
        numbers
            .iter()
            .map(|&number| turn(number, "s", &[WORDS[usize::from(number)]]))
            .collect()
    };
    check(&mut store, turns(&[1, 2, 3, 4]), outcome(|it| it.added = 4));
    store
        .writer
        .ingest(&batch(vec![turn(3, "fork", &["three"])]))
        .expect("stores");
    let mut replaced = batch(turns(&[1, 5]));
    replaced.source.generation = 1;
    replaced.retire_older_generations = true;
    // 3 was read last from the fork's transcript, which in this test has the same path.
    check_batch(
        &mut store,
        &replaced,
        outcome(|it| (it.unchanged, it.added, it.retired) = (1, 1, 2)),
    );
    assert_eq!(store.found("two"), []);
    assert_eq!(store.found("four"), []);
    assert_eq!(store.found("three"), [store.id(3, 0)], "a copy keeps an episode alive");
    assert_eq!(
        store.reader().live_context(&session("fork")).expect("reads"),
        [store.id(3, 0)]
    );
    assert_eq!(store.reader().texts(&[store.id(3, 0)]).expect("reads")[0].session, "fork");
}

#[test]
fn a_rewritten_file_retires_nothing_of_the_file_that_it_replaced() {
    let mut store = Store::new();
    check(&mut store, vec![turn(1, "s", &["first"])], outcome(|it| it.added = 1));
    let mut pass = batch(vec![turn(2, "t", &["second"]), turn(3, "t", &["third"])]);
    store.writer.replace_source(&pass.source.path).expect("notes");
    store.writer.replace_source(&pass.source.path).expect("notes it again");
    (pass.source.generation, pass.retire_older_generations) = (1, true);
    check_batch(&mut store, &pass, outcome(|it| it.added = 2));
    assert_eq!(store.found("first"), [store.id(1, 0)]);
    let third = store.id(3, 0);
    pass.turns.pop();
    pass.source.generation = 2;
    let done = store.writer.ingest(&pass).expect("stores");
    assert_eq!((done.unchanged, done.retired, done.removed), (1, 1, vec![third]));
    assert_eq!(store.found("first"), [store.id(1, 0)], "it has no other place any more");
    assert_eq!(
        store.reader().texts(&[store.id(1, 0)]).expect("reads")[0].source,
        Some(pass.source.path),
        "it can still be forgotten by where it came from"
    );
}

#[test]
fn another_source_is_not_retired() {
    let mut store = Store::new();
    check(&mut store, vec![turn(1, "s", &["one"])], outcome(|it| it.added = 1));
    let mut other = batch(Vec::new());
    other.source = source("/elsewhere.jsonl");
    other.source.generation = 7;
    other.retire_older_generations = true;
    check_batch(&mut store, &other, outcome(|_| ()));
    assert_eq!(store.found("one").len(), 1);
}

#[test]
fn what_was_forgotten_never_comes_back() {
    let mut store = Store::new();
    let turns = vec![turn(1, "s", &["one", "two"]), turn(2, "s", &["three"])];
    check(&mut store, turns.clone(), outcome(|it| it.added = 3));
    let target = crate::ForgetTarget::Episode(EpisodeUid::of(&turn_uid(1), 1).short());
    let forgotten = store.writer.forget(&target, UnixMillis(0)).expect("forgets");
    assert_eq!(
        (forgotten.episodes, forgotten.turn_uids),
        (2, vec![turn_uid(1)]),
        "whole turns are forgotten"
    );
    check(
        &mut store,
        turns.clone(),
        outcome(|it| (it.tombstoned, it.unchanged) = (2, 1)),
    );
    let mut fork = turns;
    fork[0].session = session("fork");
    check(&mut store, vec![fork[0].clone()], outcome(|it| it.tombstoned = 2));
    assert_eq!(store.reader().tombstones().expect("reads"), [turn_uid(1)]);
}

#[test]
fn a_restored_tombstone_of_one_episode_counts_too() {
    let mut store = Store::new();
    let uid = EpisodeUid::of(&turn_uid(1), 1);
    store
        .writer
        .restore_tombstones(&[crate::TurnUid(uid.0)], UnixMillis(0))
        .expect("restores");
    check(
        &mut store,
        vec![turn(1, "s", &["one", "two"])],
        outcome(|it| (it.added, it.tombstoned) = (1, 1)),
    );
}

#[test]
fn the_source_goes_along_with_its_turns() {
    let mut store = Store::new();
    let mut pass = batch(vec![turn(1, "s", &["one"])]);
    let problem = |count, first_line| ProblemCount {
        kind: "malformed-json".to_owned(),
        count,
        first_line,
        first_offset: ByteOffset(9),
    };
    (pass.source.skipped_delta, pass.source.problems) = (2, vec![problem(2, 3)]);
    store.writer.ingest(&pass).expect("stores");
    pass.source.position.read_offset = ByteOffset(u64::from(u32::MAX) * 8);
    pass.source.problems = vec![problem(1, 8)];
    store.writer.ingest(&pass).expect("stores");
    let row = store.reader().source(&pass.source.path).expect("reads").expect("is known");
    assert_eq!(
        (row.records, row.skipped, row.inode, row.position),
        (8, 4, u64::MAX, pass.source.position.clone())
    );
    let stats = store.reader().stats().expect("counts");
    assert_eq!(
        stats.problems.iter().map(|it| (it.count, it.first_line)).collect::<Vec<_>>(),
        [(3, 3)]
    );
    (pass.source.generation, pass.source.problems) = (1, Vec::new());
    store.writer.ingest(&pass).expect("stores");
    let row = store.reader().source(&pass.source.path).expect("reads").expect("is known");
    assert_eq!(
        (row.records, row.skipped, row.generation),
        (4, 2, 1),
        "a new generation counts anew"
    );
    assert_eq!(store.reader().stats().expect("counts").problems, []);
}

#[test]
fn sources_go_missing_and_are_renamed() {
    let mut store = Store::new();
    store.fill(&["one"]);
    let path = batch(Vec::new()).source.path;
    store.writer.mark_source_missing(&path, true).expect("marks");
    assert_eq!(store.reader().stats().expect("counts").missing_sources, 1);
    assert_eq!(store.found("one").len(), 1, "episodes of a missing source stay");
    store.writer.rename_source(&path, "/new.jsonl").expect("renames");
    store
        .writer
        .rename_source("/unknown.jsonl", "/new.jsonl")
        .expect("has nothing to do");
    let sources = store.reader().sources().expect("reads");
    assert_eq!(
        sources.iter().map(|row| (row.path.as_str(), row.missing)).collect::<Vec<_>>(),
        [("/new.jsonl", false)]
    );
}

#[test]
fn a_project_is_never_changed_by_reading() {
    let mut store = Store::new();
    let mut project = |key: &str| {
        store
            .writer
            .resolve_project(&[key.to_owned()], key, None, UnixMillis(1))
            .expect("resolves")
    };
    let (one, two) = (project("one"), project("two"));
    store
        .writer
        .ingest(&batch(vec![in_project(turn(1, "s", &["word"]), one)]))
        .expect("stores");
    store
        .writer
        .ingest(&batch(vec![in_project(turn(1, "s", &["word", "more"]), two)]))
        .expect("stores");
    let rows = store
        .reader()
        .candidates(&[store.id(1, 0), store.id(1, 1)], MODEL)
        .expect("reads");
    assert_eq!(rows.iter().map(|row| row.project).collect::<Vec<_>>(), [Some(one), Some(two)]);
}

#[test]
fn a_full_disk_stores_nothing_and_can_go_on() {
    let mut store = Store::new();
    store.fill(&["one"]);
    let pages: i64 = store
        .writer
        .db
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .expect("reads");
    let limit = |store: &Store, pages: i64| {
        store
            .writer
            .db
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .expect("sets");
    };
    limit(&store, pages);
    let text = "many words ".repeat(20_000);
    let mut pass = batch(vec![turn(7, "s", &[&text])]);
    pass.source.position.read_offset = ByteOffset(12_345);
    let error = store.writer.ingest(&pass).expect_err("there is no room");
    assert!(matches!(error, QueryError::Full { .. }), "{error:?}");
    assert!(!error.is_of_content());
    let position = store
        .reader()
        .source(&pass.source.path)
        .expect("reads")
        .expect("is known")
        .position;
    assert_eq!(position.read_offset, ByteOffset(100), "the position did not move");
    assert_eq!(store.found("one").len(), 1);
    limit(&store, 1 << 30);
    check_batch(&mut store, &pass, outcome(|it| it.added = 1));
}

#[test]
fn a_locked_database_is_busy_and_still_read() {
    let mut store = Store::new();
    store.fill(&["one"]);
    let other = rusqlite::Connection::open(&store.path).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locks");
    store.writer.db.busy_timeout(std::time::Duration::ZERO).expect("sets");
    let error = store
        .writer
        .ingest(&batch(vec![turn(2, "s", &["two"])]))
        .expect_err("is locked");
    assert!(matches!(error, QueryError::Busy { .. }), "{error:?}");
    assert!(!error.is_of_content());
    assert_eq!(store.found("one").len(), 1);
    other.execute_batch("ROLLBACK").expect("unlocks");
    check(&mut store, vec![turn(2, "s", &["two"])], outcome(|it| it.added = 1));
}

#[test]
fn a_project_that_is_gone_is_a_fault_of_what_was_handed_in() {
    let mut store = Store::new();
    let error = store
        .writer
        .ingest(&batch(vec![in_project(turn(1, "s", &["one"]), crate::ProjectId(404))]))
        .expect_err("there is none");
    assert!(error.is_of_content(), "{error:?}");
    check(&mut store, vec![turn(2, "s", &["two"])], outcome(|it| it.added = 1));
}

#[test]
fn projects_scope_the_search() {
    let mut store = Store::new();
    let project = store
        .writer
        .resolve_project(&["k".to_owned()], "k", None, UnixMillis(1))
        .expect("resolves");
    let turns = vec![
        in_project(turn(1, "s", &["shared word"]), project),
        turn(2, "s", &["shared word"]),
    ];
    store.writer.ingest(&batch(turns)).expect("stores");
    let found = |scope| {
        let expression = MatchExpression::any_of(&["share".to_owned()], scope).expect("has a term");
        store
            .reader()
            .bm25(&expression, FieldWeights::EQUAL, 9)
            .expect("searches")
            .hits
            .into_iter()
            .map(|(id, _)| id)
            .collect::<Vec<_>>()
    };
    assert_eq!(found(Scope::All).len(), 2);
    assert_eq!(found(Scope::Project(Some(project))), [store.id(1, 0)]);
    assert_eq!(found(Scope::Project(None)), [store.id(2, 0)]);
}
