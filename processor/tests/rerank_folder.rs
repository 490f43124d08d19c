//! Cross-encoders from a folder: the score is the model's, time is kept, and each kind of folder that won't do is refused.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "support/naive_bert.rs"]
mod naive_bert;
#[path = "support/tiny_bert.rs"]
mod tiny_bert;
#[path = "support/tiny_classifier.rs"]
mod tiny_classifier;

use std::time::Duration;

use naive_bert::NaiveBert;
use remembrancer_processor::Deadline;
use remembrancer_processor::embed::DeviceChoice;
use remembrancer_processor::rerank::{Blend, CrossEncoder, Rerank, RerankError, Reranking};
use rstest::rstest;
use safetensors::Dtype;
use serde_json::json;
use tempfile::TempDir;
use tiny_bert::{Model, WORDS, tokenizer};
use tiny_classifier::classifier;

fn load(folder: &TempDir) -> Result<CrossEncoder, RerankError> {
    CrossEncoder::from_dir(folder.path(), DeviceChoice::Cpu)
}

/// Scores without a shortage of time.
fn scores(model: &Model, query: &str, passages: &[&str]) -> Vec<f32> {
    let reranker = load(&model.folder()).unwrap();
    let scores = reranker
        .scores(query, passages, Deadline::after(Duration::from_hours(1)))
        .unwrap();
    scores.into_iter().map(Option::unwrap).collect()
}

/// The naive score of words that are all in the vocabulary.
fn naive(model: &Model, query: &str, passage: &str) -> f32 {
    let number = |word: &str| WORDS.iter().position(|known| *known == word).unwrap();
    let typed =
        |text: &str, kind: usize| -> Vec<(usize, usize)> { text.split_whitespace().map(|word| (number(word), kind)).collect() };
    let tokens = [
        typed(&format!("[CLS] {query} [SEP]"), 0),
        typed(&format!("{passage} [SEP]"), 1),
    ]
    .concat();
    let bert = NaiveBert {
        tensors: &model.tensors,
        layers: 2,
        heads: 2,
    };
    bert.score(&tokens)
}

#[track_caller]
fn close(own: f32, expected: f32) {
    assert!((own - expected).abs() < 1e-5, "{own} instead of {expected}");
}

#[rstest]
#[case::words("the lock", "the lock is held")]
#[case::turned_round("the lock is held", "the lock")]
#[case::no_passage("the lock", "")]
#[case::no_query("", "is held")]
#[case::full(
    "is the lock held",
    "the lock is held the lock is held the lock is held the lock is held the lock is held the lock is held the"
)]
fn the_score_is_the_naive_one(#[case] query: &str, #[case] passage: &str) {
    let model = classifier(1);
    close(scores(&model, query, &[passage])[0], naive(&model, query, passage));
}

#[test]
fn passages_keep_their_order_and_don_t_touch_each_other() {
    let (model, passages) = (classifier(1), ["the lock", "held", "", "is the lock held"]);
    let together = scores(&model, "is the lock held", &passages);
    assert_eq!(together, scores(&model, "is the lock held", &passages));
    for (passage, score) in passages.into_iter().zip(&together) {
        assert_eq!(scores(&model, "is the lock held", &[passage]), [*score]);
    }
    assert!(
        together.windows(2).all(|pair| (pair[0] - pair[1]).abs() > 1e-3),
        "{together:?}"
    );
}

#[test]
fn a_long_passage_is_cut_at_its_end() {
    // 32 positions: six for the query and its marks, one for the last mark, 25 for the passage.
    let model = classifier(1);
    let kept = ["the lock is held"; 7]
        .join(" ")
        .split(' ')
        .take(25)
        .collect::<Vec<_>>()
        .join(" ");
    let long = "the lock is held ".repeat(10_000);
    close(
        scores(&model, "is the lock held", &[&long])[0],
        naive(&model, "is the lock held", &kept),
    );
}

#[test]
fn a_long_query_keeps_its_head_and_tail_and_leaves_half_to_the_passage() {
    // 16 places: [CLS] and eleven words, three words and [SEP].
    let model = classifier(1);
    let long = format!("{} held held held", "lock ".repeat(5_000));
    let kept = format!("{} held held held", ["lock"; 11].join(" "));
    close(scores(&model, &long, &["the lock"])[0], naive(&model, &kept, "the lock"));
}

#[test]
fn after_the_deadline_nothing_is_scored() {
    let reranker = load(&classifier(1).folder()).unwrap();
    let passed = Deadline::after(Duration::ZERO);
    assert_eq!(reranker.scores("lock", &["the lock", "held"], passed).unwrap(), [None, None]);
}

#[test]
fn candidates_are_reordered_by_the_model() {
    let (model, passages) = (classifier(1), ["the lock", "held", "is the lock held"]);
    let expected = scores(&model, "lock", &passages);
    let reranker = load(&model.folder()).unwrap();
    let reranking = Reranking {
        reranker: &reranker,
        rule: Blend::FusedScore,
        deadline: Deadline::after(Duration::from_hours(1)),
    };
    let order = reranking.reorder("lock", &[0.0; 3], &passages).unwrap();
    assert!(order.is_sorted_by(|left, right| left.rerank_score >= right.rerank_score));
    for candidate in order {
        assert_eq!(candidate.rerank_score, Some(expected[candidate.fused_position]));
    }
}

