//! Models from a folder: each kind of weights is read, each kind of damage refused by the name of its file.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "support/tiny_bert.rs"]
mod tiny_bert;

use remembrancer_processor::embed::{BertEmbedder, DeviceChoice, Embed, EmbedError};
use rstest::rstest;
use safetensors::Dtype;
use tempfile::TempDir;
use tiny_bert::{HIDDEN, Model, WORDS, tokenizer};

fn load(folder: &TempDir) -> Result<BertEmbedder, EmbedError> {
    BertEmbedder::from_dir(folder.path(), DeviceChoice::Cpu)
}

fn vector(folder: &TempDir) -> Vec<f32> {
    load(folder).unwrap().embed_query("The locks is held").unwrap().into_vec()
}

#[rstest]
#[case::half(Dtype::F16)]
#[case::brain(Dtype::BF16)]
fn narrower_weights_give_the_same(#[case] kind: Dtype) {
    let exact = vector(&Model::new().folder());
    assert_eq!(exact.len(), HIDDEN);
    assert_eq!(vector(&Model { kind, ..Model::new() }.folder()), exact);
}

#[rstest]
#[case::prefixed("", "bert.")]
#[case::old_scale("LayerNorm.weight", "LayerNorm.gamma")]
#[case::old_shift("LayerNorm.bias", "LayerNorm.beta")]
fn other_names_give_the_same(#[case] from: &str, #[case] to: &str) {
    let exact = vector(&Model::new().folder());
    let renamed = Model::new().renamed(|name| match from {
        "" => format!("{to}{name}"),
        _ => name.replace(from, to),
    });
    assert_eq!(vector(&renamed.folder()), exact, "{to}");
}

#[test]
fn pooling_by_the_first_token_is_another_model() {
    let folder = Model::new().folder();
    let (mean, mean_id) = (vector(&folder), load(&folder).unwrap().model_id().to_owned());
    fs_err::create_dir(folder.path().join("1_Pooling")).unwrap();
    let modes = r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#;
    fs_err::write(folder.path().join("1_Pooling/config.json"), modes).unwrap();
    assert_ne!(vector(&folder), mean);
    assert_ne!(load(&folder).unwrap().model_id(), mean_id);
}

#[test]
fn the_name_is_stable_and_tells_weights_apart() {
    let folder = Model::new().folder();
    let name = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
    let first = load(&folder).unwrap().model_id().to_owned();
    assert!(
        first.starts_with(&format!("{name}/")) && first.len() == name.len() + 13,
        "{first}"
    );
    assert_eq!(load(&folder).unwrap().model_id(), first);
    let mut other = Model::new();
    other.tensors.get_mut("encoder.layer.1.output.dense.bias").unwrap().1[0] = 0.25;
    other.write(folder.path());
    assert_ne!(load(&folder).unwrap().model_id(), first);
}

#[test]
fn a_text_longer_than_the_model_s_positions_is_cut() {
    let embedder = load(&Model::new().folder()).unwrap();
    assert_eq!(embedder.dimension(), HIDDEN);
    let long = "the lock is held ".repeat(100);
    assert_eq!(embedder.embed_passages(&[&long]).unwrap()[0].dims(), HIDDEN);
    assert_eq!(embedder.embed_query(&long).unwrap().dims(), HIDDEN);
}

/// Loading must fail with a message that has all of `parts`.
fn refused(folder: &TempDir, parts: &[&str]) {
    let error = match load(folder) {
        Ok(_) => panic!("accepted; expected {parts:?}"),
        Err(error) => error.to_string(),
    };
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in: {error}");
    }
}

#[rstest]
#[case::config("config.json")]
#[case::tokenizer("tokenizer.json")]
#[case::weights("model.safetensors")]
fn a_missing_file_is_named(#[case] name: &str) {
    let folder = Model::new().folder();
    fs_err::remove_file(folder.path().join(name)).unwrap();
    refused(&folder, &["can't read", name, "unset embedding.model_dir"]);
}

