//! Exclusions: hidden episodes are in no leg, and come back when let in.

use rstest::rstest;

use crate::query::targets::is_under;
use crate::testing::{MODEL, Store, batch, session, source, turn};
use crate::{EpisodeId, Scope, UnixMillis};

#[rstest]
#[case::itself("/a/b", "/a/b", true)]
#[case::below("/a/b/c", "/a/b", true)]
#[case::slash("/a/b/c", "/a/b/", true)]
#[case::sibling("/a/bc", "/a/b", false)]
#[case::above("/a", "/a/b", false)]
#[case::root("/a", "/", true)]
fn folders_are_compared_by_components(#[case] path: &str, #[case] folder: &str, #[case] expected: bool) {
    assert_eq!(is_under(path, folder), expected);
}

/// Every way in which an episode can be come by.
fn legs(store: &Store) -> Vec<usize> {
    let reader = store.reader();
    let mut codes = 0;
    reader.for_each_code(|_, _, _| codes += 1).expect("reads");
    vec![
        store.found("word").len(),
        reader.recently_accessed(Scope::All, 9).expect("reads").len(),
        codes,
        reader.nearest_codes(&[0], 9).expect("searches").len(),
        reader.embedding_backlog(MODEL, 9).expect("reads").len(),
    ]
}

fn stored() -> (Store, Vec<EpisodeId>) {
    let mut store = Store::new();
    let mut elsewhere = turn(9, "t", &["word"]);
    elsewhere.cwd = Some("/home/ada/other".to_owned());
    store
        .writer
        .ingest(&batch(vec![turn(8, "s", &["word"]), elsewhere]))
        .expect("stores");
    let ids = vec![store.id(8, 0), store.id(9, 0)];
    store.embed();
    assert_eq!(legs(&store), [2, 2, 2, 2, 0]);
    (store, ids)
}

#[test]
fn an_excluded_folder_is_in_no_leg_and_comes_back() {
    let (mut store, ids) = stored();
    let first_uid = store.reader().texts(&ids[..1]).expect("reads")[0].uid.to_string();
    assert_eq!(
        store
            .writer
            .exclude_path("/home/ada/engine", UnixMillis(1))
            .expect("excludes"),
        1
    );
    assert_eq!(legs(&store), [1, 1, 1, 1, 0]);
    assert_eq!(store.found("word"), [ids[1]]);
    let reader = store.reader();
    let named = |texts: Vec<crate::EpisodeText>| texts.into_iter().map(|text| text.id).collect::<Vec<_>>();
    assert_eq!(named(reader.texts(&ids).expect("reads")), [ids[1]]);
    assert_eq!(named(reader.texts_with_hidden(&ids).expect("reads")), ids);
    assert_eq!(named(reader.find_episode(&first_uid).expect("reads")), [ids[0]]);
    assert_eq!(
        reader
            .candidates(&ids, MODEL)
            .expect("reads")
            .iter()
            .map(|row| row.id)
            .collect::<Vec<_>>(),
        [ids[1]],
        "an id that is still in memory leads nowhere"
    );
    assert_eq!(store.reader().exclusions().expect("reads"), ["/home/ada/engine"]);
    assert_eq!(store.reader().stats().expect("counts").hidden, 1);
    let again = store
        .writer
        .ingest(&batch(vec![turn(8, "s", &["word"]), turn(10, "s", &["word"])]))
        .expect("stores");
    assert_eq!((again.excluded, again.added), (2, 0));

    assert_eq!(store.writer.include_path("/home/ada/engine").expect("includes"), 1);
    assert_eq!(legs(&store), [2, 1, 1, 1, 1], "the embedding has to be made anew");
    store.embed();
    assert_eq!(legs(&store), [2, 2, 2, 2, 0]);
}

#[test]
fn what_two_exclusions_cover_needs_both_lifted() {
    let (mut store, _) = stored();
    store.writer.exclude_path("/home/ada", UnixMillis(1)).expect("excludes");
    store
        .writer
        .exclude_path("/home/ada/engine", UnixMillis(1))
        .expect("excludes");
    store.writer.exclude_session(&session("t")).expect("excludes");
    assert_eq!(legs(&store), [0, 0, 0, 0, 0]);
    let excluded =
        ["/home/ada", "/home/ada/engine", "/home/ada/eng"].map(|path| store.writer.excludes_path(path).expect("looks"));
    assert_eq!(excluded, [true, true, false]);
    assert_eq!(store.writer.include_path("/home/ada").expect("includes"), 0);
    assert_eq!(store.writer.include_path("/home/ada/engine").expect("includes"), 1);
    assert_eq!(store.writer.include_session(&session("t")).expect("includes"), 1);
    assert_eq!(store.found("word").len(), 2);
}

