//! Text into unit vectors: the embedding model, built in or loaded from a folder.
//!
//! In comes the text of a prompt or of an episode, out goes an [`Embedding`]; nothing is downloaded, stored or logged
//! here, and no clock is read. The steps, in the order the data flows: [`passage()`] says which text stands for an
//! episode; `tokenize` cuts and numbers it; `batch` groups texts by length; `words` looks rows up in the 8-bit table;
//! `packed` (processors) or `padded` (graphics devices) runs the layers; the mean over the tokens, brought to length
//! one, is the result. [`Lane`] keeps foreground and background work on threads of their own.
//!
//! On a processor all arithmetic is ours: `packed` has the layers, `linear` and `attention` what they are made of, `matrix`
//! the weights, `tile` the innermost product, `norm` and `simd` what remains. Where it can multiply bytes, `byte_tile` takes the
//! place of `tile` for the built-in model, with the instructions of `vnni`.

#![cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "nothing multiplies bytes there yet: see `vnni`")
)]

mod attention;
mod batch;
mod byte_tile;
mod device;
mod embedder;
mod error;
mod folder;
mod lane;
mod layers;
mod linear;
mod matrix;
mod norm;
mod packed;
mod padded;
mod passage;
mod simd;
mod term_vectors;
mod tile;
mod tokenize;
mod vector;
mod vnni;
mod weights;
mod words;

pub(crate) use folder::Folder;
pub(crate) use layers::Layers;
pub(crate) use term_vectors::{TermRow, TermVectors};
pub(crate) use tokenize::Tokens;
pub(crate) use weights::Weights;
pub(crate) use words::InputTables;

pub use device::{DeviceChoice, UnknownDevice};
pub use embedder::{BertEmbedder, EMBEDDED_INT8_MODEL_ID, EMBEDDED_MODEL_ID, Precision};
pub use error::EmbedError;
pub use lane::Lane;
pub use passage::passage;
pub use tokenize::{PASSAGE_TOKENS, QUERY_HEAD_TOKENS, QUERY_TAIL_TOKENS};
pub use vector::Embedding;

/// What turns text into vectors. Implementations may be called from several threads at once.
pub trait Embed: Send + Sync {
    /// Names the vectors' kind: vectors of different names are never compared.
    fn model_id(&self) -> &str;

    /// The number of values in each [`Embedding`].
    fn dimension(&self) -> usize;

    /// Embeds a prompt. A long one is cut to its first [`QUERY_HEAD_TOKENS`] and last [`QUERY_TAIL_TOKENS`] tokens.
    ///
    /// # Errors
    /// [`EmbedError`] when the text can't be tokenised or the device fails.
    fn embed_query(&self, text: &str) -> Result<Embedding, EmbedError>;

    /// Embeds texts to be remembered, each cut at [`PASSAGE_TOKENS`] tokens, in the order given.
    ///
    /// # Errors
    /// [`EmbedError`] when a text can't be tokenised or the device fails; no partial result is given.
    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError>;
}
