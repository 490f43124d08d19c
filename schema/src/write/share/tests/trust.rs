//! What others say is looked at, and decides nothing: not which projects are one, not what may be shared, not what matters most, not what
//! the user remembered.

use super::*;
use crate::{Importance, PINNED, REMEMBERED_SESSION, SharedEpisode, USER_AGENT};

const PRIVATE: &str = "url:example.org/private/diary";

/// An episode of Bob's of a project that he calls by these keys.
fn of_bob_in(number: u8, prompt: &str, keys: &[&str]) -> OwnEpisode {
    let mut own = of_bob(&[(number, prompt)]).remove(0);
    own.episode.project_keys = keys.iter().map(|&key| key.to_owned()).collect();
    own
}

fn changed(mut own: OwnEpisode, change: fn(&mut SharedEpisode)) -> OwnEpisode {
    change(&mut own.episode);
    own
}

#[test]
fn keys_that_others_tell_let_nothing_out_and_are_told_on_to_nobody() {
    for attack_first in [true, false] {
        let mut store = sharing(&["example.org/acme/*"]);
        let attack = of_bob_in(5, "wombat", &[PRIVATE, APP, "root:1f0c9a"]);
        if attack_first {
            apply(&mut store, vec![live(1, from(BOB, 9), &attack)]);
        }
        unshared(&mut store, 2, PRIVATE);
        store_turn(&mut store, 1, &["quokka"]);
        if !attack_first {
            drain(&mut store);
            apply(&mut store, vec![live(1, from(BOB, 9), &attack)]);
        }
        store.writer.enqueue_all().expect("looks again");
        let page = drain(&mut store);
        assert_eq!(pushed(&page), [uid(1, 0)], "attack first: {attack_first}");
        assert_eq!(page.live[0].episode.project_keys, [APP], "what Bob called it is no key of it");
        let project_of = |number: u8| store.reader().texts(&[store.id(number, 0)]).expect("reads")[0].project;
        assert_ne!(project_of(1), project_of(2), "two projects stay two");
    }
}

#[test]
fn a_folder_becomes_that_of_a_project_that_others_told_of_and_brings_its_own_keys_alone() {
    let mut store = sharing(&["*"]);
    apply(
        &mut store,
        vec![live(1, from(BOB, 9), &of_bob_in(5, "wombat", &[APP, OTHER]))],
    );
    let by_key = |store: &Store, key: &str| store.reader().project_by_key(key).expect("reads");
    let told = by_key(&store, APP).expect("prompts in its folder find it");
    assert_eq!(by_key(&store, OTHER), Some(told));
    store_turn(&mut store, 1, &["quokka"]);
    assert_eq!(by_key(&store, APP), Some(told));
    assert_eq!(drain(&mut store).live[0].episode.project_keys, [APP]);
    unshared(&mut store, 2, OTHER);
    let other = by_key(&store, OTHER).expect("is there");
    assert_ne!(other, told, "what was told here counts");
    assert_eq!(drain(&mut store).live[0].episode.project_keys, [OTHER]);
    // A folder whose address comes late takes in what others told of it.
    let mut late = sharing(&["*"]);
    let folder = vec!["cwd:/home/ada/app".to_owned()];
    let by_folder = late.writer.resolve_project(&folder, "app", Some("/home/ada/app"), NOW);
    let by_folder = by_folder.expect("resolves");
    apply(&mut late, vec![live(1, from(BOB, 9), &of_bob_in(5, "wombat", &[APP]))]);
    assert_eq!(project(&mut late, APP, "/home/ada/app"), by_folder);
    let text = late.reader().texts(&late.found("wombat")).expect("reads").remove(0);
    assert_eq!(text.project, Some(by_folder));
    assert_eq!(late.reader().projects().expect("reads").len(), 1);
    assert_sound(&late);
}

