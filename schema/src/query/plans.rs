//! How SQLite means to run the hot queries, for the test that pins their indexes.
//! In goes nothing, out come plans as text. The queries themselves are not run.

use super::{Reader, backlog, bm25, nearest, recency, session_list, session_turns, timeline, vector, within};
use crate::error::QueryError;
use crate::postings;

const HOT: [(&str, &str); 24] = [
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
    ("older turns", timeline::OLDER),
    ("older turns of a project", timeline::OLDER_OF_PROJECT),
    ("newer turns", timeline::NEWER),
    ("newer turns of a project", timeline::NEWER_OF_PROJECT),
    ("latest sessions", session_list::LATEST),
    ("latest sessions of a project", session_list::LATEST_OF_PROJECT),
    ("a session", session_list::SESSION),
    ("last turn of a session", session_list::LAST_OF_SESSION),
    ("turns of a session", session_turns::OF_SESSION),
    ("turn before a turn", session_turns::PREVIOUS),
    ("turn after a turn", session_turns::NEXT),
    ("episodes in scope", within::WITHIN),
    ("episodes in scope of a project", within::WITHIN_PROJECT),
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
