//! Which memories come, in which order, and which of them are shown.

use remembrancer_schema::Steering;

use super::*;

#[test]
fn seed_004_fewer_than_200_episodes_are_all_in_the_pool() {
    let mut store = Store::new();
    store.fill(20);
    let wanted = store.remember(&Memory {
        prompt: PROMPT,
        answer: "the flux capacitor lacked a fan",
        vector: Some(vector(0.8, 3)),
        ..Memory::default()
    });
    let recall = store.ask("the flux capacitor overheats again");
    assert_eq!(recall.log.pool, 21);
    assert_eq!(uids(&recall), [wanted]);
    assert!(recall.context.contains("lacked a fan"));
}

#[test]
fn seed_004_an_old_keyword_memory_surfaces_from_beyond_the_200_most_recent() {
    let mut store = Store::new();
    let old = store.remember(&Memory {
        prompt: PROMPT,
        answer: "the flux capacitor lacked a fan",
        age_days: 900,
        vector: Some(vector(0.5, 3)),
        ..Memory::default()
    });
    store.fill(260);
    // No coarse search: the words alone must bring it in.
    store.codes = RwLock::new(CodeIndex::new(DIMENSION));
    let recall = store.ask("the flux capacitor overheats again");
    assert_eq!(uids(&recall), [old]);
    assert_eq!(recall.log.pool, 201, "200 recent ones and the BM25 miss");
}

#[test]
fn a_reworded_old_memory_surfaces_without_sharing_a_word() {
    let mut store = Store::new();
    let old = store.remember(&Memory {
        prompt: "thermal shutdown of the time machine",
        answer: "its core needs cooling",
        age_days: 900,
        vector: Some(vector(0.7, 3)),
        ..Memory::default()
    });
    store.fill(260);
    let recall = store.ask(PROMPT);
    assert_eq!(uids(&recall), [old]);
    assert_eq!(recall.recollections[0].ranks.of(Leg::Bm25), None);
}

#[test]
fn seed_004_high_importance_is_boosted() {
    let mut store = Store::new();
    let memory = |importance, axis| Memory {
        prompt: PROMPT,
        answer: if axis == 1 { "first answer" } else { "second answer" },
        importance,
        vector: Some(vector(0.6, axis)),
        ..Memory::default()
    };
    let normal = store.remember(&memory(Importance::Normal, 1));
    let high = store.remember(&Memory {
        age_days: 2,
        ..memory(Importance::High, 2)
    });
    let recall = store.ask(PROMPT);
    assert_eq!(uids(&recall), [high, normal], "older, and yet first");
}

/// Remembers for the prompt what was answered in a session, at a cosine.
fn answered(store: &mut Store, session: &str, cosine: f32, axis: usize) -> EpisodeUid {
    store.remember(&Memory {
        prompt: PROMPT,
        answer: &format!("answer {axis}"),
        session,
        vector: Some(vector(cosine, axis)),
        ..Memory::default()
    })
}

/// As shipped, where [`Store::ask`] asks by the seed.
fn ask_as_shipped(store: &mut Store) -> Recall {
    store.ask_with(PROMPT, &SessionState::default(), &RecallSettings::default(), &Ok(asked()))
}

#[test]
fn rather_another_session_than_the_same_again_where_both_fit_as_well() {
    let mut store = Store::new();
    let [first, second, _] = [(0.80, 0), (0.79, 1), (0.74, 2)].map(|(cosine, axis)| answered(&mut store, "monday", cosine, axis));
    let other = answered(&mut store, "friday", 0.735, 3);
    let recall = ask_as_shipped(&mut store);
    assert_eq!(uids(&recall), [first, second, other]);
    let trace = recall.trace(&RecallSettings::default());
    assert_eq!(
        trace.candidates.len(),
        recall.log.candidates.len(),
        "in whichever order they were judged"
    );
    assert_eq!(trace.candidates.len(), 4);
}

#[test]
fn what_fits_far_better_is_shown_whatever_its_session() {
    let mut store = Store::new();
    let all_of_monday = [0, 1, 2].map(|axis| answered(&mut store, "monday", 0.80 - axis as f32 / 100.0, axis));
    answered(&mut store, "friday", 0.55, 3);
    assert_eq!(uids(&ask_as_shipped(&mut store)), all_of_monday);
}

#[test]
fn what_the_user_boosted_does_not_give_way() {
    let mut store = Store::new();
    let first = answered(&mut store, "monday", 0.80, 0);
    let second = answered(&mut store, "monday", 0.74, 1);
    let other = answered(&mut store, "friday", 0.79, 2);
    for boosted in [first, second] {
        store.steer(boosted, Steering::Boost);
    }
    assert_eq!(uids(&ask_as_shipped(&mut store)), [first, second, other]);
}

#[test]
fn seed_004_the_top_three_are_shown_and_no_more() {
    let mut store = Store::new();
    for number in 0..6 {
        let answer = format!("answer {number}");
        store.remember(&Memory {
            prompt: PROMPT,
            answer: &answer,
            vector: Some(vector(0.6, number)),
            ..Memory::default()
        });
    }
    let recall = store.ask(PROMPT);
    assert_eq!(recall.recollections.len(), 3);
    let positions: Vec<_> = recall
        .log
        .candidates
        .iter()
        .filter_map(|candidate| candidate.position)
        .collect();
    assert_eq!(positions, [1, 2, 3]);
}

#[test]
fn a_prompt_that_nothing_came_of_is_shown_only_if_it_matters() {
    let mut store = Store::new();
    let unanswered = |importance, axis| Memory {
        prompt: PROMPT,
        answer: "",
        importance,
        vector: Some(vector(0.7, axis)),
        ..Memory::default()
    };
    store.remember(&unanswered(Importance::Low, 1));
    assert_eq!(store.ask(PROMPT).silence, Some(Silence::NothingRelevant));
    let remembered = store.remember(&unanswered(Importance::High, 2));
    assert_eq!(uids(&store.ask(PROMPT)), [remembered]);
}

#[test]
fn what_had_no_room_was_not_shown() {
    let mut store = Store::new();
    let long = "这个解析器在处理很长的输入时会出错。".repeat(80);
    for number in 0..3 {
        let answer = format!("{number} {long}");
        store.remember(&Memory {
            prompt: PROMPT,
            answer: &answer,
            vector: Some(vector(0.6, number)),
            ..Memory::default()
        });
    }
    let recall = store.ask(PROMPT);
    let marked = recall
        .log
        .candidates
        .iter()
        .filter(|candidate| candidate.position.is_some())
        .count();
    assert_eq!(marked, recall.recollections.len());
    assert!(marked < 3, "the third had no room");
    assert!(
        recall
            .log
            .candidates
            .iter()
            .any(|candidate| candidate.gate.as_deref() == Some("no-room"))
    );
}

#[test]
fn what_is_shown_from_far_down_the_order_is_logged() {
    let mut store = Store::new();
    for number in 0..30 {
        store.remember(&Memory {
            prompt: PROMPT,
            answer: "the very same",
            vector: Some(vector(0.6, number)),
            importance: Importance::High,
            ..Memory::default()
        });
    }
    let last = store.remember(&Memory {
        prompt: PROMPT,
        answer: "another answer",
        age_days: 500,
        vector: Some(vector(0.55, 1)),
        ..Memory::default()
    });
    let recall = store.ask(PROMPT);
    assert!(uids(&recall).contains(&last));
    let shown = recall
        .log
        .candidates
        .iter()
        .filter(|candidate| candidate.position.is_some())
        .count();
    assert_eq!(shown, recall.recollections.len());
}
