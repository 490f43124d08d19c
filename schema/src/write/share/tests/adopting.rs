//! What becomes of what a search of the shared store found: stored by the rules of what is pulled, gone when it is taken back, and never
//! back by a search that is older than that.

use super::*;
use crate::{Adopted, FoundEpisode, FoundPage, SharePlace};

fn place(store: &Store) -> SharePlace {
    store.reader().share_place().expect("reads").expect("shares")
}

/// What a search finds now, of a shared store that has come to `head`.
fn page(store: &Store, head: i64, found: &[(i64, ShareOrigin, &OwnEpisode)]) -> FoundPage {
    let found = found.iter().map(|(seq, from, own)| FoundEpisode {
        seq: *seq,
        from: from.clone(),
        episode: Box::new(own.episode.clone()),
    });
    FoundPage {
        sent: place(store).sent,
        head,
        found: found.collect(),
    }
}

fn adopt(store: &mut Store, head: i64, found: &[(i64, ShareOrigin, &OwnEpisode)]) -> Adopted {
    let page = page(store, head, found);
    let adopted = store.writer.adopt_found(&page, NOW).expect("adopts");
    assert_eq!(adopted.here.len(), page.found.len());
    assert_sound(store);
    adopted
}

/// Has a page of marks alone follow.
fn apply_marks(store: &mut Store, changes: Vec<PulledChange>, cursor: i64) -> Applied {
    let page = PulledPage {
        changes,
        cursor,
        head: cursor,
        marks_only: true,
        ..super::page(store, Vec::new())
    };
    let applied = store.writer.apply_pulled(&page, NOW).expect("applies");
    assert!(!applied.stale);
    assert_sound(store);
    applied
}

fn here(store: &Store, uids: &[(EpisodeUid, i64)]) -> Vec<Option<EpisodeId>> {
    store.reader().found_here(uids).expect("reads")
}

#[test]
fn what_was_found_is_stored_as_a_copy_and_no_cursor_moves() {
    let mut store = sharing(&["*"]);
    store.writer.set_embedding_model(MODEL, 8).expect("sets the model");
    store_turn(&mut store, 1, &["quokka"]);
    let own = drain(&mut store).live.remove(0);
    let bob = of_bob(&[(5, "wombat"), (6, "numbat")]);
    let found = [
        (7, from(BOB, 9), &bob[1]),
        (3, from(ADA, 1), &own),
        (4, from(BOB, 9), &bob[0]),
    ];
    let adopted = adopt(&mut store, 9, &found);
    let ids: Vec<EpisodeId> = adopted.here.iter().map(|id| id.expect("is here")).collect();
    assert_eq!(adopted.applied.stored, [ids[0], ids[2]], "one's own was here");
    assert_eq!(
        embedded(&store, &adopted.applied.stored),
        adopted.applied.stored,
        "with their vectors"
    );
    assert_eq!((store.found("numbat"), store.found("quokka")), (vec![ids[0]], vec![ids[1]]));
    assert_eq!(origins(&store, "wombat"), [Some("bob".to_owned())]);
    assert_eq!(place(&store).cursor, 0);
    assert!(next(&store).entries.is_empty(), "none is pushed");
    assert_eq!(
        here(&store, &[(uid(6, 0), 7), (uid(5, 0), 5), (uid(1, 0), 99), (uid(8, 0), 1)]),
        [Some(ids[0]), None, Some(ids[1]), None]
    );
    // The same once more changes nothing.
    let again = adopt(&mut store, 9, &found);
    assert_eq!(again.here, adopted.here);
    assert!(again.applied.stored.is_empty() && again.applied.replaced.is_empty());
}

#[test]
fn what_is_newer_takes_the_place_of_a_copy_and_what_is_older_does_not() {
    let mut store = sharing(&["*"]);
    let mut bob = of_bob(&[(5, "wombat")]).remove(0);
    let first = adopt(&mut store, 4, &[(4, from(BOB, 9), &bob)]).here;
    "numbat".clone_into(&mut bob.episode.prompt);
    for (seq, replaced) in [(3, 0), (4, 0), (5, 1)] {
        let adopted = adopt(&mut store, 9, &[(seq, from(BOB, 9), &bob)]);
        assert_eq!((&adopted.here, adopted.applied.replaced.len()), (&first, replaced), "{seq}");
    }
    assert!(store.found("wombat").is_empty());
    assert_eq!(store.found("numbat").first(), first[0].as_ref());
}