#[rstest]
#[case::prefixed(&["embeddings.", "encoder.", "pooler."], Dtype::F32)]
#[case::half(&[], Dtype::F16)]
fn other_forms_give_the_same(#[case] prefixed: &[&str], #[case] kind: Dtype) {
    let exact = scores(&classifier(1), "lock", &["the lock is held"]);
    let model = classifier(1).renamed(|name| {
        if prefixed.iter().any(|start| name.starts_with(start)) {
            format!("bert.{name}")
        } else {
            name.to_owned()
        }
    });
    assert_eq!(scores(&Model { kind, ..model }, "lock", &["the lock is held"]), exact);
}

#[test]
fn the_name_is_the_folder_s_with_a_sum() {
    let folder = classifier(1).folder();
    let name = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
    assert!(load(&folder).unwrap().model_id().starts_with(&format!("{name}/")));
}

/// Loading must fail with a message that has all of `parts`.
#[track_caller]
fn refused(folder: &TempDir, parts: &[&str]) {
    let error = match load(folder) {
        Ok(_) => panic!("accepted; expected {parts:?}"),
        Err(error) => error.to_string(),
    };
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in: {error}");
    }
    assert!(error.contains(folder.path().to_str().unwrap()), "no path: {error}");
}

#[rstest]
#[case::config("config.json")]
#[case::tokenizer("tokenizer.json")]
#[case::weights("model.safetensors")]
fn a_missing_file_is_named(#[case] name: &str) {
    let folder = classifier(1).folder();
    fs_err::remove_file(folder.path().join(name)).unwrap();
    refused(&folder, &["can't read", name, "unset reranker.model_dir"]);
}

#[rstest]
#[case::other_family("model_type", json!("roberta"), "model_type is \"roberta\"")]
#[case::no_classifier("architectures", json!(["BertModel"]), "architectures is [\"BertModel\"]")]
#[case::two_labels("id2label", json!({"0": "no", "1": "yes"}), "2 labels")]
#[case::labels_unsaid("id2label", json!(null), "2 labels")]
#[case::labels_of_no_kind("id2label", json!(7), "not a classifier's")]
#[case::one_type("type_vocab_size", json!(1), "two token types")]
fn a_configuration_that_won_t_do(#[case] key: &str, #[case] value: serde_json::Value, #[case] reason: &str) {
    let mut model = classifier(1);
    model.config[key] = value;
    refused(&model.folder(), &["config.json", reason, "point reranker.model_dir at"]);
}

#[test]
fn the_number_of_labels_does_for_their_names() {
    let mut model = classifier(1);
    model.config["id2label"] = json!(null);
    model.config["num_labels"] = json!(1);
    assert!(load(&model.folder()).is_ok());
}

#[rstest]
#[case::pooler("pooler.dense.weight")]
#[case::classifier("classifier.bias")]
#[case::layer("encoder.layer.1.output.dense.weight")]
fn a_missing_tensor_is_named(#[case] name: &str) {
    let mut model = classifier(1);
    model.tensors.remove(name);
    refused(&model.folder(), &["model.safetensors", name, "missing"]);
}

#[test]
fn a_classifier_of_more_labels_than_are_named_is_refused() {
    let mut model = classifier(3);
    model.config["id2label"] = json!({"0": "LABEL_0"});
    refused(
        &model.folder(),
        &["model.safetensors", "classifier.weight", "[1, 16]", "[3, 16]"],
    );
}

#[test]
fn truncated_weights_are_refused() {
    let folder = classifier(1).folder();
    let bytes = fs_err::read(folder.path().join("model.safetensors")).unwrap();
    fs_err::write(folder.path().join("model.safetensors"), &bytes[..bytes.len() / 2]).unwrap();
    refused(&folder, &["model.safetensors", "truncated", "copy the whole file again"]);
}

/// A template processor with this form of pairs; single texts are BERT's.
fn template(pair: &[(&str, usize)]) -> serde_json::Value {
    let mark = |name: &str, kind: usize| match name {
        "A" | "B" => json!({"Sequence": {"id": name, "type_id": kind}}),
        _ => json!({"SpecialToken": {"id": name, "type_id": kind}}),
    };
    let special = |name: &str, id: usize| json!({"id": name, "ids": [id], "tokens": [name]});
    json!({
        "type": "TemplateProcessing",
        "single": [mark("[CLS]", 0), mark("A", 0), mark("[SEP]", 0)],
        "pair": pair.iter().map(|(name, kind)| mark(name, *kind)).collect::<Vec<_>>(),
        "special_tokens": {"[CLS]": special("[CLS]", 2), "[SEP]": special("[SEP]", 3)},
    })
}

fn folder_with_template(pair: &[(&str, usize)]) -> TempDir {
    let folder = classifier(1).folder();
    let mut changed: serde_json::Value = serde_json::from_str(&tokenizer(&WORDS)).unwrap();
    changed["post_processor"] = template(pair);
    fs_err::write(folder.path().join("tokenizer.json"), changed.to_string()).unwrap();
    folder
}

#[rstest]
#[case::bare(&[("A", 0), ("B", 1)])]
#[case::two_marks_between(&[("[CLS]", 0), ("A", 0), ("[SEP]", 0), ("[SEP]", 0), ("B", 1), ("[SEP]", 1)])]
#[case::one_type(&[("[CLS]", 0), ("A", 0), ("[SEP]", 0), ("B", 0), ("[SEP]", 0)])]
fn a_tokenizer_that_joins_pairs_otherwise_is_refused(#[case] pair: &[(&str, usize)]) {
    refused(
        &folder_with_template(pair),
        &["tokenizer.json", "a pair of texts doesn't become", "copy the tokenizer.json"],
    );
}

#[test]
fn bert_s_own_template_is_taken() {
    let folder = folder_with_template(&[("[CLS]", 0), ("A", 0), ("[SEP]", 0), ("B", 1), ("[SEP]", 1)]);
    assert!(load(&folder).is_ok());
}
