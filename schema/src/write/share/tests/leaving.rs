//! What leaves, and what comes of it: before all else, of this machine or of all, and again where the shared store refused or lost it.

use super::*;
use crate::{Writer, backup_path, restore, set_aside_and_rebuild};

#[test]
fn what_is_to_leave_goes_before_all_that_is_to_come() {
    let mut store = sharing(&["*"]);
    for number in 1..=4 {
        store_turn(&mut store, number, &["quokka"]);
    }
    drain(&mut store);
    for number in 10..=40 {
        store_turn(&mut store, number, &["numbat"]);
    }
    store.writer.retire(&[turn_uid(1)], NOW).expect("retires");
    forget_turn(&mut store, 2);
    let page = store.reader().next_to_push(3, false).expect("reads");
    assert_eq!((page.withdraw, page.forget), (vec![uid(1, 0)], vec![turn_uid(2)]));
    store
        .writer
        .set_sharing(Some(&setup(&["nothing"])), machine(1))
        .expect("sets");
    let paused = store.reader().next_to_push(100, true).expect("reads");
    assert_eq!(sorted(paused.withdraw), sorted([uid(1, 0), uid(3, 0), uid(4, 0)]));
    assert_eq!((paused.forget, paused.entries.len()), (vec![turn_uid(2)], 5));
}

#[test]
fn what_another_member_took_back_is_free_for_who_has_it_too() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    store_turn(&mut store, 2, &["numbat"]);
    // The shared store refuses both: they are Bob's.
    drain(&mut store);
    apply(
        &mut store,
        vec![withdrawn(1, uid(1, 0)), forgotten(2, 2, BOB), withdrawn(3, uid(9, 0))],
    );
    assert_eq!(pushed(&drain(&mut store)), sorted([uid(1, 0), uid(2, 0)]));
}

#[test]
fn what_one_s_member_took_back_stays_there_until_it_is_touched_or_all_is_told() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    store_turn(&mut store, 2, &["numbat"]);
    drain(&mut store);
    apply(&mut store, vec![taken_back(1, 1, 0), taken_back(2, 2, 0)]);
    assert!(next(&store).entries.is_empty());
    assert_eq!(store.reader().share_state().expect("reads").expect("shares").pushed, 0);
    store.writer.retire(&[turn_uid(2)], NOW).expect("retires");
    assert!(drain(&mut store).is_empty(), "it is not there");
    store.writer.enqueue_all().expect("looks again");
    assert_eq!(pushed(&drain(&mut store)), [uid(1, 0)], "as where the shared store went back");
}

#[test]
fn a_shared_store_that_went_back_is_told_all_again() {
    let mut store = sharing(&["*"]);
    for number in 1..=3 {
        store_turn(&mut store, number, &["quokka"]);
    }
    drain(&mut store);
    apply(&mut store, vec![live(4, from(BOB, 9), &of_bob(&[(5, "wombat")])[0])]);
    store.writer.retire(&[turn_uid(1)], NOW).expect("retires");
    forget_turn(&mut store, 2);
    drain(&mut store);
    let asked_before = page(&store, Vec::new());
    let gone = store.writer.begin_again().expect("begins anew");
    assert_eq!((gone.len(), origins(&store, "wombat").len()), (1, 0), "it is asked for again");
    let told = drain(&mut store);
    assert_eq!(
        (pushed(&told), told.withdraw, told.forget),
        (vec![uid(3, 0)], vec![uid(1, 0)], vec![turn_uid(2)])
    );
    let place = store.reader().share_place().expect("reads").expect("shares");
    assert_eq!((place.cursor, place.machine), (0, machine(1)));
    assert!(store.writer.apply_pulled(&asked_before, NOW).expect("is told").stale);
    assert_sound(&store);
}

#[test]
fn a_fact_that_was_never_shared_is_forgotten_without_a_word() {
    let mut store = sharing(&["example.org/acme/*"]);
    let names = |key: &str| crate::ProjectNames {
        keys: vec![key.to_owned()],
        name: "app".to_owned(),
        root: None,
    };
    let remember = |store: &mut Store, text: &str, key: &str| {
        let said = store.writer.remember(text, None, &names(key), NOW).expect("remembers");
        let found = store.reader().find_episode(&said.episode.to_string()).expect("reads");
        found[0].turn_uid
    };
    let private = remember(&mut store, "the code is 4711", OTHER);
    let shared = remember(&mut store, "amounts are cents", APP);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    for turn in [private, shared, turn_uid(1)] {
        let target = ForgetTarget::Episode(EpisodeUid::of(&turn, 0).to_string());
        store.writer.forget(&target, NOW).expect("forgets");
    }
    let mut expected = vec![shared, turn_uid(1)];
    expected.sort_unstable();
    let told = |store: &mut Store| {
        let mut page = drain(store);
        page.forget.sort_unstable();
        assert!(page.withdraw.is_empty() && page.withdraw_everywhere.is_empty());
        page.forget
    };
    assert_eq!(told(&mut store), expected);
    store.writer.enqueue_all().expect("looks again");
    assert_eq!(told(&mut store), expected);
    // Nor by the database that comes in its place.
    let path = store.path.clone();
    store.writer.close().expect("closes");
    set_aside_and_rebuild(&path, NOW, "a test says so").expect("is made anew");
    store.writer = Writer::open(&path).expect("opens");
    share(&mut store, &["example.org/acme/*"], 3);
    assert_eq!(told(&mut store), expected);
}

