//! What the index as a whole is: its segments, and how many episodes and terms they hold.
//! In go FTS5's own two records of them, out comes an [`Index`].

use rusqlite::{Connection, OptionalExtension};

use super::ReadError;
use super::varint::varint;

/// Row ids of the two records (`FTS5_AVERAGES_ROWID`, `FTS5_STRUCTURE_ROWID`).
const AVERAGES: i64 = 1;
const STRUCTURE: i64 = 10;
/// The version of the format that this module reads (`FTS5_CURRENT_VERSION`).
const VERSION: i64 = 4;
/// Stands behind the cookie where segments know their origin (`FTS5_STRUCTURE_V2`), as with `contentless_delete`.
const WITH_ORIGINS: [u8; 4] = [0xff, 0x00, 0x00, 0x01];
/// Bits of a page's number in its row id, below the segment's (`FTS5_DATA_PAGE_B`, `_HEIGHT_B`, `_DLI_B`).
const SEGMENT_SHIFT: u32 = 31 + 5 + 1;
/// A segment's tombstones lie as if in a segment of this much higher id (`FTS5_TOMBSTONE_ROWID`).
const TOMBSTONES: i64 = 1 << 16;

/// The index as a whole.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(super) segments: Vec<Segment>,
    /// Episodes in the index.
    pub(crate) episodes: u64,
    /// Terms in all of them, in every field.
    pub(crate) terms: u64,
}

/// A sorted run of terms with their postings, on pages of its own.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) id: u32,
    pub(super) first_page: u32,
    pub(super) last_page: u32,
    pub(super) tombstone_pages: u32,
}

impl Segment {
    /// The row of a page.
    pub(super) fn row_of(&self, page: u32) -> i64 {
        (i64::from(self.id) << SEGMENT_SHIFT) + i64::from(page)
    }

    /// The row of a page of tombstones.
    pub(super) fn tombstone_row(&self, page: u32) -> i64 {
        ((i64::from(self.id) + TOMBSTONES) << SEGMENT_SHIFT) + i64::from(page)
    }
}

impl Index {
    /// Reads the records.
    pub(super) fn read(db: &Connection) -> Result<Self, ReadError> {
        let version: Option<i64> = db
            .prepare_cached("SELECT v FROM episodes_fts_config WHERE k = 'version'")?
            .query_row([], |row| row.get(0))
            .optional()?;
        if version != Some(VERSION) {
            return Err(ReadError::Format);
        }
        let (episodes, terms) = totals(&record(db, AVERAGES)?.unwrap_or_default())?;
        let segments = record(db, STRUCTURE)?.map_or(Ok(Vec::new()), |record| segments(&record))?;
        Ok(Self {
            segments,
            episodes,
            terms,
        })
    }
}

/// How many episodes the index holds.
pub(crate) fn indexed_episodes(db: &Connection) -> rusqlite::Result<u64> {
    let record = record(db, AVERAGES)?.unwrap_or_default();
    Ok(varint(&record, &mut 0).unwrap_or_default())
}

fn record(db: &Connection, id: i64) -> rusqlite::Result<Option<Vec<u8>>> {
    db.prepare_cached(super::PAGE)?.query_row([id], |row| row.get(0)).optional()
}

/// The number of rows, then the number of terms in each column.
fn totals(record: &[u8]) -> Result<(u64, u64), ReadError> {
    if record.is_empty() {
        return Ok((0, 0));
    }
    let mut at = 0;
    let episodes = varint(record, &mut at)?;
    let mut terms = 0;
    while at < record.len() {
        terms += varint(record, &mut at)?;
    }
    Ok((episodes, terms))
}

fn segments(record: &[u8]) -> Result<Vec<Segment>, ReadError> {
    let mut at = 4;
    if record.get(at..at + 4) != Some(&WITH_ORIGINS) {
        return Err(ReadError::Format);
    }
    at += 4;
    let mut next = || varint(record, &mut at);
    let levels = next()?;
    let (_segments, _writes) = (next()?, next()?);
    let mut segments = Vec::new();
    for _ in 0..levels {
        let (_being_merged, count) = (next()?, next()?);
        for _ in 0..count {
            let segment = Segment {
                id: small(next()?)?,
                first_page: small(next()?)?,
                last_page: small(next()?)?,
                tombstone_pages: {
                    let _origins = (next()?, next()?);
                    small(next()?)?
                },
            };
            let _counts = (next()?, next()?);
            // A segment of which a merge has taken all is empty until the merge ends.
            if segment.last_page > 0 {
                segments.push(segment);
            }
        }
    }
    Ok(segments)
}

fn small(value: u64) -> Result<u32, ReadError> {
    u32::try_from(value).map_err(|_| ReadError::Format)
}
