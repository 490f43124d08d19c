//! What was taken back, and what was forgotten, stays so: whatever waits, whichever team is named, wherever the memory is put back.

use super::teams::{FIRST, SECOND, former, name_team, remember};
use super::*;
use crate::{TurnUid, Writer, restore};

fn forget_fact(store: &mut Store, fact: TurnUid) {
    let target = ForgetTarget::Episode(EpisodeUid::of(&fact, 0).to_string());
    store.writer.forget(&target, NOW).expect("forgets");
}

#[test]
fn what_waited_to_be_told_when_it_was_taken_back_is_not_told_after_that() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    store_turn(&mut store, 2, &["numbat"]);
    drain(&mut store);
    store.writer.pause_sharing(true).expect("pauses");
    store_turn(&mut store, 1, &["quokka, and more"]);
    // Another machine of one's own had told of the third.
    store_turn(&mut store, 3, &["bilby"]);
    assert_eq!(waiting(&store).len(), 2);
    apply(
        &mut store,
        vec![taken_back(1, 1, 0), taken_back(2, 2, 0), taken_back(3, 3, 0)],
    );
    store.writer.pause_sharing(false).expect("goes on");
    assert!(next(&store).entries.is_empty());
    store_turn(&mut store, 1, &["quokka, and even more"]);
    // The same mark, since all is asked for again.
    apply(&mut store, vec![taken_back(1, 1, 0)]);
    assert_eq!(pushed(&drain(&mut store)), [uid(1, 0)], "other words do");
}

#[test]
fn who_left_shares_all_again_once_it_goes_on_and_who_paused_does_not() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    store.writer.leave_sharing().expect("leaves");
    assert_eq!(drain(&mut store).withdraw, [uid(1, 0)]);
    store.writer.pause_sharing(false).expect("goes on");
    assert_eq!(pushed(&drain(&mut store)), [uid(1, 0)]);
    // A pause alone has nothing told again.
    store.writer.pause_sharing(true).expect("pauses");
    store.writer.pause_sharing(false).expect("goes on");
    assert!(next(&store).entries.is_empty());
}

#[test]
fn what_is_let_in_again_is_told_though_the_mark_of_its_leaving_comes_after() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    store.writer.exclude_path("/home/ada/app", NOW).expect("excludes");
    assert_eq!(drain(&mut store).withdraw_everywhere, [uid(1, 0)]);
    store.writer.include_path("/home/ada/app").expect("includes");
    apply(&mut store, vec![taken_back(1, 1, 0)]);
    assert_eq!(pushed(&drain(&mut store)), [uid(1, 0)]);
    // Let in while its leaving is on its way.
    store.writer.exclude_path("/home/ada/app", NOW).expect("excludes");
    let mut page = next(&store);
    let sent = store.writer.pushing(&mut page).expect("notes");
    store.writer.include_path("/home/ada/app").expect("includes");
    store.writer.pushed(&sent).expect("notes");
    apply(&mut store, vec![taken_back(2, 1, 0)]);
    assert_eq!(pushed(&drain(&mut store)), [uid(1, 0)]);
    assert_sound(&store);
}

#[test]
fn to_leave_a_team_is_no_pause_of_the_next_and_a_pause_is() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    store.writer.leave_sharing().expect("leaves");
    assert!(name_team(&mut store, FIRST, &["*"]).paused, "it is the same");
    assert!(!name_team(&mut store, SECOND, &["*"]).paused);
    assert_eq!(pushed(&drain(&mut store)), [uid(1, 0)]);
    store.writer.pause_sharing(true).expect("pauses");
    assert!(name_team(&mut store, FIRST, &["*"]).paused);
    store.writer.pause_sharing(false).expect("goes on");
    let place = store.reader().share_place().expect("reads").expect("shares");
    assert_eq!((place.cursor, place.paused), (0, false));
}

