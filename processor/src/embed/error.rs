//! Everything that can go wrong between a model's files and a vector, each naming the file and the remedy.

use std::path::PathBuf;

use candle_core::Error as CandleError;

/// Why a model can't be loaded, or a text not be embedded.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A file of the model's folder can't be read.
    #[error(
        "can't read {}: a model folder holds config.json, tokenizer.json and model.safetensors; \
         copy the missing file there, or unset embedding.model_dir", path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },

    /// `config.json` is not the description of a BERT that can be run.
    #[error("{}: {reason}; point embedding.model_dir at a BERT-family model, or unset it", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },

    /// `tokenizer.json` can't be parsed, or is not a BERT tokenizer.
    #[error("{}: {reason}; copy the tokenizer.json that belongs to the model there", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },

    /// The weights' file is truncated, damaged, or in a form that isn't understood.
    #[error("{}: {reason}; copy the whole file again", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },

    /// A tensor that `config.json` calls for is not among the weights, or has another shape.
    #[error(
        "{}: tensor {name} should be {expected:?} by config.json, but is {}; \
         both files must come from the same model", path.display(), found_words(found.as_deref())
    )]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor's name.
        name: String,
        /// The shape that the configuration implies.
        expected: Vec<usize>,
        /// The shape in the file; none if it isn't there.
        found: Option<Vec<usize>>,
    },

    /// The device asked for is not there, or not built in.
    #[error(
        "embedding.device = \"{device}\" can't be used; use \"auto\" or \"cpu\", or a build with that device's cargo feature"
    )]
    Device {
        /// The device, as in the configuration.
        device: &'static str,
        /// What candle said.
        #[source]
        source: CandleError,
    },

    /// A text could not be split into tokens.
    #[error("can't split a text of {bytes} bytes into tokens: {reason}")]
    Tokenize {
        /// The text's length.
        bytes: usize,
        /// What the tokenizer said.
        reason: String,
    },

    /// The model's arithmetic failed, for want of memory or by a device's fault.
    #[error("the embedding model failed on its device")]
    Forward(#[from] CandleError),

    /// The model gave a vector without length or with values that are no numbers.
    #[error("the embedding model gave a vector that has no direction; its weights are damaged")]
    NoDirection,

    /// A lane's threads could not be started.
    #[error("can't start the threads of the embedding lane {lane}")]
    Threads {
        /// The lane's name.
        lane: String,
        /// What the system said.
        #[source]
        source: rayon::ThreadPoolBuildError,
    },
}

fn found_words(found: Option<&[usize]>) -> String {
    found.map_or_else(|| "missing".to_owned(), |shape| format!("{shape:?}"))
}
