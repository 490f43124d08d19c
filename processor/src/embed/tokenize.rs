//! Text into token numbers, cut to the model's window.

use std::path::Path;

use candle_transformers::models::bert::Config;
use tokenizers::Tokenizer;

use super::EmbedError;

/// Tokens kept from the start of a long prompt, `[CLS]` among them.
pub const QUERY_HEAD_TOKENS: usize = 96;

/// Tokens kept from the end of a long prompt, `[SEP]` among them: after a long paste the question often comes last.
pub const QUERY_TAIL_TOKENS: usize = 32;

/// Tokens kept of a passage, both marks among them: what all-MiniLM-L6-v2 was made for.
pub const PASSAGE_TOKENS: usize = 256;

/// Bytes of text that a kept token is expected to need at most. Text beyond is not even tokenised, so that a pasted log
/// of megabytes costs no more than a page; in runs of blank space, fewer tokens than allowed may come of it.
const BYTES_PER_TOKEN: usize = 24;

/// Splits texts as the model's makers did.
pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    /// The longest text, in tokens.
    window: usize,
}

impl Tokens {
    /// Reads a `tokenizer.json` for inputs of at most `longest` tokens, whatever the file says of truncation and padding.
    pub(crate) fn parse(path: &Path, bytes: &[u8], config: &Config, longest: usize) -> Result<Self, EmbedError> {
        let refuse = |reason: String| EmbedError::Tokenizer {
            path: path.to_owned(),
            reason,
        };
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| refuse(format!("not readable ({error})")))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| refuse(error.to_string()))?;
        let marks = tokenizer.encode_fast("", true).map_err(|error| refuse(error.to_string()))?;
        if marks.len() != 2 {
            return Err(refuse(format!(
                "a text gets {} marks instead of [CLS] and [SEP]",
                marks.len()
            )));
        }
        let vocabulary = tokenizer.get_vocab_size(true);
        if vocabulary > config.vocab_size {
            return Err(refuse(format!(
                "{vocabulary} different tokens, but config.json has {}",
                config.vocab_size
            )));
        }
        Ok(Self {
            tokenizer,
            window: config.max_position_embeddings.min(longest),
        })
    }

    /// The longest input, in tokens.
    pub(crate) fn window(&self) -> usize {
        self.window
    }

    /// Whether a pair becomes `[CLS] first [SEP] second [SEP]` with token type 0 up to the first `[SEP]` and 1 after it.
    pub(crate) fn joins_pairs(&self) -> Result<bool, EmbedError> {
        let (first, second) = (self.encode("a")?, self.encode("b")?);
        let Ok(pair) = self.tokenizer.encode_fast(("a", "b"), true) else {
            return Ok(false);
        };
        let types = [vec![0; first.len()], vec![1; second.len() - 1]].concat();
        Ok(pair.get_ids() == [&first[..], &second[1..]].concat() && pair.get_type_ids() == types)
    }

    /// A prompt's tokens: whole, or its head and tail.
    pub(crate) fn query(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let tail = QUERY_TAIL_TOKENS.min(self.window / 4);
        self.head_and_tail(text, QUERY_HEAD_TOKENS.min(self.window - tail), tail)
    }

    /// A passage's tokens, from its start.
    pub(crate) fn passage(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        self.head_and_tail(text, self.window - 1, 1)
    }

    /// A text's tokens, both marks among them: whole, or its first `head` and last `tail`.
    pub(crate) fn head_and_tail(&self, text: &str, head: usize, tail: usize) -> Result<Vec<u32>, EmbedError> {
        let (head_bytes, tail_bytes) = (head * BYTES_PER_TOKEN, tail * BYTES_PER_TOKEN);
        if text.len() <= head_bytes + tail_bytes {
            let all = self.encode(text)?;
            return Ok(join(&all, &all, head, tail));
        }
        let first = self.encode(&text[..text.floor_char_boundary(head_bytes)])?;
        let last = self.encode(&text[text.ceil_char_boundary(text.len() - tail_bytes)..])?;
        if first.len() <= head {
            // Blank space, mostly: what is there of both.
            let both: Vec<u32> = first[..first.len() - 1].iter().chain(&last[1..]).copied().collect();
            return Ok(join(&both, &both, head, tail));
        }
        Ok(join(&first, &last, head, tail))
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        match self.tokenizer.encode_fast(text, true) {
            Ok(encoding) => Ok(encoding.get_ids().to_vec()),
            Err(error) => Err(EmbedError::Tokenize {
                bytes: text.len(),
                reason: error.to_string(),
            }),
        }
    }
}

/// The first `head` of `first` and the last `tail` of `last`; all of it if it is one text that fits.
fn join(first: &[u32], last: &[u32], head: usize, tail: usize) -> Vec<u32> {
    if first == last && first.len() <= head + tail {
        return first.to_vec();
    }
    let first = &first[..first.len().min(head)];
    let last = &last[last.len().saturating_sub(tail)..];
    [first, last].concat()
}
