//! Numbers that carry their meaning: times, byte offsets, ranks and scores.
//! In go bare numbers, out come types whose unit and direction are named. No arithmetic policy lives here.

use std::num::NonZeroU32;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

/// A moment, in milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnixMillis(
    /// Milliseconds; negative before 1970.
    pub i64,
);

impl FromSql for UnixMillis {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self)
    }
}

impl ToSql for UnixMillis {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0))
    }
}

/// A place in a transcript, in raw bytes from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteOffset(
    /// Bytes before the place.
    pub u64,
);

impl FromSql for ByteOffset {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(|offset| Self(offset as u64))
    }
}

impl ToSql for ByteOffset {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0 as i64))
    }
}

/// A place in a ranked list: 1 is the best, and there is no 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rank(NonZeroU32);

impl Rank {
    /// Makes a rank of a 1-based number; none for 0.
    pub fn new(rank: u32) -> Option<Self> {
        NonZeroU32::new(rank).map(Self)
    }

    /// The 1-based number.
    pub fn get(self) -> u32 {
        self.0.get()
    }
}

/// A BM25 score as FTS5 gives it: **more negative is better**, and every hit is at or below 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Bm25(
    /// The score.
    pub f64,
);

/// A cosine similarity, in [-1, 1]: 1 is the same direction.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Cosine(
    /// The similarity.
    pub f32,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_rank_zero() {
        assert_eq!(Rank::new(0), None);
        assert_eq!(Rank::new(1).map(Rank::get), Some(1));
    }
}