#[test]
fn what_is_not_to_be_here_is_not_brought_by_a_search() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    store_turn(&mut store, 2, &["bilby"]);
    let bob = of_bob(&[(5, "wombat"), (6, "numbat"), (7, "potoroo"), (8, "bandicoot")]);
    forget_turn(&mut store, 2);
    store.writer.retire(&[turn_uid(6)], NOW).expect("retires");
    let own = next(&store).live.remove(0);
    let mut of_another_turn = bob[2].clone();
    of_another_turn.episode.part = 3;
    let mut forgotten_here = bob[0].clone();
    (forgotten_here.episode.uid, forgotten_here.episode.turn_uid) = (uid(2, 0), turn_uid(2));
    store.writer.renew_machine(machine(2)).expect("renames");
    let found = [
        (1, from(BOB, 9), &forgotten_here),
        (2, from(BOB, 9), &bob[1]),
        (3, from(BOB, 9), &of_another_turn),
        // What this memory told and has no more, by the name it has and the one it had.
        (4, from(ADA, 2), &bob[3]),
        (5, from(ADA, 1), &bob[3]),
    ];
    let adopted = adopt(&mut store, 9, &found);
    assert_eq!(adopted.here, [None; 5]);
    assert!(!adopted.applied.stale && adopted.applied.stored.is_empty());
    // Another machine of one's own is like anybody else's.
    let elsewhere = adopt(&mut store, 9, &[(5, from(ADA, 7), &bob[3])]);
    assert_eq!(elsewhere.applied.stored.len(), 1);

    store.writer.exclude_path("/home/ada/app", NOW).expect("excludes");
    let kept_out = adopt(&mut store, 9, &[(6, from(BOB, 9), &bob[0]), (7, from(ADA, 2), &own)]);
    assert_eq!(kept_out.here, [None, None], "neither what comes nor what is kept out already");
    assert_eq!(here(&store, &[(uid(1, 0), 1)]), [None]);
}

#[test]
fn a_search_that_is_older_than_what_was_pulled_or_sent_brings_nothing() {
    let mut store = sharing(&["*"]);
    let bob = of_bob(&[(5, "wombat")]);
    let found = [(3, from(BOB, 9), &bob[0])];
    let early = page(&store, 4, &found);
    // It was taken back at 5, of which pulling tells once.
    apply_marks(&mut store, vec![withdrawn(5, uid(5, 0))], 5);
    let late = store.writer.adopt_found(&early, NOW).expect("is told");
    assert!(late.applied.stale && store.found("wombat").is_empty());
    assert_eq!(late.here, [None]);
    assert!(adopt(&mut store, 4, &found).applied.stale);

    let early = page(&store, 5, &found);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    assert!(
        store.writer.adopt_found(&early, NOW).expect("is told").applied.stale,
        "something was sent"
    );
    assert_eq!(adopt(&mut store, 5, &found).applied.stored.len(), 1);
}

#[test]
fn nothing_is_brought_while_sharing_is_paused_or_off_or_nobody_is_known() {
    let mut store = Store::new();
    let bob = of_bob(&[(5, "wombat")]);
    let found = FoundPage {
        sent: 0,
        head: 9,
        found: vec![FoundEpisode {
            seq: 3,
            from: from(BOB, 9),
            episode: Box::new(bob[0].episode.clone()),
        }],
    };
    let is_stale = |store: &mut Store| store.writer.adopt_found(&found, NOW).expect("is told").applied.stale;
    assert!(is_stale(&mut store), "nothing is shared");
    store.writer.set_sharing(Some(&setup(&["*"])), machine(1)).expect("sets");
    assert!(is_stale(&mut store), "who shares is not known");
    store.writer.note_member(ADA, "ada").expect("notes");
    store.writer.pause_sharing(true).expect("pauses");
    assert!(is_stale(&mut store), "it is paused");
    store.writer.pause_sharing(false).expect("goes on");
    assert!(!is_stale(&mut store));
}

