//! A tiny cross-encoder with made-up weights.

use serde_json::json;

use super::tiny_bert::{HIDDEN, Model};

/// A classifier of pairs with `labels` labels, whose score changes with every token.
pub(crate) fn classifier(labels: usize) -> Model {
    let mut model = Model::new();
    model.config["architectures"] = json!(["BertForSequenceClassification"]);
    model.config["id2label"] = (0..labels)
        .map(|label| (label.to_string(), json!(format!("LABEL_{label}"))))
        .collect();
    model.add_pair("pooler.dense", &[HIDDEN, HIDDEN]);
    model.add_pair("classifier", &[labels, HIDDEN]);
    let mut state = 1u32;
    for (name, (_, values)) in &mut model.tensors {
        let mean = if name.ends_with("LayerNorm.weight") { 1.0 } else { 0.0 };
        for value in values {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Multiples of 1/64 in -0.5 to 0.5 around the mean: exact in f16, too.
            *value = mean + (state >> 26) as f32 / 64.0 - 0.5;
        }
    }
    model
}
