//! Forgetting: which turns go, and that none of their bytes is left on the disk.

use rstest::rstest;

use crate::testing::{MODEL, Store, batch, in_project, session, turn, turn_uid};
use crate::{
    EpisodeUid, FieldWeights, ForgetTarget, MatchExpression, QueryError, RecollectionLog, Scope, SessionUpdate, UnixMillis,
};

/// A word that nothing but the forgotten text holds; its stem begins with it.
const SECRET: &str = "zugzwangqx";

/// Whether any file beside the database, or itself, holds the word.
fn on_disk(store: &Store, word: &str) -> bool {
    let folder = store.path.parent().expect("has a folder");
    fs_err::read_dir(folder).expect("lists").any(|entry| {
        let bytes = fs_err::read(entry.expect("is there").path()).expect("reads");
        bytes
            .windows(word.len())
            .any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    })
}

fn log(terms: &[&str]) -> RecollectionLog {
    RecollectionLog {
        at: UnixMillis(1),
        session: session("s"),
        project: None,
        prompt_hash: [0; 32],
        terms: terms.iter().map(|&term| term.to_owned()).collect(),
        reason: None,
        pool: 0,
        stages: Vec::new(),
        degradations: Vec::new(),
        candidates: Vec::new(),
    }
}

#[test]
fn no_byte_is_left() {
    let mut store = Store::new();
    let filler: Vec<String> = (0..200)
        .map(|number| format!("filler {number} {}", "lorem ipsum dolor ".repeat(number % 40)))
        .collect();
    store.fill(&filler.iter().map(String::as_str).collect::<Vec<_>>());
    // The secret, three versions of it, in one turn among many; and in what repeats it.
    for length in [1, 400, 3] {
        let text = format!("the {SECRET} of {}", format!("{SECRET} again ").repeat(length));
        store
            .writer
            .ingest(&batch(vec![turn(250, "s", &[&text, "part two"])]))
            .expect("stores");
    }
    let title = SessionUpdate {
        session: session("s"),
        title: Some(format!("About {SECRET}")),
        compacted_at: None,
        started_at: None,
    };
    let mut pass = batch(Vec::new());
    pass.sessions.push(title);
    store.writer.ingest(&pass).expect("stores");
    store.writer.record_recollection(&log(&[SECRET])).expect("logs");
    store.embed();
    store.writer.checkpoint().expect("checkpoints");
    store.copy_to(&crate::copy::before_migration(&store.path, 3));
    fs_err::write(crate::copy::with_suffix(&store.path, ".v3.bak.part"), SECRET).expect("leaves a part");
    assert!(on_disk(&store, SECRET));

    let forgotten = store
        .writer
        .forget(&ForgetTarget::Matching(SECRET.to_owned()), UnixMillis(5))
        .expect("forgets");
    assert_eq!((forgotten.episodes, forgotten.turn_uids), (2, vec![turn_uid(250)]));
    assert!(forgotten.log_emptied);
    assert!(!on_disk(&store, SECRET), "the word is still on the disk");
    assert!(!on_disk(&store, &SECRET[..8]), "a part of the word is still on the disk");
    assert_eq!(store.reader().stats().expect("counts").wal_bytes, 0);
    assert_eq!(store.reader().indexed_episodes().expect("counts"), 200);
    assert_eq!(store.found("filler").len(), 50, "the rest is still found");
    let integrity: String = store
        .writer
        .db
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("checks");
    assert_eq!(integrity, "ok");
}

#[test]
fn a_reader_in_the_way_is_told() {
    let mut store = Store::new();
    store.fill(&[SECRET, "other"]);
    let reader = rusqlite::Connection::open(&store.path).expect("opens");
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM episodes;")
        .expect("holds a snapshot");
    store.writer.db.busy_timeout(std::time::Duration::ZERO).expect("sets");
    let forgotten = store
        .writer
        .forget(&ForgetTarget::Matching(SECRET.to_owned()), UnixMillis(5))
        .expect("forgets");
    assert!(!forgotten.log_emptied);
    drop(reader);
    assert!(store.writer.checkpoint().expect("checkpoints"));
    assert!(!on_disk(&store, SECRET));
}

