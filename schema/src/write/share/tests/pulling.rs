//! What becomes of what others shared: found and marked, never pushed, gone when it is withdrawn or forgotten, and never in the place of
//! one's own.

use super::*;
use crate::facts::FactsFile;
use crate::testing::session;
use crate::{Importance, ProjectNames, SharedEpisode, Steering, TurnUid};

#[test]
fn what_another_shared_is_found_and_marked_and_pushed_by_nobody_else() {
    let mut store = sharing(&["*"]);
    store.writer.set_embedding_model(MODEL, 8).expect("sets the model");
    let bob = of_bob(&[(5, "wombat"), (6, "numbat")]);
    let applied = apply(
        &mut store,
        vec![live(1, from(BOB, 9), &bob[0]), live(2, from(BOB, 9), &bob[1])],
    );
    assert_eq!((applied.stored.len(), applied.cursor), (2, 2));
    assert_eq!(embedded(&store, &applied.stored), applied.stored, "with their vectors");
    assert_eq!(origins(&store, "wombat"), [Some("bob".to_owned())]);
    let text = store.reader().texts(&applied.stored).expect("reads").remove(0);
    assert_eq!(
        (text.cwd, text.source, text.project_name.as_deref()),
        (None, None, Some("app"))
    );
    let row = store.reader().candidates(&applied.stored, MODEL).expect("reads").remove(0);
    let (_, told) = bob[0].episode.embedding.as_ref().expect("has a vector");
    assert_eq!(crate::bit_code(&row.embedding.expect("is there")), crate::bit_code(told));
    let root = store.reader().projects().expect("reads").remove(0).2;
    assert_eq!(root, None, "a folder of Bob's says nothing here");
    assert!(next(&store).entries.is_empty());
    store.writer.enqueue_all().expect("looks again");
    assert!(next(&store).entries.is_empty());
    let state = store.reader().share_state().expect("reads").expect("shares");
    assert_eq!((state.pulled, state.by_origin), (2, vec![(from(BOB, 9), 2)]));
    // The project is that of a folder here, once there is one.
    store_turn(&mut store, 1, &["quokka"]);
    let projects = store.reader().projects().expect("reads");
    assert_eq!((projects.len(), projects[0].2.as_deref()), (1, Some("/home/ada/app")));
}

#[test]
fn a_vector_of_another_model_or_of_another_text_is_left_to_the_backlog() {
    let mut store = sharing(&["*"]);
    store.writer.set_embedding_model(MODEL, 8).expect("sets the model");
    let mut bob = of_bob(&[(4, "wombat"), (5, "numbat"), (6, "bilby"), (7, "potoroo")]);
    let change = |own: &mut OwnEpisode, change: fn(&mut SharedEpisode)| change(&mut own.episode);
    change(&mut bob[0], |episode| {
        "redacted here once more".clone_into(&mut episode.answer);
    });
    change(&mut bob[1], |episode| {
        if let Some((model, _)) = &mut episode.embedding {
            "another".clone_into(model);
        }
    });
    change(&mut bob[2], |episode| {
        if let Some((_, vector)) = &mut episode.embedding {
            vector.pop();
        }
    });
    let changes = bob.iter().zip(1..).map(|(own, seq)| live(seq, from(BOB, 9), own)).collect();
    let applied = apply(&mut store, changes);
    assert_eq!(embedded(&store, &applied.stored), applied.stored[3..]);
    store.embed();
    assert_sound(&store);
}

