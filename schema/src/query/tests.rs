//! Readers: order, bounds, ids that are gone, deadlines, and life beside a writer.

use rstest::rstest;

use crate::testing::{MODEL, Store, batch, in_project, session, turn, turn_uid};
use crate::{EpisodeId, EpisodeUid, FieldWeights, MatchExpression, Origin, Pause, QueryError, Reader, Scope, UnixMillis};

/// A store of 120 episodes: the later, the more of `needle` is in them.
fn haystack() -> Store {
    let mut store = Store::new();
    let prompts: Vec<String> = (0..120)
        .map(|number| format!("{} {}", "needle ".repeat(1 + number / 10), "hay ".repeat(60)))
        .collect();
    store.fill(&prompts.iter().map(String::as_str).collect::<Vec<_>>());
    store
}

fn needle() -> MatchExpression {
    MatchExpression::any_of(&["needl".to_owned()], Scope::All).expect("has a term")
}

#[test]
fn the_last_prompts_of_a_project_are_the_user_s_own() {
    let mut store = Store::new();
    let mut project = |key: &str| {
        let keys = [key.to_owned()];
        store
            .writer
            .resolve_project(&keys, key, None, UnixMillis(1))
            .expect("resolves")
    };
    let (engine, other) = (project("engine"), project("other"));
    let mut of_a_helper = turn(9, "s", &["look there"]);
    of_a_helper.episodes[0].origin = Origin::Subagent;
    let turns = [
        turn(1, "s", &["one"]),
        turn(3, "t", &["three", ""]),
        turn(2, "s", &["two"]),
        of_a_helper,
    ];
    let mut turns: Vec<_> = turns.into_iter().map(|turn| in_project(turn, engine)).collect();
    turns.push(in_project(turn(8, "s", &["elsewhere"]), other));
    store.writer.ingest(&batch(turns)).expect("stores");
    assert_eq!(store.reader().last_prompts(engine, 2).expect("reads"), ["three", "two"]);
    store.writer.exclude_session(&session("t")).expect("hides");
    assert_eq!(store.reader().last_prompts(engine, 9).expect("reads"), ["two", "one"]);
}

#[test]
fn hits_are_ordered_before_the_cut() {
    let store = haystack();
    let all = store
        .reader()
        .bm25(&needle(), FieldWeights::EQUAL, 1_000)
        .expect("searches")
        .hits;
    assert_eq!(all.len(), 120);
    assert!(
        all.windows(2).all(|pair| (pair[0].1.0, pair[0].0) < (pair[1].1.0, pair[1].0)),
        "best first, ties by id"
    );
    assert!(all[0].1.0 < 0.0, "more negative is better");
    assert_eq!(all[0].0, store.id(110, 0));
    assert_eq!(
        store
            .reader()
            .bm25(&needle(), FieldWeights::EQUAL, 50)
            .expect("searches")
            .hits,
        all[..50]
    );
}

#[test]
fn the_deadline_stops_a_query_and_lets_the_next_reader_go() {
    let store = haystack();
    let reader = store.reader();
    reader.set_deadline_check(Some(Box::new(|| true)));
    assert!(matches!(
        reader.bm25(&needle(), FieldWeights::EQUAL, 50),
        Err(QueryError::Interrupted { .. })
    ));
    assert!(matches!(reader.stats(), Err(QueryError::Interrupted { .. })), "time stays up");
    reader.set_deadline_check(Some(Box::new(|| false)));
    assert_eq!(
        reader.bm25(&needle(), FieldWeights::EQUAL, 50).expect("searches").hits.len(),
        50
    );
    let mut looks = 0;
    reader.set_deadline_check(Some(Box::new(move || {
        looks += 1;
        looks > 2
    })));
    let outcome: Result<Vec<_>, _> = (0..1_000).map(|_| reader.bm25(&needle(), FieldWeights::EQUAL, 50)).collect();
    assert!(matches!(outcome, Err(QueryError::Interrupted { .. })));
    reader.set_deadline_check(None);
    assert_eq!(
        reader.bm25(&needle(), FieldWeights::EQUAL, 50).expect("searches").hits.len(),
        50
    );
}

