//! Tokens into the rows that the first layer reads: word + position + type, normalised.
//!
//! The word table is half of the model. Built in, it stays as 8-bit codes in the binary's own pages, and a row becomes
//! f32 when it is looked up; from a folder it is held as f32.

use candle_transformers::models::bert::Config;

use super::EmbedError;
use super::norm::{NormParameters, normalise};
use super::weights::{Codes, Weights};

const WORDS: &str = "embeddings.word_embeddings.weight";

/// The word table, one row a token.
enum WordTable {
    Codes(Codes<'static>),
    Floats(Vec<f32>),
}

/// The model's lookup tables.
pub(crate) struct InputTables {
    words: WordTable,
    /// One row a position, the row of token type 0 added.
    positions: Vec<f32>,
    /// What token type 1 adds to that; empty if the model has one type.
    second_type: Vec<f32>,
    norm: NormParameters,
    columns: usize,
}

impl InputTables {
    /// Tables whose words stay in 8 bits.
    pub(crate) fn built_in(weights: &Weights<'static>, config: &Config) -> Result<Self, EmbedError> {
        let codes = weights.codes(WORDS, &[config.vocab_size, config.hidden_size])?;
        Self::load(weights, config, WordTable::Codes(codes))
    }

    /// Tables in f32, which don't keep the file's bytes.
    pub(crate) fn in_floats(weights: &Weights<'_>, config: &Config) -> Result<Self, EmbedError> {
        let floats = weights.floats(WORDS, &[config.vocab_size, config.hidden_size])?;
        Self::load(weights, config, WordTable::Floats(floats))
    }

    fn load(weights: &Weights<'_>, config: &Config, words: WordTable) -> Result<Self, EmbedError> {
        let columns = config.hidden_size;
        let shape = [config.max_position_embeddings, columns];
        let mut positions = weights.floats("embeddings.position_embeddings.weight", &shape)?;
        let shape = [config.type_vocab_size, columns];
        let types = weights.floats("embeddings.token_type_embeddings.weight", &shape)?;
        let Some(first_type) = types.get(..columns) else {
            return Err(EmbedError::NoDirection);
        };
        for row in positions.chunks_exact_mut(columns) {
            add(row, first_type);
        }
        let second_type = types[columns..].iter().zip(first_type).map(|(second, first)| second - first);
        let norm = weights.norm("embeddings.LayerNorm", columns, config.layer_norm_eps)?;
        Ok(Self {
            words,
            second_type: second_type.collect(),
            positions,
            norm,
            columns,
        })
    }

    /// The rows of all texts' tokens, text after text, `[tokens, hidden]`. Tokens past the last position are cut off
    /// before (`tokenize` bounds lengths), ids are below the vocabulary's size (`embedder` compares the two).
    pub(crate) fn rows<'t>(&self, texts: impl IntoIterator<Item = &'t [u32]>) -> Vec<f32> {
        let mut rows = Vec::new();
        for tokens in texts {
            self.append(tokens, &mut rows);
        }
        normalise(&mut rows, &self.norm);
        rows
    }

    /// The rows of two texts joined to one, whose tokens from place `second` on are of type 1; bounds as for [`Self::rows`].
    pub(crate) fn pair_rows(&self, tokens: &[u32], second: usize) -> Vec<f32> {
        let mut rows = Vec::new();
        self.append(tokens, &mut rows);
        for row in rows.chunks_exact_mut(self.columns).skip(second) {
            add(row, &self.second_type);
        }
        normalise(&mut rows, &self.norm);
        rows
    }

    /// Adds a text's rows, not normalised yet.
    fn append(&self, tokens: &[u32], rows: &mut Vec<f32>) {
        for (token, position) in tokens.iter().zip(self.positions.chunks_exact(self.columns)) {
            let start = rows.len();
            rows.extend_from_slice(position);
            self.add_word(*token as usize, &mut rows[start..]);
        }
    }

    fn add_word(&self, token: usize, row: &mut [f32]) {
        let place = token * self.columns..(token + 1) * self.columns;
        match &self.words {
            WordTable::Floats(floats) => add(row, &floats[place]),
            WordTable::Codes(table) => {
                let block = table.block();
                let scales = &table.scales[place.start / block..];
                let blocks = row.chunks_mut(block).zip(table.codes[place].chunks(block));
                for ((values, codes), scale) in blocks.zip(scales) {
                    for (value, code) in values.iter_mut().zip(codes) {
                        *value += f32::from(code.cast_signed()) * scale;
                    }
                }
            }
        }
    }
}

fn add(row: &mut [f32], other: &[f32]) {
    for (value, other) in row.iter_mut().zip(other) {
        *value += other;
    }
}