fn all_of(targets: &[ForgetTarget]) -> ForgetTarget {
    ForgetTarget::AllOf(targets.to_vec())
}

fn session_target(id: &str) -> ForgetTarget {
    ForgetTarget::Session {
        agent: None,
        external_id: id.to_owned(),
    }
}

/// Turns 1 and 2 in session `s` (1 in a project), 3 in session `t`, 4 in another folder.
fn check(target: &dyn Fn(&Store, crate::ProjectId) -> ForgetTarget, expected: &[u8]) {
    let mut store = Store::new();
    let project = store
        .writer
        .resolve_project(&["k".to_owned()], "k", Some("/k"), UnixMillis(1))
        .expect("resolves");
    let mut elsewhere = turn(4, "t", &["delta"]);
    elsewhere.cwd = Some("/home/ada/engine-two".to_owned());
    let turns = vec![
        in_project(turn(1, "s", &["alpha"]), project),
        turn(2, "s", &["beta gamma"]),
        turn(3, "t", &["gamma"]),
        elsewhere,
    ];
    store.writer.ingest(&batch(turns)).expect("stores");
    let target = target(&store, project);
    let foreseen = store.reader().episodes_of(&target).expect("finds").len();
    let forgotten = store.writer.forget(&target, UnixMillis(2)).expect("forgets");
    let expected: Vec<_> = expected.iter().map(|&number| turn_uid(number)).collect();
    assert_eq!(forgotten.turn_uids, expected);
    assert_eq!((foreseen, forgotten.episodes as usize), (expected.len(), expected.len()));
    let stats = store.reader().stats().expect("counts");
    assert_eq!(
        (stats.episodes, stats.tombstones),
        (4 - expected.len() as u64, expected.len() as u64)
    );
}

#[rstest]
#[case::episode(&|_: &Store, _| ForgetTarget::Episode(EpisodeUid::of(&turn_uid(3), 0).short()), &[3])]
#[case::session(&|_: &Store, _| ForgetTarget::Session { agent: None, external_id: "s".to_owned() }, &[1, 2])]
#[case::session_of_agent(&|_: &Store, _| ForgetTarget::Session { agent: Some("codex".to_owned()), external_id: "s".to_owned() }, &[])]
#[case::project(&|_: &Store, project| ForgetTarget::Project(project), &[1])]
#[case::path(&|_: &Store, _| ForgetTarget::Path("/home/ada/engine".to_owned()), &[1, 2, 3])]
#[case::path_above(&|_: &Store, _| ForgetTarget::Path("/home/".to_owned()), &[1, 2, 3, 4])]
#[case::transcripts(&|_: &Store, _| ForgetTarget::Path("/home/ada/.claude".to_owned()), &[1, 2, 3, 4])]
#[case::matching(&|_: &Store, _| ForgetTarget::Matching("Gammas".to_owned()), &[2, 3])]
#[case::matching_all_words(&|_: &Store, _| ForgetTarget::Matching("gamma beta".to_owned()), &[2])]
#[case::matching_nothing(&|_: &Store, _| ForgetTarget::Matching("\"'()".to_owned()), &[])]
#[case::all(&|_: &Store, _| ForgetTarget::All, &[1, 2, 3, 4])]
#[case::after(&|_: &Store, _| ForgetTarget::After(UnixMillis(3_000)), &[3, 4])]
#[case::before(&|_: &Store, _| ForgetTarget::Before(UnixMillis(3_000)), &[1, 2])]
#[case::between(&|_: &Store, _| all_of(&[ForgetTarget::After(UnixMillis(2_000)), ForgetTarget::Before(UnixMillis(4_000))]), &[2, 3])]
#[case::words_in_a_session(&|_: &Store, _| all_of(&[ForgetTarget::Matching("gamma".to_owned()), session_target("t")]), &[3])]
#[case::project_before(&|_: &Store, project| all_of(&[ForgetTarget::Project(project), ForgetTarget::Before(UnixMillis(1_000))]), &[])]
#[case::three(&|_: &Store, _| all_of(&[session_target("s"), ForgetTarget::Path("/home/ada/engine".to_owned()), ForgetTarget::After(UnixMillis(1_001))]), &[2])]
#[case::all_of_nothing(&|_: &Store, _| all_of(&[]), &[])]
fn targets_name_turns(#[case] target: &dyn Fn(&Store, crate::ProjectId) -> ForgetTarget, #[case] expected: &[u8]) {
    check(target, expected);
}