#[test]
fn what_others_forgot_since_a_copy_was_made_stays_forgotten_when_it_is_put_back() {
    let mut store = sharing(&["*"]);
    let bob = of_bob(&[(5, "wombat"), (6, "numbat")]);
    apply(
        &mut store,
        vec![live(1, from(BOB, 9), &bob[0]), live(2, from(BOB, 9), &bob[1])],
    );
    // Where nothing cleans it.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let copy = elsewhere.path().join("copy.db");
    store.copy_to(&copy);
    apply(&mut store, vec![forgotten(3, 5, BOB)]);
    let path = store.path.clone();
    store.writer.close().expect("closes");
    restore(&path, &copy, "now").expect("restores");
    store.writer = Writer::open(&path).expect("opens");
    assert!(store.found("wombat").is_empty());
    assert_eq!(store.found("numbat").len(), 1);
    assert_sound(&store);
}

#[test]
fn what_is_read_row_by_row_still_knows_what_it_was_called() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    let lost = drain(&mut store).live.remove(0);
    let path = store.path.clone();
    store.writer.close().expect("closes");
    let db = rusqlite::Connection::open(&path).expect("opens");
    db.pragma_update(None, "foreign_keys", false).expect("sets");
    db.execute_batch("UPDATE episodes SET project_id = 99").expect("spoils");
    drop(db);
    let recovery = set_aside_and_rebuild(&path, NOW, "a test says so").expect("is made anew");
    assert!(!recovery.whole);
    store.writer = Writer::open(&path).expect("opens");
    share(&mut store, &["nothing"], 3);
    apply(&mut store, vec![live(1, from(ADA, 1), &lost)]);
    assert_eq!(origins(&store, "quokka"), [None], "it is no copy of another machine's");
    assert_eq!(
        drain(&mut store).withdraw_everywhere,
        [uid(1, 0)],
        "what it had shared is withdrawn"
    );
}

#[test]
fn a_path_by_which_nothing_more_is_allowed_has_nothing_told_again() {
    let mut store = sharing(&["example.org/acme/*", "/srv/[a]?*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    let add = |store: &mut Store, keys: &[&str]| {
        let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
        store.writer.resolve_project(&keys, "app", Some("/x"), NOW).expect("resolves");
        next(store).entries.len()
    };
    assert_eq!(
        add(&mut store, &[APP, "cwd:/elsewhere", "git:/srv/[a]?b"]),
        0,
        "it is allowed already"
    );
    assert_eq!(add(&mut store, &[APP, "root:1f0c9a"]), 1, "it is told to others");
    unshared(&mut store, 2, "cwd:/home/ada/tool");
    drain(&mut store);
    assert_eq!(add(&mut store, &["cwd:/home/ada/tool", "cwd:/srv/ab"]), 0, "no glob says so");
    assert_eq!(add(&mut store, &["cwd:/home/ada/tool", "git:/srv/[a]?c"]), 1);
    assert_eq!(pushed(&drain(&mut store)), [uid(2, 0)]);
}

#[test]
fn what_one_forgot_elsewhere_and_is_not_here_costs_nothing_and_pages_wait_for_the_last() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    let backup = backup_path(&store.path, "2026-11-04T000000Z", false);
    store.copy_to(&backup);
    // A backup that holds it goes.
    let holds = |path: &std::path::Path| fs_err::read(path).is_ok_and(|bytes| bytes.windows(6).any(|window| window == b"quokka"));
    let unknown = apply(&mut store, vec![forgotten(1, 9, ADA)]);
    assert_eq!((unknown.forgotten_own.len(), unknown.unscrubbed), (1, false));
    let more = |store: &mut Store, changes| {
        let page = PulledPage {
            head: 99,
            ..page(store, changes)
        };
        store.writer.apply_pulled(&page, NOW).expect("applies").unscrubbed
    };
    assert!(!more(&mut store, vec![forgotten(2, 1, ADA)]), "there is more to come");
    assert!(holds(&backup));
    assert!(
        !more(&mut store, vec![withdrawn(3, uid(7, 0))]),
        "which is known though nothing more goes"
    );
    // Nor is it lost where the program ends meanwhile, and the last page holds nothing but its end.
    let path = store.path.clone();
    store.writer.close().expect("closes");
    store.writer = Writer::open(&path).expect("opens");
    assert!(apply(&mut store, Vec::new()).unscrubbed);
    assert!(store.writer.finish_forgetting().expect("cleans up"));
    assert!(!holds(&backup) && !holds(&store.path));
    assert!(!apply(&mut store, Vec::new()).unscrubbed, "once");
}
