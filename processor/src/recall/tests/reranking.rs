//! A reranker in recall: what it says moves candidates as the blend allows, and where it says nothing, nothing moves.

#[path = "../../../tests/support/tiny_bert.rs"]
#[expect(dead_code, reason = "other tests change the model in more ways")]
mod tiny_bert;
#[path = "../../../tests/support/tiny_classifier.rs"]
mod tiny_classifier;

use rstest::rstest;

use super::*;
use crate::embed::{DeviceChoice, passage};
use crate::recall::reranking::rerank;
use crate::rerank::{CrossEncoder, RerankError, Reranking};

/// Time for a recall in these tests.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a made-up reranker says.
enum Says {
    /// The last passage is worth 1, the first 0, those between rise in even steps.
    Reversed,
    /// The first two are worth nothing, and time allows no more.
    TwoOnly,
    /// It fails.
    Nothing,
}

impl Rerank for Says {
    fn model_id(&self) -> &'static str {
        "made up"
    }

    fn scores(&self, _: &str, passages: &[&str], _: Deadline) -> Result<Vec<Option<f32>>, RerankError> {
        let places = 0..passages.len();
        match self {
            Self::Reversed => Ok(places.map(|place| Some(place as f32 / (passages.len() - 1) as f32)).collect()),
            Self::TwoOnly => Ok(places.map(|place| (place < 2).then_some(0.0)).collect()),
            Self::Nothing => Err(RerankError::NoScore),
        }
    }
}

impl Store {
    /// A store with `count` episodes about the prompt, each a little further from it.
    fn about_the_prompt(count: usize) -> Self {
        let mut store = Self::new();
        for number in 0..count {
            store.remember(&Memory {
                prompt: PROMPT,
                answer: &format!("the lock of fan {number} is held"),
                vector: Some(vector(0.9 - 0.01 * number as f32, number)),
                ..Memory::default()
            });
        }
        store
    }

    fn ask_reranked(&mut self, reranker: Option<&dyn Rerank>, blend: Blend, reserve: Duration) -> Recall {
        let settings = RecallSettings {
            blend,
            reserve,
            top: 4,
            ..by_the_seed()
        };
        self.ask_reranked_by(&settings, reranker)
    }

    fn ask_reranked_by(&mut self, settings: &RecallSettings, reranker: Option<&dyn Rerank>) -> Recall {
        let question = question(PROMPT, Some(self.project("shop")));
        let reader = self.reader();
        let sources = Sources {
            reader: &reader,
            codes: &self.codes,
            model_id: MODEL,
            embedding: &mut |_| Ok(asked()),
            remote: None,
            reranker,
            afterwards: None,
        };
        let deadline = Deadline::after(PATIENCE);
        recall(&question, &SessionState::default(), sources, settings, deadline)
    }
}

/// What it read is scored up to 1, what it did not keeps the second stage's score of any size.
#[test]
fn another_session_that_was_not_read_takes_no_place_of_what_was() {
    let mut store = Store::about_the_prompt(24);
    let other = store.remember(&Memory {
        prompt: PROMPT,
        answer: "the lock of another fan is held",
        session: "friday",
        vector: Some(vector(0.65, 30)),
        ..Memory::default()
    });
    let shown = |store: &mut Store, reranker| uids(&store.ask_reranked_by(&RecallSettings::default(), reranker));
    let reranked = shown(&mut store, Some(&Says::Reversed as &dyn Rerank));
    assert_eq!(reranked.len(), 3);
    assert!(!reranked.contains(&other), "{reranked:?}");
}

fn weighed(recall: &Recall) -> Vec<EpisodeUid> {
    recall.weighing.candidates.iter().map(|weighed| weighed.text.uid).collect()
}

#[rstest]
// 0.75, 0.75/2 + 0.25/3, 0.75/3 + 0.25·2/3, 0.6/4 + 0.4.
#[case::position(Blend::Position, [0, 3, 1, 2])]
#[case::fused_score(Blend::FusedScore, [3, 2, 1, 0])]
fn candidates_move_as_the_blend_allows(#[case] blend: Blend, #[case] expected: [usize; 4]) {
    let mut store = Store::about_the_prompt(4);
    let before = uids(&store.ask_reranked(None, blend, Duration::ZERO));
    let after = store.ask_reranked(Some(&Says::Reversed), blend, Duration::ZERO);
    assert_eq!(uids(&after), expected.map(|place| before[place]));
    assert_eq!(after.degradations, []);
    assert!(after.log.stages.iter().any(|(stage, _)| stage == "rerank"));
}

