//! The names of stored things: row ids of each table, and the content-derived uids of turns and episodes.
//! In go raw integers and bytes, out come types that can't be mixed up. Nothing here reads the database.

use std::fmt;
use std::str::FromStr;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use sha2::{Digest, Sha256};

macro_rules! row_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(
            /// The row's `INTEGER PRIMARY KEY`; positive, never reused.
            pub i64,
        );

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.0))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

row_id! {
    /// Row id of an episode; also its rowid in the full-text and the vector table.
    EpisodeId
}
row_id! {
    /// Row id of a session.
    SessionId
}
row_id! {
    /// Row id of a project.
    ProjectId
}
row_id! {
    /// Row id of a transcript source.
    SourceId
}
row_id! {
    /// Row id of a logged recollection.
    RecollectionId
}

/// A text that is not the hexadecimal form of a uid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a uid: expected 32 hexadecimal digits")]
pub struct ParseUidError;

macro_rules! uid {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(
            /// The bytes as stored (a BLOB of 16).
            pub [u8; 16],
        );

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                <[u8; 16]>::column_result(value).map(Self)
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = ParseUidError;

            fn from_str(text: &str) -> Result<Self, ParseUidError> {
                match prefix_bounds(text) {
                    Some((low, _)) if text.len() == 32 => Ok(Self(low)),
                    _ => Err(ParseUidError),
                }
            }
        }
    };
}

uid! {
    /// Identity of a turn, derived from its agent, prompt record and time: equal in every copy of a transcript.
    TurnUid
}
uid! {
    /// Identity of an episode: its turn and the number of its part.
    EpisodeUid
}

impl EpisodeUid {
    /// Derives the uid of part `part` (0-based) of a turn: the first 16 bytes of
    /// SHA-256 over the turn's uid and the part as four little-endian bytes.
    pub fn of(turn: &TurnUid, part: u32) -> Self {
        let digest = Sha256::new().chain_update(turn.0).chain_update(part.to_le_bytes()).finalize();
        let mut uid = [0; 16];
        uid.copy_from_slice(&digest[..16]);
        Self(uid)
    }

    /// The first 8 hexadecimal digits: the id that people are shown and type.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(8);
        text
    }
}

/// The smallest and the largest uid that begin with `prefix`; none unless it is 1 to 32 hexadecimal digits.
pub(crate) fn prefix_bounds(prefix: &str) -> Option<([u8; 16], [u8; 16])> {
    if prefix.is_empty() || prefix.len() > 32 {
        return None;
    }
    let (mut low, mut high) = ([0x00; 16], [0xff; 16]);
    for (place, digit) in prefix.chars().enumerate() {
        let value = digit.to_digit(16)? as u8;
        let (shift, mask) = if place % 2 == 0 { (4, 0x0f) } else { (0, 0xf0) };
        for bound in [&mut low, &mut high] {
            bound[place / 2] = (bound[place / 2] & mask) | (value << shift);
        }
    }
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_go_through_their_text_and_back() {
        let uid = EpisodeUid::of(&TurnUid([7; 16]), 3);
        assert_eq!(uid.to_string().parse(), Ok(uid));
        assert_eq!(uid.to_string().len(), 32);
        assert!(uid.to_string().starts_with(&uid.short()));
        assert_eq!("abc".parse::<TurnUid>(), Err(ParseUidError));
        assert_eq!("zz".repeat(16).parse::<TurnUid>(), Err(ParseUidError));
    }

    #[test]
    fn parts_of_a_turn_have_their_own_uids_and_the_rule_is_fixed() {
        let turn = TurnUid([0; 16]);
        assert_ne!(EpisodeUid::of(&turn, 0), EpisodeUid::of(&turn, 1));
        // SHA-256 of twenty zero bytes begins with these sixteen.
        assert_eq!(EpisodeUid::of(&turn, 0).to_string(), "de47c9b27eb8d300dbb5f2c353e632c3");
    }

    #[test]
    fn prefixes_bound_the_uids_that_begin_with_them() {
        let (low, high) = prefix_bounds("abc").expect("hexadecimal");
        assert_eq!((low[0], low[1], low[2]), (0xab, 0xc0, 0x00));
        assert_eq!((high[0], high[1], high[2]), (0xab, 0xcf, 0xff));
        assert_eq!(prefix_bounds(""), None);
        assert_eq!(prefix_bounds("xyz"), None);
        assert_eq!(prefix_bounds(&"a".repeat(33)), None);
    }
}
