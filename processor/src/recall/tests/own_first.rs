//! The prompt's own project first: what others have comes behind it, and changes nothing about it (ADR 8).

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::recall::evidence::Evidence;
use crate::rerank::RerankError;

impl Store {
    /// Remembers for the prompt an answer of `project`, at a cosine.
    fn answered_in(&mut self, project: &str, cosine: f32, axis: usize) -> EpisodeUid {
        self.remember(&Memory {
            prompt: PROMPT,
            answer: &format!("answer {axis}"),
            session: &format!("session {axis}"),
            project,
            vector: Some(vector(cosine, axis)),
            ..Memory::default()
        })
    }

    fn ask_within(&mut self, prompt: &str, scope: ScopeRule, profile: Profile, top: usize) -> Recall {
        let settings = RecallSettings {
            profile,
            scope,
            top,
            ..RecallSettings::default()
        };
        self.ask_with(prompt, &SessionState::default(), &settings, &Ok(asked()))
    }
}

/// What is shown with three places, by the profile as shipped.
fn shown(store: &mut Store) -> Vec<EpisodeUid> {
    uids(&store.ask_within(PROMPT, ScopeRule::ProjectFirst, DEFAULT, 3))
}

#[test]
fn another_project_s_comes_behind_the_prompt_s_own_however_well_it_fits() {
    let mut store = Store::new();
    let others = [0.95, 0.9].map(|cosine| store.answered_in("other", cosine, (cosine * 100.0) as usize));
    let own = store.answered_in("shop", 0.7, 1);
    assert_eq!(shown(&mut store), [own, others[0], others[1]]);
}

#[test]
fn the_best_of_all_is_shown_where_another_project_has_it() {
    let mut store = Store::new();
    let own = [1, 2, 3].map(|axis| store.answered_in("shop", 0.8 - axis as f32 / 100.0, axis));
    let best = store.answered_in("other", 0.95, 4);
    store.answered_in("other", 0.9, 5);
    assert_eq!(shown(&mut store), [own[0], own[1], best]);
    let one = store.ask_within(PROMPT, ScopeRule::ProjectFirst, DEFAULT, 1);
    assert_eq!(uids(&one), [own[0]]);
}

#[test]
fn another_project_s_takes_no_place_from_what_fits_better() {
    let mut store = Store::new();
    let own = [1, 2, 3].map(|axis| store.answered_in("shop", 0.9 - axis as f32 / 100.0, axis));
    store.answered_in("other", 0.885, 4);
    assert_eq!(shown(&mut store), own);
}

#[test]
fn without_an_answer_of_its_own_a_project_is_shown_the_others() {
    let mut store = Store::new();
    store.fill(30);
    let best = store.answered_in("other", 0.95, 1);
    let second = store.answered_in("another", 0.9, 2);
    assert_eq!(shown(&mut store), [best, second]);
}

#[test]
fn what_is_nearer_but_holds_fewer_of_the_prompt_s_words_does_not_lead() {
    let mut store = Store::new();
    let own = [1, 2, 3].map(|axis| store.answered_in("shop", 0.8 - axis as f32 / 100.0, axis));
    store.remember(&Memory {
        prompt: "the flux capacitor and its fan",
        project: "other",
        vector: Some(vector(0.95, 4)),
        ..Memory::default()
    });
    assert_eq!(shown(&mut store), own);
}

#[test]
fn the_later_word_of_another_project_has_the_last_place_before_what_it_takes_back() {
    let mut store = Store::new();
    let own = [1, 2].map(|axis| store.answered_in("shop", 0.7 - axis as f32 / 100.0, axis));
    let touched = Facets {
        files: vec!["src/cooling.rs".to_owned()],
        ..Facets::default()
    };
    let mut told = |answer, age_days, cosine| {
        store.remember(&Memory {
            prompt: PROMPT,
            answer,
            age_days,
            project: "other",
            session: answer,
            facets: touched.clone(),
            vector: Some(vector(cosine, 9)),
            ..Memory::default()
        })
    };
    told("It lacked a fan, which we mounted.", 9, 0.95);
    let later = told("The fan is replaced by water, for the noise.", 2, 0.65);
    assert_eq!(shown(&mut store), [own[0], own[1], later]);
}