#[test]
fn an_excluded_session_is_skipped_before_it_is_known() {
    let mut store = Store::new();
    store.writer.exclude_session(&session("child")).expect("excludes");
    let outcome = store
        .writer
        .ingest(&batch(vec![turn(1, "child", &["word"])]))
        .expect("stores");
    assert_eq!((outcome.excluded, outcome.added), (1, 0));
}

#[test]
fn an_excluded_transcript_is_skipped_and_its_position_moves() {
    let mut store = Store::new();
    store.writer.exclude_path("/private", UnixMillis(1)).expect("excludes");
    let mut pass = batch(vec![turn(1, "s", &["word"])]);
    pass.source = source("/private/s.jsonl");
    assert_eq!(store.writer.ingest(&pass).expect("stores").excluded, 1);
    assert!(store.reader().source("/private/s.jsonl").expect("reads").is_some());
}

#[test]
fn hidden_episodes_are_not_taken_for_gone() {
    let (mut store, _) = stored();
    store
        .writer
        .exclude_path("/home/ada/engine", UnixMillis(1))
        .expect("excludes");
    let mut replaced = batch(vec![turn(8, "s", &["word"])]);
    (replaced.source.generation, replaced.retire_older_generations) = (1, true);
    assert_eq!(
        store.writer.ingest(&replaced).expect("stores").retired,
        1,
        "the other turn is gone from the source"
    );
    store.writer.include_path("/home/ada/engine").expect("includes");
    assert_eq!(store.found("word"), [store.id(8, 0)]);
}

#[test]
fn what_was_stored_of_an_excluded_session_can_be_erased() {
    let mut store = Store::new();
    let copy = |number: u8| crate::TurnUpsert {
        session: session("fork"),
        ..turn(number, "child", &["shared word"])
    };
    let turns = vec![
        turn(1, "child", &["zugzwang word"]),
        turn(2, "child", &["shared word"]),
        copy(2),
        turn(3, "other", &["word"]),
    ];
    store.writer.ingest(&batch(turns)).expect("stores");
    store.embed();
    assert_eq!(
        store.writer.erase_excluded_session(&session("child")).expect("erases"),
        0,
        "it is not excluded"
    );
    assert_eq!(store.found("word").len(), 3);
    store.writer.exclude_session(&session("child")).expect("excludes");
    assert_eq!(store.writer.erase_excluded_session(&session("child")).expect("erases"), 1);
    let stats = store.reader().stats().expect("counts");
    assert_eq!((stats.episodes, stats.hidden, stats.tombstones), (2, 0, 0));
    assert_eq!(
        store.found("word"),
        [store.id(3, 0), store.id(2, 0)],
        "what a fork repeats is the fork's"
    );
    let bytes = fs_err::read(&store.path).expect("reads");
    assert!(!bytes.windows(8).any(|window| window == b"zugzwang"));
    // Reading it again brings nothing, and after an inclusion all of it.
    let again = batch(vec![turn(1, "child", &["zugzwang word"])]);
    assert_eq!(store.writer.ingest(&again).expect("stores").excluded, 1);
    store.writer.include_session(&session("child")).expect("includes");
    assert_eq!(store.writer.ingest(&again).expect("stores").added, 1);
}

#[test]
fn a_folder_is_kept_out_by_either_name_and_a_turn_without_one_by_its_sessions() {
    let mut store = Store::new();
    let in_folder = |number: u8, cwd: Option<&str>, told: Option<&str>| crate::TurnUpsert {
        cwd: cwd.map(str::to_owned),
        told_cwd: told.map(str::to_owned),
        ..turn(number, "s", &["word"])
    };
    store
        .writer
        .ingest(&batch(vec![in_folder(1, Some("/srv/priv"), None), in_folder(2, None, None)]))
        .expect("stores");
    assert_eq!(store.found("word").len(), 2);
    assert_eq!(store.writer.exclude_path("/srv/priv", UnixMillis(1)).expect("excludes"), 2);
    store.writer.exclude_path("/link", UnixMillis(1)).expect("excludes");
    let turns = vec![
        in_folder(3, None, None),
        in_folder(4, Some("/srv/other"), Some("/link/x")),
        in_folder(5, None, None),
    ];
    let outcome = store.writer.ingest(&batch(turns)).expect("stores");
    assert_eq!((outcome.excluded, outcome.added), (3, 0));
    assert_eq!(store.writer.include_path("/srv/priv").expect("includes"), 2);
}
