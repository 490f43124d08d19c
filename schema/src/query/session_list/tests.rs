//! Lists of sessions: the order of their last turns, their pages, and what is told of each.

use crate::testing::{Store, batch, in_project, session, turn};
use crate::{EpisodeFilter, ProjectId, SessionRow, TurnPlace, UnixMillis};

/// Session `a` has turns 1 and 6, `b` turn 2 and, in the project, 3; `c`, another agent's, turns 4 and 5.
fn store() -> (Store, ProjectId) {
    let mut store = Store::new();
    let keys = ["k".to_owned()];
    let project = store
        .writer
        .resolve_project(&keys, "engine", None, UnixMillis(1))
        .expect("resolves");
    let of_codex = |number: u8, prompts: &[&str]| {
        let mut turn = turn(number, "c", prompts);
        turn.session.agent = "codex".to_owned();
        turn
    };
    let turns = vec![
        turn(1, "a", &["first of a"]),
        turn(2, "b", &[""]),
        in_project(turn(3, "b", &["second of b", ""]), project),
        of_codex(4, &["first of c"]),
        of_codex(5, &["second of c"]),
        turn(6, "a", &["last of a", "", ""]),
    ];
    store.writer.ingest(&batch(turns)).expect("stores");
    (store, project)
}

fn listed(store: &Store, filter: &EpisodeFilter) -> Vec<SessionRow> {
    store.reader().sessions_before(filter, TurnPlace::LAST, 9).expect("lists")
}

fn ids(sessions: &[SessionRow]) -> Vec<&str> {
    sessions.iter().map(|session| session.session.external_id.as_str()).collect()
}

#[test]
fn the_session_last_at_work_comes_first_and_each_comes_once() {
    let (store, _) = store();
    let sessions = listed(&store, &EpisodeFilter::default());
    assert_eq!(ids(&sessions), ["a", "c", "b"]);
    let a = &sessions[0];
    assert_eq!(
        (a.begin, a.end, a.turns, a.hidden),
        (UnixMillis(1_000), UnixMillis(6_000), 2, false)
    );
    assert_eq!((a.first_prompt.as_deref(), a.last.id), (Some("first of a"), store.id(6, 0)));
    assert_eq!(
        (sessions[1].session.agent.as_str(), sessions[1].project_name.as_deref()),
        ("codex", None)
    );
    let b = &sessions[2];
    assert_eq!(
        (b.first_prompt.as_deref(), b.project_name.as_deref(), b.turns),
        (Some("second of b"), Some("engine"), 2),
        "the first that was asked, the project of its last turn"
    );
}

#[test]
fn pages_of_one_are_the_whole() {
    let (store, _) = store();
    let (mut read, mut place) = (Vec::new(), TurnPlace::LAST);
    loop {
        let page = store
            .reader()
            .sessions_before(&EpisodeFilter::default(), place, 1)
            .expect("lists");
        let Some(session) = page.into_iter().next() else { break };
        place = session.last;
        read.push(session);
    }
    assert_eq!(read, listed(&store, &EpisodeFilter::default()));
}

#[test]
fn what_narrows_chooses_sessions_by_their_turns() {
    let (store, project) = store();
    let narrowed = |filter: EpisodeFilter| ids(&listed(&store, &filter)).join(" ");
    let open = EpisodeFilter::default;
    assert_eq!(
        narrowed(EpisodeFilter {
            project: Some(project),
            ..open()
        }),
        "b"
    );
    assert_eq!(
        narrowed(EpisodeFilter {
            agent: Some("codex".to_owned()),
            ..open()
        }),
        "c"
    );
    assert_eq!(
        narrowed(EpisodeFilter {
            since: Some(UnixMillis(4_000)),
            ..open()
        }),
        "a c"
    );
    // By their last turn within the time: `a` began before the others.
    assert_eq!(
        narrowed(EpisodeFilter {
            until: Some(UnixMillis(5_000)),
            ..open()
        }),
        "c b a"
    );
    let nothing = EpisodeFilter {
        project: Some(project),
        until: Some(UnixMillis(3_000)),
        ..open()
    };
    assert_eq!(narrowed(nothing), "");
}

#[test]
fn a_session_that_is_hidden_whole_is_listed_as_such() {
    let (mut store, _) = store();
    let known = store.reader().session(&session("b")).expect("reads").expect("is stored");
    assert_eq!((known.turns, known.hidden, known.last.id), (2, false, store.id(3, 0)));
    store.writer.exclude_path("/home/ada", UnixMillis(1)).expect("excludes");
    assert!(listed(&store, &EpisodeFilter::default()).iter().all(|session| session.hidden));
    assert_eq!(store.reader().session(&session("z")).expect("reads"), None);
}
