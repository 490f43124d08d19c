//! Teams that are left and named again, what the shared store said of itself, and which projects may be shared.

use super::*;
use crate::{FormerTeam, ProjectNames, ProjectToShare, ShareState, Writer, restore};

pub(super) const FIRST: &str = "db.example.org/shared/team";
pub(super) const SECOND: &str = "db.example.org/shared/another";

pub(super) fn name_team(store: &mut Store, team: &str, globs: &[&str]) -> ShareState {
    let setup = ShareSetup {
        team_key: team.to_owned(),
        ..setup(globs)
    };
    store.writer.set_sharing(Some(&setup), machine(1)).expect("sets")
}

pub(super) fn former(team: &str, pushed: u64) -> FormerTeam {
    FormerTeam {
        team_key: team.to_owned(),
        pushed,
    }
}

pub(super) fn remember(store: &mut Store, text: &str) -> crate::TurnUid {
    let names = ProjectNames {
        keys: vec![APP.to_owned()],
        name: "app".to_owned(),
        root: None,
    };
    let said = store.writer.remember(text, None, &names, NOW).expect("remembers");
    let found = store.reader().find_episode(&said.episode.to_string()).expect("reads");
    found[0].turn_uid
}

#[test]
fn what_is_at_a_team_that_was_left_stays_known_and_is_told_once_it_is_named_again() {
    let mut store = sharing(&["*"]);
    for number in 1..=4 {
        store_turn(&mut store, number, &["quokka"]);
    }
    drain(&mut store);
    apply(&mut store, vec![taken_back(1, 4, 0)]);
    let state = name_team(&mut store, SECOND, &["*"]);
    assert_eq!(
        (state.pushed, state.former),
        (0, vec![former(FIRST, 3)]),
        "the fourth is not there"
    );
    assert_eq!(drain(&mut store).live.len(), 4);
    forget_turn(&mut store, 1);
    store.writer.retire(&[turn_uid(2)], NOW).expect("retires");
    drain(&mut store);

    let state = name_team(&mut store, FIRST, &["*"]);
    assert_eq!(
        (state.pushed, state.former),
        (4, vec![former(SECOND, 2)]),
        "the fourth may be there again"
    );
    let told = drain(&mut store);
    assert_eq!(
        (pushed(&told), told.withdraw, told.forget),
        (sorted([uid(3, 0), uid(4, 0)]), vec![uid(2, 0)], vec![turn_uid(1)])
    );
    assert!(next(&store).entries.is_empty());
    let state = store.reader().share_state().expect("reads").expect("shares");
    assert_eq!(state.by_project, [("app".to_owned(), 2, 0)]);
    assert_sound(&store);
}

#[test]
fn a_fact_that_one_team_has_is_forgotten_there_and_no_other_is_told() {
    let mut store = sharing(&["*"]);
    let fact = remember(&mut store, "amounts are cents");
    drain(&mut store);
    name_team(&mut store, SECOND, &["nothing"]);
    let target = ForgetTarget::Episode(EpisodeUid::of(&fact, 0).to_string());
    store.writer.forget(&target, NOW).expect("forgets");
    assert!(drain(&mut store).is_empty());
    store.writer.enqueue_all().expect("looks again");
    assert!(drain(&mut store).is_empty());
    name_team(&mut store, FIRST, &["nothing"]);
    assert_eq!(drain(&mut store).forget, [fact]);
    assert!(next(&store).entries.is_empty());
    let state = name_team(&mut store, SECOND, &["nothing"]);
    assert!(state.former.is_empty(), "nothing is there any more");
    assert!(drain(&mut store).is_empty());
}

#[test]
fn a_copy_that_is_put_back_learns_of_teams_that_were_left_since() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let copy = elsewhere.path().join("copy.db");
    store.copy_to(&copy);
    drain(&mut store);
    name_team(&mut store, SECOND, &["*"]);
    let path = store.path.clone();
    store.writer.close().expect("closes");
    restore(&path, &copy, "now").expect("restores");
    store.writer = Writer::open(&path).expect("opens");
    assert_eq!(name_team(&mut store, SECOND, &["*"]).former, [former(FIRST, 1)]);
    let state = name_team(&mut store, FIRST, &["nothing"]);
    assert_eq!((state.pushed, state.former), (1, Vec::new()));
    assert_eq!(drain(&mut store).withdraw_everywhere, [uid(1, 0)]);
}

#[test]
fn what_the_shared_store_said_is_known_after_a_start_and_of_no_other_team() {
    let mut store = sharing(&["*"]);
    let said = |store: &Store| {
        let state = store.reader().share_state().expect("reads").expect("shares");
        (state.is_put_out, state.unknown_model)
    };
    assert_eq!(said(&store), (false, None));
    store.writer.note_put_out(true).expect("notes");
    store.writer.note_unknown_model(Some("tiny")).expect("notes");
    let path = store.path.clone();
    store.writer.close().expect("closes");
    store.writer = Writer::open(&path).expect("opens");
    assert_eq!(said(&store), (true, Some("tiny".to_owned())));
    let other = rusqlite::Connection::open(&path).expect("opens");
    let version = || -> i64 {
        other
            .pragma_query_value(None, "data_version", |row| row.get(0))
            .expect("reads")
    };
    let before = version();
    store.writer.note_put_out(true).expect("notes");
    store.writer.note_unknown_model(Some("tiny")).expect("notes");
    assert_eq!(version(), before, "the same is not written");
    store.writer.note_put_out(false).expect("notes");
    assert_ne!(version(), before);
    assert_eq!(said(&store), (false, Some("tiny".to_owned())));
    store.writer.note_unknown_model(None).expect("notes");
    assert_eq!(said(&store), (false, None));
    store.writer.note_put_out(true).expect("notes");
    store.writer.note_epoch("first").expect("notes");
    name_team(&mut store, SECOND, &["*"]);
    assert_eq!(said(&store), (false, None));
    assert!(
        !store.writer.note_epoch("second").expect("notes"),
        "it is another shared store"
    );
}

