//! How a recall came about, as its trace tells it: against the recall itself, in every profile.

use super::super::notes;
use super::*;

/// A store in which words, meaning, links and a conversation all find something.
fn store() -> Store {
    let mut store = Store::new();
    store.fill(30);
    for number in 0..8 {
        store.remember(&Memory {
            prompt: PROMPT,
            answer: &format!("the fan of the capacitor was worn, case {number}"),
            session: "talk",
            age_days: number,
            importance: if number == 3 { Importance::High } else { Importance::Normal },
            vector: Some(vector(0.9 - 0.05 * number as f32, number as usize)),
            ..Memory::default()
        });
    }
    store.remember(&Memory {
        prompt: "how is the flux measured",
        project: "elsewhere",
        vector: Some(vector(0.4, 9)),
        ..Memory::default()
    });
    let boosted = store.answer("the fan was worn, and the case of it too", Some(vector(0.7, 20)));
    store.steer(boosted, remembrancer_schema::Steering::Boost);
    store
}

fn settings(profile: &Profile) -> RecallSettings {
    RecallSettings {
        profile: *profile,
        ..RecallSettings::default()
    }
}

fn asked_by(store: &mut Store, settings: &RecallSettings) -> Recall {
    let embedding = Ok(vector(0.99, 40));
    store.ask_with(PROMPT, &SessionState::default(), settings, &embedding)
}

#[test]
fn the_parts_of_a_score_sum_up_to_it_in_every_profile() {
    let mut store = store();
    for profile in PROFILES {
        let settings = settings(profile);
        let recall = asked_by(&mut store, &settings);
        let trace = recall.trace(&settings);
        assert!(!trace.candidates.is_empty(), "{}", profile.name);
        assert_eq!(trace.candidates.len(), recall.log.candidates.len(), "{}", profile.name);
        for (traced, logged) in trace.candidates.iter().zip(&recall.log.candidates) {
            assert_eq!(traced.fused_parts.len(), trace.fused_parts.len(), "{}", profile.name);
            let close = |sum: f64, score: f64| (sum - score).abs() <= 1e-3 * score.abs().max(1e-2);
            let sum: f64 = traced.fused_parts.iter().sum();
            assert!(close(sum, traced.fused), "{}: {sum} is not {}", profile.name, traced.fused);
            if profile.second_stage.is_some() {
                // Parts of both signs may nearly cancel out: each is rounded.
                let sum: f64 = traced.second_parts.iter().sum();
                assert!(
                    (sum - logged.fused).abs() <= 1e-3 * logged.fused.abs().max(1.0),
                    "{}: {sum} is not {}",
                    profile.name,
                    logged.fused
                );
            } else {
                assert!(traced.second_parts.is_empty());
                assert!(close(traced.fused, logged.fused));
            }
        }
    }
}

#[test]
fn the_first_of_each_list_are_those_of_a_naive_sort() {
    let mut store = store();
    let settings = settings(&WEIGHTED);
    let question = question(PROMPT, Some(store.project("shop")));
    let deadline = Deadline::after(Duration::from_secs(20));
    let state = SessionState::default();
    let pool = store.with_sources(&Ok(asked()), |sources| {
        candidate_pool(&question, &state, sources, &settings, deadline)
    });
    let fused = fuse(pool.unwrap(), &WEIGHTED, NOW);
    assert!(fused.len() > 3 * TOP);
    for listed in notes::lists(&fused, Leg::ALL.into_iter(), NOW) {
        let mut naive: Vec<_> = fused
            .iter()
            .filter_map(|fused| Some((fused.ranks.of(listed.leg)?, fused.candidate.row.id)))
            .collect();
        naive.sort_by_key(|(rank, _)| *rank);
        assert_eq!(listed.ranked as usize, naive.len(), "{}", listed.leg);
        naive.truncate(TOP);
        let first: Vec<_> = listed.top.iter().map(|top| (top.rank, top.episode)).collect();
        assert_eq!(first, naive, "{}", listed.leg);
    }
}

#[test]
fn what_the_filters_took_out_is_counted() {
    let mut store = store();
    let settings = settings(&DEFAULT);
    let first = asked_by(&mut store, &settings);
    let shown: HashSet<EpisodeId> = first.recollections.iter().map(|chosen| chosen.episode.id).collect();
    assert_eq!(shown.len(), 3);
    let conversation: Vec<EpisodeId> = shown.iter().copied().take(1).collect();
    let state = SessionState {
        answered_topic: Some(vector(0.1, 3)),
        conversation,
        left_out: shown,
    };
    let recall = store.ask_with(PROMPT, &state, &settings, &Ok(vector(0.99, 40)));
    let trace = recall.trace(&settings);
    assert_eq!((trace.pool.in_context, trace.pool.shown_before), (1, 2));
    let source = |name: &str| trace.sources.iter().find(|source| source.name == name).unwrap();
    assert_eq!(source("words").passed_over, Some(3), "all of them hold the words");
    assert_eq!(source("recent").passed_over, Some(3));
    assert_eq!(
        (source("meaning").passed_over, source("graph").absent.as_deref()),
        (None, Some("not-in-profile"))
    );
    let added: u32 = trace.sources.iter().map(|source| source.added).sum();
    assert_eq!(added, trace.pool.found);
    let pool = trace.pool;
    assert_eq!(pool.found - pool.gone - pool.other_projects, pool.size);
    assert_eq!(pool.other_projects, 1, "its cosine is not strong");
    let topic = trace.gates.iter().find(|gate| gate.name == "same-topic").unwrap();
    assert_eq!((topic.passed, topic.threshold), (Some(true), 0.85));
}

