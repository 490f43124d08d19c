//! A folder with a model as it is published: what to read there, and what to refuse.

use std::path::{Path, PathBuf};

use candle_transformers::models::bert::Config;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::EmbedError;

/// How a text's vector comes of its tokens' rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The mean of all rows.
    Mean,
    /// The row of the mark before the text.
    First,
}

/// The files' bytes.
pub(crate) struct Folder {
    pub(crate) config: Config,
    pub(crate) config_bytes: Vec<u8>,
    pub(crate) config_path: PathBuf,
    pub(crate) pooling: Pooling,
    pub(crate) tokenizer: Vec<u8>,
    pub(crate) tokenizer_path: PathBuf,
    pub(crate) weights: Vec<u8>,
    pub(crate) weights_path: PathBuf,
    /// The folder's name and a short sum of what is in it.
    pub(crate) model_id: String,
}

impl Folder {
    /// Reads all files; the weights are not looked into yet.
    pub(crate) fn read(path: &Path) -> Result<Self, EmbedError> {
        let config_path = path.join("config.json");
        let config_bytes = read(&config_path)?;
        let config = parse_config(&config_path, &config_bytes)?;
        let pooling_path = path.join("1_Pooling").join("config.json");
        let pooling = if pooling_path.exists() {
            parse_pooling(&pooling_path, &read(&pooling_path)?)?
        } else {
            Pooling::Mean
        };
        let tokenizer_path = path.join("tokenizer.json");
        let tokenizer = read(&tokenizer_path)?;
        let weights_path = path.join("model.safetensors");
        let weights = read(&weights_path)?;
        let name = path
            .canonicalize()
            .ok()
            .and_then(|whole| whole.file_name().map(|name| name.to_string_lossy().into_owned()));
        let sum = short_sum(&[&config_bytes, format!("{pooling:?}").as_bytes(), &tokenizer], &weights);
        let model_id = format!("{}/{sum}", name.as_deref().unwrap_or("model"));
        Ok(Self {
            config,
            config_bytes,
            config_path,
            pooling,
            tokenizer,
            tokenizer_path,
            weights,
            weights_path,
            model_id,
        })
    }
}

/// Reads and checks the description of the model; `path` is for messages.
pub(crate) fn parse_config(path: &Path, bytes: &[u8]) -> Result<Config, EmbedError> {
    let refuse = |reason: String| EmbedError::Config {
        path: path.to_owned(),
        reason,
    };
    let kind: Kind = serde_json::from_slice(bytes).map_err(|error| refuse(format!("not readable ({error})")))?;
    if let Some(kind) = kind.model_type.filter(|kind| kind != "bert") {
        return Err(refuse(format!("model_type is \"{kind}\", not \"bert\"")));
    }
    let config: Config = serde_json::from_slice(bytes).map_err(|error| refuse(format!("not a BERT's ({error})")))?;
    let Config {
        hidden_size: hidden,
        num_attention_heads: heads,
        ..
    } = config;
    if heads == 0 || hidden == 0 || hidden % heads != 0 {
        return Err(refuse(format!("hidden_size {hidden} can't be split into {heads} heads")));
    }
    if config.vocab_size == 0 || config.type_vocab_size == 0 || config.max_position_embeddings < 8 {
        return Err(refuse(
            "vocab_size, type_vocab_size or max_position_embeddings is too small".to_owned(),
        ));
    }
    Ok(config)
}

#[derive(Deserialize)]
struct Kind {
    model_type: Option<String>,
}

#[derive(Deserialize)]
struct PoolingModes {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

fn parse_pooling(path: &Path, bytes: &[u8]) -> Result<Pooling, EmbedError> {
    let refuse = |reason: String| EmbedError::Config {
        path: path.to_owned(),
        reason,
    };
    let modes: PoolingModes = serde_json::from_slice(bytes).map_err(|error| refuse(format!("not readable ({error})")))?;
    match (modes.pooling_mode_mean_tokens, modes.pooling_mode_cls_token) {
        (true, false) => Ok(Pooling::Mean),
        (false, true) => Ok(Pooling::First),
        _ => Err(refuse("only pooling by mean or by the first token can be run".to_owned())),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, EmbedError> {
    fs_err::read(path).map_err(|source| EmbedError::Read {
        path: path.to_owned(),
        source,
    })
}

/// Twelve hex digits over the small files whole and, of the weights, length, header and 64 samples spread evenly: cheap on
/// gigabytes, yet different for any other training of the same model.
fn short_sum(small: &[&[u8]], weights: &[u8]) -> String {
    const SAMPLE: usize = 4_096;
    let mut sum = Sha256::new();
    for bytes in small {
        sum.update((bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    }
    sum.update((weights.len() as u64).to_le_bytes());
    for start in (0..64).map(|step| weights.len() / 64 * step) {
        sum.update(&weights[start..weights.len().min(start + SAMPLE)]);
    }
    let mut name = String::with_capacity(12);
    for byte in &sum.finalize()[..6] {
        name.push(hex(byte >> 4));
        name.push(hex(byte & 15));
    }
    name
}

fn hex(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).expect("invariant: half a byte is below 16")
}
