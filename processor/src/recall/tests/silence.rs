//! What is left out, what keeps silence, and what is missing in time.

use super::*;

#[test]
fn a_late_embedding_falls_back_to_words() {
    let mut store = Store::new();
    store.fill(5);
    let wanted = store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.8, 3)),
        ..Memory::default()
    });
    let state = SessionState::default();
    let recall = store.ask_with(PROMPT, &state, &by_the_seed(), &Err(Degradation::EmbeddingLate));
    assert_eq!(uids(&recall), [wanted]);
    assert_eq!(recall.degradations, [Degradation::EmbeddingLate]);
    assert_eq!(recall.log.degradations, ["embedding-late"]);
}

#[test]
fn an_episode_without_a_vector_takes_part_by_its_words() {
    let mut store = Store::new();
    store.fill(5);
    let wanted = store.remember(&Memory {
        prompt: PROMPT,
        answer: "it lacked a fan",
        ..Memory::default()
    });
    assert_eq!(uids(&store.ask(PROMPT)), [wanted]);
}

#[test]
fn tc_25_an_unrelated_prompt_gets_nothing() {
    let mut store = Store::new();
    store.fill(30);
    let recall = store.ask("please write a haiku about the autumn moon over a quiet harbour");
    assert_eq!(recall.silence, Some(Silence::NothingRelevant));
    assert_eq!(recall.context, "");
    let recall = store.ask("ok, continue");
    assert_eq!((recall.silence, recall.log.pool), (Some(Silence::Chatter), 0));
}

#[test]
fn an_empty_store_answers_nothing_found() {
    assert_eq!(Store::new().ask(PROMPT).silence, Some(Silence::NothingFound));
}

#[test]
fn tc_26_what_the_session_has_in_context_is_left_out_before_the_cut() {
    let mut store = Store::new();
    let mut ids = HashSet::new();
    for number in 0..60 {
        let answer = format!("seen {number}");
        let uid = store.remember(&Memory {
            prompt: PROMPT,
            answer: &answer,
            vector: Some(vector(0.9, number)),
            ..Memory::default()
        });
        ids.insert(store.reader().find_episode(&uid.to_string()).unwrap()[0].id);
    }
    let unseen = store.remember(&Memory {
        prompt: PROMPT,
        answer: "unseen",
        vector: Some(vector(0.7, 5)),
        ..Memory::default()
    });
    let state = SessionState {
        left_out: ids,
        ..SessionState::default()
    };
    let recall = store.ask_with(PROMPT, &state, &by_the_seed(), &Ok(asked()));
    assert_eq!(
        uids(&recall),
        [unseen],
        "sixty better ones fill every leg, and yet it is found"
    );
}

#[test]
fn tc_26_the_same_topic_is_answered_once() {
    let mut store = Store::new();
    store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.8, 3)),
        ..Memory::default()
    });
    let state = SessionState {
        answered_topic: Some(vector(0.9, 1)),
        ..SessionState::default()
    };
    let recall = store.ask_with(PROMPT, &state, &by_the_seed(), &Ok(asked()));
    assert_eq!(recall.silence, Some(Silence::SameTopic));
    let state = SessionState {
        answered_topic: Some(vector(0.8, 1)),
        ..SessionState::default()
    };
    let recall = store.ask_with(PROMPT, &state, &by_the_seed(), &Ok(asked()));
    assert_eq!(recall.silence, None);
}

#[test]
fn tc_28_another_project_s_episode_needs_strong_evidence() {
    let mut store = Store::new();
    let mut foreign = |answer, cosine, axis| {
        store.remember(&Memory {
            prompt: PROMPT,
            answer,
            project: "other",
            vector: Some(vector(cosine, axis)),
            ..Memory::default()
        })
    };
    let by_words = foreign("the best words", 0.5, 1);
    let strong = foreign("strong in both", 0.75, 2);
    let ask = |store: &mut Store, scope| {
        let settings = RecallSettings { scope, ..by_the_seed() };
        let mut shown = uids(&store.ask_with(PROMPT, &SessionState::default(), &settings, &Ok(asked())));
        shown.sort_unstable();
        shown
    };
    let mut both = vec![by_words, strong];
    both.sort_unstable();
    assert_eq!(ask(&mut store, ScopeRule::Project), []);
    assert_eq!(ask(&mut store, ScopeRule::ProjectFirst), [strong]);
    assert_eq!(ask(&mut store, ScopeRule::All), both);
    let settings = RecallSettings {
        scope: ScopeRule::All,
        ..by_the_seed()
    };
    let recall = store.ask_with(PROMPT, &SessionState::default(), &settings, &Ok(asked()));
    assert!(recall.context.contains(" · other · "), "its project is named");
}

#[test]
fn the_same_words_are_shown_once() {
    let mut store = Store::new();
    store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.8, 3)),
        ..Memory::default()
    });
    store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.8, 3)),
        session: "another",
        ..Memory::default()
    });
    let recall = store.ask(PROMPT);
    assert_eq!(recall.recollections.len(), 1);
    assert!(
        recall
            .log
            .candidates
            .iter()
            .any(|candidate| candidate.gate.as_deref() == Some("same-text"))
    );
}

#[test]
fn a_deadline_that_has_passed_gives_an_empty_answer_and_no_error() {
    let mut store = Store::new();
    store.fill(5);
    let question = question(PROMPT, None);
    let reader = store.reader();
    let mut source = |_| Err(Degradation::EmbeddingLate);
    let sources = Sources {
        reader: &reader,
        codes: &store.codes,
        model_id: MODEL,
        embedding: &mut source,
        remote: None,
        reranker: None,
        afterwards: None,
    };
    let recall = recall(
        &question,
        &SessionState::default(),
        sources,
        &by_the_seed(),
        Deadline::after(Duration::ZERO),
    );
    assert!(recall.context.is_empty() && recall.silence.is_some());
    assert!(reader.indexed_episodes().is_ok(), "the reader serves the next prompt");
}