#[test]
fn a_missing_embedding_is_the_reason_of_what_it_makes_absent() {
    let mut store = store();
    let settings = settings(&DEFAULT);
    let recall = store.ask_with(PROMPT, &SessionState::default(), &settings, &Err(Degradation::EmbeddingLate));
    let trace = recall.trace(&settings);
    let meaning = trace.sources.iter().find(|source| source.name == "meaning").unwrap();
    let vector = trace.lists.iter().find(|list| list.leg == "vector").unwrap();
    assert_eq!((meaning.found, meaning.absent.as_deref()), (0, Some("embedding-late")));
    assert_eq!((vector.ranked, vector.absent.as_deref()), (0, Some("embedding-late")));
    assert!(vector.counts, "it would count");
}

#[test]
fn a_prompt_that_was_not_searched_for_has_a_trace_of_the_prompt_alone() {
    let settings = settings(&DEFAULT);
    let trace = store().ask("ok, continue").trace(&settings);
    assert_eq!((trace.candidates.len(), trace.lists.len(), trace.gates.len()), (0, 0, 0));
    assert_eq!(trace.query.characters, 12);
}

/// What a prompt waits for: the least of many measurements of all lists over a full pool, which a busy machine does not change.
#[test]
fn what_is_noted_while_a_prompt_waits_takes_no_time() {
    let fused = fuse((1..=500).map(candidate).collect(), &DEFAULT, NOW);
    let measured = (0..200).map(|_| {
        let mut watch = crate::deadline::Stopwatch::start();
        let lists = notes::lists(&fused, Leg::ALL.into_iter(), NOW);
        watch.lap("lists");
        assert_eq!(lists.len(), Leg::ALL.len());
        watch.total()
    });
    let least = measured.min().unwrap();
    println!("the lists of 500 candidates: {least:?}");
    assert!(least < Duration::from_micros(200), "{least:?}");
}

/// A candidate of a pool in which every tenth holds the words.
fn candidate(number: u32) -> Candidate {
    let turn_uid = TurnUid(u128::from(number).to_be_bytes());
    Candidate {
        row: remembrancer_schema::CandidateRow {
            id: EpisodeId(i64::from(number)),
            uid: EpisodeUid::of(&turn_uid, 0),
            turn_uid,
            session: remembrancer_schema::SessionId(1),
            turn: 0,
            part: 0,
            project: None,
            origin: Origin::User,
            importance: Importance::Normal,
            created_at: UnixMillis(i64::from(number) * 7_919 % 10_007),
            accessed_at: NOW,
            access_count: u64::from(number % 3),
            embedding: None,
        },
        bm25: number
            .is_multiple_of(10)
            .then(|| remembrancer_schema::Bm25(-f64::from(number * 31 % 97))),
        cosine: Some(remembrancer_schema::Cosine((number * 37 % 101) as f32 / 101.0)),
        expansion: None,
        graph: None,
        timely: None,
        foreign: false,
        remote: None,
        exact: false,
    }
}

/// ADR 46 states the size.
#[test]
fn a_usual_trace_is_small() {
    let mut store = store();
    let settings = settings(&DEFAULT);
    let bytes = serde_json::to_vec(&asked_by(&mut store, &settings).trace(&settings))
        .unwrap()
        .len();
    println!("a usual trace: {bytes} bytes");
    assert!((3_000..10_000).contains(&bytes), "{bytes} bytes");
}

/// What `forget` need not look through: ADR 46.
#[test]
fn no_word_of_a_prompt_or_an_episode_is_in_a_trace() {
    let mut store = store();
    let settings = settings(&WEIGHTED);
    let recall = asked_by(&mut store, &settings);
    let trace = serde_json::to_string(&recall.trace(&settings)).unwrap();
    for word in ["flux", "capacitor", "overheat", "fan", "worn", "shop", "talk", "garden"] {
        assert!(!trace.contains(word), "{word} in {trace}");
    }
    assert!(
        recall.trace(&settings).candidates[0].words > 0,
        "which of them matched is told by numbers"
    );
}