#[test]
fn recent_episodes_need_an_embedding_and_follow_their_scope() {
    let mut store = Store::new();
    let project = store
        .writer
        .resolve_project(&["k".to_owned()], "k", None, UnixMillis(1))
        .expect("resolves");
    let turns = vec![
        turn(1, "s", &["a"]),
        in_project(turn(2, "s", &["b"]), project),
        turn(3, "s", &["c"]),
        in_project(turn(4, "s", &["d"]), project),
    ];
    store.writer.ingest(&batch(turns)).expect("stores");
    let recent = |store: &Store, scope, limit| store.reader().recently_accessed(scope, limit).expect("reads");
    assert_eq!(recent(&store, Scope::All, 9), []);
    store.embed();
    let [one, two, three, four] = [1, 2, 3, 4].map(|number| store.id(number, 0));
    assert_eq!(recent(&store, Scope::All, 9), [four, three, two, one]);
    store.writer.record_use(two, UnixMillis(50_000)).expect("counts");
    assert_eq!(recent(&store, Scope::All, 3), [two, four, three]);
    assert_eq!(recent(&store, Scope::Project(Some(project)), 9), [two, four]);
    assert_eq!(recent(&store, Scope::Project(None), 9), [three, one]);
}

#[test]
fn ids_come_back_in_their_order_and_gone_ones_not_at_all() {
    let store = haystack();
    let mut ids: Vec<EpisodeId> = (0..120).rev().map(|number| store.id(number, 0)).collect();
    let present = ids.clone();
    ids.extend((10_000..10_400).map(EpisodeId));
    let reader = store.reader();
    let read: Vec<EpisodeId> = reader
        .candidates(&ids, MODEL)
        .expect("reads")
        .into_iter()
        .map(|row| row.id)
        .collect();
    assert_eq!(read, present);
    let read: Vec<EpisodeId> = reader.texts(&ids).expect("reads").into_iter().map(|row| row.id).collect();
    assert_eq!(read, present);
    assert_eq!(reader.candidates(&[], MODEL).expect("reads"), []);
    assert_eq!(reader.texts(&[]).expect("reads"), []);
}

#[test]
fn texts_come_with_where_they_are_from() {
    let mut store = Store::new();
    let project = store
        .writer
        .resolve_project(&["k".to_owned()], "engine", None, UnixMillis(1))
        .expect("resolves");
    store
        .writer
        .ingest(&batch(vec![in_project(turn(3, "s", &["head", "tail"]), project)]))
        .expect("stores");
    let text = store.reader().texts(&[store.id(3, 1)]).expect("reads").remove(0);
    assert_eq!((text.turn_uid, text.part, text.turn), (turn_uid(3), 1, 3));
    assert_eq!(
        (text.prompt.as_str(), text.answer.as_str(), text.created_at),
        ("tail", "done", UnixMillis(3_000))
    );
    assert_eq!((text.project, text.project_name.as_deref()), (Some(project), Some("engine")));
    assert_eq!(
        (text.agent.as_str(), text.session.as_str(), text.cwd.as_deref()),
        ("claude-code", "s", Some("/home/ada/engine"))
    );
    assert!(text.source.is_some_and(|path| path.ends_with("s.jsonl")));
}

#[test]
fn a_short_id_finds_its_episode() {
    let store = haystack();
    let uid = EpisodeUid::of(&turn_uid(7), 0);
    let found = |prefix: &str| {
        store
            .reader()
            .find_episode(prefix)
            .expect("reads")
            .into_iter()
            .map(|text| text.uid)
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&uid.short()), [uid]);
    assert_eq!(found(&uid.short().to_uppercase()), [uid]);
    assert_eq!(found(&uid.to_string()), [uid]);
    assert_eq!(found(&uid.to_string()[..3]), [], "too short a prefix names too much");
    assert_eq!(found("nothex"), []);
}

