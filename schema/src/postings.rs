//! The postings of a term, read straight from the segments in which FTS5 keeps them.
//!
//! FTS5 itself hands a query one row at a time, and looks up each row's length and each phrase's positions for every one: about
//! a microsecond a row, several for a prompt of common words. What it stores is compact and ordered, and can be read at some
//! nanoseconds a posting. In go terms of the analysis, out come episodes with weighted frequencies, as `bm25()` counts them.
//! Nothing is written here, and a store that FTS5 wrote in another format is told apart ([`ReadError::Format`]), so that the
//! caller can ask FTS5 itself.
//!
//! The format is described in SQLite's `fts5_index.c`; it is version 4 of it, with `detail=full` and `contentless_delete=1`.

mod decode;
mod leaf;
mod segments;
mod tombstones;
mod varint;

use rusqlite::{Connection, OptionalExtension, named_params};

use decode::Decoder;
pub(crate) use decode::{EpisodeSet, Fields, Selection};
use leaf::Leaf;
use segments::Segment;
pub(crate) use segments::{Index, indexed_episodes};
use tombstones::Tombstones;
pub(crate) use varint::varint;

/// The page of a segment that may hold a term: every page is listed by the first term that begins on it.
pub(crate) const PAGE_OF: &str =
    "SELECT pgno >> 1 FROM episodes_fts_idx WHERE segid = :segment AND term <= :term ORDER BY term DESC LIMIT 1";
/// The next listed page: the postings of a term end there or before.
pub(crate) const PAGE_AFTER: &str =
    "SELECT pgno >> 1 FROM episodes_fts_idx WHERE segid = :segment AND term > :term ORDER BY term LIMIT 1";
const PAGE: &str = "SELECT block FROM episodes_fts_data WHERE id = :id";
pub(crate) const PAGES: &str = "SELECT block FROM episodes_fts_data WHERE id BETWEEN :first AND :last ORDER BY id";
/// Leads every term that is no prefix (`FTS5_MAIN_PREFIX`).
const MAIN_PREFIX: u8 = b'0';

/// Why postings could not be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// What SQLite reports.
    Sql(rusqlite::Error),
    /// The store is not as this module knows it.
    Format,
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// The episodes that hold a term.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    /// Episodes that were selected, ascending within each run.
    pub(crate) episodes: Vec<u32>,
    /// How often the term occurs in each, weighted by field.
    pub(crate) frequencies: Vec<f32>,
    /// Where each segment's run ends in the two above. An episode is in one run only.
    pub(crate) run_ends: Vec<usize>,
    /// In how many episodes the term occurs, selected or not.
    pub(crate) document_frequency: u64,
}

/// Where a term's postings are, before they are read.
#[derive(Debug, Default)]
pub(crate) struct Located {
    places: Vec<Place>,
    /// Pages that hold nothing else: what reading costs.
    pub(crate) pages: u32,
}

/// The part of a term's postings that one segment has.
#[derive(Debug)]
struct Place {
    segment: usize,
    /// The postings on the page where they begin.
    head: Vec<u8>,
    /// The pages that follow, while they have more of them.
    following: Option<(u32, u32)>,
}

/// Reads postings within one transaction.
pub(crate) struct PostingsReader<'db> {
    db: &'db Connection,
    index: Index,
    tombstones: Vec<Tombstones>,
}

impl<'db> PostingsReader<'db> {
    /// Looks up which segments there are.
    pub(crate) fn new(db: &'db Connection) -> Result<Self, ReadError> {
        let index = Index::read(db)?;
        let tombstones = index
            .segments
            .iter()
            .map(|segment| Tombstones::read(db, segment))
            .collect::<Result<_, _>>()?;
        Ok(Self { db, index, tombstones })
    }

    /// The index as a whole.
    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// Finds a term in every segment.
    pub(crate) fn locate(&self, term: &str) -> Result<Located, ReadError> {
        let mut key = Vec::with_capacity(term.len() + 1);
        key.push(MAIN_PREFIX);
        key.extend_from_slice(term.as_bytes());
        let mut located = Located::default();
        for (number, segment) in self.index.segments.iter().enumerate() {
            if let Some(place) = self.place(number, segment, &key)? {
                located.pages += place.following.map_or(0, |(first, last)| last + 1 - first);
                located.places.push(place);
            }
        }
        Ok(located)
    }

    /// Reads the postings of a term that was located.
    pub(crate) fn read(&self, located: &Located, fields: Fields, selection: &Selection<'_>) -> Result<Postings, ReadError> {
        let mut postings = Postings::default();
        for place in &located.places {
            let segment = &self.index.segments[place.segment];
            let mut decoder = Decoder::new(fields, selection, &self.tombstones[place.segment], &mut postings);
            decoder.page(&place.head, None)?;
            if let Some((first, last)) = place.following {
                let mut statement = self.db.prepare_cached(PAGES)?;
                let mut rows = statement.query(named_params! {":first": segment.row_of(first), ":last": segment.row_of(last)})?;
                while let Some(row) = rows.next()? {
                    let leaf = Leaf::new(row.get_ref(0)?.as_blob().map_err(|_| ReadError::Format)?)?;
                    let (content, first_episode, ends) = leaf.continuation()?;
                    decoder.page(content, first_episode)?;
                    if ends {
                        break;
                    }
                }
            }
            decoder.finish()?;
            postings.run_ends.push(postings.episodes.len());
        }
        Ok(postings)
    }

    fn place(&self, number: usize, segment: &Segment, key: &[u8]) -> Result<Option<Place>, ReadError> {
        let parameters = named_params! {":segment": segment.id, ":term": key};
        let listed: Option<u32> = self
            .db
            .prepare_cached(PAGE_OF)?
            .query_row(parameters, |row| row.get(0))
            .optional()?;
        let page = listed.unwrap_or(1).max(segment.first_page);
        let mut statement = self.db.prepare_cached(PAGE)?;
        let mut rows = statement.query([segment.row_of(page)])?;
        let row = rows.next()?.ok_or(ReadError::Format)?;
        let leaf = Leaf::new(row.get_ref(0)?.as_blob().map_err(|_| ReadError::Format)?)?;
        let Some((head, ends)) = leaf.find(key)? else {
            return Ok(None);
        };
        let following = if ends || page == segment.last_page {
            None
        } else {
            let next: Option<u32> = self
                .db
                .prepare_cached(PAGE_AFTER)?
                .query_row(parameters, |row| row.get(0))
                .optional()?;
            Some((page + 1, next.unwrap_or(segment.last_page).clamp(page + 1, segment.last_page)))
        };
        Ok(Some(Place {
            segment: number,
            head: head.to_owned(),
            following,
        }))
    }
}
