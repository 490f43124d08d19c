//! Lists of turns: their order, their pages, and what narrows them.

use rstest::rstest;

use crate::testing::{Store, batch, in_project, turn, turn_uid};
use crate::{EpisodeFilter, Origin, ProjectId, TurnPlace, TurnRow, UnixMillis};

/// Two projects, two agents; turn 4 has three parts, turns 5 and 6 began at the same moment.
fn store() -> (Store, ProjectId) {
    let mut store = Store::new();
    let keys = ["k".to_owned()];
    let project = store
        .writer
        .resolve_project(&keys, "engine", None, UnixMillis(1))
        .expect("resolves");
    let mut other_agent = in_project(turn(3, "c", &["three"]), project);
    other_agent.session.agent = "codex".to_owned();
    let mut six = turn(6, "t", &["six"]);
    six.episodes[0].created_at = UnixMillis(5_000);
    let turns = vec![
        in_project(turn(1, "s", &["one"]), project),
        turn(2, "s", &["two"]),
        other_agent,
        in_project(turn(4, "s", &["four", "", ""]), project),
        in_project(turn(5, "t", &[""]), project),
        six,
    ];
    store.writer.ingest(&batch(turns)).expect("stores");
    (store, project)
}

fn asked(turns: &[TurnRow]) -> Vec<&str> {
    turns.iter().map(|turn| turn.prompt.as_str()).collect()
}

#[test]
fn turns_are_listed_once_each_with_what_tells_them() {
    let (store, _) = store();
    let turns = store
        .reader()
        .older_turns(&EpisodeFilter::default(), TurnPlace::LAST, 9)
        .expect("lists");
    assert_eq!(asked(&turns), ["six", "", "four", "three", "two", "one"]);
    assert_eq!(turns[1].answer.as_deref(), Some("done"), "nothing was asked");
    assert_eq!((turns[2].parts, turns[2].answer.as_deref()), (3, None));
    assert_eq!(
        (turns[2].uid, turns[2].turn_uid, turns[2].place.id),
        (crate::EpisodeUid::of(&turn_uid(4), 0), turn_uid(4), store.id(4, 0))
    );
    assert_eq!(
        (turns[3].session.agent.as_str(), turns[3].project_name.as_deref()),
        ("codex", Some("engine"))
    );
    assert_eq!(
        (turns[4].origin, turns[4].hidden, turns[4].project_name.as_deref()),
        (Origin::User, false, None)
    );
}

#[rstest]
#[case::all(None)]
#[case::of_an_agent(Some("claude-code"))]
fn pages_are_the_whole_whichever_way_they_are_read(#[case] agent: Option<&str>) {
    let (store, project) = store();
    let reader = store.reader();
    for project in [None, Some(project)] {
        let filter = EpisodeFilter {
            project,
            agent: agent.map(str::to_owned),
            ..EpisodeFilter::default()
        };
        let mut whole = reader.older_turns(&filter, TurnPlace::LAST, 99).expect("lists");
        assert!(whole.len() >= 3);
        for page in 1..=3 {
            let (mut backward, mut place) = (Vec::new(), TurnPlace::LAST);
            loop {
                let turns = reader.older_turns(&filter, place, page).expect("lists");
                let Some(last) = turns.last() else { break };
                place = last.place;
                backward.extend(turns);
            }
            assert_eq!(backward, whole, "pages of {page}");
            let (mut forward, mut place) = (Vec::new(), TurnPlace::FIRST);
            loop {
                let turns = reader.newer_turns(&filter, place, page).expect("lists");
                let Some(last) = turns.last() else { break };
                place = last.place;
                forward.extend(turns);
            }
            whole.reverse();
            assert_eq!(forward, whole, "pages of {page}");
            whole.reverse();
        }
    }
}

#[rstest]
#[case::since(Some(4_000), None, &["six", "", "four"])]
#[case::until(None, Some(3_000), &["two", "one"])]
#[case::between(Some(2_000), Some(4_000), &["three", "two"])]
#[case::never(Some(9_000), None, &[])]
fn times_take_their_first_moment_and_not_their_last(
    #[case] since: Option<i64>,
    #[case] until: Option<i64>,
    #[case] expected: &[&str],
) {
    let (store, _) = store();
    let filter = EpisodeFilter {
        since: since.map(UnixMillis),
        until: until.map(UnixMillis),
        ..EpisodeFilter::default()
    };
    let reader = store.reader();
    let mut turns = reader.older_turns(&filter, TurnPlace::LAST, 9).expect("lists");
    assert_eq!(asked(&turns), expected);
    let forward = reader.newer_turns(&filter, TurnPlace::FIRST, 9).expect("lists");
    turns.reverse();
    assert_eq!(forward, turns);
}

#[test]
fn what_narrows_narrows_together() {
    let (store, project) = store();
    let listed = |project: Option<ProjectId>, agent: &str| {
        let filter = EpisodeFilter {
            project,
            agent: Some(agent.to_owned()),
            ..EpisodeFilter::default()
        };
        let turns = store.reader().older_turns(&filter, TurnPlace::LAST, 9).expect("lists");
        asked(&turns).iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(Some(project), "codex"), ["three"]);
    assert_eq!(listed(Some(project), "claude-code"), ["", "four", "one"]);
    assert_eq!(listed(None, "amp"), Vec::<String>::new());
}

#[test]
fn hidden_turns_are_listed_as_such() {
    let (mut store, _) = store();
    store.writer.exclude_path("/home/ada", UnixMillis(1)).expect("excludes");
    let turns = store
        .reader()
        .older_turns(&EpisodeFilter::default(), TurnPlace::LAST, 9)
        .expect("lists");
    assert!(turns.len() == 6 && turns.iter().all(|turn| turn.hidden));
}

#[test]
fn a_set_of_episodes_holds_what_a_filter_takes() {
    let (store, project) = store();
    let reader = store.reader();
    let held = |filter: EpisodeFilter| {
        let within = reader.episodes_within(&filter).expect("reads");
        let all = [(1, 0), (2, 0), (3, 0), (4, 0), (4, 1), (4, 2), (5, 0), (6, 0)];
        all.into_iter()
            .filter(|(turn, part)| within.contains(store.id(*turn, *part)))
            .collect::<Vec<_>>()
    };
    let open = EpisodeFilter::default();
    assert!(open.is_open());
    assert_eq!(held(open.clone()).len(), 8);
    let of_project = EpisodeFilter {
        project: Some(project),
        since: Some(UnixMillis(4_000)),
        ..open.clone()
    };
    assert_eq!(held(of_project), [(4, 0), (4, 1), (4, 2), (5, 0)]);
    let of_agent = EpisodeFilter {
        agent: Some("codex".to_owned()),
        ..open
    };
    assert_eq!(held(of_agent), [(3, 0)]);
    let nobody = EpisodeFilter {
        agent: Some("amp".to_owned()),
        ..EpisodeFilter::default()
    };
    assert!(!reader.episodes_within(&nobody).expect("reads").contains(crate::EpisodeId(-1)));
}
