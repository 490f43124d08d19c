//! What makes a score of the last layer's first row: pooler, tanh, classifier (`BertForSequenceClassification`).

use candle_core::{Device, Result, Tensor};
use candle_nn::{Linear, Module};

use crate::embed::{EmbedError, Weights};

/// The two matrices after the layers. They are small, and stay on the processor.
pub(super) struct Head {
    pooler: Linear,
    classifier: Linear,
}

impl Head {
    /// Takes `pooler.dense` and `classifier`, of one label, from `weights`.
    pub(super) fn load(weights: &Weights<'_>, hidden: usize) -> std::result::Result<Self, EmbedError> {
        Ok(Self {
            pooler: linear(weights, "pooler.dense", [hidden, hidden])?,
            classifier: linear(weights, "classifier", [1, hidden])?,
        })
    }

    /// The logit of a text whose first token has this row, `[hidden]`.
    pub(super) fn logit(&self, row: &[f32]) -> Result<f32> {
        let row = Tensor::from_slice(row, (1, row.len()), &Device::Cpu)?;
        let pooled = self.pooler.forward(&row)?.tanh()?;
        self.classifier.forward(&pooled)?.squeeze(1)?.squeeze(0)?.to_scalar()
    }
}

fn linear(weights: &Weights<'_>, name: &str, shape: [usize; 2]) -> std::result::Result<Linear, EmbedError> {
    let matrix = weights.floats(&format!("{name}.weight"), &shape)?;
    let bias = weights.floats(&format!("{name}.bias"), &shape[..1])?;
    let matrix = Tensor::from_vec(matrix, &shape[..], &Device::Cpu)?;
    let bias = Tensor::from_vec(bias, shape[0], &Device::Cpu)?;
    Ok(Linear::new(matrix, Some(bias)))
}
