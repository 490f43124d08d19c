//! What is private here, on plain values, for the fuzz targets: nothing that runs uses it.

pub use crate::install::testing::Format;
pub use crate::instructions::testing::Ours;