#[test]
fn what_is_withdrawn_or_forgotten_goes_and_takes_nothing_of_one_s_own_along() {
    let mut store = sharing(&["*"]);
    // The same turn was read here, too, as on a machine that two work at.
    store_turn(&mut store, 6, &["numbat"]);
    drain(&mut store);
    let bob = of_bob(&[(5, "wombat"), (6, "numbat"), (7, "bilby")]);
    let lives = bob.iter().zip(1..).map(|(own, seq)| live(seq, from(BOB, 9), own)).collect();
    let applied = apply(&mut store, lives);
    assert_eq!(changes(&applied), [2, 0, 0], "one's own is there already");
    let gone = apply(
        &mut store,
        vec![withdrawn(4, uid(5, 0)), forgotten(5, 7, BOB), forgotten(6, 6, BOB)],
    );
    assert_eq!(gone.removed, applied.stored);
    assert!(store.found("wombat").is_empty() && store.found("bilby").is_empty());
    assert_eq!(origins(&store, "numbat"), [None]);
    assert_eq!(
        pushed(&drain(&mut store)),
        [uid(6, 0)],
        "what another forgot is no mark of one's own: it is free now"
    );
    assert!(next(&store).entries.is_empty());
    assert!(store.reader().tombstones().expect("reads").is_empty());
    // It may come back where it was withdrawn.
    let again = apply(&mut store, vec![live(7, from(BOB, 9), &bob[0])]);
    assert_eq!((again.stored.len(), origins(&store, "wombat").len()), (1, 1));
}

#[test]
fn what_changes_is_changed_and_what_is_the_same_is_left() {
    let mut store = sharing(&["*"]);
    let mut bob = of_bob(&[(5, "wombat")]).remove(0);
    let stored = apply(&mut store, vec![live(1, from(BOB, 9), &bob)]).stored;
    let same = apply(&mut store, vec![live(2, from(BOB, 8), &bob)]);
    assert_eq!(changes(&same), [0; 3]);
    "numbat".clone_into(&mut bob.episode.prompt);
    let changed = apply(&mut store, vec![live(3, from(BOB, 8), &bob)]);
    assert_eq!(changed.replaced, stored);
    assert!(store.found("wombat").is_empty());
    assert_eq!(store.found("numbat"), stored);
    let origin = store.reader().shared_origin(&stored).expect("reads").remove(&stored[0]);
    assert_eq!(origin, Some(from(BOB, 8)));
}

#[test]
fn what_a_transcript_here_tells_becomes_one_s_own_and_stays_so() {
    for same_text in [true, false] {
        let mut store = sharing(&["*"]);
        store.writer.set_embedding_model(MODEL, 8).expect("sets the model");
        let bob = of_bob(&[(5, "wombat")]);
        let id = apply(&mut store, vec![live(1, from(BOB, 9), &bob[0])]).stored[0];
        store.writer.record_use(id, NOW).expect("counts");
        let prompt = if same_text { "wombat" } else { "wombat, as read here" };
        // In another session than the one that Bob's machine told.
        store_turn(&mut store, 5, &[prompt]);
        assert_eq!(store.found("wombat"), [id]);
        assert_eq!(origins(&store, "wombat"), [None]);
        let text = store.reader().texts(&[id]).expect("reads").remove(0);
        assert_eq!((text.session.as_str(), text.cwd.as_deref()), ("s", Some("/home/ada/app")));
        let row = store.reader().candidates(&[id], MODEL).expect("reads").remove(0);
        assert_eq!((row.embedding.is_some(), row.access_count), (same_text, 1));
        assert_eq!(pushed(&drain(&mut store)), [uid(5, 0)]);
        let crossed = apply(&mut store, vec![live(2, from(BOB, 9), &bob[0]), withdrawn(3, uid(5, 0))]);
        assert_eq!(changes(&crossed), [0; 3]);
        assert_eq!(store.found("wombat"), [id]);
        assert_sound(&store);
    }
}

#[test]
fn a_part_that_another_has_read_further_is_kept_beside_one_s_own() {
    let mut store = sharing(&["*"]);
    let mut further = of_bob(&[(5, "wombat")]).remove(0);
    (further.episode.uid, further.episode.part) = (uid(5, 1), 1);
    apply(&mut store, vec![live(1, from(BOB, 9), &further)]);
    store_turn(&mut store, 5, &["numbat"]);
    assert_eq!(origins(&store, "wombat"), [Some("bob".to_owned())]);
    assert_eq!(origins(&store, "numbat"), [None]);
    assert_sound(&store);
}

