//! Where the model runs: the one place that turns the configured word into a device.

use std::fmt;
use std::str::FromStr;

use candle_core::Device;
use candle_core::utils::{cuda_is_available, metal_is_available};

use super::EmbedError;

/// `embedding.device` of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// A graphics device if this build has one and it can be opened, else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The first CUDA device; needs the cargo feature `cuda`.
    Cuda,
    /// The first Metal device; needs the cargo feature `metal`.
    Metal,
}

impl DeviceChoice {
    /// The word that stands for it in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Metal => "metal",
        }
    }

    /// Opens the device.
    ///
    /// # Errors
    /// [`EmbedError::Device`] if a device asked for by name can't be opened; `auto` falls back to the processor.
    pub(crate) fn open(self) -> Result<Device, EmbedError> {
        let opened = match self {
            Self::Cuda => Device::new_cuda(0),
            Self::Metal => Device::new_metal(0),
            Self::Auto if cuda_is_available() => Device::new_cuda(0).or(Ok(Device::Cpu)),
            Self::Auto if metal_is_available() => Device::new_metal(0).or(Ok(Device::Cpu)),
            Self::Auto | Self::Cpu => Ok(Device::Cpu),
        };
        opened.map_err(|source| EmbedError::Device {
            device: self.as_str(),
            source,
        })
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A word that names no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no device; use \"auto\", \"cpu\", \"cuda\" or \"metal\"")]
pub struct UnknownDevice(String);

impl FromStr for DeviceChoice {
    type Err = UnknownDevice;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        [Self::Auto, Self::Cpu, Self::Cuda, Self::Metal]
            .into_iter()
            .find(|choice| choice.as_str() == word)
            .ok_or_else(|| UnknownDevice(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::auto("auto", Some(DeviceChoice::Auto))]
    #[case::cpu("cpu", Some(DeviceChoice::Cpu))]
    #[case::cuda("cuda", Some(DeviceChoice::Cuda))]
    #[case::metal("metal", Some(DeviceChoice::Metal))]
    #[case::upper_case("CPU", None)]
    #[case::other("tpu", None)]
    fn words(#[case] word: &str, #[case] expected: Option<DeviceChoice>) {
        assert_eq!(word.parse().ok(), expected);
    }

    #[test]
    fn auto_always_opens() {
        assert!(DeviceChoice::Auto.open().is_ok());
    }

    #[cfg(not(feature = "cuda"))]
    #[test]
    fn a_device_that_is_not_built_in_is_refused_by_name() {
        let error = DeviceChoice::Cuda.open().unwrap_err();
        assert!(error.to_string().contains("embedding.device = \"cuda\""), "{error}");
    }
}
