//! A BERT that classifies pairs with one label, from a folder as such models are published.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::head::Head;
use super::pace::Pace;
use super::pair::Pairs;
use super::{Rerank, RerankError};
use crate::deadline::Deadline;
use crate::embed::{DeviceChoice, Folder, InputTables, Layers, Weights};

/// The one architecture that can be run, by Hugging Face's name.
const ARCHITECTURE: &str = "BertForSequenceClassification";

/// Labels where `config.json` says nothing of them: Hugging Face's default.
const DEFAULT_LABELS: usize = 2;

/// A model that reads prompt and passage together and gives the sigmoid of its one logit. It is only read, so that any
/// number of threads can share it; its work is split over the rayon pool that it is called in, see
/// [`Lane`](crate::embed::Lane).
pub struct CrossEncoder {
    model_id: String,
    hidden: usize,
    pairs: Pairs,
    input: InputTables,
    layers: Layers,
    head: Head,
}

impl CrossEncoder {
    /// A model from a folder with `config.json`, `tokenizer.json` and `model.safetensors` in f32, f16 or bf16, with or
    /// without the prefix `bert.`. Its name is the folder's and a short sum of its contents.
    ///
    /// # Errors
    /// [`RerankError`] naming the file that is missing, truncated or of another kind of model, and what to do.
    pub fn from_dir(path: &Path, device: DeviceChoice) -> Result<Self, RerankError> {
        let folder = Folder::read(path)?;
        let config = &folder.config;
        check_classifier(&folder).map_err(|reason| RerankError::Config {
            path: folder.config_path.clone(),
            reason,
        })?;
        let weights = Weights::parse(&folder.weights_path, &folder.weights)?;
        Ok(Self {
            hidden: config.hidden_size,
            pairs: Pairs::parse(&folder.tokenizer_path, &folder.tokenizer, config)?,
            input: InputTables::in_floats(&weights, config)?,
            layers: Layers::load(&weights, config, device.open()?)?,
            head: Head::load(&weights, config.hidden_size)?,
            model_id: folder.model_id,
        })
    }

    /// The score of one pair, whose passage begins at token `second`.
    fn score(&self, pair: &[u32], second: usize) -> Result<f32, RerankError> {
        let rows = self.input.pair_rows(pair, second);
        let rows = self.layers.forward(rows, &[pair.len()])?;
        let score = sigmoid(self.head.logit(&rows[..self.hidden])?);
        if score.is_nan() {
            Err(RerankError::NoScore)
        } else {
            Ok(score)
        }
    }
}

impl Rerank for CrossEncoder {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn scores(&self, query: &str, passages: &[&str], deadline: Deadline) -> Result<Vec<Option<f32>>, RerankError> {
        let mut scores = vec![None; passages.len()];
        let mut pace = Pace::until(deadline);
        let query = self.pairs.query(query)?;
        for (score, passage) in scores.iter_mut().zip(passages) {
            let pair = self.pairs.join(&query, passage)?;
            let Some(done) = pace.run(pair.len(), || self.score(&pair, query.len())) else {
                break;
            };
            *score = Some(done?);
        }
        Ok(scores)
    }
}

/// What `config.json` says of the head.
#[derive(Deserialize)]
struct Classifier {
    #[serde(default)]
    architectures: Vec<String>,
    num_labels: Option<usize>,
    id2label: Option<BTreeMap<String, String>>,
}

impl Classifier {
    fn labels(&self) -> usize {
        let named = self.id2label.as_ref().map(BTreeMap::len);
        named.or(self.num_labels).unwrap_or(DEFAULT_LABELS)
    }
}

/// Says what keeps the described model from scoring pairs, if anything does.
fn check_classifier(folder: &Folder) -> Result<(), String> {
    let classifier: Classifier =
        serde_json::from_slice(&folder.config_bytes).map_err(|error| format!("not a classifier's ({error})"))?;
    let architectures = &classifier.architectures;
    if !architectures.is_empty() && !architectures.iter().any(|name| name == ARCHITECTURE) {
        return Err(format!("architectures is {architectures:?}, not {ARCHITECTURE}"));
    }
    match classifier.labels() {
        1 => {}
        labels => return Err(format!("{labels} labels, where a reranker has one")),
    }
    if folder.config.type_vocab_size < 2 {
        return Err("type_vocab_size is 1, but a pair needs two token types".to_owned());
    }
    Ok(())
}

fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}