#[test]
fn what_another_machine_of_one_s_own_forgot_is_forgotten_here() {
    const SECRET: &str = "zugzwangqx";
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &[SECRET]);
    store_turn(&mut store, 2, &["numbat"]);
    drain(&mut store);
    let fact = store
        .writer
        .remember(SECRET, None, &ProjectNames::everywhere(), NOW)
        .expect("remembers");
    let told = store
        .reader()
        .find_episode(&fact.episode.to_string())
        .expect("reads")
        .remove(0);
    let applied = apply(
        &mut store,
        vec![
            forgotten(1, 1, ADA),
            PulledChange::Forgotten {
                seq: 2,
                turn_uid: told.turn_uid,
                member: ADA,
            },
            forgotten(3, 9, ADA),
        ],
    );
    assert_eq!((applied.removed.len(), applied.forgotten_own.len()), (2, 3));
    assert!(applied.unscrubbed && store.writer.finish_forgetting().expect("cleans up"));
    let mut tombstones = store.reader().tombstones().expect("reads");
    tombstones.sort_unstable();
    let mut expected: Vec<TurnUid> = vec![turn_uid(1), turn_uid(9), told.turn_uid];
    expected.sort_unstable();
    assert_eq!(tombstones, expected, "also of a turn that comes here later");
    let folder = store.path.parent().expect("has a folder");
    for file in fs_err::read_dir(folder).expect("lists") {
        let bytes = fs_err::read(file.expect("is there").path()).expect("reads");
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()));
    }
    assert!(FactsFile::of(&store.path).read().expect("reads").is_empty());
    let page = drain(&mut store);
    assert!(page.is_empty(), "the shared store knows: {page:?}");
    // The journal has it: a database that is put back from before forgets it once more.
    store_turn(&mut store, 1, &[SECRET]);
    assert!(store.found(SECRET).is_empty());
    let again = apply(&mut store, vec![forgotten(4, 1, ADA)]);
    assert_eq!((changes(&again), again.forgotten_own.len()), ([0; 3], 0));
}

#[test]
fn what_is_forgotten_or_retired_here_does_not_come_back_from_others() {
    let mut store = sharing(&["*"]);
    let bob = of_bob(&[(5, "wombat"), (6, "numbat")]);
    let lives = |seq| vec![live(seq, from(BOB, 9), &bob[0]), live(seq + 1, from(BOB, 9), &bob[1])];
    apply(&mut store, lives(1));
    forget_turn(&mut store, 5);
    store.writer.retire(&[turn_uid(6)], NOW).expect("retires");
    assert_eq!(
        drain(&mut store).forget,
        [turn_uid(5)],
        "it travels to one's other machines, and the other stays at Bob's"
    );
    let applied = apply(&mut store, lives(3));
    assert_eq!(changes(&applied), [0; 3]);
}

#[test]
fn what_is_kept_out_here_is_passed_over_and_comes_once_it_is_let_in() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    let bob = of_bob(&[(5, "wombat"), (6, "numbat")]);
    apply(&mut store, vec![live(1, from(BOB, 9), &bob[0])]);
    assert_eq!(
        store.writer.exclude_path("/home/ada", NOW).expect("excludes"),
        2,
        "that of Bob, too"
    );
    assert!(store.found("wombat").is_empty());
    let applied = apply(&mut store, vec![live(2, from(BOB, 9), &bob[1])]);
    assert_eq!((changes(&applied), applied.cursor), ([0; 3], 2));
    assert_eq!(store.writer.include_path("/home/ada").expect("includes"), 2);
    assert_eq!(
        store.reader().share_place().expect("reads").expect("shares").cursor,
        0,
        "all is asked for again"
    );
    let applied = apply(
        &mut store,
        vec![live(1, from(BOB, 9), &bob[0]), live(2, from(BOB, 9), &bob[1])],
    );
    assert_eq!(changes(&applied), [1, 0, 0]);
    store.writer.exclude_session(&session("of-bob")).expect("excludes");
    assert!(store.found("wombat").is_empty());
    let applied = apply(&mut store, vec![live(3, from(BOB, 9), &of_bob(&[(7, "bilby")])[0])]);
    assert_eq!(changes(&applied), [0; 3]);
}

#[test]
fn what_one_machine_keeps_out_leaves_the_shared_store_whichever_of_one_s_machines_shared_it() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    let own = next(&store).live.remove(0);
    store.writer.exclude_path("/home/ada/app", NOW).expect("excludes");
    assert!(drain(&mut store).is_empty(), "it was never sent from here");
    apply(&mut store, vec![live(1, from(ADA, 7), &own)]);
    assert_eq!(drain(&mut store).withdraw_everywhere, [uid(1, 0)]);
}