#[test]
fn the_log_has_the_score_that_orders() {
    let recall = Store::about_the_prompt(4).ask_reranked(Some(&Says::Reversed), Blend::Position, Duration::ZERO);
    let logged: Vec<f64> = recall.log.candidates.iter().map(|candidate| candidate.fused).collect();
    let expected = [0.75, 0.55, 0.458_333_3, 0.416_666_7];
    assert_eq!(logged.len(), expected.len());
    assert!(
        logged
            .iter()
            .zip(expected)
            .all(|(logged, expected)| (logged - expected).abs() < 1e-6)
    );
}

#[test]
fn what_is_not_read_stays_behind_in_order() {
    let mut store = Store::about_the_prompt(RERANKED + 5);
    let before = weighed(&store.ask_reranked(None, Blend::FusedScore, Duration::ZERO));
    let after = weighed(&store.ask_reranked(Some(&Says::Reversed), Blend::FusedScore, Duration::ZERO));
    assert_eq!(after[RERANKED..], before[RERANKED..]);
    assert_eq!(after[0], before[RERANKED - 1]);
}

#[rstest]
#[case::failed(&Says::Nothing, Duration::ZERO)]
// Enough for the legs, and too little for a passage.
#[case::no_time(&Says::Reversed, Duration::from_millis(59_905))]
fn an_absent_reranker_is_named_and_moves_nothing(#[case] reranker: &dyn Rerank, #[case] reserve: Duration) {
    let mut store = Store::about_the_prompt(4);
    let before = store.ask_reranked(None, Blend::FusedScore, Duration::ZERO);
    let after = store.ask_reranked(Some(reranker), Blend::FusedScore, reserve);
    assert_eq!(uids(&after), uids(&before));
    assert_eq!(after.log.candidates, before.log.candidates);
    assert_eq!(after.degradations, [Degradation::RerankerAbsent]);
    assert_eq!(after.log.degradations, ["reranker-absent"]);
}

#[test]
fn scores_below_zero_raise_nobody() {
    let mut store = Store::about_the_prompt(12);
    let mut weighing = store.ask_reranked(None, Blend::FusedScore, Duration::ZERO).weighing;
    for weighed in &mut weighing.candidates {
        weighed.score -= 10.0;
    }
    let order = |weighing: &Weighing| -> Vec<EpisodeId> { weighing.candidates.iter().map(|weighed| weighed.text.id).collect() };
    let before = order(&weighing);
    let reranking = Reranking {
        reranker: &Says::TwoOnly,
        rule: Blend::FusedScore,
        deadline: Deadline::after(PATIENCE),
    };
    rerank(&Query::of(PROMPT), &mut weighing, true, &reranking).unwrap();
    assert_eq!(order(&weighing), before);
}

#[test]
fn a_model_from_a_folder_orders_by_what_it_reads() {
    let folder = tiny_classifier::classifier(1).folder();
    let model = CrossEncoder::from_dir(folder.path(), DeviceChoice::Cpu).unwrap();
    let mut store = Store::about_the_prompt(4);
    let before = store.ask_reranked(None, Blend::FusedScore, Duration::ZERO);
    let texts = before.weighing.candidates.iter().map(|weighed| &weighed.text);
    let passages: Vec<String> = texts.map(|text| passage(&text.prompt, &text.answer, text.part)).collect();
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    let scores: Vec<f64> = before.weighing.candidates.iter().map(|weighed| weighed.score).collect();
    let reranking = Reranking {
        reranker: &model,
        rule: Blend::FusedScore,
        deadline: Deadline::after(PATIENCE),
    };
    let expected = reranking.reorder(PROMPT, &scores, &passages).unwrap();
    let after = store.ask_reranked(Some(&model), Blend::FusedScore, Duration::ZERO);
    let shown: Vec<(EpisodeUid, f64)> = after
        .recollections
        .iter()
        .map(|chosen| (chosen.episode.uid, chosen.score))
        .collect();
    let expected: Vec<(EpisodeUid, f64)> = expected
        .iter()
        .map(|reranked| (weighed(&before)[reranked.fused_position], reranked.blended_score))
        .collect();
    assert_eq!(shown, expected);
}
