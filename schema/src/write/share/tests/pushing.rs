//! What is offered to push: what is true now, once a change, until the shared store has it.

use super::*;
use crate::{Importance, ProjectNames, Steering};

#[test]
fn nothing_is_kept_for_anybody_while_nothing_is_shared() {
    let mut store = Store::new();
    store_turn(&mut store, 1, &["quokka"]);
    let waiting = |store: &Store| {
        let db = rusqlite::Connection::open(&store.path).expect("opens");
        let count = db.query_row("SELECT count(*) FROM share_outbox", [], |row| row.get::<_, i64>(0));
        count.expect("counts")
    };
    assert_eq!((waiting(&store), next(&store)), (0, ToPush::default()));
    assert_eq!(store.reader().share_state().expect("reads"), None);
    share(&mut store, &["*"], 1);
    assert_eq!(pushed(&next(&store)), [uid(1, 0)], "what was there before is shared, too");
    store.writer.set_sharing(None, machine(1)).expect("stops");
    store_turn(&mut store, 2, &["numbat"]);
    assert_eq!(waiting(&store), 0);
    share(&mut store, &["*"], 2);
    assert_eq!(pushed(&drain(&mut store)), sorted([uid(1, 0), uid(2, 0)]));
    let state = store.reader().share_state().expect("reads").expect("shares");
    assert_eq!((state.machine, state.pushed, state.outbox), (machine(1), 2, 0));
    assert_eq!(state.by_project, [("app".to_owned(), 2, 0)]);
}

#[test]
fn only_what_is_allowed_goes_and_nothing_of_where_it_lies_or_what_was_decided_of_it() {
    let mut store = sharing(&["example.org/acme/*"]);
    store_turn(&mut store, 1, &["quokka", "goes on"]);
    unshared(&mut store, 2, OTHER);
    store
        .writer
        .ingest(&batch(vec![turn(3, "t", &["of no project"])]))
        .expect("stores");
    let everywhere = ProjectNames::everywhere();
    store
        .writer
        .remember("tabs are blanks", None, &everywhere, NOW)
        .expect("remembers");
    store.writer.steer(&[turn_uid(1)], Steering::Boost, NOW).expect("boosts");
    let page = next(&store);
    assert_eq!(pushed(&page), sorted([uid(1, 0), uid(1, 1)]));
    for own in &page.live {
        let episode = &own.episode;
        assert_eq!(episode.project_keys, [APP], "a folder is told to nobody");
        assert_eq!(own.project_root.as_deref(), Some("/home/ada/app"));
        assert_eq!(
            (episode.importance, episode.importance_rule.as_str()),
            (Importance::Normal, "default"),
            "what the rules said"
        );
        assert_eq!((episode.session.as_str(), episode.git_branch.as_deref()), ("s", Some("main")));
    }
    assert_eq!(
        page.entries.len(),
        5,
        "the others are looked at, and nothing is to be told of them"
    );
    drain(&mut store);
    assert!(next(&store).entries.is_empty());
    store
        .writer
        .set_sharing(Some(&setup(&["/home/ada/*"])), machine(1))
        .expect("sets");
    let page = next(&store);
    assert_eq!(pushed(&page).len(), 3, "by its folder: {page:?}");
    let by_folder = page.live.iter().find(|own| own.episode.uid == uid(2, 0)).expect("is there");
    assert_eq!(by_folder.episode.project_keys, [OTHER]);
}

#[test]
fn a_session_that_is_called_by_a_path_is_told_by_a_hash() {
    let mut store = sharing(&["*"]);
    let turn = told(turn(1, "/home/ada/chats/one", &["quokka"]), APP, "/home/ada/app");
    store.writer.ingest(&batch(vec![turn])).expect("stores");
    let session = &next(&store).live[0].episode.session;
    assert!(session.len() == 32 && !session.contains("ada"), "{session}");
}