#[test]
fn by_the_seed_others_keep_their_order_among_themselves() {
    let mut store = Store::new();
    let mut told = |project, cosine, age_days, axis| {
        store.remember(&Memory {
            prompt: PROMPT,
            answer: &format!("answer {axis}"),
            age_days,
            project,
            session: &format!("session {axis}"),
            vector: Some(vector(cosine, axis)),
            ..Memory::default()
        })
    };
    let best = told("other", 0.95, 30, 1);
    let recent = told("another", 0.65, 1, 2);
    for profile in [RRF, CONVEX] {
        let recall = store.ask_within(PROMPT, ScopeRule::ProjectFirst, profile, 3);
        assert_eq!(uids(&recall), [best, recent], "{}", profile.name);
    }
}

#[test]
fn what_leads_has_the_place_itself() {
    let mut store = Store::new();
    let own = [1, 2, 3].map(|axis| store.answered_in("shop", 0.8 - axis as f32 / 100.0, axis));
    // Nothing came of it, so it is never shown and leads nothing.
    store.remember(&Memory {
        prompt: PROMPT,
        answer: "",
        project: "other",
        vector: Some(vector(0.99, 4)),
        ..Memory::default()
    });
    store.answered_in("other", 0.62, 5);
    assert_eq!(shown(&mut store), own);
    // What says the same as its own is no memory of others.
    store.remember(&Memory {
        prompt: PROMPT,
        answer: "answer 1",
        project: "other",
        vector: Some(vector(0.98, 6)),
        ..Memory::default()
    });
    assert_eq!(shown(&mut store), own);
    let leading = store.answered_in("other", 0.9, 7);
    assert_eq!(shown(&mut store), [own[0], own[1], leading]);
}

#[test]
fn of_its_own_what_is_never_shown_does_not_keep_others_from_leading() {
    let mut store = Store::new();
    store.remember(&Memory {
        prompt: PROMPT,
        answer: "",
        vector: Some(vector(0.99, 9)),
        ..Memory::default()
    });
    let own = [1, 2, 3].map(|axis| store.answered_in("shop", 0.8 - axis as f32 / 100.0, axis));
    let leading = store.answered_in("other", 0.95, 4);
    assert_eq!(shown(&mut store), [own[0], own[1], leading]);
}

#[test]
fn words_that_name_a_time_ask_nothing_of_another_project_s_that_is_of_it() {
    let mut store = Store::new();
    store.fill(30);
    let of_that_day = store.remember(&Memory {
        prompt: "cut the log volume of loki",
        answer: "we dropped the debug lines",
        age_days: 3,
        project: "other",
        vector: Some(vector(0.75, 1)),
        ..Memory::default()
    });
    // Nothing of its own is of three weeks ago, and another's is.
    let old = store.remember(&Memory {
        prompt: "pick the licence of the blog's text",
        age_days: 21,
        project: "other",
        vector: Some(vector(0.7, 2)),
        ..Memory::default()
    });
    for (prompt, expected) in [
        ("how did we cut the log volume of loki three days ago", of_that_day),
        ("what about the licence of the blog's text three weeks ago", old),
    ] {
        let recall = store.ask_within(prompt, ScopeRule::ProjectFirst, DEFAULT, 3);
        assert_eq!(uids(&recall), [expected], "{prompt}");
    }
}

#[test]
fn gates_that_are_raised_hold_for_other_projects_too() {
    let mut store = Store::new();
    let other = store.answered_in("other", 0.8, 1);
    let mut shown_with = |ample_cosine| {
        let mut settings = RecallSettings::default();
        settings.floor.ample_cosine = ample_cosine;
        uids(&store.ask_with(PROMPT, &SessionState::default(), &settings, &Ok(asked())))
    };
    assert_eq!(shown_with(0.0), [other]);
    assert_eq!(shown_with(0.79), [other]);
    assert_eq!(shown_with(0.81), []);
}

/// Finds what stands further down the better, and counts what it reads.
#[derive(Default)]
struct LastFirst {
    read: AtomicUsize,
}

impl Rerank for LastFirst {
    fn model_id(&self) -> &'static str {
        "made up"
    }

    fn scores(&self, _: &str, passages: &[&str], _: Deadline) -> Result<Vec<Option<f32>>, RerankError> {
        self.read.fetch_add(passages.len(), Ordering::Relaxed);
        let last = passages.len().max(2) - 1;
        Ok((0..passages.len()).map(|place| Some(place as f32 / last as f32)).collect())
    }
}