#[test]
fn a_page_from_another_place_is_left_alone() {
    let mut store = sharing(&["*"]);
    let bob = of_bob(&[(5, "wombat"), (6, "numbat")]);
    let first = page(&store, vec![live(1, from(BOB, 9), &bob[0])]);
    store.writer.apply_pulled(&first, NOW).expect("applies");
    apply(&mut store, vec![withdrawn(2, uid(5, 0))]);
    let late = store.writer.apply_pulled(&first, NOW).expect("is told");
    assert_eq!((late.stale, late.cursor, late.stored.len()), (true, 2, 0));
    store.writer.set_sharing(None, machine(1)).expect("stops");
    assert!(store.writer.apply_pulled(&first, NOW).expect("is told").stale);
    let mut unknown = Store::new();
    unknown.writer.set_sharing(Some(&setup(&["*"])), machine(1)).expect("sets");
    let error = unknown.writer.apply_pulled(&first, NOW).expect_err("who is it?");
    assert!(error.to_string().contains("connect first"), "{error}");
}

#[test]
fn while_it_is_paused_contents_are_held_back_and_asked_for_afterwards() {
    let mut store = sharing(&["*"]);
    let bob = of_bob(&[(5, "wombat"), (6, "numbat")]);
    apply(&mut store, vec![live(1, from(BOB, 9), &bob[0])]);
    store.writer.pause_sharing(true).expect("pauses");
    let applied = apply(&mut store, vec![live(2, from(BOB, 9), &bob[1]), withdrawn(3, uid(5, 0))]);
    assert_eq!((applied.stored.len(), applied.removed.len(), applied.cursor), (0, 1, 3));
    store.writer.pause_sharing(false).expect("resumes");
    let place = store.reader().share_place().expect("reads").expect("shares");
    assert_eq!((place.cursor, place.paused), (1, false), "from where it was paused");
    assert_eq!(apply(&mut store, vec![live(2, from(BOB, 9), &bob[1])]).stored.len(), 1);
}

#[test]
fn what_makes_no_sense_or_says_too_much_has_no_place() {
    let mut store = sharing(&["*"]);
    let mut bob = of_bob(&[(5, "wombat"), (6, "numbat"), (7, "bilby")]);
    bob[0].episode.part = 3;
    bob[1].episode.project_keys = vec![crate::EVERYWHERE_KEY.to_owned(), "cwd:/home/ada/app".to_owned()];
    "everywhere".clone_into(&mut bob[1].episode.project_name);
    crate::BOOSTED.clone_into(&mut bob[2].episode.importance_rule);
    bob[2].episode.importance = Importance::High;
    store
        .writer
        .remember("tabs are blanks", None, &ProjectNames::everywhere(), NOW)
        .expect("remembers");
    let everywhere = store.reader().everywhere().expect("reads");
    let lives = bob.iter().zip(1..).map(|(own, seq)| live(seq, from(BOB, 9), own)).collect();
    let applied = apply(&mut store, lives);
    assert_eq!(changes(&applied), [2, 0, 0]);
    let texts = store.reader().texts(&applied.stored).expect("reads");
    assert!(
        texts[0].project.is_some() && texts[0].project != everywhere,
        "what holds everywhere is said here alone"
    );
    assert_eq!(texts[1].importance_rule, "default");
    assert_eq!(store.reader().project_by_key("cwd:/home/ada/app").expect("reads"), None);
}

#[test]
fn what_is_decided_of_a_copy_is_decided_here() {
    let mut store = sharing(&["*"]);
    let bob = of_bob(&[(5, "wombat")]);
    let id = apply(&mut store, vec![live(1, from(BOB, 9), &bob[0])]).stored[0];
    store.writer.steer(&[turn_uid(5)], Steering::Boost, NOW).expect("boosts");
    apply(&mut store, vec![live(2, from(BOB, 9), &bob[0])]);
    let text = store.reader().texts(&[id]).expect("reads").remove(0);
    assert_eq!(text.importance_rule, crate::BOOSTED);
    store.writer.steer(&[turn_uid(5)], Steering::Mute, NOW).expect("mutes");
    assert!(store.reader().muted_episodes().expect("reads").contains(&id));
    assert!(next(&store).entries.is_empty());
}