#[rstest]
#[case::unknown("ffffffff")]
#[case::too_short("a")]
#[case::empty("")]
#[case::no_uid("; DROP")]
fn an_episode_has_to_be_named_exactly(#[case] prefix: &str) {
    let mut store = Store::new();
    store.fill(&["one"]);
    let error = store
        .writer
        .forget(&ForgetTarget::Episode(prefix.to_owned()), UnixMillis(1))
        .expect_err("names none");
    assert!(matches!(error, QueryError::Invalid { .. }), "{error:?}");
    assert_eq!(store.reader().stats().expect("counts").episodes, 1);
}

#[test]
fn forgetting_all_leaves_no_project_and_a_working_store() {
    let mut store = Store::new();
    let project = store
        .writer
        .resolve_project(&["k".to_owned()], "secret-project", None, UnixMillis(1))
        .expect("resolves");
    store
        .writer
        .ingest(&batch(vec![in_project(turn(1, "s", &["one"]), project)]))
        .expect("stores");
    store.embed();
    store.writer.forget(&ForgetTarget::All, UnixMillis(2)).expect("forgets");
    assert!(!on_disk(&store, "secret-project"));
    assert_eq!(store.reader().project_by_key("k").expect("reads"), None);
    store.writer.ingest(&batch(vec![turn(2, "s", &["two"])])).expect("stores");
    assert_eq!(store.embed(), [store.id(2, 0)]);
    assert_eq!(store.found("two"), [store.id(2, 0)]);
}

#[test]
fn counts_of_terms_leave_the_deleted_out() {
    let mut store = Store::new();
    store.fill(&["common rare", "common", "common other"]);
    let terms = ["common".to_owned(), "rare".to_owned()];
    assert_eq!(store.reader().document_frequency(&terms).expect("counts"), [3, 1]);
    store.writer.ingest(&batch(vec![turn(0, "s", &["changed"])])).expect("stores");
    let expression = MatchExpression::any_of(&terms, Scope::All).expect("has terms");
    assert_eq!(
        store
            .reader()
            .bm25(&expression, FieldWeights::EQUAL, 9)
            .expect("searches")
            .hits
            .len(),
        2
    );
    assert_eq!(store.reader().document_frequency(&terms).expect("counts"), [2, 0]);
    assert_eq!(store.reader().indexed_episodes().expect("counts"), 3);
    assert_eq!(store.reader().embedding_backlog(MODEL, 9).expect("reads").len(), 3);
}

#[test]
fn hidden_episodes_are_forgotten_too() {
    let mut store = Store::new();
    store.fill(&[SECRET, "other"]);
    store.writer.exclude_path("/home/ada", UnixMillis(1)).expect("excludes");
    let forgotten = store
        .writer
        .forget(&ForgetTarget::Matching(SECRET.to_owned()), UnixMillis(2))
        .expect("forgets");
    assert_eq!(forgotten.turn_uids, [turn_uid(0)]);
    assert!(!on_disk(&store, SECRET));
}

/// A pass that stores turns of a session and its title.
fn titled(session_id: &str, turns: Vec<crate::TurnUpsert>) -> crate::IngestBatch {
    let mut pass = batch(turns);
    pass.sessions.push(SessionUpdate {
        session: session(session_id),
        title: Some(format!("About {SECRET}")),
        compacted_at: None,
        started_at: None,
    });
    pass
}

