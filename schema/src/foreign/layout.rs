//! The layouts that are known: which tables hold an agent's sessions. An agent may have had several after one another, whose
//! tables stand in one file.

use rusqlite::{Connection, OptionalExtension};

use super::catalogue::{Stamp, integer, read_stamp};
use super::session::ForeignSession;
use super::{cursor, goose, opencode};
use crate::units::UnixMillis;

/// Whose database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `OpenCode`'s, of both generations.
    OpenCode,
    /// Goose's.
    Goose,
    /// That of Cursor's editor.
    Cursor,
}

/// The tables of one generation of an agent's database.
pub(super) struct Generation {
    /// The table with a row for each session, and all others that are read.
    pub(super) tables: &'static [&'static str],
    /// Of every session: its id, and when its row was changed, in milliseconds.
    pub(super) sessions: &'static str,
    /// Of the session `:id`: when its row was changed, in milliseconds.
    pub(super) session: &'static str,
    /// The tables with a session's rows.
    pub(super) rows: &'static [Rows],
    /// Reads a session's record and messages.
    pub(super) read: fn(&Connection, &str) -> rusqlite::Result<Option<ForeignSession>>,
}

/// What is asked of a table with rows of sessions.
pub(super) struct Rows {
    /// The table.
    pub(super) table: &'static str,
    /// Of every session: its id, how many rows it has, the greatest row number, and the latest time in milliseconds.
    pub(super) all: &'static str,
    /// The same of the session `:id`, without the id.
    pub(super) of_session: &'static str,
    /// The sessions of the rows after the row number `:mark`, each as often as it has some.
    pub(super) newer: &'static str,
    /// The greatest row number.
    pub(super) last: &'static str,
}

/// The questions to `$table`, whose rows name their session in `$session` and have `$changed` as their time.
macro_rules! rows_of {
    ($table:literal, $session:literal, $changed:literal) => {
        $crate::foreign::layout::Rows {
            table: $table,
            all: concat!(
                "SELECT ",
                $session,
                ", count(*), max(rowid), max(",
                $changed,
                ") FROM ",
                $table,
                " GROUP BY ",
                $session
            ),
            of_session: concat!(
                "SELECT count(*), max(rowid), max(",
                $changed,
                ") FROM ",
                $table,
                " WHERE ",
                $session,
                " = :id"
            ),
            newer: concat!("SELECT ", $session, " FROM ", $table, " WHERE rowid > :mark"),
            last: concat!("SELECT max(rowid) FROM ", $table),
        }
    };
}
pub(super) use rows_of;

impl Layout {
    /// Every layout.
    pub const ALL: &[Self] = &[Self::OpenCode, Self::Goose, Self::Cursor];

    /// The agent's name, for people.
    pub(super) fn agent(self) -> &'static str {
        match self {
            Self::OpenCode => "OpenCode",
            Self::Goose => "Goose",
            Self::Cursor => "Cursor",
        }
    }

    /// The generations that the database has, the one that counts where a session is in several first.
    pub(super) fn generations(self, db: &Connection) -> rusqlite::Result<Vec<&'static Generation>> {
        let known = match self {
            Self::OpenCode => opencode::GENERATIONS,
            Self::Goose => goose::GENERATIONS,
            Self::Cursor => cursor::GENERATIONS,
        };
        let mut present = Vec::new();
        for generation in known {
            if has_all(db, generation.tables)? {
                present.push(generation);
            }
        }
        Ok(present)
    }

    /// Reads a session.
    pub(super) fn session(self, db: &Connection, id: &str) -> rusqlite::Result<Option<ForeignSession>> {
        for generation in self.generations(db)? {
            if let Some(stamp) = generation.stamp(db, id)?
                && let Some(session) = (generation.read)(db, id)?
            {
                return Ok(Some(ForeignSession { stamp, ..session }));
            }
        }
        Ok(None)
    }
}

impl Generation {
    /// How the session stands; `None` where there is none.
    fn stamp(&self, db: &Connection, id: &str) -> rusqlite::Result<Option<Stamp>> {
        let own = db
            .prepare_cached(self.session)?
            .query_row([id], |row| Ok(UnixMillis(integer(row, 0)?)))
            .optional()?;
        own.map(|own| self.stamp_since(db, id, own)).transpose()
    }

    /// How the session stands whose own row was changed at `own`.
    pub(super) fn stamp_since(&self, db: &Connection, id: &str, own: UnixMillis) -> rusqlite::Result<Stamp> {
        let mut stamp = Stamp::of(own);
        for rows in self.rows {
            stamp.add(
                db.prepare_cached(rows.of_session)?
                    .query_row([id], |row| read_stamp(row, 0))?,
            );
        }
        Ok(stamp)
    }
}

fn has_all(db: &Connection, tables: &[&str]) -> rusqlite::Result<bool> {
    let mut statement = db.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name")?;
    for table in tables {
        if !statement.exists([table])? {
            return Ok(false);
        }
    }
    Ok(true)
}
