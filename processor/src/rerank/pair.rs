//! Prompt and passage as one input: `[CLS] prompt [SEP] passage [SEP]`, cut to the model's window.
//!
//! What is too long is cut from the passage's end. Only a prompt that is long itself, a pasted log say, is cut as well,
//! to the head and tail that the embedding model is given, so that a passage always has room.

use std::path::Path;

use candle_transformers::models::bert::Config;

use crate::embed::{EmbedError, QUERY_HEAD_TOKENS, QUERY_TAIL_TOKENS, Tokens};

/// Tokens of prompt and passage together, the three marks among them: what cross-encoders are trained on at most.
pub const PAIR_TOKENS: usize = 512;

/// Joins pairs as the model's makers did.
pub(super) struct Pairs {
    tokens: Tokens,
}

impl Pairs {
    /// Reads a `tokenizer.json`, which must join two texts as BERT's does.
    pub(super) fn parse(path: &Path, bytes: &[u8], config: &Config) -> Result<Self, EmbedError> {
        let tokens = Tokens::parse(path, bytes, config, PAIR_TOKENS)?;
        if tokens.joins_pairs()? {
            Ok(Self { tokens })
        } else {
            Err(EmbedError::Tokenizer {
                path: path.to_owned(),
                reason: "a pair of texts doesn't become [CLS] first [SEP] second [SEP] with token types 0 and 1".to_owned(),
            })
        }
    }

    /// `[CLS] prompt [SEP]`: the first part of every pair of this prompt, at most half of the window.
    pub(super) fn query(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let half = self.tokens.window() / 2;
        let tail = QUERY_TAIL_TOKENS.min(half / 4);
        let head = QUERY_HEAD_TOKENS.min(half - tail);
        self.tokens.head_and_tail(text, head, tail)
    }

    /// A whole pair: `query` followed by `passage [SEP]`.
    pub(super) fn join(&self, query: &[u32], passage: &str) -> Result<Vec<u32>, EmbedError> {
        // The passage's own [CLS] is among its head, and gives its place to the [SEP].
        let passage = self.tokens.head_and_tail(passage, self.tokens.window() - query.len(), 1)?;
        Ok([query, &passage[1..]].concat())
    }
}