#[test]
fn what_leaves_is_withdrawn_where_it_may_have_been_pushed() {
    type Act = fn(&mut Store);
    let leave: [(&str, Act); 4] = [
        ("excluded", |store| {
            store.writer.exclude_path("/home/ada/app", NOW).expect("excludes");
        }),
        ("retired", |store| {
            store.writer.retire(&[turn_uid(1)], NOW).expect("retires");
        }),
        ("taken off the list", |store| {
            store
                .writer
                .set_sharing(Some(&setup(&["nothing"])), machine(1))
                .expect("sets");
        }),
        ("gone from its transcript", |store| {
            let nothing = told(turn(1, "s", &[]), APP, "/home/ada/app");
            store.writer.ingest(&batch(vec![nothing])).expect("stores");
        }),
    ];
    for (name, leave) in leave {
        for was_answered in [true, false] {
            let mut store = sharing(&["*"]);
            store_turn(&mut store, 1, &["quokka"]);
            let mut page = next(&store);
            let sent = store.writer.pushing(&mut page).expect("notes");
            assert_eq!(pushed(&page), [uid(1, 0)]);
            if was_answered {
                store.writer.pushed(&sent).expect("notes");
            }
            leave(&mut store);
            let page = drain(&mut store);
            let (everywhere, here) = if name == "excluded" {
                (page.withdraw_everywhere, page.withdraw)
            } else {
                (page.withdraw, page.withdraw_everywhere)
            };
            assert_eq!((everywhere, here.len(), page.live.len()), (vec![uid(1, 0)], 0, 0), "{name}");
            assert!(next(&store).entries.is_empty(), "{name}: once");
            assert_sound(&store);
        }
        let mut store = sharing(&["*"]);
        store_turn(&mut store, 1, &["quokka"]);
        leave(&mut store);
        assert!(drain(&mut store).is_empty(), "{name}: what was never sent is told to nobody");
    }
}

#[test]
fn what_was_forgotten_is_told_as_a_turn_before_all_else() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka", "part two"]);
    drain(&mut store);
    forget_turn(&mut store, 1);
    let page = drain(&mut store);
    assert_eq!((page.forget.as_slice(), page.withdraw.len()), ([turn_uid(1)].as_slice(), 0));
    assert_eq!(store.reader().share_state().expect("reads").expect("shares").pushed, 0);
    assert!(next(&store).entries.is_empty());
}

#[test]
fn what_is_touched_while_it_is_on_its_way_is_told_again() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    store_turn(&mut store, 2, &["numbat"]);
    // Between the look and the sending: what is no longer so is not sent.
    let mut page = next(&store);
    store.writer.exclude_path("/home/ada/app", NOW).expect("excludes");
    store.writer.include_path("/home/ada/app").expect("includes");
    store.writer.retire(&[turn_uid(1)], NOW).expect("retires");
    let sent = store.writer.pushing(&mut page).expect("notes");
    assert!(page.is_empty() && page.entries.is_empty(), "{page:?}");
    store.writer.pushed(&sent).expect("notes");
    // Between the sending and the answer: the answer is about what was.
    let mut page = next(&store);
    assert_eq!(pushed(&page), [uid(2, 0)]);
    let sent = store.writer.pushing(&mut page).expect("notes");
    store_turn(&mut store, 2, &["numbat, and more"]);
    store.writer.pushed(&sent).expect("notes");
    let page = drain(&mut store);
    assert_eq!(page.live[0].episode.prompt, "numbat, and more");
    assert!(next(&store).entries.is_empty());
}

#[test]
fn an_episode_is_told_again_once_it_has_its_vector_and_not_when_it_is_only_read_again() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    assert!(drain(&mut store).live[0].episode.embedding.is_none());
    store.embed();
    let page = drain(&mut store);
    let (model, vector) = page.live[0].episode.embedding.clone().expect("has a vector");
    assert_eq!((model.as_str(), vector.len()), (crate::testing::MODEL, 8));
    store_turn(&mut store, 1, &["quokka"]);
    store.writer.record_use(store.id(1, 0), NOW).expect("counts");
    assert!(next(&store).entries.is_empty(), "{:?}", next(&store));
}

