//! A full-text index by itself, made as the store's is, for tests: whether FTS5 takes an expression, and what it finds by it.

use rusqlite::Connection;

use crate::{MatchExpression, ProjectId, index_text};

/// An index of one document, in memory.
#[derive(Debug)]
pub struct FullText(Connection);

impl FullText {
    /// An empty index.
    ///
    /// # Panics
    /// Where `SQLite` has no FTS5.
    #[expect(clippy::new_without_default, reason = "it opens a connection")]
    pub fn new() -> Self {
        let db = Connection::open_in_memory().expect("opens");
        db.execute_batch(include_str!("../../migrations/0003_full_text.sql"))
            .expect("makes the index");
        Self(db)
    }

    /// Indexes `text` as the prompt of an episode of this project, in the place of what was indexed before.
    ///
    /// # Panics
    /// Where the index refuses it.
    pub fn index(&self, text: &str, project: Option<ProjectId>) {
        self.0
            .execute_batch("INSERT INTO episodes_fts (episodes_fts) VALUES ('delete-all')")
            .expect("empties the index");
        self.0
            .execute(
                "INSERT INTO episodes_fts (rowid, prompt, answer, facets, project) VALUES (1, ?1, '', '', ?2)",
                (index_text(text), super::project_token(project)),
            )
            .expect("indexes");
    }

    /// Whether the document is found.
    ///
    /// # Errors
    /// FTS5's, with the expression that it does not take.
    pub fn finds(&self, expression: &MatchExpression) -> Result<bool, String> {
        let expression = expression.to_fts5();
        self.0
            .prepare_cached("SELECT count(*) FROM episodes_fts WHERE episodes_fts MATCH ?1")
            .and_then(|mut statement| statement.query_row([&expression], |row| row.get::<_, i64>(0)))
            .map(|count| count > 0)
            .map_err(|error| format!("{error}: {expression}"))
    }
}
