//! Which rules of redaction the rows have been through, and how far newer ones have come. The rules themselves are the processor's:
//! here they are functions that are handed in.
//! In go notes of `_meta`, out comes where the rewriting stands.

use std::borrow::Cow;

use rusqlite::Connection;

use crate::ids::EpisodeId;
use crate::migrate::{meta, set_meta};

/// Key in `_meta`: the rules that all rows have been through; none where nobody noted them.
pub(crate) const REDACTION_VERSION: &str = "redaction_version";
/// Key in `_meta`: how far a newer version has come, as `version:table:id`.
pub(crate) const REDACTED_TO: &str = "redacted_to";
/// Key in `_meta`: not `0` from the moment in which a row is rewritten until no byte of what it was is left; see [`Leftover`].
pub(crate) const REDACTION_UNSCRUBBED: &str = "redaction_unscrubbed";

/// What takes secrets out of texts. Redacting twice must change nothing.
#[derive(Clone, Copy, Debug)]
pub struct RedactionRules {
    /// Rises with the rules.
    pub version: u32,
    /// Of a text; borrowed where there is nothing to take out.
    pub text: fn(&str) -> Cow<'_, str>,
    /// Of the path of a folder; a folder below another stays below it.
    pub folder: fn(&str) -> Cow<'_, str>,
}

/// Where the rewriting of older rows stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactionState {
    /// The rules that all rows have been through; `None` where nobody noted them: older ones.
    pub version: Option<u32>,
    /// The rules that are being brought to them, and the last episode that has been through these.
    pub under_way: Option<(u32, EpisodeId)>,
    /// The last episode there is.
    pub last: EpisodeId,
    /// Whether bytes of what rows were before may be left in freed pages, in the index, in the log or in copies.
    pub unscrubbed: bool,
}

impl RedactionState {
    /// Whether there is anything left to do for rules of `version`.
    pub fn is_behind(&self, version: u32) -> bool {
        self.unscrubbed || self.version.is_none_or(|noted| noted < version) && (self.version.is_some() || self.last.0 > 0)
    }
}

/// A table of which rows are rewritten a few at a time, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// Their titles, folders and branches.
    Sessions,
    /// Their texts.
    Episodes,
}

impl Table {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Episodes => "episodes",
        }
    }
}

/// Where bytes may be left of what rows were before they were rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leftover {
    /// In the index, in freed pages, in the log, in copies.
    Everywhere,
    /// In the log and in copies: the rest of the file is clean.
    BesideTheFile,
}

/// What [`note_leftover`] noted.
pub(crate) fn leftover(db: &Connection) -> rusqlite::Result<Option<Leftover>> {
    Ok(match meta(db, REDACTION_UNSCRUBBED)?.as_deref() {
        Some("1") => Some(Leftover::Everywhere),
        Some("2") => Some(Leftover::BesideTheFile),
        _ => None,
    })
}

/// Notes where bytes may be left; `None` once there are none.
pub(crate) fn note_leftover(db: &Connection, left: Option<Leftover>) -> rusqlite::Result<()> {
    let note = match left {
        None => "0",
        Some(Leftover::Everywhere) => "1",
        Some(Leftover::BesideTheFile) => "2",
    };
    set_meta(db, REDACTION_UNSCRUBBED, note)
}

/// The rules that are noted.
pub(crate) fn noted_version(db: &Connection) -> rusqlite::Result<Option<u32>> {
    Ok(meta(db, REDACTION_VERSION)?.and_then(|version| version.parse().ok()))
}

/// How far which rules have come.
pub(crate) fn position(db: &Connection) -> rusqlite::Result<Option<(u32, Table, i64)>> {
    let noted = meta(db, REDACTED_TO)?.unwrap_or_default();
    let mut parts = noted.split(':');
    let mut read = || {
        let version = parts.next()?.parse().ok()?;
        let table = match parts.next()? {
            "sessions" => Table::Sessions,
            "episodes" => Table::Episodes,
            _ => return None,
        };
        Some((version, table, parts.next()?.parse().ok()?))
    };
    Ok(read())
}