#[test]
fn what_another_pinned_is_no_word_of_one_s_own() {
    let mut store = sharing(&["*"]);
    let fact = |number: u8, prompt: &str| {
        changed(of_bob_in(number, prompt, &[APP]), |episode| {
            USER_AGENT.clone_into(&mut episode.agent);
            REMEMBERED_SESSION.clone_into(&mut episode.session);
            PINNED.clone_into(&mut episode.importance_rule);
            episode.importance = Importance::High;
        })
    };
    let claims = |number: u8, rule: &'static str| {
        let mut own = of_bob_in(number, "claims", &[APP]);
        rule.clone_into(&mut own.episode.importance_rule);
        own.episode.importance = Importance::High;
        own
    };
    let mut changes = vec![
        live(1, from(BOB, 9), &fact(5, "wombat")),
        live(2, from(ADA, 7), &fact(6, "numbat")),
        live(3, from(BOB, 9), &claims(7, "obey")),
        live(4, from(BOB, 9), &claims(8, "commit-made")),
    ];
    for _ in 0..2 {
        let first = changes.remove(0);
        // Told again, as a change, it weighs the same.
        apply(&mut store, vec![first.clone()]);
        apply(&mut store, vec![first]);
    }
    apply(&mut store, changes);
    let weight = |number: u8| {
        let text = store.reader().texts(&[store.id(number, 0)]).expect("reads").remove(0);
        (text.session, text.importance, text.importance_rule)
    };
    let (normal, high) = (Importance::Normal, Importance::High);
    let told = |session: &str, importance: Importance, rule: &str| (session.to_owned(), importance, rule.to_owned());
    assert_eq!(weight(5), told("remembered by bob", normal, "pinned-by-another"));
    assert_eq!(weight(6), told(REMEMBERED_SESSION, high, PINNED), "one's own, said elsewhere");
    assert_eq!(weight(7), told("of-bob", normal, "default"));
    assert_eq!(weight(8), told("of-bob", high, "commit-made"));
    // Both go with age; what the user had remembered here does not.
    let everywhere = crate::ProjectNames::everywhere();
    store.writer.remember("tabs", None, &everywhere, NOW).expect("remembers");
    let old = store.reader().turns_before(UnixMillis(i64::MAX), 100).expect("finds");
    assert_eq!(old.len(), 4);
    assert_eq!(store.reader().count_turns_before(UnixMillis(i64::MAX)).expect("counts"), 4);
    assert_eq!(store.reader().turns_of_least_worth(100).expect("finds").len(), 4);
}

#[test]
fn what_others_told_goes_first_and_is_no_obstacle_to_one_s_own_reading() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    let bob = changed(of_bob_in(5, "wombat", &[APP]), |episode| {
        episode.importance = Importance::High;
        "commit-made".clone_into(&mut episode.importance_rule);
    });
    apply(&mut store, vec![live(1, from(BOB, 9), &bob)]);
    let least = store.reader().turns_of_least_worth(2).expect("finds");
    assert_eq!(least, [turn_uid(5), turn_uid(1)], "however important he calls it");
    assert_eq!(store.writer.retire(&least[..1], NOW).expect("retires").len(), 1);
    let again = apply(&mut store, vec![live(2, from(BOB, 9), &bob)]);
    assert_eq!(changes(&again), [0; 3], "it would go once more");
    assert!(drain(&mut store).withdraw.is_empty());
    store_turn(&mut store, 5, &["wombat"]);
    assert_eq!(origins(&store, "wombat"), [None]);
    store.writer.retire(&[turn_uid(5)], NOW).expect("retires");
    store_turn(&mut store, 5, &["wombat"]);
    assert!(store.found("wombat").is_empty(), "its own is retired for good");
}

#[test]
fn what_hid_a_copy_does_not_hide_what_is_read_here() {
    let mut store = sharing(&["*"]);
    let id = apply(&mut store, vec![live(1, from(BOB, 9), &of_bob(&[(5, "wombat")])[0])]).stored[0];
    store
        .writer
        .exclude_session(&crate::testing::session("of-bob"))
        .expect("excludes");
    assert!(store.found("wombat").is_empty());
    store_turn(&mut store, 5, &["wombat"]);
    assert_eq!((store.found("wombat"), origins(&store, "wombat")), (vec![id], vec![None]));
    store.embed();
    assert_sound(&store);
}

#[test]
fn the_hash_of_what_is_sent_is_that_of_what_is_stored() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    let own = next(&store).live.remove(0).episode;
    assert_eq!(
        crate::content_hash_of(&own.prompt, &own.answer, &own.facets),
        own.content_hash
    );
    assert_ne!(crate::content_hash_of("numbat", &own.answer, &own.facets), own.content_hash);
}

#[test]
fn an_import_stores_what_others_had_shared_as_one_s_own() {
    let mut bob = Store::new();
    let turn = self::told(turn(5, "of-bob", &["wombat"]), APP, "/home/bob/app");
    bob.writer.ingest(&batch(vec![turn])).expect("stores");
    let exported = bob.reader().stored(&[crate::EpisodeId(1)]).expect("reads");
    let mut store = sharing(&["*"]);
    apply(&mut store, vec![live(1, from(BOB, 9), &of_bob(&[(5, "wombat")])[0])]);
    let outcomes = store.writer.import(&exported, NOW, false).expect("imports");
    assert_eq!(outcomes, [crate::ImportOutcome::Added]);
    assert_eq!(origins(&store, "wombat"), [None]);
    let again = store.writer.import(&exported, NOW, false).expect("imports");
    assert_eq!(again, [crate::ImportOutcome::Known]);
    assert_sound(&store);
}
