//! The model's layers on whichever device was opened: rows of tokens in, rows of the last layer out.

use candle_core::{Device, Result};
use candle_transformers::models::bert::Config;

use super::EmbedError;
use super::packed::PackedLayers;
use super::padded::PaddedLayers;
use super::vnni::ByteSet;
use super::weights::Weights;

/// The layers in the form that suits their device.
pub(crate) enum Layers {
    /// Without padding, for processors.
    Packed(PackedLayers),
    /// Side by side, for graphics devices.
    Padded(PaddedLayers),
}

impl Layers {
    /// Takes every layer's tensors from `weights` to `device`.
    pub(crate) fn load(weights: &Weights<'_>, config: &Config, device: Device) -> std::result::Result<Self, EmbedError> {
        if device.is_cpu() {
            Ok(Self::Packed(PackedLayers::load(weights, config, None)?))
        } else {
            Ok(Self::Padded(PaddedLayers::load(weights, config, device)?))
        }
    }

    /// The same for the processor, where `bytes` are to multiply the tensors that are in 8 bits.
    pub(super) fn load_int8(weights: &Weights<'_>, config: &Config, bytes: ByteSet) -> std::result::Result<Self, EmbedError> {
        Ok(Self::Packed(PackedLayers::load(weights, config, Some(bytes))?))
    }

    /// Runs the layers over `rows`, `[tokens, hidden]`, where `lengths` says how many tokens each text has in turn.
    pub(crate) fn forward(&self, rows: Vec<f32>, lengths: &[usize]) -> Result<Vec<f32>> {
        match self {
            Self::Packed(layers) => Ok(layers.forward(rows, lengths)),
            Self::Padded(layers) => layers.forward(&rows, lengths),
        }
    }
}
