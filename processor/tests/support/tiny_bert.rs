//! A tiny BERT with made-up weights, written into a folder as models are published.

use std::collections::BTreeMap;
use std::path::Path;

use half::{bf16, f16};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use tempfile::TempDir;

/// Values in a row of the layers.
pub(crate) const HIDDEN: usize = 16;
const WIDE: usize = 32;
/// The vocabulary; a word's number is its place.
pub(crate) const WORDS: [&str; 9] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "lock", "is", "held", "##s"];

/// The model's files, to be changed before they are written.
pub(crate) struct Model {
    pub(crate) config: serde_json::Value,
    /// Shape and values.
    pub(crate) tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    /// What the values are written as.
    pub(crate) kind: Dtype,
}

impl Model {
    /// A bare encoder.
    pub(crate) fn new() -> Self {
        let config = serde_json::json!({
            "model_type": "bert", "vocab_size": WORDS.len(), "hidden_size": HIDDEN, "num_hidden_layers": 2,
            "num_attention_heads": 2, "intermediate_size": WIDE, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
            "max_position_embeddings": 32, "type_vocab_size": 2, "initializer_range": 0.02, "layer_norm_eps": 1e-12,
            "pad_token_id": 0, "architectures": ["BertModel"],
        });
        let mut model = Self {
            config,
            tensors: BTreeMap::new(),
            kind: Dtype::F32,
        };
        model.add("embeddings.word_embeddings.weight", &[WORDS.len(), HIDDEN]);
        model.add("embeddings.position_embeddings.weight", &[32, HIDDEN]);
        model.add("embeddings.token_type_embeddings.weight", &[2, HIDDEN]);
        model.add_pair("embeddings.LayerNorm", &[HIDDEN]);
        for layer in ["encoder.layer.0", "encoder.layer.1"] {
            for part in ["self.query", "self.key", "self.value", "output.dense"] {
                model.add_pair(&format!("{layer}.attention.{part}"), &[HIDDEN, HIDDEN]);
            }
            model.add_pair(&format!("{layer}.attention.output.LayerNorm"), &[HIDDEN]);
            model.add_pair(&format!("{layer}.intermediate.dense"), &[WIDE, HIDDEN]);
            model.add_pair(&format!("{layer}.output.dense"), &[HIDDEN, WIDE]);
            model.add_pair(&format!("{layer}.output.LayerNorm"), &[HIDDEN]);
        }
        model
    }

    fn add(&mut self, name: &str, shape: &[usize]) {
        let seed = self.tensors.len();
        let count = shape.iter().product();
        // Multiples of 1/64 below 1: exact in f16 and bf16, too.
        let values = (0..count).map(|place: usize| ((place * 37 + seed * 11 + place / 7) % 64) as f32 / 64.0 - 0.5);
        self.tensors.insert(name.to_owned(), (shape.to_vec(), values.collect()));
    }

    /// A weight of `shape` and its bias.
    pub(crate) fn add_pair(&mut self, name: &str, shape: &[usize]) {
        self.add(&format!("{name}.weight"), shape);
        self.add(&format!("{name}.bias"), &shape[..1]);
    }

    /// Calls each tensor by another name.
    pub(crate) fn renamed(mut self, rename: impl Fn(&str) -> String) -> Self {
        self.tensors = self
            .tensors
            .into_iter()
            .map(|(name, tensor)| (rename(&name), tensor))
            .collect();
        self
    }

    /// Writes the three files.
    pub(crate) fn write(&self, folder: &Path) {
        let bytes: BTreeMap<&str, Vec<u8>> = self
            .tensors
            .iter()
            .map(|(name, (_, values))| {
                (
                    name.as_str(),
                    values.iter().flat_map(|value| encode(*value, self.kind)).collect(),
                )
            })
            .collect();
        let views = self.tensors.iter().map(|(name, (shape, _))| {
            (
                name.as_str(),
                TensorView::new(self.kind, shape.clone(), &bytes[name.as_str()]).unwrap(),
            )
        });
        let weights = safetensors::serialize(views, None).unwrap();
        fs_err::write(folder.join("model.safetensors"), weights).unwrap();
        fs_err::write(folder.join("config.json"), self.config.to_string()).unwrap();
        fs_err::write(folder.join("tokenizer.json"), tokenizer(&WORDS)).unwrap();
    }

    /// Writes the three files into a folder of their own.
    pub(crate) fn folder(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        self.write(folder.path());
        folder
    }
}

fn encode(value: f32, kind: Dtype) -> Vec<u8> {
    match kind {
        Dtype::F16 => f16::from_f32(value).to_le_bytes().to_vec(),
        Dtype::BF16 => bf16::from_f32(value).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    }
}

/// A BERT's `tokenizer.json` with these words.
pub(crate) fn tokenizer(words: &[&str]) -> String {
    let vocabulary: BTreeMap<&str, usize> = words.iter().enumerate().map(|(id, word)| (*word, id)).collect();
    serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                       "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": vocabulary},
    })
    .to_string()
}
