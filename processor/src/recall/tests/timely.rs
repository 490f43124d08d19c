//! What is from the time that a prompt names: found however far down it is otherwise, told by how few others are, and as if nothing
//! were named where there is nothing of it.

use remembrancer_schema::Rank;

use super::super::legs::{BM25_LIMIT, COARSE_LIMIT};
use super::super::timely::TIME_LIMIT;
use super::*;

const FORTY_DAYS_AGO: &str = "which lamp did the workshop get 40 days ago";

impl Store {
    fn of_age(&mut self, age_days: i64, prompt: &str, vector: Embedding) -> EpisodeUid {
        self.remember(&Memory {
            prompt,
            age_days,
            session: &format!("{age_days} days"),
            vector: Some(vector),
            ..Memory::default()
        })
    }

    /// The pool for `prompt` by `profile`, fused.
    fn fused(&mut self, prompt: &str, profile: Profile, session: &SessionState) -> Vec<Fused> {
        let question = question(prompt, Some(self.project("shop")));
        let settings = RecallSettings {
            profile,
            ..RecallSettings::default()
        };
        let deadline = Deadline::after(Duration::from_secs(20));
        let pool = self.with_sources(&Ok(asked()), |sources| {
            candidate_pool(&question, session, sources, &settings, deadline)
        });
        fuse(pool.unwrap(), &profile, NOW)
    }

    fn recall_by_default(&mut self, prompt: &str) -> Recall {
        self.ask_with(prompt, &SessionState::default(), &RecallSettings::default(), &Ok(asked()))
    }
}

fn find(fused: &[Fused], uid: EpisodeUid) -> Option<&Fused> {
    fused.iter().find(|one| one.candidate.row.uid == uid)
}

fn rank_in_time(fused: &[Fused], uid: EpisodeUid) -> Option<u32> {
    find(fused, uid)?.ranks.of(Leg::Time).map(Rank::get)
}

#[test]
fn it_is_found_however_far_down_by_meaning() {
    let mut store = Store::new();
    let old = store.of_age(40, "an old prompt", vector(-0.4, 1));
    for number in 0..COARSE_LIMIT + 20 {
        store.of_age(1, "another prompt", vector(0.3, number));
    }
    let by = |store: &mut Store, prompt, profile| store.fused(prompt, profile, &SessionState::default());
    let fused = by(&mut store, FORTY_DAYS_AGO, DEFAULT);
    assert_eq!(rank_in_time(&fused, old), Some(1));
    assert!(
        find(&fused, old).unwrap().candidate.timely.unwrap() > 0.99,
        "nothing else is of that time"
    );
    assert!(find(&by(&mut store, "which lamp did the workshop get", DEFAULT), old).is_none());
    assert!(
        find(&by(&mut store, FORTY_DAYS_AGO, RRF), old).is_none(),
        "that profile has no such list"
    );
}

#[test]
fn it_is_found_however_far_down_by_words() {
    let mut store = Store::new();
    let long = "a lamp, and ".to_owned() + &"much else that has nothing to do with it ".repeat(50);
    let old = store.remember(&Memory {
        prompt: &long,
        age_days: 40,
        session: "then",
        ..Memory::default()
    });
    for _ in 0..BM25_LIMIT + 10 {
        store.of_age(1, "a workshop lamp", vector(0.3, 1));
    }
    let hit = |fused: &[Fused]| find(fused, old).and_then(|one| one.candidate.bm25);
    let session = SessionState::default();
    assert!(hit(&store.fused(FORTY_DAYS_AGO, DEFAULT, &session)).is_some());
    assert!(hit(&store.fused("which lamp did the workshop get", DEFAULT, &session)).is_none());
}

#[test]
fn the_list_is_of_that_time_and_of_no_other_and_ends() {
    let mut store = Store::new();
    let then: Vec<EpisodeUid> = (0..TIME_LIMIT + 5)
        .map(|number| store.of_age(40, "then", vector(-0.4, number)))
        .collect();
    let now = store.of_age(1, "now", vector(0.4, 1));
    let elsewhere = store.remember(&Memory {
        age_days: 40,
        project: "elsewhere",
        vector: Some(vector(0.2, 2)),
        ..Memory::default()
    });
    let left_out = SessionState {
        left_out: store
            .reader()
            .find_episode(&then[0].to_string())
            .unwrap()
            .iter()
            .map(|row| row.id)
            .collect(),
        ..SessionState::default()
    };
    let fused = store.fused(FORTY_DAYS_AGO, DEFAULT, &left_out);
    assert!(find(&fused, then[0]).is_none() && find(&fused, elsewhere).is_none());
    assert_eq!(
        (rank_in_time(&fused, now), find(&fused, now).unwrap().candidate.timely),
        (None, None)
    );
    let recall = store.ask_with(FORTY_DAYS_AGO, &left_out, &RecallSettings::default(), &Ok(asked()));
    assert_eq!(recall.notes.timely.unwrap().found as usize, TIME_LIMIT);
}

#[test]
fn the_more_of_all_are_of_that_time_the_less_it_tells() {
    let rarity = |others: usize| {
        let mut store = Store::new();
        let old = store.of_age(40, "then", vector(0.4, 1));
        for number in 0..30 {
            store.of_age(if number < others { 40 } else { 1 }, "more", vector(0.3, number));
        }
        let fused = store.fused(FORTY_DAYS_AGO, DEFAULT, &SessionState::default());
        find(&fused, old).unwrap().candidate.timely.unwrap()
    };
    // Of 31 that are found anyhow so many are of it: ln(33 / (n + 1)) / ln(33).
    let (few, half, all) = (rarity(0), rarity(15), rarity(30));
    for (found, of_it) in [(few, 1.0), (half, 16.0), (all, 31.0)] {
        let expected = (33.0_f64 / (of_it + 1.0)).ln() / 33.0_f64.ln();
        assert!((found - expected).abs() < 1e-12, "{found} for {of_it}");
    }
}

#[test]
fn where_nothing_is_of_that_time_its_words_are_asked_as_any_others() {
    let mut store = Store::new();
    store.of_age(1, "the lamp of some days ago", vector(0.5, 1));
    let weight_of = |recall: &Recall, term: &str| {
        let place = recall.log.terms.iter().position(|one| one == term).unwrap();
        recall.weighing.frequencies[place].1
    };
    let without = store.recall_by_default(FORTY_DAYS_AGO);
    assert!(weight_of(&without, "40") > 0.0);
    assert!(without.weighing.support.in_time <= 0.0);
    store.of_age(40, "something of that day", vector(0.4, 1));
    let with = store.recall_by_default(FORTY_DAYS_AGO);
    assert!(weight_of(&with, "40") <= 0.0);
    assert!(with.weighing.support.in_time > 0.0);
}

#[test]
fn a_long_span_has_no_list_of_its_own_and_is_told_all_the_same() {
    let mut store = Store::new();
    let old = store.of_age(300, "a lamp", vector(0.5, 1));
    let recall = store.recall_by_default("which lamp did the workshop get last year");
    assert_eq!(recall.notes.timely, None);
    let weighed = recall.weighing.candidates.iter().find(|one| one.text.uid == old);
    assert!(weighed.unwrap().evidence.in_time > 0.0);
}