#[test]
fn what_was_withdrawn_from_a_team_is_withdrawn_again_once_that_is_named_again() {
    let mut store = sharing(&["*"]);
    for number in 1..=3 {
        store_turn(&mut store, number, &["quokka"]);
    }
    drain(&mut store);
    store.writer.retire(&[turn_uid(1)], NOW).expect("retires");
    assert_eq!(drain(&mut store).withdraw, [uid(1, 0)]);
    assert_eq!(name_team(&mut store, SECOND, &["*"]).former, [former(FIRST, 2)]);
    // The shared store of the first is put back from a copy meanwhile.
    name_team(&mut store, FIRST, &["*"]);
    let told = drain(&mut store);
    assert_eq!(told.withdraw, [uid(1, 0)]);
    assert!(
        told.withdraw_everywhere.is_empty(),
        "what other machines of one's own share is theirs"
    );
    assert_eq!(pushed(&told), sorted([uid(2, 0), uid(3, 0)]));
    // What it shared by another name is withdrawn whoever is said to share it.
    name_team(&mut store, SECOND, &["*"]);
    store.writer.renew_machine(machine(2)).expect("renames");
    store.writer.retire(&[turn_uid(2)], NOW).expect("retires");
    name_team(&mut store, FIRST, &["*"]);
    assert_eq!(drain(&mut store).withdraw_everywhere, [uid(2, 0)]);
    assert_sound(&store);
}

#[test]
fn what_a_memory_that_was_put_back_has_lost_is_taken_back_from_a_team_that_was_left() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let copy = elsewhere.path().join("copy.db");
    store.copy_to(&copy);
    store_turn(&mut store, 2, &["numbat"]);
    let lost = drain(&mut store).live.into_iter().find(|own| own.episode.uid == uid(2, 0));
    let lost = lost.expect("was told");
    name_team(&mut store, SECOND, &["*"]);
    let path = store.path.clone();
    store.writer.close().expect("closes");
    restore(&path, &copy, "now").expect("restores");
    store.writer = Writer::open(&path).expect("opens");
    share(&mut store, &["*"], 3);
    let told = drain(&mut store);
    assert_eq!(pushed(&told), [uid(1, 0)]);
    assert!(told.withdraw_everywhere.is_empty() && told.withdraw.is_empty());
    assert_eq!(apply(&mut store, vec![live(4, from(ADA, 1), &lost)]).stored.len(), 1);
    assert_eq!(origins(&store, "numbat"), [None], "it is one's own");
    assert_eq!(pushed(&drain(&mut store)), [uid(2, 0)]);
}

#[test]
fn a_fact_that_was_forgotten_is_told_to_the_team_that_had_it_each_time_and_to_no_other() {
    let mut store = sharing(&["*"]);
    let here = remember(&mut store, "amounts are cents");
    let elsewhere = remember(&mut store, "dates are of UTC");
    drain(&mut store);
    forget_fact(&mut store, here);
    assert_eq!(drain(&mut store).forget, [here]);
    // By another machine of one's own.
    let by_oneself = PulledChange::Forgotten {
        seq: 1,
        turn_uid: elsewhere,
        member: ADA,
    };
    apply(&mut store, vec![by_oneself]);
    assert!(next(&store).entries.is_empty(), "the shared store knows it");
    let mut both = vec![here, elsewhere];
    both.sort_unstable();
    let told = |store: &mut Store| {
        let mut page = drain(store);
        page.forget.sort_unstable();
        page.forget
    };
    store.writer.begin_again().expect("begins anew");
    assert_eq!(told(&mut store), both, "it was put back");
    let state = name_team(&mut store, SECOND, &["*"]);
    assert!(state.former.is_empty(), "nothing is there any more");
    assert!(drain(&mut store).is_empty(), "their uids are made of what they say");
    name_team(&mut store, FIRST, &["*"]);
    assert_eq!(told(&mut store), both);
    assert_sound(&store);
}
