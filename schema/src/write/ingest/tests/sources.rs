//! Files that are rewritten, replaced, renamed or gone, and their positions.

use super::{check, check_batch, outcome, row};
use crate::testing::{Store, batch, in_project, session, source, turn};
use crate::{ByteOffset, FieldWeights, MatchExpression, ProblemCount, Scope, UnixMillis, Unread};

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
fn the_source_goes_along_with_its_turns() {
    let mut store = Store::new();
    let mut pass = batch(vec![turn(1, "s", &["one"])]);
    let problem = |count, first_line| ProblemCount {
        kind: "malformed-json".to_owned(),
        count,
        first_line,
        first_offset: ByteOffset(9),
        unread: Some(Unread {
            bytes: count * 10,
            version: if first_line == 3 { "2.1.0".to_owned() } else { String::new() },
        }),
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
    let unread = Unread {
        bytes: 30,
        version: "2.1.0".to_owned(),
    };
    assert_eq!(
        stats.problems[0].unread,
        Some(unread),
        "a version that is not told again stays"
    );
    assert_eq!(stats.read_bytes, [("claude-code".to_owned(), u64::from(u32::MAX) * 8)]);
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
fn a_position_goes_with_what_the_parser_takes_over_there() {
    let mut store = Store::new();
    let mut pass = batch(vec![turn(1, "s", &["one"])]);
    let path = pass.source.path.clone();
    let mut stored = |store: &mut Store, state: Option<&str>| {
        pass.source.position.parser_state = state.map(str::to_owned);
        store.writer.ingest(&pass).expect("stores");
        let row = store.reader().source(&pass.source.path).expect("reads").expect("is known");
        row.position.parser_state
    };
    for state in [Some("{\"v\":1}"), Some("{\"v\":2}"), None, Some("{}")] {
        assert_eq!(stored(&mut store, state).as_deref(), state);
    }
    // Nothing is stored of a state that is too long, the turns neither: the parser writes none.
    pass = batch(vec![turn(2, "s", &["two"])]);
    pass.source.position.parser_state = Some("x".repeat(16 * 1024 + 1));
    store.writer.ingest(&pass).expect_err("is too long");
    assert_eq!(store.found("two"), []);
    store
        .writer
        .forget(&crate::ForgetTarget::All, UnixMillis(5))
        .expect("forgets");
    let row = store.reader().source(&path).expect("reads").expect("is known");
    assert_eq!(
        row.position.parser_state.as_deref(),
        Some(""),
        "a folder that was told goes with the turns, and the file is read from its start"
    );
}

#[test]
fn sources_go_missing_and_come_back() {
    let mut store = Store::new();
    store.fill(&["one"]);
    let path = batch(Vec::new()).source.path;
    store.writer.mark_source_missing(&path, true).expect("marks");
    assert_eq!(store.reader().stats().expect("counts").missing_sources, 1);
    assert_eq!(store.found("one").len(), 1, "episodes of a missing source stay");
    store.writer.mark_source_missing(&path, false).expect("marks");
    assert_eq!(store.reader().stats().expect("counts").missing_sources, 0);
}

#[test]
fn a_folder_that_is_told_late_gives_its_turns_a_project() {
    let mut store = Store::new();
    let keys = ["path:/home/ada/engine".to_owned()];
    let project = store
        .writer
        .resolve_project(&keys, "engine", None, UnixMillis(0))
        .expect("resolves");
    let mut early = turn(1, "s", &["one"]);
    early.cwd = None;
    check(&mut store, vec![early], outcome(|it| it.added = 1));
    let late = || vec![in_project(turn(1, "s", &["one"]), project)];
    check(&mut store, late(), outcome(|it| it.updated = 1));
    check(&mut store, late(), outcome(|it| it.unchanged = 1));
    let stored = row(&store, 1);
    assert_eq!(stored.project, Some(project));
    let expression = MatchExpression::any_of(&["one".to_owned()], Scope::Project(Some(project))).expect("a term");
    let found = store.reader().bm25(&expression, FieldWeights::EQUAL, 10).expect("searches");
    assert_eq!(found.hits.len(), 1, "the index knows its project, too");
}

#[test]
fn a_folder_that_is_told_late_and_kept_out_takes_its_turns_away() {
    let mut store = Store::new();
    let without_folder = |number, prompts: &[&str]| {
        let mut turn = turn(number, "s", prompts);
        turn.cwd = None;
        vec![turn]
    };
    store
        .writer
        .exclude_path("/home/ada/engine", UnixMillis(0))
        .expect("excludes");
    check(&mut store, without_folder(1, &["one"]), outcome(|it| it.added = 1));
    check(
        &mut store,
        vec![turn(1, "s", &["one"])],
        outcome(|it| (it.excluded, it.retired) = (1, 1)),
    );
    // Of what the settings keep out, nothing is handed in.
    check(&mut store, without_folder(2, &["two"]), outcome(|it| it.added = 1));
    check(&mut store, without_folder(2, &[]), outcome(|it| it.retired = 1));
    assert_eq!((store.found("one"), store.found("two")), (vec![], vec![]));
}
