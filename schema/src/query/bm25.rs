//! The BM25 leg, and the counts that judge its terms.
//!
//! In go match expressions and terms of the analysis, out come episodes by score, and document frequencies. The work is bounded:
//! terms are read from the rarest on until [`MOST_PAGES`] of postings are read, and those that are too common for it, and so
//! tell least, are left out. Within that bound the result is the one of FTS5's own `bm25()`, which is asked itself where
//! [`crate::postings`] can't read the store.

mod score;

use std::borrow::Cow;

use rusqlite::{Connection, OptionalExtension, named_params};

use score::{Needed, best};

use super::{EpisodeIds, Reader, Scope};
use crate::error::QueryError;
use crate::fts_query::{MatchExpression, project_token};
use crate::ids::EpisodeId;
use crate::lengths;
use crate::postings::{EpisodeSet, Fields, Located, PostingsReader, ReadError, Selection, indexed_episodes};
use crate::units::Bm25;

/// All hits are ordered before the cut, ties by id. The weights are those of prompt, answer, facets and project.
pub(super) const BM25: &str = "SELECT rowid, bm25(episodes_fts, :prompt, :answer, :facets, 0.0) AS score
    FROM episodes_fts WHERE episodes_fts MATCH :expression ORDER BY score, rowid LIMIT :limit";

/// Pages of postings, of 4 KB, that one search reads of its terms at most: about 1.2 million postings. A bound of 1.2 postings an
/// episode costs nothing of recall@3 on four judged sets, and 0.7 points on `SciFact` (ADR 17).
const MOST_PAGES: u32 = 1_500;
/// So many of the rarest terms are read, however common they are.
const LEAST_TERMS: usize = 2;
/// Postings on a page, for what was not read.
const POSTINGS_A_PAGE: u64 = 800;

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

    /// The project's token is asked for alone.
    fn fields(self, facets_only: bool) -> Fields {
        let weight = |weight: f64, is_facets: bool| (!facets_only || is_facets).then_some(weight as f32);
        Fields {
            weights: [
                weight(self.prompt, false),
                weight(self.answer, false),
                weight(self.facets, true),
                weight(0.0, false),
            ],
        }
    }
}

/// What is wanted of a search.
#[derive(Clone, Copy, Debug)]
struct Wanted<'a> {
    weights: FieldWeights,
    limit: usize,
    /// None but these.
    within: Option<&'a EpisodeIds>,
}

/// What a full-text search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bm25Hits {
    /// The best episodes, best first, ties by id.
    pub hits: Vec<(EpisodeId, Bm25)>,
    /// In how many episodes each of the expression's terms occurs ([`Reader::document_frequency`]).
    pub document_frequencies: Vec<u64>,
    /// The places of the terms that are so common that they were not read, and found nothing.
    pub too_common: Vec<usize>,
}

impl Reader {
    /// The `limit` best hits of an expression over all episodes in scope.
    ///
    /// # Errors
    /// What SQLite reports; [`QueryError::Interrupted`].
    pub fn bm25(&self, expression: &MatchExpression, weights: FieldWeights, limit: usize) -> Result<Bm25Hits, QueryError> {
        let wanted = Wanted {
            weights,
            limit,
            within: None,
        };
        match self.bm25_by_postings(expression, wanted)? {
            Some(found) => Ok(found),
            None => Ok(Bm25Hits {
                hits: self.bm25_of_fts5(expression, weights, limit)?,
                document_frequencies: self.document_frequency(expression.terms())?,
                too_common: Vec::new(),
            }),
        }
    }

    /// The `limit` best hits of an expression among these episodes: the others take no place. A score is that of the whole store.
    ///
    /// # Errors
    /// What SQLite reports; [`QueryError::Interrupted`].
    pub fn bm25_within(
        &self,
        expression: &MatchExpression,
        weights: FieldWeights,
        limit: usize,
        within: &EpisodeIds,
    ) -> Result<Vec<(EpisodeId, Bm25)>, QueryError> {
        let wanted = Wanted {
            weights,
            limit,
            within: Some(within),
        };
        if let Some(found) = self.bm25_by_postings(expression, wanted)? {
            return Ok(found.hits);
        }
        let mut hits = self.bm25_of_fts5(expression, weights, i64::MAX as usize)?;
        hits.retain(|(id, _)| within.contains(*id));
        hits.truncate(limit);
        Ok(hits)
    }

    /// `None` where the store has to be read by FTS5 itself.
    fn bm25_by_postings(&self, expression: &MatchExpression, wanted: Wanted<'_>) -> Result<Option<Bm25Hits>, QueryError> {
        self.run("search the full-text index", |db| {
            let snapshot = db.unchecked_transaction()?;
            readable(self.search(&snapshot, expression, wanted))
        })
    }