#[test]
fn what_is_taken_back_goes_by_marks_alone() {
    let mut store = sharing(&["*"]);
    let bob = of_bob(&[(5, "wombat"), (6, "numbat"), (7, "bilby")]);
    let found: Vec<_> = bob.iter().zip(1..).map(|(own, seq)| (seq, from(BOB, 9), own)).collect();
    let here = adopt(&mut store, 3, &found).here;
    let gone = apply_marks(&mut store, vec![withdrawn(4, uid(5, 0)), forgotten(5, 6, BOB)], 5);
    assert_eq!(gone.removed.iter().copied().map(Some).collect::<Vec<_>>(), here[..2]);
    assert!(store.found("wombat").is_empty() && store.found("numbat").is_empty());
    assert_eq!(store.found("bilby").len(), 1);
}

#[test]
fn a_mark_that_is_older_than_what_a_search_brought_removes_nothing() {
    let mut store = sharing(&["*"]);
    let bob = of_bob(&[(5, "wombat")]);
    // It was taken back at 4 and shared again at 6, of which pulling has told nothing yet.
    let here = adopt(&mut store, 6, &[(6, from(BOB, 9), &bob[0])]).here;
    let kept = apply_marks(&mut store, vec![withdrawn(4, uid(5, 0))], 5);
    assert!(kept.removed.is_empty());
    assert_eq!(store.found("wombat").first(), here[0].as_ref());
    let gone = apply_marks(&mut store, vec![withdrawn(7, uid(5, 0))], 7).removed;
    assert_eq!(gone.first(), here[0].as_ref());
    assert!(store.found("wombat").is_empty());
}

#[test]
fn what_retention_took_is_not_brought_back_by_a_search() {
    let mut store = sharing(&["*"]);
    let bob = of_bob(&[(5, "wombat")]);
    apply(&mut store, vec![live(1, from(BOB, 9), &bob[0])]);
    assert_eq!(store.writer.retire(&[turn_uid(5)], NOW).expect("retires").len(), 1);
    assert_eq!(adopt(&mut store, 2, &[(2, from(BOB, 9), &bob[0])]).here, [None]);
    // A transcript here tells it still.
    store_turn(&mut store, 5, &["wombat"]);
    assert_eq!(origins(&store, "wombat"), [None]);
}

#[test]
fn contents_that_were_passed_over_are_asked_for_once_they_are_wanted() {
    let mut store = sharing(&["*"]);
    let bob = of_bob(&[(5, "wombat")]);
    apply(&mut store, vec![live(1, from(BOB, 9), &bob[0])]);
    store.writer.pull_contents().expect("notes");
    assert_eq!(place(&store).cursor, 1, "nothing was passed over");
    apply_marks(&mut store, Vec::new(), 8);
    apply_marks(&mut store, Vec::new(), 12);
    assert_eq!(place(&store).cursor, 12);
    store.writer.pause_sharing(true).expect("pauses");
    store.writer.pull_contents().expect("notes");
    assert_eq!(place(&store).cursor, 12, "not while it is paused");
    store.writer.pause_sharing(false).expect("goes on");
    assert_eq!(place(&store).cursor, 1);
    apply_marks(&mut store, Vec::new(), 14);
    store.writer.pull_contents().expect("notes");
    assert_eq!(place(&store).cursor, 1, "from the first that was passed over");
    store.writer.pull_contents().expect("notes");
    assert_eq!(place(&store).cursor, 1);
}

#[test]
fn a_prompt_is_told_of_projects_that_are_shared_alone() {
    let mut store = sharing(&["example.org/acme/*"]);
    let app = project(&mut store, APP, "/home/ada/app");
    let other = project(&mut store, OTHER, "/home/ada/tool");
    let may_ask = |store: &Store, project, keys: &[&str]| {
        let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
        let place = store.reader().place_to_ask(project, &keys).expect("reads");
        place.is_some_and(|place| place.machine == machine(1))
    };
    assert!(may_ask(&store, Some(app), &[]) && may_ask(&store, None, &[APP, "cwd:/home/ada/app"]));
    assert!(!may_ask(&store, Some(other), &[]) && !may_ask(&store, None, &[OTHER]));
    assert!(!may_ask(&store, None, &[]), "a prompt of no project");
    assert!(!may_ask(&store, None, &[APP, crate::EVERYWHERE_KEY]));
    store.writer.pause_sharing(true).expect("pauses");
    assert!(!may_ask(&store, Some(app), &[]), "it is paused");
    store.writer.pause_sharing(false).expect("goes on");
    store.writer.set_sharing(None, machine(1)).expect("stops");
    assert!(!may_ask(&store, Some(app), &[]), "nothing is shared");
}
