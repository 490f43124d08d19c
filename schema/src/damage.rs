//! What a connection found damaged while it worked, kept until whoever owns it asks.
//! In go errors, out comes the worst of them. Nothing is mended here.

use crate::error::QueryError;

/// What is damaged, the lesser first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    /// The full-text index alone: [`crate::Writer::rebuild_index`] mends it.
    Index,
    /// The database: the next start looks through it, sets it aside and makes it anew ([`crate::open_or_rebuild`]).
    Database,
}

impl Damage {
    /// The worse of what was known and what `error` tells.
    pub(crate) fn worse(known: Option<Self>, error: &QueryError) -> Option<Self> {
        let told = match error {
            QueryError::Corrupt { index_only: true, .. } => Some(Self::Index),
            QueryError::Corrupt { index_only: false, .. } => Some(Self::Database),
            _ => None,
        };
        known.max(told)
    }
}
