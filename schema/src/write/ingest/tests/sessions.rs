//! Forks and resumes, compaction, titles, projects.

use super::{check, outcome, row};
use crate::testing::{MODEL, Store, batch, in_project, session, turn};
use crate::{FieldWeights, ForgetTarget, MatchExpression, Scope, SessionUpdate, TurnUpsert, UnixMillis};

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

#[test]
fn what_tells_of_a_project_is_stored_only_with_something_of_the_turn() {
    let told = |folder: &str| {
        Some(crate::ProjectRef::Told(std::sync::Arc::new(crate::ToldProject {
            keys: vec![format!("url:{folder}"), format!("cwd:{folder}")],
            name: folder.to_owned(),
            root: folder.to_owned(),
        })))
    };
    let in_folder = |number: u8, session: &str, folder: &str| TurnUpsert {
        cwd: Some(folder.to_owned()),
        project: told(folder),
        ..turn(number, session, &["prompt"])
    };
    let mut store = Store::new();
    store.writer.exclude_path("/secret", UnixMillis(1)).expect("excludes");
    store.writer.exclude_session(&session("guarded")).expect("excludes");
    let turns = vec![in_folder(1, "one", "/secret/x"), in_folder(2, "guarded", "/hidden")];
    let outcome = store.writer.ingest(&batch(turns)).expect("stores");
    assert_eq!((outcome.excluded, outcome.projects.as_slice()), (2, &[][..]));
    assert_eq!(store.reader().projects().expect("reads"), []);
    let keys: i64 = store
        .writer
        .db
        .query_row("SELECT count(*) FROM project_aliases", [], |row| row.get(0))
        .expect("counts");
    assert_eq!(keys, 0);
    let turns = vec![in_folder(3, "one", "/open"), in_folder(4, "one", "/open")];
    let outcome = store.writer.ingest(&batch(turns)).expect("stores");
    let project = store.reader().project_by_key("cwd:/open").expect("reads").expect("is stored");
    assert_eq!(outcome.projects, [project]);
    assert_eq!(row(&store, 4).project, Some(project));
}
