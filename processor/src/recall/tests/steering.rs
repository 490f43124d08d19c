//! What the user decides of single memories: what is muted is never recalled, whichever leg would bring it; what is boosted or remembered
//! goes first among what fits as well; what holds everywhere is recalled everywhere.

use remembrancer_schema::{ProjectNames, Steering};
use rstest::rstest;

use super::*;

impl Store {
    fn turn_of(&self, uid: EpisodeUid) -> TurnUid {
        self.reader().find_episode(&uid.to_string()).unwrap()[0].turn_uid
    }

    pub(super) fn steer(&mut self, uid: EpisodeUid, steering: Steering) {
        let turn = self.turn_of(uid);
        assert_eq!(self.writer.steer(&[turn], steering, NOW).unwrap(), 1);
    }

    fn fact(&mut self, text: &str, project: &ProjectNames, vector: &Embedding) -> EpisodeUid {
        let uid = self.writer.remember(text, None, project, NOW).unwrap().episode;
        let project = self.reader().project_by_key(&project.keys[0]).unwrap().unwrap();
        self.embed(uid, project, vector);
        uid
    }

    pub(super) fn answer(&mut self, answer: &str, vector: Option<Embedding>) -> EpisodeUid {
        self.remember(&Memory {
            prompt: PROMPT,
            answer,
            vector,
            ..Memory::default()
        })
    }
}

#[rstest]
#[case::by_words_alone(None)]
#[case::by_words_and_meaning(Some(vector(0.9, 1)))]
fn a_muted_memory_is_recalled_by_no_leg_until_it_is_unmuted(#[case] by: Option<Embedding>) {
    for profile in PROFILES {
        let mut store = Store::new();
        let muted = store.answer("the coolant leaks", by.clone());
        let settings = RecallSettings {
            profile: *profile,
            ..RecallSettings::default()
        };
        let ask = |store: &mut Store| store.ask_with(PROMPT, &SessionState::default(), &settings, &Ok(asked()));
        assert_eq!(uids(&ask(&mut store)), [muted], "{}", profile.name);
        store.steer(muted, Steering::Mute);
        let recall = ask(&mut store);
        assert_eq!((uids(&recall), recall.log.pool), (Vec::new(), 0), "{}", profile.name);
        store.steer(muted, Steering::Unmute);
        assert_eq!(uids(&ask(&mut store)), [muted], "{}", profile.name);
    }
}

#[test]
fn muted_memories_take_no_place_before_a_cut() {
    let mut store = Store::new();
    let mut turns = Vec::new();
    for number in 0..60 {
        let uid = store.answer(&format!("muted {number}"), Some(vector(0.95, number)));
        turns.push(store.turn_of(uid));
    }
    let right = store.answer("the coolant leaks, and here is how to mend it", Some(vector(0.8, 61)));
    assert_eq!(store.writer.steer(&turns, Steering::Mute, NOW).unwrap(), 60);
    assert_eq!(uids(&store.ask(PROMPT)), [right]);
}

#[test]
fn nothing_is_recalled_where_what_is_muted_can_not_be_read_in_time() {
    let mut store = Store::new();
    store.answer("the coolant leaks", Some(vector(0.9, 1)));
    let question = question(PROMPT, Some(store.project("shop")));
    let recall = store.with_sources(&Ok(asked()), |sources| {
        recall(
            &question,
            &SessionState::default(),
            sources,
            &by_the_seed(),
            Deadline::after(Duration::ZERO),
        )
    });
    assert!(recall.recollections.is_empty());
}

fn default_settings() -> RecallSettings {
    RecallSettings::default().without_gates()
}

fn scores(recall: &Recall) -> Vec<(EpisodeUid, f64)> {
    let told = |weighed: &Weighed| (weighed.text.uid, weighed.score);
    recall.weighing.candidates.iter().map(told).collect()
}