#[test]
fn another_life_of_the_shared_store_is_said_until_all_was_begun_anew() {
    let mut store = sharing(&["*"]);
    let note = |store: &mut Store, epoch: &str| store.writer.note_epoch(epoch).expect("notes");
    assert!(!note(&mut store, "first"), "nothing was known");
    assert!(!note(&mut store, "first"));
    assert!(note(&mut store, "second"));
    assert!(note(&mut store, "second"), "the program may have ended before it began anew");
    store.writer.begin_again().expect("begins anew");
    assert!(!note(&mut store, "second"));
    assert!(note(&mut store, "first"));
    assert!(
        !note(&mut store, "second"),
        "it was another server's word, and all is as it was"
    );
    store.writer.begin_again().expect("begins anew");
    assert!(!note(&mut store, "second"));
}

#[test]
fn projects_are_told_by_what_decides_whether_they_are_shared() {
    let mut store = sharing(&["example.org/acme/*"]);
    store_turn(&mut store, 1, &["quokka", "part two"]);
    unshared(&mut store, 2, OTHER);
    let everywhere = ProjectNames::everywhere();
    store
        .writer
        .remember("tabs are blanks", None, &everywhere, NOW)
        .expect("remembers");
    drain(&mut store);
    let mut bob = of_bob(&[(5, "wombat")]).remove(0);
    bob.episode.project_keys = vec!["url:example.org/bob/only".to_owned()];
    apply(&mut store, vec![live(1, from(BOB, 9), &bob)]);
    let globs = |globs: &[&str]| globs.iter().map(|&glob| glob.to_owned()).collect::<Vec<String>>();
    let project = |keys: &[&str], allowed, episodes, pushed| ProjectToShare {
        name: "app".to_owned(),
        keys: globs(keys),
        allowed,
        episodes,
        pushed,
        taken: 0,
    };
    let bobs = ProjectToShare {
        taken: 1,
        ..project(&["example.org/bob/only"], false, 0, 0)
    };
    let app = &["example.org/acme/app", "/home/ada/app"];
    let tool = &["example.org/other/tool", "/home/ada/elsewhere"];
    let told = store.reader().share_projects(&globs(&["example.org/acme/*"])).expect("reads");
    assert_eq!(told, [project(app, true, 2, 2), project(tool, false, 1, 0), bobs.clone()]);
    store.writer.exclude_path("/home/ada/app", NOW).expect("excludes");
    let told = store.reader().share_projects(&globs(&["/home/*/elsewhere"])).expect("reads");
    assert_eq!(
        told,
        [project(app, false, 0, 2), project(tool, true, 1, 0), bobs],
        "what is kept out is not to be seen"
    );

    let asked = globs(&[
        "example.org/ACME/*",
        "/home/ada/elsewhere",
        "exampel.org/*",
        "everywhere*",
        "example.org/bob/*",
        "*",
    ]);
    let unmatched = store.reader().unmatched_globs(&asked).expect("reads");
    assert_eq!(unmatched, globs(&["exampel.org/*", "everywhere*"]));
}

fn leave(store: &mut Store) {
    store.writer.leave_sharing().expect("leaves");
}

fn is_left(store: &Store) -> bool {
    store.reader().share_state().expect("reads").expect("shares").has_left
}

#[test]
fn that_a_team_was_left_is_known_until_one_shares_again_and_of_no_other_team() {
    let mut store = sharing(&["*"]);
    leave(&mut store);
    store.writer.pause_sharing(true).expect("pauses");
    assert!(is_left(&store), "a pause is no return");
    store.writer.set_sharing(None, [0; 16]).expect("stops");
    name_team(&mut store, FIRST, &["*"]);
    assert!(is_left(&store), "after a start with the same settings");
    store.writer.note_epoch("first").expect("notes");
    store.writer.note_put_out(false).expect("notes");
    assert!(is_left(&store));
    store.writer.pause_sharing(false).expect("goes on");
    assert!(!is_left(&store));
    leave(&mut store);
    name_team(&mut store, SECOND, &["*"]);
    assert!(!is_left(&store));
}

#[test]
fn a_team_that_was_left_and_has_taken_all_back_is_none_of_before() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    leave(&mut store);
    drain(&mut store);
    assert!(name_team(&mut store, SECOND, &["*"]).former.is_empty());
}

#[test]
fn what_is_left_where_nothing_is_shared_is_counted_unless_the_team_is_closed_to_this_member() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    let left = |store: &Store| store.reader().share_left_there().expect("reads");
    assert_eq!(left(&store), 0, "it is shared");
    store.writer.set_sharing(None, [0; 16]).expect("stops");
    assert_eq!(left(&store), 1);
    store.writer.note_put_out(true).expect("notes");
    assert_eq!(left(&store), 0);
}

#[test]
fn a_team_that_was_left_and_lets_this_member_in_no_more_is_none_of_before() {
    let former_after = |has_left: bool, is_put_out: bool| {
        let mut store = sharing(&["*"]);
        store_turn(&mut store, 1, &["quokka"]);
        drain(&mut store);
        if has_left {
            leave(&mut store);
        }
        store.writer.note_put_out(is_put_out).expect("notes");
        name_team(&mut store, SECOND, &["*"]).former
    };
    assert!(former_after(true, true).is_empty());
    assert_eq!(former_after(true, false), [former(FIRST, 1)]);
    assert_eq!(former_after(false, true), [former(FIRST, 1)]);
}
