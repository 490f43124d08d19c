//! What can keep an evaluation from running.

use remembrancer_processor::embed::EmbedError;
use remembrancer_processor::eval::dataset::DatasetError;
use remembrancer_processor::rerank::RerankError;
use remembrancer_schema::{OpenError, QueryError};

use super::vectors::VectorsError;

/// Why an evaluation could not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvalError {
    /// The set is not what it should be.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The store could not be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store failed.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The model failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The reranker can't be loaded.
    #[error(transparent)]
    Rerank(#[from] RerankError),
    /// The vectors could not be made or kept.
    #[error(transparent)]
    Vectors(#[from] VectorsError),
    /// The file system failed.
    #[error(transparent)]
    File(#[from] std::io::Error),
}