#[test]
fn a_boost_is_worth_so_much_and_no_more_and_is_given_back() {
    let mut store = Store::new();
    let first = store.answer("the coolant leaks at the pump", Some(vector(0.90, 1)));
    let second = store.answer("the coolant leaks at the hose", Some(vector(0.89, 2)));
    let far = store.remember(&Memory {
        prompt: "how do I water the garden",
        answer: "with a hose",
        vector: Some(vector(0.1, 3)),
        ..Memory::default()
    });
    let ask = |store: &mut Store| scores(&store.ask_with(PROMPT, &SessionState::default(), &default_settings(), &Ok(asked())));
    let before = ask(&mut store);
    assert_eq!(before[0].0, first);
    store.steer(second, Steering::Boost);
    store.steer(far, Steering::Boost);
    let boosted = ask(&mut store);
    let of = |scores: &[(EpisodeUid, f64)], uid| scores.iter().find(|(known, _)| *known == uid).unwrap().1;
    assert_eq!(boosted[0].0, second, "among what fits about as well it goes first");
    assert!((of(&boosted, second) - of(&before, second) - 0.5).abs() < 1e-9);
    assert_eq!(boosted.last().unwrap().0, far, "what does not fit stays behind");
    store.steer(second, Steering::Unboost);
    store.steer(far, Steering::Unboost);
    assert_eq!(ask(&mut store), before);
}

#[test]
fn a_boost_opens_no_floor() {
    let mut store = Store::new();
    let far = store.remember(&Memory {
        prompt: "how do I water the garden",
        answer: "with a hose",
        vector: Some(vector(0.1, 3)),
        ..Memory::default()
    });
    store.steer(far, Steering::Boost);
    let recall = store.ask_with(PROMPT, &SessionState::default(), &RecallSettings::default(), &Ok(asked()));
    assert_eq!(recall.silence, Some(Silence::NothingRelevant));
}

const FACT: &str = "the flux capacitor overheats when the coolant is older than a year";

#[rstest]
#[case::project_first(ScopeRule::ProjectFirst)]
#[case::project_alone(ScopeRule::Project)]
#[case::all(ScopeRule::All)]
fn what_holds_everywhere_is_recalled_in_every_project(#[case] scope: ScopeRule) {
    let mut store = Store::new();
    store.fill(3);
    let fact = store.fact(FACT, &ProjectNames::everywhere(), &vector(0.8, 1));
    for profile in [UNION, DEFAULT, WEIGHTED] {
        let settings = RecallSettings {
            profile,
            scope,
            ..RecallSettings::default()
        };
        for embedding in [Ok(asked()), Err(Degradation::NoModel)] {
            let recall = store.ask_with(PROMPT, &SessionState::default(), &settings, &embedding);
            assert_eq!(uids(&recall), [fact], "{scope:?} {embedding:?}");
            assert_eq!(recall.recollections.len(), 1, "once");
        }
    }
}

#[test]
fn what_holds_in_a_project_is_not_recalled_in_another_on_weak_evidence() {
    let mut store = Store::new();
    let other = ProjectNames {
        keys: vec!["cwd:/garage".to_owned()],
        name: "garage".to_owned(),
        root: None,
    };
    store.fact(FACT, &other, &vector(0.3, 1));
    let recall = store.ask_with(PROMPT, &SessionState::default(), &RecallSettings::default(), &Ok(asked()));
    assert!(recall.recollections.is_empty());
    store.fact(FACT, &ProjectNames::everywhere(), &vector(0.8, 1));
    let recall = store.ask_with(PROMPT, &SessionState::default(), &RecallSettings::default(), &Ok(asked()));
    assert_eq!(recall.recollections.len(), 1);
}

#[test]
fn a_fact_says_that_it_is_the_users_own_word_and_is_shown_whole() {
    let mut store = Store::new();
    let long = format!(
        "{FACT}, {}",
        "and the pump of it has to be looked at by two people, one of them at the valve, ".repeat(8)
    );
    store.fact(long.trim_end_matches(", "), &ProjectNames::everywhere(), &vector(0.8, 1));
    let recall = store.ask_with(PROMPT, &SessionState::default(), &RecallSettings::default(), &Ok(asked()));
    let text = &recall.context;
    assert!(
        text.contains(" · everywhere · id ") && text.contains(" · remembered by you on 2026-"),
        "{text}"
    );
    assert!(text.contains("\nRemembered: the flux capacitor overheats"), "{text}");
    assert!(
        text.contains("one of them at the valve\n") && !text.contains(" …") && !text.contains("Asked:"),
        "{text}"
    );
}