    /// As [`Reader::bm25`] without a bound, by FTS5's own `bm25()`: the reference, whose time grows with the number of episodes
    /// that hold any of the terms.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn bm25_of_fts5(
        &self,
        expression: &MatchExpression,
        weights: FieldWeights,
        limit: usize,
    ) -> Result<Vec<(EpisodeId, Bm25)>, QueryError> {
        self.run("search the full-text index", |db| {
            db.prepare_cached(BM25)?
                .query_map(
                    named_params! {":expression": expression.to_fts5(), ":prompt": weights.prompt, ":answer": weights.answer,
                    ":facets": weights.facets, ":limit": limit as i64},
                    |row| Ok((row.get(0)?, Bm25(row.get(1)?))),
                )?
                .collect()
        })
    }

    /// In how many episodes each term occurs; terms as [`crate::terms`] gives them. Of terms so common that counting them would
    /// go beyond the bound of a search, an estimate.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn document_frequency(&self, terms: &[String]) -> Result<Vec<u64>, QueryError> {
        self.run("count a term's episodes", |db| {
            let snapshot = db.unchecked_transaction()?;
            match readable(count(&snapshot, terms))? {
                Some(counts) => Ok(counts),
                None => count_by_fts5(&snapshot, terms),
            }
        })
    }

    /// How many episodes the full-text index holds, read from its own record: no walk through rows.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn indexed_episodes(&self) -> Result<u64, QueryError> {
        self.run("count indexed episodes", indexed_episodes)
    }

    fn search(
        &self,
        db: &Connection,
        expression: &MatchExpression,
        Wanted { weights, limit, within }: Wanted<'_>,
    ) -> Result<Bm25Hits, ReadError> {
        if !expression.is_of_single_tokens() {
            return Err(ReadError::Format);
        }
        let reader = PostingsReader::new(db)?;
        let in_scope = match expression.scope() {
            Scope::All => None,
            Scope::Project(project) => {
                let token = reader.locate(&project_token(project))?;
                let postings = reader.read(&token, FieldWeights::EQUAL.fields(false), &Selection::All)?;
                Some(EpisodeSet::of(&postings))
            }
        };
        let in_scope = match (in_scope.as_ref(), within.map(EpisodeIds::set)) {
            (Some(project), Some(within)) => Some(Cow::Owned(project.and(within))),
            (Some(one), None) | (None, Some(one)) => Some(Cow::Borrowed(one)),
            (None, None) => None,
        };
        let selection = in_scope.as_deref().map_or(Selection::All, Selection::Of);
        let mut terms = Vec::new();
        let mut document_frequencies = Vec::new();
        let mut too_common = Vec::new();
        for (place, (located, affordable)) in locate_all(&reader, expression.terms())?.enumerate() {
            if affordable {
                self.stop_if_late()?;
                let postings = reader.read(&located, weights.fields(expression.is_of_facets()), &selection)?;
                document_frequencies.push(postings.document_frequency);
                terms.push(postings);
            } else {
                document_frequencies.push(estimate(&located, reader.index().episodes));
                too_common.push(place);
            }
        }
        let needed = if expression.needs_all() { Needed::All } else { Needed::Any };
        let hits = best(reader.index(), &terms, needed, limit, |number, lengths| {
            self.stop_if_late()?;
            lengths::read_block(db, number, lengths)
        })?;
        Ok(Bm25Hits {
            hits,
            document_frequencies,
            too_common,
        })
    }
}

/// Where each term's postings are, and whether they are read.
fn locate_all(reader: &PostingsReader<'_>, terms: &[String]) -> Result<impl Iterator<Item = (Located, bool)>, ReadError> {
    let located: Vec<Located> = terms.iter().map(|term| reader.locate(term)).collect::<Result<_, _>>()?;
    let pages: Vec<u32> = located.iter().map(|located| located.pages).collect();
    Ok(located.into_iter().zip(affordable(&pages)))
}

/// Which of the terms are read: from the rarest on, while they are within the bound.
fn affordable(pages: &[u32]) -> Vec<bool> {
    let mut by_size: Vec<usize> = (0..pages.len()).collect();
    by_size.sort_by_key(|&place| pages[place]);
    let mut affordable = vec![false; pages.len()];
    let mut spent = 0;
    for (number, place) in by_size.into_iter().enumerate() {
        spent += pages[place];
        affordable[place] = number < LEAST_TERMS || spent <= MOST_PAGES;
    }
    affordable
}

fn count(db: &Connection, terms: &[String]) -> Result<Vec<u64>, ReadError> {
    let reader = PostingsReader::new(db)?;
    let counts = locate_all(&reader, terms)?.map(|(located, affordable)| {
        if affordable {
            let postings = reader.read(&located, FieldWeights::EQUAL.fields(false), &Selection::None)?;
            Ok(postings.document_frequency)
        } else {
            Ok(estimate(&located, reader.index().episodes))
        }
    });
    counts.collect()
}

/// How many episodes hold a term whose postings were not read.
fn estimate(located: &Located, episodes: u64) -> u64 {
    (u64::from(located.pages) * POSTINGS_A_PAGE).min(episodes)
}

fn count_by_fts5(db: &Connection, terms: &[String]) -> rusqlite::Result<Vec<u64>> {
    let mut statement = db.prepare_cached("SELECT doc FROM episodes_fts_vocab WHERE term = :term")?;
    terms
        .iter()
        .map(|term| {
            let count: Option<i64> = statement.query_row([term], |row| row.get(0)).optional()?;
            Ok(count.map_or(0, |count| count as u64))
        })
        .collect()
}

/// `None` where the store has to be read by FTS5 itself.
fn readable<T>(read: Result<T, ReadError>) -> rusqlite::Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(ReadError::Format) => Ok(None),
        Err(ReadError::Sql(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests;
