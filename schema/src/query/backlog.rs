//! The embedder's backlog: episodes without an embedding of its model, newest first.
//! In goes a model, out come texts to embed. Those without any embedding go before those of another model.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::Reader;
use crate::error::QueryError;
use crate::rows::BacklogRow;
use crate::write::parse_facets;

pub(super) const NEVER_EMBEDDED: &str = "SELECT id, content_hash, prompt, answer, facets, part
    FROM episodes JOIN episode_texts ON episode_texts.episode_id = episodes.id
    WHERE embedding IS NULL AND hidden = 0 ORDER BY created_at DESC, id LIMIT :limit";
pub(super) const OF_OTHER_MODEL: &str = "SELECT id, content_hash, prompt, answer, facets, part
    FROM episodes JOIN episode_texts ON episode_texts.episode_id = episodes.id
    WHERE embedding_model = :other ORDER BY created_at DESC LIMIT :limit";
/// The models that rows hold, by leaps through their index.
pub(super) const NEXT_MODEL: &str = "SELECT min(embedding_model) FROM episodes WHERE embedding_model > :after";

impl Reader {
    /// Up to `limit` episodes that `model_id` has not embedded, newest first; hidden ones wait for nothing.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn embedding_backlog(&self, model_id: &str, limit: usize) -> Result<Vec<BacklogRow>, QueryError> {
        self.run("read the embedding backlog", |db| {
            let mut backlog: Vec<BacklogRow> = db
                .prepare_cached(NEVER_EMBEDDED)?
                .query_map(named_params! {":limit": limit as i64}, read)?
                .collect::<Result<_, _>>()?;
            for other in other_models(db, model_id)? {
                let left = limit.saturating_sub(backlog.len());
                if left == 0 {
                    break;
                }
                let mut statement = db.prepare_cached(OF_OTHER_MODEL)?;
                for row in statement.query_map(named_params! {":other": other, ":limit": left as i64}, read)? {
                    backlog.push(row?);
                }
            }
            Ok(backlog)
        })
    }
}

/// The ids of models that rows hold embeddings of, but for `model_id`.
pub(super) fn other_models(db: &Connection, model_id: &str) -> rusqlite::Result<Vec<i64>> {
    let own: Option<i64> = db
        .prepare_cached("SELECT id FROM embedding_models WHERE name = :model")?
        .query_row([model_id], |row| row.get(0))
        .optional()?;
    let mut statement = db.prepare_cached(NEXT_MODEL)?;
    let mut others = Vec::new();
    let mut after = 0;
    while let Some(model) = statement.query_row([after], |row| row.get::<_, Option<i64>>(0))? {
        if Some(model) != own {
            others.push(model);
        }
        after = model;
    }
    Ok(others)
}

fn read(row: &Row<'_>) -> rusqlite::Result<BacklogRow> {
    Ok(BacklogRow {
        id: row.get(0)?,
        content_hash: row.get(1)?,
        prompt: row.get(2)?,
        answer: row.get(3)?,
        facets: parse_facets(row.get_ref(4)?.as_str()?)?,
        part: row.get(5)?,
    })
}
