//! What becomes of marks: whose machine shares something no more, and what that says of this one.

use super::*;

#[test]
fn what_another_machine_of_one_s_own_shares_no_more_this_one_shares_on() {
    // By another machine, by the team's taking one out of it and in again, by all of one's own, by itself.
    for (by, again) in [(7, true), (0xFF, true), (0, false), (1, false)] {
        let mut store = sharing(&["*"]);
        store_turn(&mut store, 1, &["quokka"]);
        drain(&mut store);
        apply(&mut store, vec![taken_back(1, 1, by)]);
        let expected = if again { vec![uid(1, 0)] } else { Vec::new() };
        assert_eq!(pushed(&drain(&mut store)), expected, "by machine {by}");
        let state = store.reader().share_state().expect("reads").expect("shares");
        assert_eq!(state.pushed, u64::from(again), "by machine {by}");
        assert!(next(&store).entries.is_empty());
    }
}

#[test]
fn what_this_one_does_not_share_stays_taken_back() {
    // Kept out here.
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    store.writer.exclude_path("/home/ada/app", NOW).expect("excludes");
    apply(&mut store, vec![taken_back(1, 1, 7)]);
    assert!(drain(&mut store).is_empty());
    // Never told from here.
    let mut store = sharing(&["nothing"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    apply(&mut store, vec![taken_back(1, 1, 7)]);
    assert!(next(&store).entries.is_empty());
    // Not allowed any more.
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    store
        .writer
        .set_sharing(Some(&setup(&["nothing"])), machine(1))
        .expect("sets");
    apply(&mut store, vec![taken_back(1, 1, 7)]);
    assert!(drain(&mut store).is_empty());
    // Taken back from all before.
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    apply(&mut store, vec![taken_back(1, 1, 0), taken_back(2, 1, 7)]);
    assert!(next(&store).entries.is_empty());
}

#[test]
fn a_copy_of_one_s_other_machine_goes_with_its_mark() {
    let mut store = sharing(&["*"]);
    let mut elsewhere = of_bob(&[(5, "wombat")]);
    apply(&mut store, vec![live(1, from(ADA, 7), &elsewhere.remove(0))]);
    assert_eq!(changes(&apply(&mut store, vec![taken_back(2, 5, 7)])), [0, 0, 1]);
    assert!(store.found("wombat").is_empty() && next(&store).entries.is_empty());
}

#[test]
fn what_was_forgotten_untold_is_told_where_it_turns_out_to_be() {
    let mut store = sharing(&["*"]);
    let names = crate::ProjectNames {
        keys: vec![APP.to_owned()],
        name: "app".to_owned(),
        root: None,
    };
    store
        .writer
        .remember("amounts are cents", None, &names, NOW)
        .expect("remembers");
    // As it was told by a database in whose place this one came.
    let fact = next(&store).live.remove(0);
    let target = ForgetTarget::Episode(fact.episode.uid.to_string());
    store.writer.forget(&target, NOW).expect("forgets");
    assert!(drain(&mut store).is_empty(), "nobody has it");
    store.writer.renew_machine(machine(2)).expect("renames");
    assert!(drain(&mut store).is_empty());
    assert_eq!(changes(&apply(&mut store, vec![live(1, from(ADA, 1), &fact)])), [0; 3]);
    assert_eq!(drain(&mut store).forget, [fact.episode.turn_uid]);
    assert!(next(&store).entries.is_empty());
}

#[test]
fn who_leaves_keeps_nothing_of_others_and_takes_it_again_once_it_goes_on() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    store_turn(&mut store, 2, &["numbat"]);
    drain(&mut store);
    let bob = of_bob(&[(5, "wombat"), (6, "bilby")]);
    let stored = apply(&mut store, vec![live(1, from(BOB, 9), &bob[0])]).stored;
    assert_eq!(store.writer.leave_sharing().expect("leaves"), stored);
    assert!(store.found("wombat").is_empty());
    assert_eq!(store.found("quokka").len(), 1);
    let state = store.reader().share_state().expect("reads").expect("shares");
    assert_eq!((state.paused, state.pushed, state.pulled), (true, 2, 0));
    assert!(state.has_left);
    // What is new, or becomes other, is told to nobody.
    store_turn(&mut store, 3, &["potoroo"]);
    store_turn(&mut store, 1, &["quokka, and more"]);
    forget_turn(&mut store, 2);
    let mut leaves = store.reader().next_to_push(10, true).expect("reads");
    let sent = store.writer.pushing(&mut leaves).expect("notes");
    store.writer.pushed(&sent).expect("notes");
    assert_eq!(
        (leaves.withdraw, leaves.forget),
        (vec![uid(1, 0)], vec![turn_uid(2)]),
        "what it shared is withdrawn, of this machine"
    );
    let state = store.reader().share_state().expect("reads").expect("shares");
    assert_eq!(state.pushed, 0);
    assert!(store.reader().next_to_push(10, true).expect("reads").is_empty());
    let meanwhile = apply(&mut store, vec![live(2, from(BOB, 9), &bob[1])]);
    assert_eq!((changes(&meanwhile), meanwhile.cursor), ([0; 3], 2));
    store.writer.pause_sharing(false).expect("goes on");
    let place = store.reader().share_place().expect("reads").expect("shares");
    assert_eq!((place.cursor, place.paused), (0, false));
    assert!(!store.reader().share_state().expect("reads").expect("shares").has_left);
    let again = apply(
        &mut store,
        vec![live(1, from(BOB, 9), &bob[0]), live(2, from(BOB, 9), &bob[1])],
    );
    assert_eq!(again.stored.len(), 2);
    assert_eq!(pushed(&drain(&mut store)), sorted([uid(1, 0), uid(3, 0)]), "and shares again");
}

#[test]
fn to_leave_where_nothing_is_shared_does_nothing() {
    let mut store = Store::new();
    assert!(store.writer.leave_sharing().expect("does nothing").is_empty());
    assert_eq!(store.reader().share_state().expect("reads"), None);
}

#[test]
fn what_is_shared_is_told_once_more_and_what_was_taken_back_is_not() {
    let mut store = sharing(&["*"]);
    for number in 1..=3 {
        store_turn(&mut store, number, &["quokka"]);
    }
    drain(&mut store);
    apply(&mut store, vec![taken_back(1, 1, 0)]);
    // One waits already, urgently, and one was never shared.
    forget_turn(&mut store, 2);
    store_turn(&mut store, 4, &["wombat"]);
    store.writer.enqueue_shared().expect("looks again");
    let page = next(&store);
    assert_eq!(pushed(&page), sorted([uid(3, 0), uid(4, 0)]));
    assert_eq!(page.forget, [turn_uid(2)]);
    let removals = store.reader().next_to_push(500, true).expect("reads");
    assert_eq!(removals.forget, [turn_uid(2)], "it is urgent still");
    assert_sound(&store);
    store.writer.set_sharing(None, [0; 16]).expect("stops");
    store.writer.enqueue_shared().expect("looks again");
    assert_sound(&store);
}