#[rstest]
#[case::config("config.json", "not readable")]
#[case::tokenizer("tokenizer.json", "not readable")]
#[case::weights("model.safetensors", "truncated")]
fn tc_42_a_truncated_file_is_named(#[case] name: &str, #[case] reason: &str) {
    let folder = Model::new().folder();
    let bytes = fs_err::read(folder.path().join(name)).unwrap();
    for length in [0, 7, bytes.len() / 2, bytes.len() - 1] {
        fs_err::write(folder.path().join(name), &bytes[..length]).unwrap();
        refused(&folder, &[name, reason]);
    }
}

#[rstest]
#[case::other_family("model_type", serde_json::json!("roberta"), "model_type is \"roberta\"")]
#[case::activation("hidden_act", serde_json::json!("swish"), "swish")]
#[case::heads("num_attention_heads", serde_json::json!(3), "can't be split into 3 heads")]
#[case::no_heads("num_attention_heads", serde_json::json!(0), "can't be split into 0 heads")]
#[case::no_size("hidden_size", serde_json::Value::Null, "not a BERT's")]
#[case::positions("position_embedding_type", serde_json::json!("relative_key"), "relative_key")]
fn a_configuration_that_can_t_be_run(#[case] key: &str, #[case] value: serde_json::Value, #[case] reason: &str) {
    let mut model = Model::new();
    model.config[key] = value;
    refused(&model.folder(), &["config.json", reason]);
}

#[rstest]
#[case::hidden("hidden_size", 32, &["embeddings.word_embeddings.weight", "[9, 32]", "[9, 16]"])]
#[case::layers("num_hidden_layers", 3, &["encoder.layer.2.", "missing"])]
#[case::vocabulary("vocab_size", 12, &["embeddings.word_embeddings.weight", "[12, 16]"])]
#[case::wide("intermediate_size", 64, &["encoder.layer.0.intermediate.dense.weight", "[64, 16]"])]
fn tensors_that_don_t_fit(#[case] key: &str, #[case] value: usize, #[case] parts: &[&str]) {
    let mut model = Model::new();
    model.config[key] = value.into();
    let folder = model.folder();
    refused(&folder, parts);
    refused(&folder, &["model.safetensors", "the same model"]);
}

#[test]
fn a_missing_tensor_is_named() {
    let mut model = Model::new();
    model.tensors.remove("encoder.layer.1.attention.self.key.bias");
    refused(
        &model.folder(),
        &["model.safetensors", "encoder.layer.1.attention.self.key.bias", "missing"],
    );
}

#[test]
fn values_that_are_no_numbers_are_refused() {
    let mut model = Model::new();
    model.tensors.get_mut("encoder.layer.0.output.dense.weight").unwrap().1[5] = f32::NAN;
    refused(
        &model.folder(),
        &["model.safetensors", "encoder.layer.0.output.dense.weight", "no numbers"],
    );
}

#[test]
fn a_tokenizer_of_a_larger_model_is_refused() {
    let folder = Model::new().folder();
    let words = [&WORDS[..], &["extra"]].concat();
    fs_err::write(folder.path().join("tokenizer.json"), tokenizer(&words)).unwrap();
    refused(&folder, &["tokenizer.json", "10 different tokens"]);
}

#[test]
fn a_tokenizer_without_marks_is_refused() {
    let folder = Model::new().folder();
    let mut bare: serde_json::Value = serde_json::from_str(&tokenizer(&WORDS)).unwrap();
    bare["post_processor"] = serde_json::Value::Null;
    fs_err::write(folder.path().join("tokenizer.json"), bare.to_string()).unwrap();
    refused(&folder, &["tokenizer.json", "0 marks"]);
}

#[test]
fn a_folder_that_isn_t_there() {
    let folder = tempfile::tempdir().unwrap();
    let error = BertEmbedder::from_dir(&folder.path().join("none"), DeviceChoice::Auto)
        .err()
        .unwrap();
    assert!(matches!(error, EmbedError::Read { .. }), "{error}");
}
