//! Everything that can go wrong between a reranker's files and a score, each naming the file and the remedy.

use std::path::PathBuf;

use candle_core::Error as CandleError;

use crate::embed::EmbedError;

/// Why a reranker can't be loaded, or a passage not be scored.
#[derive(Debug, thiserror::Error)]
pub enum RerankError {
    /// A file of the model's folder can't be read.
    #[error(
        "can't read {}: a reranker's folder holds config.json, tokenizer.json and model.safetensors; \
         copy the missing file there, or unset reranker.model_dir", path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },

    /// `config.json` is not the description of a cross-encoder that can be run.
    #[error(
        "{}: {reason}; point reranker.model_dir at a BERT-family sequence classifier with one label, \
         such as cross-encoder/ms-marco-MiniLM-L-6-v2, or unset it", path.display()
    )]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },

    /// The tokenizer, the weights or the device can't be used, or a text can't be tokenised.
    #[error(transparent)]
    Model(EmbedError),

    /// The model's arithmetic failed, for want of memory or by a device's fault.
    #[error("the reranker failed on its device")]
    Forward(#[from] CandleError),

    /// The model gave a score that is no number.
    #[error("the reranker gave a score that is no number; its weights are damaged")]
    NoScore,

    /// The model panicked.
    #[error("the reranker failed on this, which is a fault to report")]
    Panicked,
}

impl From<EmbedError> for RerankError {
    /// The same where the remedy is the same; where it would name the embedding model, the reranker's own.
    fn from(error: EmbedError) -> Self {
        match error {
            EmbedError::Read { path, source } => Self::Read { path, source },
            EmbedError::Config { path, reason } => Self::Config { path, reason },
            EmbedError::Forward(source) => Self::Forward(source),
            other => Self::Model(other),
        }
    }
}
