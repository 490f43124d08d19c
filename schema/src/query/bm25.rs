//! The BM25 leg, and the counts that judge its terms.
//! In go match expressions and terms of the analysis, out come episodes by score, and document frequencies.

use rusqlite::{OptionalExtension, named_params};

use super::Reader;
use crate::error::QueryError;
use crate::fts_query::MatchExpression;
use crate::ids::EpisodeId;
use crate::units::Bm25;

/// All hits are ordered before the cut, ties by id. The weights are those of prompt, answer, facets and project.
pub(super) const BM25: &str = "SELECT rowid, bm25(episodes_fts, :prompt, :answer, :facets, 0.0) AS score
    FROM episodes_fts WHERE episodes_fts MATCH :expression ORDER BY score, rowid LIMIT :limit";

/// Row id of the FTS5 record that begins with the number of rows (`FTS5_AVERAGES_ROWID` in SQLite's `fts5_index.c`).
const AVERAGES: i64 = 1;

/// How much a term counts in each field of an episode: its occurrences there are multiplied by this before BM25 damps
/// them (as in BM25F: Robertson, Zaragoza, Taylor: CIKM 2004).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldWeights {
    /// What was asked.
    pub prompt: f64,
    /// What came of it.
    pub answer: f64,
    /// Files, commands and errors.
    pub facets: f64,
}

impl FieldWeights {
    /// All fields alike.
    pub const EQUAL: Self = Self {
        prompt: 1.0,
        answer: 1.0,
        facets: 1.0,
    };
}

impl Reader {
    /// The `limit` best hits of an expression over all episodes, best first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn bm25(
        &self,
        expression: &MatchExpression,
        weights: FieldWeights,
        limit: usize,
    ) -> Result<Vec<(EpisodeId, Bm25)>, QueryError> {
        self.run("search the full-text index", |db| {
            db.prepare_cached(BM25)?
                .query_map(
                    named_params! {":expression": expression.as_str(), ":prompt": weights.prompt, ":answer": weights.answer,
                    ":facets": weights.facets, ":limit": limit as i64},
                    |row| Ok((row.get(0)?, Bm25(row.get(1)?))),
                )?
                .collect()
        })
    }

    /// In how many episodes each term occurs; terms as [`crate::terms`] gives them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn document_frequency(&self, terms: &[String]) -> Result<Vec<u64>, QueryError> {
        self.run("count a term's episodes", |db| {
            let mut statement = db.prepare_cached("SELECT doc FROM episodes_fts_vocab WHERE term = :term")?;
            terms
                .iter()
                .map(|term| {
                    Ok(statement
                        .query_row([term], |row| row.get::<_, i64>(0))
                        .optional()?
                        .map_or(0, |count| count as u64))
                })
                .collect()
        })
    }

    /// How many episodes the full-text index holds, read from its own record: no walk through rows.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn indexed_episodes(&self) -> Result<u64, QueryError> {
        self.run("count indexed episodes", |db| {
            let record: Option<Vec<u8>> = db
                .prepare_cached("SELECT block FROM episodes_fts_data WHERE id = :id")?
                .query_row([AVERAGES], |row| row.get(0))
                .optional()?;
            Ok(record.as_deref().map_or(0, first_varint))
        })
    }
}

/// The number that a record begins with, in SQLite's variable-length form: seven bits a byte, most significant first,
/// the top bit set on all but the last. (A ninth byte would count whole; 2^56 rows are out of reach.)
fn first_varint(bytes: &[u8]) -> u64 {
    let mut value = 0;
    for byte in bytes.iter().take(8) {
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}