#[test]
fn a_project_that_gets_a_key_is_looked_at_again() {
    let mut store = sharing(&["example.org/acme/*"]);
    let folder = vec!["cwd:/home/ada/app".to_owned()];
    let by_folder = store
        .writer
        .resolve_project(&folder, "app", Some("/home/ada/app"), NOW)
        .expect("resolves");
    let turn = in_project(turn(1, "s", &["quokka"]), by_folder);
    store.writer.ingest(&batch(vec![turn])).expect("stores");
    assert!(drain(&mut store).is_empty());
    let keys = vec!["cwd:/home/ada/app".to_owned(), APP.to_owned()];
    store
        .writer
        .resolve_project(&keys, "app", Some("/home/ada/app"), NOW)
        .expect("resolves");
    assert_eq!(pushed(&next(&store)), [uid(1, 0)]);
}

#[test]
fn while_it_is_paused_only_what_leaves_is_told() {
    let mut store = sharing(&["*"]);
    for number in 1..=3 {
        store_turn(&mut store, number, &["quokka"]);
    }
    drain(&mut store);
    store_turn(&mut store, 1, &["quokka, and more"]);
    store.writer.retire(&[turn_uid(2)], NOW).expect("retires");
    forget_turn(&mut store, 3);
    let mut early = next(&store);
    store.writer.pause_sharing(true).expect("pauses");
    let sent = store.writer.pushing(&mut early).expect("notes");
    assert!(early.live.is_empty(), "what was read before the pause is not sent after it");
    drop(sent);
    let mut page = store.reader().next_to_push(1, true).expect("reads");
    assert_eq!(page.entries.len(), 1, "bounded, and past what waits");
    let sent = store.writer.pushing(&mut page).expect("notes");
    store.writer.pushed(&sent).expect("notes");
    let mut rest = store.reader().next_to_push(9, true).expect("reads");
    assert!(rest.live.is_empty());
    let sent = store.writer.pushing(&mut rest).expect("notes");
    store.writer.pushed(&sent).expect("notes");
    page.withdraw.append(&mut rest.withdraw);
    page.forget.append(&mut rest.forget);
    assert_eq!((page.withdraw, page.forget), (vec![uid(2, 0)], vec![turn_uid(3)]));
    store.writer.pause_sharing(false).expect("resumes");
    assert_eq!(pushed(&drain(&mut store)), [uid(1, 0)]);
    assert!(next(&store).entries.is_empty());
}

#[test]
fn with_another_team_all_begins_anew_and_what_came_from_the_first_goes() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    let stored = apply(&mut store, vec![live(1, from(BOB, 9), &of_bob(&[(5, "wombat")])[0])]).stored;
    let other = ShareSetup {
        team_key: "db.example.org/shared/another".to_owned(),
        ..setup(&["*"])
    };
    let state = store.writer.set_sharing(Some(&other), machine(3)).expect("sets");
    assert_eq!(
        (state.removed, state.cursor, state.pushed, state.member),
        (stored, 0, 0, None)
    );
    assert_eq!(pushed(&next(&store)), [uid(1, 0)]);
    assert!(store.found("wombat").is_empty());
    assert_sound(&store);
}

#[test]
fn who_logs_in_as_somebody_else_pushes_all_anew() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    store.writer.note_member(ADA, "ada").expect("notes");
    assert!(next(&store).entries.is_empty(), "the same is no change");
    store.writer.renew_machine(machine(4)).expect("renames");
    assert_eq!(pushed(&drain(&mut store)), [uid(1, 0)]);
    store.writer.note_member(BOB, "bob").expect("notes");
    let state = store.reader().share_state().expect("reads").expect("shares");
    assert_eq!(
        (state.machine, state.member, state.pushed, state.outbox),
        (machine(4), Some(BOB), 0, 1)
    );
}
