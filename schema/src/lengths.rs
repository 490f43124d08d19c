//! How many terms the full-text index holds of each episode: what BM25 divides by.
//!
//! FTS5 keeps them one row an episode, which costs a microsecond each to look up. Here they lie side by side, in blocks that a
//! search reads whole: two megabytes for a million episodes, written in the transaction of the index row itself.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, named_params};

use crate::ids::EpisodeId;
use crate::postings::varint;

/// Episodes in a block.
pub(crate) const BLOCK: usize = 2_048;
/// Bytes of a length.
const SIZE: usize = 2;

/// Lengths that a transaction changes: a block is read once and written once, however many of its episodes are among them.
#[derive(Debug, Default)]
pub(crate) struct Changes(BTreeMap<i64, Vec<u8>>);

impl Changes {
    /// Sets the length of an episode; a longer one than two bytes hold counts as the longest.
    pub(crate) fn set(&mut self, db: &Connection, id: EpisodeId, terms: usize) -> rusqlite::Result<()> {
        let number = id.0 / BLOCK as i64;
        let block = match self.0.entry(number) {
            Entry::Occupied(block) => block.into_mut(),
            Entry::Vacant(place) => place.insert(stored(db, number)?.unwrap_or_else(|| vec![0; BLOCK * SIZE])),
        };
        put(block, id.0 as usize % BLOCK, terms as u64);
        Ok(())
    }

    /// Writes the blocks.
    pub(crate) fn write(self, db: &Connection) -> rusqlite::Result<()> {
        self.0.iter().try_for_each(|(number, block)| store(db, *number, block))
    }
}

/// The lengths of the episodes of a block: those with ids from `number` times [`BLOCK`] on.
pub(crate) fn read_block(db: &Connection, number: i64, lengths: &mut [u16; BLOCK]) -> rusqlite::Result<()> {
    let block = match stored(db, number)? {
        Some(block) => block,
        None => counted(db, number)?,
    };
    for (length, bytes) in lengths.iter_mut().zip(block.as_chunks::<SIZE>().0) {
        *length = u16::from_le_bytes(*bytes);
    }
    Ok(())
}

/// Fills the table of a store that was made without it.
pub(crate) fn fill(db: &mut Connection) -> rusqlite::Result<()> {
    if db.query_row("SELECT EXISTS (SELECT 1 FROM episode_lengths)", [], |row| row.get(0))? {
        return Ok(());
    }
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let last: Option<i64> = tx.query_row("SELECT max(id) FROM episodes_fts_docsize", [], |row| row.get(0))?;
    for number in 0..=last.map_or(-1, |last| last / BLOCK as i64) {
        store(&tx, number, &counted(&tx, number)?)?;
    }
    tx.commit()
}

/// Forgets all of them, for an index that is made anew.
pub(crate) fn clear(db: &Connection) -> rusqlite::Result<()> {
    db.execute("DELETE FROM episode_lengths", [])?;
    Ok(())
}

fn stored(db: &Connection, number: i64) -> rusqlite::Result<Option<Vec<u8>>> {
    db.prepare_cached("SELECT lengths FROM episode_lengths WHERE block = :number")?
        .query_row([number], |row| row.get(0))
        .optional()
}

fn store(db: &Connection, number: i64, block: &[u8]) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO episode_lengths (block, lengths) VALUES (:number, :block)
         ON CONFLICT (block) DO UPDATE SET lengths = excluded.lengths",
    )?
    .execute(named_params! {":number": number, ":block": block})?;
    Ok(())
}

/// A block by FTS5's own rows: the number of terms in each field.
fn counted(db: &Connection, number: i64) -> rusqlite::Result<Vec<u8>> {
    let first = number * BLOCK as i64;
    let mut block = vec![0; BLOCK * SIZE];
    let mut statement = db.prepare_cached("SELECT id, sz FROM episodes_fts_docsize WHERE id BETWEEN :first AND :last")?;
    let mut rows = statement.query(named_params! {":first": first, ":last": first + BLOCK as i64 - 1})?;
    while let Some(row) = rows.next()? {
        let (id, sizes): (i64, &[u8]) = (row.get(0)?, row.get_ref(1)?.as_blob()?);
        let mut at = 0;
        let mut terms = 0;
        while let (true, Ok(size)) = (at < sizes.len(), varint(sizes, &mut at)) {
            terms += size;
        }
        put(&mut block, (id - first) as usize, terms);
    }
    Ok(block)
}

fn put(block: &mut [u8], place: usize, terms: u64) {
    let length = u16::try_from(terms).unwrap_or(u16::MAX);
    block[place * SIZE..(place + 1) * SIZE].copy_from_slice(&length.to_le_bytes());
}
