//! A safetensors file, read tensor by tensor into f32.
//!
//! Two forms are understood: f32, f16 or bf16 tensors as published, and the built-in model's 8-bit codes with f16 scales
//! (`packaging/model/convert.py` describes them). The names are Hugging Face's; the prefix `bert.` and the old
//! `gamma`/`beta` of layer norms are seen through.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::EmbedError;
use super::norm::NormParameters;

/// The tensors of one file, whose bytes live for `'a`.
pub(crate) struct Weights<'a> {
    path: PathBuf,
    tensors: SafeTensors<'a>,
}

/// A matrix as stored: one byte a value, one factor a block of columns.
pub(crate) struct Codes<'a> {
    /// Signed bytes, row after row.
    pub(crate) codes: &'a [u8],
    /// Factors, row after row.
    pub(crate) scales: Vec<f32>,
}

/// A matrix in the form that the file has it in.
pub(crate) enum Stored<'a> {
    Codes(Codes<'a>),
    Floats(Vec<f32>),
}

impl<'a> Weights<'a> {
    /// Checks the header against the bytes; `path` is for messages.
    pub(crate) fn parse(path: &Path, bytes: &'a [u8]) -> Result<Self, EmbedError> {
        match SafeTensors::deserialize(bytes) {
            Ok(tensors) => Ok(Self {
                path: path.to_owned(),
                tensors,
            }),
            Err(reason) => Err(EmbedError::Weights {
                path: path.to_owned(),
                reason: format!("truncated, or no safetensors file ({reason})"),
            }),
        }
    }

    /// The tensor's values as f32, if it has the shape that is expected.
    pub(crate) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedError> {
        let view = self.view(name, shape)?;
        let bytes = view.data();
        let values = match view.dtype() {
            Dtype::F32 => numbers(bytes, f32::from_le_bytes),
            Dtype::F16 => numbers(bytes, |two| f16::from_le_bytes(two).to_f32()),
            Dtype::BF16 => numbers(bytes, |two| bf16::from_le_bytes(two).to_f32()),
            Dtype::I8 => self.codes(name, shape)?.to_floats(),
            other => return Err(self.damaged(&format!("tensor {name} is of type {other:?}; use f32, f16 or bf16"))),
        };
        if values.iter().all(|value| value.is_finite()) {
            Ok(values)
        } else {
            Err(self.damaged(&format!("tensor {name} holds values that are no numbers")))
        }
    }

    /// The tensor as codes and scales if it is stored in 8 bits, else as f32.
    pub(crate) fn stored(&self, name: &str, shape: &[usize]) -> Result<Stored<'a>, EmbedError> {
        match self.view(name, shape)?.dtype() {
            Dtype::I8 => self.codes(name, shape).map(Stored::Codes),
            _ => self.floats(name, shape).map(Stored::Floats),
        }
    }

    /// The tensor's codes and scales, if it is stored in 8 bits.
    pub(crate) fn codes(&self, name: &str, shape: &[usize]) -> Result<Codes<'a>, EmbedError> {
        let view = self.view(name, shape)?;
        let scales = format!("{name}.scales");
        let Some(found) = self.find(&scales).filter(|_| view.dtype() == Dtype::I8) else {
            return Err(self.damaged(&format!("tensor {name} is not in 8 bits with scales")));
        };
        let scales = numbers(found.data(), |two| f16::from_le_bytes(two).to_f32());
        if found.dtype() != Dtype::F16 || scales.is_empty() || view.data().len() % scales.len() != 0 {
            return Err(self.damaged(&format!("tensor {name}: codes and scales don't fit")));
        }
        if scales.iter().any(|scale| !scale.is_finite()) {
            return Err(self.damaged(&format!("tensor {name} has scales that are no numbers")));
        }
        Ok(Codes {
            codes: view.data(),
            scales,
        })
    }

    /// A layer norm's two vectors.
    pub(crate) fn norm(&self, name: &str, columns: usize, epsilon: f64) -> Result<NormParameters, EmbedError> {
        Ok(NormParameters {
            scale: self.floats(&format!("{name}.weight"), &[columns])?,
            shift: self.floats(&format!("{name}.bias"), &[columns])?,
            epsilon: epsilon as f32,
        })
    }

    fn view(&self, name: &str, shape: &[usize]) -> Result<TensorView<'a>, EmbedError> {
        let found = self.find(name);
        match found {
            Some(view) if view.shape() == shape => Ok(view),
            other => Err(EmbedError::Tensor {
                path: self.path.clone(),
                name: name.to_owned(),
                expected: shape.to_vec(),
                found: other.map(|view| view.shape().to_vec()),
            }),
        }
    }

    fn find(&self, name: &str) -> Option<TensorView<'a>> {
        let old = name
            .replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta");
        [
            Cow::Borrowed(name),
            Cow::Owned(format!("bert.{name}")),
            Cow::Owned(format!("bert.{old}")),
            Cow::Owned(old),
        ]
        .iter()
        .find_map(|name| self.tensors.tensor(name).ok())
    }

    fn damaged(&self, reason: &str) -> EmbedError {
        EmbedError::Weights {
            path: self.path.clone(),
            reason: reason.to_owned(),
        }
    }
}

impl Stored<'_> {
    pub(crate) fn codes(&self) -> Option<&Codes<'_>> {
        match self {
            Self::Codes(codes) => Some(codes),
            Self::Floats(_) => None,
        }
    }

    pub(crate) fn into_floats(self) -> Vec<f32> {
        match self {
            Self::Codes(codes) => codes.to_floats(),
            Self::Floats(floats) => floats,
        }
    }
}

impl Codes<'_> {
    /// The number of columns that share a scale.
    pub(crate) fn block(&self) -> usize {
        self.codes.len() / self.scales.len()
    }

    fn to_floats(&self) -> Vec<f32> {
        let mut values = vec![0.0; self.codes.len()];
        let block = self.block();
        let blocks = values.chunks_exact_mut(block).zip(self.codes.chunks_exact(block));
        for ((values, codes), scale) in blocks.zip(&self.scales) {
            for (value, code) in values.iter_mut().zip(codes) {
                *value = f32::from(code.cast_signed()) * scale;
            }
        }
        values
    }
}

fn numbers<const WIDTH: usize>(bytes: &[u8], read: impl Fn([u8; WIDTH]) -> f32) -> Vec<f32> {
    let (words, _) = bytes.as_chunks::<WIDTH>();
    words.iter().map(|word| read(*word)).collect()
}