#[test]
fn what_another_had_remembered_is_no_fact_of_one_s_own() {
    let shop = |root: &str| ProjectNames {
        keys: vec![APP.to_owned(), format!("cwd:{root}")],
        name: "app".to_owned(),
        root: Some(root.to_owned()),
    };
    let remember = |store: &mut Store, root: &str| {
        let said = store.writer.remember("amounts are cents", Some(root), &shop(root), NOW);
        said.expect("remembers")
    };
    let mut bob = Store::new();
    bob.writer.set_sharing(Some(&setup(&["*"])), machine(9)).expect("sets");
    remember(&mut bob, "/home/bob/app");
    let fact = next(&bob).live.remove(0);
    let mut store = sharing(&["*"]);
    apply(&mut store, vec![live(1, from(BOB, 9), &fact)]);
    assert_eq!(store.reader().stats().expect("counts").remembered, 0);
    let path = store.path.clone();
    store.writer.close().expect("closes");
    store.writer = crate::Writer::open(&path).expect("opens");
    assert!(FactsFile::of(&path).read().expect("reads").is_empty());
    let said = remember(&mut store, "/home/ada/app");
    assert!(said.is_new, "that Bob said so is not that Ada did");
    assert_eq!(origins(&store, "cents"), [None]);
    assert_eq!(FactsFile::of(&path).read().expect("reads").len(), 1);
    assert_eq!(pushed(&next(&store)), [said.episode]);
    assert_sound(&store);
}

#[test]
fn a_project_that_only_a_name_tells_of_is_its_member_s_and_no_folder_s() {
    for folder_first in [true, false] {
        let mut store = sharing(&["*"]);
        let mut bob = of_bob(&[(5, "wombat"), (6, "bilby"), (7, "potoroo")]);
        for own in &mut bob {
            own.episode.project_keys.clear();
        }
        if folder_first {
            store_turn(&mut store, 1, &["quokka"]);
        }
        let carl = ShareOrigin {
            member_login: "carl".to_owned(),
            ..from(3, 8)
        };
        let changes = vec![
            live(1, from(BOB, 9), &bob[0]),
            live(2, from(BOB, 9), &bob[1]),
            live(3, carl, &bob[2]),
        ];
        apply(&mut store, changes);
        store_turn(&mut store, 2, &["numbat"]);
        let projects = store.reader().projects().expect("reads");
        assert_eq!(projects.len(), 3, "{projects:?}");
        let project_of = |word: &str| store.reader().texts(&store.found(word)).expect("reads")[0].project;
        assert_eq!(project_of("wombat"), project_of("bilby"));
        assert_ne!(project_of("wombat"), project_of("potoroo"));
        assert_ne!(project_of("wombat"), project_of("numbat"));
    }
}

#[test]
fn a_copy_of_one_s_other_machine_stays_where_this_one_has_nothing_more_to_share() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    let own = drain(&mut store).live.remove(0);
    // Another machine of one's own pushes the same, this one's transcript loses it, and both cross.
    let early = page(&store, vec![live(1, from(ADA, 7), &own)]);
    let nothing = told(turn(1, "s", &[]), APP, "/home/ada/app");
    store.writer.ingest(&batch(vec![nothing])).expect("stores");
    let mut leaves = next(&store);
    assert_eq!(leaves.withdraw, [uid(1, 0)]);
    store.writer.apply_pulled(&early, NOW).expect("applies");
    let sent = store.writer.pushing(&mut leaves).expect("notes");
    let late = store.writer.apply_pulled(&page(&store, Vec::new()), NOW).expect("applies");
    assert!(!late.stale);
    assert!(store.writer.pushed(&sent).expect("notes").is_empty());
    assert_eq!(
        origins(&store, "quokka"),
        [Some("ada".to_owned())],
        "the other shares it still"
    );
    let asked_before = PulledPage {
        sent: early.sent,
        ..page(&store, vec![live(1, from(ADA, 7), &own)])
    };
    assert!(store.writer.apply_pulled(&asked_before, NOW).expect("is told").stale);
    assert_sound(&store);
}
