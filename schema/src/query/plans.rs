//! How SQLite means to run the hot queries, for the test that pins their indexes.
//! In goes nothing, out come plans as text. The queries themselves are not run.

use super::{Reader, backlog, bm25, nearest, recency, vector};
use crate::error::QueryError;
use crate::postings;

const HOT: [(&str, &str); 11] = [
    ("bm25 by fts5", bm25::BM25),
    ("page of a term", postings::PAGE_OF),
    ("page after a term", postings::PAGE_AFTER),
    ("pages of postings", postings::PAGES),
    ("recently accessed", recency::RECENT),
    ("recently accessed in a project", recency::RECENT_OF_PROJECT),
    ("embedding backlog", backlog::NEVER_EMBEDDED),
    ("embedding backlog of another model", backlog::OF_OTHER_MODEL),
    ("models in use", backlog::NEXT_MODEL),
    ("episodes of the current model", vector::CURRENT),
    ("nearest codes", nearest::NEAREST),
];

impl Reader {
    /// The plans of the hot queries by name, a step a line.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn query_plans(&self) -> Result<Vec<(&'static str, String)>, QueryError> {
        self.run("explain the queries", |db| {
            HOT.iter()
                .map(|(name, sql)| {
                    let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                    let steps: Vec<String> = statement.raw_query().mapped(|row| row.get(3)).collect::<Result<_, _>>()?;
                    Ok((*name, steps.join("\n")))
                })
                .collect()
        })
    }
}

#[cfg(test)]
mod tests;
