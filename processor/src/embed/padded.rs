//! The layers on a graphics device: texts side by side, the short ones padded, padding masked out.
//!
//! This is candle-transformers' encoder as it stands; a device gains more from one large product than it loses on padding.

use std::collections::HashMap;

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertEncoder, Config};

use super::EmbedError;
use super::weights::Weights;

/// What is added to the score of a padded place: far below any score, and no infinity, which could yield no number.
const MASKED: f32 = -1e9;

/// The model's layers, on `device`.
pub(crate) struct PaddedLayers {
    encoder: BertEncoder,
    device: Device,
    hidden: usize,
}

impl PaddedLayers {
    /// Takes every layer's tensors from `weights` to the device.
    pub(crate) fn load(weights: &Weights<'_>, config: &Config, device: Device) -> std::result::Result<Self, EmbedError> {
        let mut tensors = HashMap::new();
        for (name, shape) in tensor_shapes(config) {
            let values = weights.floats(&name, &shape)?;
            tensors.insert(name, Tensor::from_vec(values, shape, &device)?);
        }
        let builder = VarBuilder::from_tensors(tensors, DType::F32, &device);
        let encoder = BertEncoder::load(builder.pp("encoder"), config)?;
        Ok(Self {
            encoder,
            device,
            hidden: config.hidden_size,
        })
    }

    /// As the packed layers' `forward`: rows of all texts end to end in, the last layer's rows out.
    pub(crate) fn forward(&self, rows: &[f32], lengths: &[usize]) -> Result<Vec<f32>> {
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut padded = vec![0.0; lengths.len() * longest * self.hidden];
        let mut mask = vec![MASKED; lengths.len() * longest];
        let mut start = 0;
        for (text, length) in lengths.iter().enumerate() {
            let place = text * longest;
            mask[place..place + length].fill(0.0);
            padded[place * self.hidden..(place + length) * self.hidden]
                .copy_from_slice(&rows[start * self.hidden..(start + length) * self.hidden]);
            start += length;
        }
        let padded = Tensor::from_vec(padded, (lengths.len(), longest, self.hidden), &self.device)?;
        let mask = Tensor::from_vec(mask, (lengths.len(), 1, 1, longest), &self.device)?;
        let last = self.encoder.forward(&padded, &mask)?.to_vec3::<f32>()?;
        let texts = last.iter().zip(lengths);
        Ok(texts.flat_map(|(text, length)| text[..*length].concat()).collect())
    }
}

/// Name and shape of each tensor that the encoder reads.
fn tensor_shapes(config: &Config) -> Vec<(String, Vec<usize>)> {
    let (hidden, wide) = (config.hidden_size, config.intermediate_size);
    let dense = [
        ("attention.self.query", hidden, hidden),
        ("attention.self.key", hidden, hidden),
        ("attention.self.value", hidden, hidden),
        ("attention.output.dense", hidden, hidden),
        ("intermediate.dense", wide, hidden),
        ("output.dense", hidden, wide),
    ];
    let mut shapes = Vec::new();
    for layer in (0..config.num_hidden_layers).map(|index| format!("encoder.layer.{index}")) {
        for (part, out, columns) in dense {
            shapes.push((format!("{layer}.{part}.weight"), vec![out, columns]));
            shapes.push((format!("{layer}.{part}.bias"), vec![out]));
        }
        for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
            shapes.push((format!("{layer}.{part}.weight"), vec![hidden]));
            shapes.push((format!("{layer}.{part}.bias"), vec![hidden]));
        }
    }
    shapes
}