#[test]
fn a_reranker_reads_the_prompt_s_own_and_leaves_the_others_behind_it() {
    let mut store = Store::new();
    let own = [1, 2].map(|axis| store.answered_in("shop", 0.8 - axis as f32 / 100.0, axis));
    let other = store.answered_in("other", 0.95, 3);
    let settings = RecallSettings {
        blend: Blend::FusedScore,
        ..RecallSettings::default()
    };
    let reranker = LastFirst::default();
    let question = question(PROMPT, Some(store.project("shop")));
    let reader = store.reader();
    let sources = Sources {
        reader: &reader,
        codes: &store.codes,
        model_id: MODEL,
        embedding: &mut |_| Ok(asked()),
        remote: None,
        reranker: Some(&reranker),
        afterwards: None,
    };
    let deadline = Deadline::after(Duration::from_mins(1));
    let recall = recall(&question, &SessionState::default(), sources, &settings, deadline);
    assert_eq!(uids(&recall), [own[1], own[0], other]);
    assert_eq!(reranker.read.load(Ordering::Relaxed), 2);
}

#[test]
fn some_of_other_projects_are_logged_however_many_are_of_its_own() {
    let mut store = Store::new();
    for axis in 0..30 {
        store.answered_in("shop", 0.8 - axis as f32 / 100.0, axis);
    }
    for axis in 30..38 {
        store.answered_in("other", 0.7, axis);
    }
    let recall = store.ask_within(PROMPT, ScopeRule::ProjectFirst, DEFAULT, 3);
    let others = recall.weighing.candidates.iter().filter(|one| one.fused.candidate.foreign);
    let others: Vec<_> = others.map(|one| one.fused.candidate.row.id).collect();
    let logged = &recall.log.candidates;
    assert_eq!(logged.len(), 20);
    assert_eq!(logged.iter().filter(|one| others.contains(&one.episode)).count(), 5);
}

/// The features and the score of each candidate of the prompt's own project, in their order.
fn own_weighed(recall: &Recall) -> Vec<(EpisodeId, f64, Evidence)> {
    let own = recall.weighing.candidates.iter().filter(|one| !one.fused.candidate.foreign);
    own.map(|one| (one.fused.candidate.row.id, one.score, one.evidence)).collect()
}

#[derive(Debug, Clone)]
struct Told {
    own: bool,
    cosine: f32,
    words: usize,
    age_days: i64,
}

fn told() -> impl Strategy<Value = Told> {
    (any::<bool>(), -0.2_f32..0.99, 0_usize..6, 0_i64..40).prop_map(|(own, cosine, words, age_days)| Told {
        own,
        cosine,
        words,
        age_days,
    })
}

const WORDS: [&str; 5] = ["flux", "capacitor", "overheat", "why", "again"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whether other projects are looked at or not: the prompt's own candidates have the same features, scores and order, and the first
    /// of those that are shown are shown.
    #[test]
    fn other_projects_change_nothing_about_the_prompt_s_own(
        all in prop::collection::vec(told(), 1..110),
        prompt in prop::sample::select(vec![PROMPT, "what did I say last week about the flux capacitor", "flux capacitor"]),
        profile in prop::sample::select(PROFILES),
        top in 1_usize..4,
    ) {
        let mut store = Store::new();
        for (axis, told) in all.iter().enumerate() {
            store.remember(&Memory {
                prompt: &format!("{} matter {axis}", WORDS[..told.words.min(WORDS.len())].join(" ")),
                answer: &format!("answer {axis}"),
                session: &format!("session {}", axis / 3),
                facets: Facets {
                    files: vec![format!("src/part{}.rs", axis % 7)],
                    ..Facets::default()
                },
                project: if told.own { "shop" } else { "other" },
                age_days: told.age_days,
                vector: Some(vector(told.cosine, axis)),
                ..Memory::default()
            });
        }
        let alone = store.ask_within(prompt, ScopeRule::Project, profile, top);
        let first = store.ask_within(prompt, ScopeRule::ProjectFirst, profile, top);
        prop_assert_eq!(own_weighed(&alone), own_weighed(&first));
        let (alone, first) = (uids(&alone), uids(&first));
        let kept = first.iter().zip(&alone).take_while(|(first, alone)| first == alone).count();
        prop_assert!(kept + 1 >= alone.len(), "{alone:?} {first:?}");
        prop_assert!(first[kept..].iter().all(|uid| !alone.contains(uid)), "{alone:?} {first:?}");
    }
}
