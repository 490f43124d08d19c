//! The embedder itself: loads a model once, then only reads it, so that any number of threads can share it.

use std::path::Path;

use super::batch::{BATCH_TOKENS, batches};
use super::folder::{Folder, Pooling, parse_config};
use super::layers::Layers;
use super::term_vectors::TermVectors;
use super::tokenize::{PASSAGE_TOKENS, Tokens};
use super::vnni::ByteSet;
use super::weights::Weights;
use super::words::InputTables;
use super::{DeviceChoice, Embed, EmbedError, Embedding};

/// The name of the built-in model's vectors: model, form of the weights, revision of the arithmetic.
pub const EMBEDDED_MODEL_ID: &str = "all-MiniLM-L6-v2/q8/1";

/// The name of the vectors that it makes by 8-bit products, see [`Precision::Auto`].
pub const EMBEDDED_INT8_MODEL_ID: &str = "all-MiniLM-L6-v2/q8/int8/1";

/// Made by `packaging/model/convert.py`, which says from what.
static WEIGHTS: &[u8] = include_bytes!("../../model/weights.safetensors");
static TOKENIZER: &[u8] = include_bytes!("../../model/tokenizer.json");
static CONFIG: &[u8] = include_bytes!("../../model/config.json");

/// What the built-in model's matrix products are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// On processors with instructions for it (VNNI), of tokens' values rounded to 8 bits, as the weights are; elsewhere
    /// [`Precision::F32`]. About twice as fast, and nearly as close to the published model, but another kind of vectors.
    #[default]
    Auto,
    /// Of f32.
    F32,
}

/// A BERT that turns text into vectors: mean (or first) of the last layer's rows, brought to length one.
pub struct BertEmbedder {
    model_id: String,
    dimension: usize,
    tokens: Tokens,
    input: InputTables,
    layers: Layers,
    pooling: Pooling,
}

/// Once with the model, and not on the first prompt's time.
fn read_term_vectors() {
    TermVectors::built_in();
}

impl BertEmbedder {
    /// The model that is built in, on the processor. Takes about 50 ms and, beside the tokenizer, 12 MB.
    ///
    /// # Errors
    /// [`EmbedError`] only if the binary itself is damaged.
    pub fn embedded() -> Result<Self, EmbedError> {
        Self::embedded_on(DeviceChoice::Cpu)
    }

    /// The model that is built in, on a device of choice.
    ///
    /// # Errors
    /// [`EmbedError::Device`] if there is no such device; others only if the binary itself is damaged.
    pub fn embedded_on(device: DeviceChoice) -> Result<Self, EmbedError> {
        Self::embedded_with(device, Precision::Auto)
    }

    /// The model that is built in, on a device and with products of choice.
    ///
    /// # Errors
    /// As [`BertEmbedder::embedded_on`].
    pub fn embedded_with(device: DeviceChoice, precision: Precision) -> Result<Self, EmbedError> {
        read_term_vectors();
        let device = device.open()?;
        let bytes = ByteSet::found()
            .next()
            .filter(|_| device.is_cpu() && precision == Precision::Auto);
        let config = parse_config(Path::new("<built in>/config.json"), CONFIG)?;
        let weights_path = Path::new("<built in>/weights.safetensors");
        let weights = Weights::parse(weights_path, WEIGHTS)?;
        Ok(Self {
            model_id: bytes.map_or(EMBEDDED_MODEL_ID, |_| EMBEDDED_INT8_MODEL_ID).to_owned(),
            dimension: config.hidden_size,
            tokens: Tokens::parse(Path::new("<built in>/tokenizer.json"), TOKENIZER, &config, PASSAGE_TOKENS)?,
            input: InputTables::built_in(&weights, &config)?,
            layers: match bytes {
                Some(bytes) => Layers::load_int8(&weights, &config, bytes)?,
                None => Layers::load(&weights, &config, device)?,
            },
            pooling: Pooling::Mean,
        })
    }

    /// Any model of the BERT family from a folder with `config.json`, `tokenizer.json` and `model.safetensors` in f32, f16 or
    /// bf16. Its name is the folder's and a short sum of its contents.
    ///
    /// # Errors
    /// [`EmbedError`] naming the file that is missing, truncated or of another model, and what to do.
    pub fn from_dir(path: &Path, device: DeviceChoice) -> Result<Self, EmbedError> {
        read_term_vectors();
        let folder = Folder::read(path)?;
        let weights = Weights::parse(&folder.weights_path, &folder.weights)?;
        Ok(Self {
            dimension: folder.config.hidden_size,
            tokens: Tokens::parse(&folder.tokenizer_path, &folder.tokenizer, &folder.config, PASSAGE_TOKENS)?,
            input: InputTables::in_floats(&weights, &folder.config)?,
            layers: Layers::load(&weights, &folder.config, device.open()?)?,
            pooling: folder.pooling,
            model_id: folder.model_id,
        })
    }

    /// One forward pass over texts given as tokens, in the order given.
    fn forward(&self, texts: &[&[u32]]) -> Result<Vec<Embedding>, EmbedError> {
        let lengths: Vec<usize> = texts.iter().map(|tokens| tokens.len()).collect();
        let rows = self.input.rows(texts.iter().copied());
        let rows = self.layers.forward(rows, &lengths)?;
        let mut rest = &rows[..];
        let mut embeddings = Vec::with_capacity(texts.len());
        for length in lengths {
            let (own, after) = rest.split_at(length * self.dimension);
            embeddings.push(Embedding::normalised(self.pool(own))?);
            rest = after;
        }
        Ok(embeddings)
    }

    /// One vector of a text's rows; its length is left to the normalisation, so a sum does for the mean.
    fn pool(&self, rows: &[f32]) -> Vec<f32> {
        let mut rows = rows.chunks_exact(self.dimension);
        let mut pooled = rows.next().map_or_else(Vec::new, <[f32]>::to_vec);
        if self.pooling == Pooling::Mean {
            for row in rows {
                for (total, value) in pooled.iter_mut().zip(row) {
                    *total += value;
                }
            }
        }
        pooled
    }
}

impl Embed for BertEmbedder {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed_query(&self, text: &str) -> Result<Embedding, EmbedError> {
        let tokens = self.tokens.query(text)?;
        self.forward(&[&tokens])?.pop().ok_or(EmbedError::NoDirection)
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let tokens: Vec<Vec<u32>> = texts.iter().map(|text| self.tokens.passage(text)).collect::<Result<_, _>>()?;
        let lengths: Vec<usize> = tokens.iter().map(Vec::len).collect();
        let mut embeddings: Vec<Option<Embedding>> = vec![None; texts.len()];
        for batch in batches(&lengths, BATCH_TOKENS) {
            let own: Vec<&[u32]> = batch.iter().map(|index| &tokens[*index][..]).collect();
            for (index, embedding) in batch.into_iter().zip(self.forward(&own)?) {
                embeddings[index] = Some(embedding);
            }
        }
        embeddings
            .into_iter()
            .map(|embedding| embedding.ok_or(EmbedError::NoDirection))
            .collect()
    }
}

#[cfg(test)]
mod tests;