#[test]
fn a_reader_lives_beside_a_writer() {
    let mut store = Store::new();
    let reader = store.reader();
    store.fill(&["one"]);
    assert_eq!(reader.indexed_episodes().expect("counts"), 1);
    store.embed();
    store.writer.set_embedding_model("other", 16).expect("sets");
    let mut codes = 0;
    reader.for_each_code(|_, _, _| codes += 1).expect("sees the new table");
    assert_eq!(codes, 0);
    store.writer.rebuild_index().expect("rebuilds");
    assert_eq!(
        reader
            .bm25(
                &MatchExpression::any_of(&["one".to_owned()], Scope::All).expect("has a term"),
                FieldWeights::EQUAL,
                9
            )
            .expect("searches")
            .hits
            .len(),
        1
    );
}

#[test]
fn a_reader_opens_a_closed_database_without_its_shm() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memory.db");
    let mut writer = crate::Writer::open(&path).expect("opens");
    writer.ingest(&batch(vec![turn(1, "s", &["one"])])).expect("stores");
    writer.close().expect("closes");
    let names: Vec<_> = fs_err::read_dir(folder.path())
        .expect("lists")
        .map(|entry| entry.expect("is there").file_name())
        .collect();
    assert!(
        !names.iter().any(|name| name.to_string_lossy().ends_with("-shm")),
        "{names:?}"
    );
    assert_eq!(Reader::open(&path).expect("opens").stats().expect("counts").episodes, 1);
}

#[test]
fn a_reader_writes_nothing() {
    let mut store = Store::new();
    store.fill(&["one"]);
    let reader = store.reader();
    assert!(reader.db.execute("DELETE FROM episodes", []).is_err());
    assert_eq!(reader.stats().expect("counts").episodes, 1);
}

#[test]
fn readers_and_writers_can_be_sent_to_threads() {
    fn is_send<T: Send>(_: &T) {}
    let store = Store::new();
    is_send(&store.writer);
    is_send(&store.reader());
}

#[test]
fn neighbours_are_the_turns_beside_a_turn_in_its_own_conversation() {
    let mut store = Store::new();
    let turns = vec![
        turn(0, "s", &["zero"]),
        turn(1, "s", &["one", "one goes on"]),
        turn(2, "s", &["two"]),
        turn(4, "s", &["four"]),
        turn(5, "other", &["five"]),
    ];
    store.writer.ingest(&batch(turns)).expect("stores");
    let id = |number, part| store.id(number, part);
    let reader = store.reader();
    assert_eq!(
        reader.neighbours(&[id(1, 1), id(2, 0), id(4, 0)]).expect("reads"),
        [(id(1, 1), id(0, 0)), (id(1, 1), id(2, 0)), (id(2, 0), id(1, 0))]
    );
    assert_eq!(reader.neighbours(&[]).expect("reads"), []);
}

#[test]
fn a_field_of_more_weight_lifts_what_holds_a_term_there() {
    let mut store = Store::new();
    store.fill(&["needle in a long prompt of hay and hay", "hay"]);
    let reader = store.reader();
    let best = |prompt| {
        let weights = FieldWeights {
            prompt,
            ..FieldWeights::EQUAL
        };
        reader.bm25(&needle(), weights, 9).expect("searches").hits[0].1
    };
    assert!(best(4.0) < best(1.0), "more negative is better");
}

#[test]
fn a_session_is_excluded_as_soon_as_it_is_said() {
    let mut store = Store::new();
    store.fill(&["one"]);
    let (known, unknown) = (session("s"), session("not yet known"));
    let excluded = |store: &Store| [&known, &unknown].map(|session| store.reader().is_session_excluded(session).expect("reads"));
    assert_eq!(excluded(&store), [false, false]);
    store.writer.exclude_session(&unknown).expect("excludes");
    assert_eq!(excluded(&store), [false, true]);
}

#[rstest]
#[case::before(Pause::Until(UnixMillis(1_000)), 999, true)]
#[case::at_its_end(Pause::Until(UnixMillis(1_000)), 1_000, false)]
#[case::without_end(Pause::Indefinite, i64::MAX, true)]
fn a_pause_ends_by_itself(#[case] pause: Pause, #[case] now: i64, #[case] expected: bool) {
    assert_eq!(pause.holds_at(UnixMillis(now)), expected);
}
