//! Which sessions a database holds and how each stands, brought up to date at the cost of what changed.
//!
//! A row that is written anew moves its session's time, its row number or its count. Which sessions have new rows is known by
//! the row numbers after those seen last; a row that is changed in its place is one of a session in progress, which are looked
//! at each time.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::layout::{Generation, Layout, Rows};
use crate::units::UnixMillis;

/// Sessions that are taken to be in progress: those that changed last.
const IN_PROGRESS: usize = 16;

/// How a session stands: any change of what it says changes this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// How many rows it has.
    pub rows: u64,
    /// The greatest row number in each of its tables, added up.
    pub newest: u64,
    /// When it last changed.
    pub changed: UnixMillis,
}

impl Stamp {
    /// A session without rows, whose own row was changed then.
    pub(super) fn of(changed: UnixMillis) -> Self {
        Self {
            changed,
            ..Self::default()
        }
    }

    /// Adds the rows of one table.
    pub(super) fn add(&mut self, rows: Self) {
        self.rows += rows.rows;
        self.newest += rows.newest;
        self.changed = self.changed.max(rows.changed);
    }
}

/// The sessions of a database, as last seen.
#[derive(Debug, Default)]
pub struct Catalogue {
    sessions: BTreeMap<String, Entry>,
    /// The greatest row number that was seen in each table.
    marks: BTreeMap<&'static str, i64>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    stamp: Stamp,
    /// When the session's own row was changed.
    own: UnixMillis,
}

impl Catalogue {
    /// Every session's id and how it stands.
    pub fn stamps(&self) -> impl Iterator<Item = (&str, Stamp)> {
        self.sessions.iter().map(|(id, entry)| (id.as_str(), entry.stamp))
    }

    /// How the session with this id stands, if there is one.
    pub fn stamp(&self, id: &str) -> Option<Stamp> {
        self.sessions.get(id).map(|entry| entry.stamp)
    }

    /// The catalogue of the database as it is now; `None` where it has no tables that are known.
    pub(super) fn next(&self, db: &Connection, layout: Layout) -> rusqlite::Result<Option<Self>> {
        let generations = layout.generations(db)?;
        if generations.is_empty() {
            return Ok(None);
        }
        let mut next = Self::default();
        for generation in generations {
            let mut own = own_times(db, generation)?;
            own.retain(|id, _| !next.sessions.contains_key(id));
            let stamps = if generation.rows.iter().all(|rows| self.marks.contains_key(rows.table)) {
                self.stamps_since(db, generation, &own)?
            } else {
                all_stamps(db, generation, &own)?
            };
            for (id, own) in own {
                let stamp = stamps.get(&id).copied().unwrap_or(Stamp::of(own));
                next.sessions.insert(id, Entry { stamp, own });
            }
            for rows in generation.rows {
                next.marks.insert(rows.table, last_row(db, rows)?);
            }
        }
        Ok(Some(next))
    }

    /// How each session stands, where only what may have changed since is looked at.
    fn stamps_since(
        &self,
        db: &Connection,
        generation: &Generation,
        own: &BTreeMap<String, UnixMillis>,
    ) -> rusqlite::Result<BTreeMap<String, Stamp>> {
        let mut suspects = self.in_progress();
        for rows in generation.rows {
            let mark = self.marks.get(rows.table).copied().unwrap_or_default();
            let mut statement = db.prepare_cached(rows.newer)?;
            let newer = statement.query_map([mark], |row| text(row, 0))?;
            suspects.extend(newer.collect::<rusqlite::Result<Vec<_>>>()?);
        }
        let mut stamps = BTreeMap::new();
        for (id, own) in own {
            let known = self
                .sessions
                .get(id)
                .filter(|known| known.own == *own && !suspects.contains(id));
            let stamp = match known {
                Some(known) => known.stamp,
                None => generation.stamp_since(db, id, *own)?,
            };
            stamps.insert(id.clone(), stamp);
        }
        Ok(stamps)
    }

    /// The sessions that changed last.
    fn in_progress(&self) -> BTreeSet<String> {
        let mut by_time: Vec<_> = self.sessions.iter().map(|(id, entry)| (entry.stamp.changed, id)).collect();
        by_time.sort_unstable_by(|a, b| b.cmp(a));
        by_time.into_iter().take(IN_PROGRESS).map(|(_, id)| id.clone()).collect()
    }
}

/// When each session's own row was changed.
fn own_times(db: &Connection, generation: &Generation) -> rusqlite::Result<BTreeMap<String, UnixMillis>> {
    let mut statement = db.prepare_cached(generation.sessions)?;
    let times = statement.query_map([], |row| Ok((text(row, 0)?, UnixMillis(integer(row, 1)?))))?;
    let mut times = times.collect::<rusqlite::Result<BTreeMap<_, _>>>()?;
    times.remove("");
    Ok(times)
}

/// How each session stands, by all rows.
fn all_stamps(
    db: &Connection,
    generation: &Generation,
    own: &BTreeMap<String, UnixMillis>,
) -> rusqlite::Result<BTreeMap<String, Stamp>> {
    let mut stamps: BTreeMap<String, Stamp> = own.iter().map(|(id, own)| (id.clone(), Stamp::of(*own))).collect();
    for rows in generation.rows {
        let mut statement = db.prepare_cached(rows.all)?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            if let Some(stamp) = stamps.get_mut(&text(row, 0)?) {
                stamp.add(read_stamp(row, 1)?);
            }
        }
    }
    Ok(stamps)
}

fn last_row(db: &Connection, rows: &Rows) -> rusqlite::Result<i64> {
    db.prepare_cached(rows.last)?.query_row([], |row| integer(row, 0))
}

/// A table's count, greatest row number and latest time, from column `from` on.
pub(super) fn read_stamp(row: &Row<'_>, from: usize) -> rusqlite::Result<Stamp> {
    Ok(Stamp {
        rows: integer(row, from)?.unsigned_abs(),
        newest: integer(row, from + 1)?.unsigned_abs(),
        changed: UnixMillis(integer(row, from + 2)?),
    })
}

/// A number; 0 where there is none.
pub(super) fn integer(row: &Row<'_>, column: usize) -> rusqlite::Result<i64> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(number) => number,
        ValueRef::Real(number) => number as i64,
        ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => 0,
    })
}

/// A text; empty where there is none.
pub(super) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    })
}