#[test]
fn a_title_does_not_come_back_where_one_of_several_turns_was_forgotten() {
    let mut store = Store::new();
    let (secret, other) = (turn(1, "s", &[SECRET]), turn(2, "s", &["other"]));
    let both = titled("s", vec![secret.clone(), other.clone()]);
    store.writer.ingest(&both).expect("stores");
    let target = ForgetTarget::Matching(SECRET.to_owned());
    store.writer.forget(&target, UnixMillis(5)).expect("forgets");
    assert!(!on_disk(&store, SECRET));
    // The transcript is read on, and read again, and its fork is read.
    store
        .writer
        .ingest(&titled("s", vec![turn(3, "s", &["more"])]))
        .expect("stores");
    store.writer.ingest(&both).expect("stores");
    let mut fork = vec![secret, other];
    for turn in &mut fork {
        turn.session = session("fork");
    }
    fork.push(turn(4, "fork", &["of its own"]));
    store.writer.ingest(&titled("fork", fork)).expect("stores");
    store.writer.checkpoint().expect("checkpoints");
    assert_eq!(store.reader().stats().expect("counts").episodes, 3);
    assert!(!on_disk(&store, SECRET));
}

#[test]
fn a_store_made_anew_with_the_old_tombstones_has_nothing_of_the_forgotten() {
    let mut store = Store::new();
    store
        .writer
        .restore_tombstones(&[turn_uid(1)], UnixMillis(1))
        .expect("restores");
    // The title is read before the turn that it tells of.
    store
        .writer
        .ingest(&titled("s", vec![turn(2, "s", &["other"])]))
        .expect("stores");
    store
        .writer
        .ingest(&titled("s", vec![turn(1, "s", &[SECRET])]))
        .expect("stores");
    store.writer.checkpoint().expect("checkpoints");
    assert!(!on_disk(&store, SECRET));
    assert_eq!(store.reader().stats().expect("counts").episodes, 1);
}

#[test]
fn what_a_session_shares_with_another_is_forgotten_with_either() {
    for forgotten in ["original", "fork"] {
        let mut store = Store::new();
        let shared = turn(1, "original", &[SECRET]);
        let copy = crate::TurnUpsert {
            session: session("fork"),
            ..shared.clone()
        };
        store.writer.ingest(&titled("original", vec![shared])).expect("stores");
        let outcome = store
            .writer
            .ingest(&titled("fork", vec![copy, turn(2, "fork", &["other"])]))
            .expect("stores");
        assert_eq!((outcome.copies, outcome.added), (1, 1));
        store
            .writer
            .forget(&session_target(forgotten), UnixMillis(5))
            .expect("forgets");
        assert!(!on_disk(&store, SECRET), "by the session {forgotten}");
    }
}

#[test]
fn the_whole_turns_are_told_beforehand_newest_first() {
    let mut store = Store::new();
    let turns = vec![turn(1, "s", &["alpha", "beta"]), turn(2, "t", &["beta", "gamma"])];
    store.writer.ingest(&batch(turns)).expect("stores");
    let told = |target: &ForgetTarget| -> Vec<_> {
        let found = store.reader().turns_of(target).expect("finds");
        found.iter().map(|episode| (episode.turn_uid.0[0], episode.part)).collect()
    };
    assert_eq!(
        told(&ForgetTarget::Matching("beta".to_owned())),
        [(2, 0), (2, 1), (1, 0), (1, 1)]
    );
    assert_eq!(told(&ForgetTarget::Matching("alpha".to_owned())), [(1, 0), (1, 1)]);
}

#[test]
fn what_a_kill_left_undone_is_done_later() {
    let mut store = Store::new();
    store.fill(&[SECRET, "other"]);
    store.embed();
    store.writer.checkpoint().expect("checkpoints");
    let copy = crate::copy::before_migration(&store.path, 3);
    store.copy_to(&copy);
    assert!(store.writer.finish_forgetting().expect("finishes"), "nothing to do");
    assert!(copy.exists(), "so nothing is removed");
    // As far as the commit, and no further.
    store
        .writer
        .remove_for_good(&ForgetTarget::Matching(SECRET.to_owned()), UnixMillis(5))
        .expect("removes");
    assert!(on_disk(&store, SECRET), "the copy still holds it");
    drop(store.writer);
    store.writer = crate::Writer::open(&store.path).expect("opens");
    assert!(store.writer.finish_forgetting().expect("finishes"), "the opening did it");
    assert!(!on_disk(&store, SECRET) && !on_disk(&store, &SECRET[..8]));
    assert_eq!(store.reader().stats().expect("counts").episodes, 1);
}
