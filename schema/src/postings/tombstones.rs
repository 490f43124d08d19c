//! Which episodes of a segment are deleted: FTS5 leaves their postings where they are until the next merge.
//! In go a segment's tombstone pages, a hash table over all of them; out comes whether an episode is in it.

use rusqlite::{Connection, OptionalExtension};

use super::segments::Segment;
use super::{PAGE, ReadError};

/// Bytes before the slots of a page; the first is the size of a slot.
const HEADER: usize = 8;

/// The tombstones of one segment.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    pages: Vec<Vec<u8>>,
}

impl Tombstones {
    pub(super) fn read(db: &Connection, segment: &Segment) -> Result<Self, ReadError> {
        let mut statement = db.prepare_cached(PAGE)?;
        let pages = (0..segment.tombstone_pages)
            .map(|page| {
                statement
                    .query_row([segment.tombstone_row(page)], |row| row.get::<_, Vec<u8>>(0))
                    .optional()?
                    .filter(|page| page.len() > HEADER)
                    .ok_or(ReadError::Format)
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { pages })
    }

    /// Whether `episode` is deleted.
    #[inline]
    pub(super) fn hold(&self, episode: u64) -> bool {
        !self.pages.is_empty() && self.find(episode)
    }

    /// As `fts5IndexTombstoneQuery` looks it up.
    fn find(&self, episode: u64) -> bool {
        let count = self.pages.len() as u64;
        let page = &self.pages[(episode % count) as usize];
        let size = if page[0] == 4 { 4 } else { 8 };
        let slots = &page[HEADER..];
        let slot_count = (slots.len() / size).max(1);
        let first = (episode / count) as usize % slot_count;
        (first..slot_count)
            .chain(0..first)
            .map(|slot| slots.get(slot * size..(slot + 1) * size).map_or(0, number))
            .take_while(|found| *found != 0)
            .any(|found| found == episode)
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| (value << 8) | u64::from(*byte))
}
