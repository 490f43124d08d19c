//! The recency pool: the episodes with an embedding that were shown, used or made last.
//! In goes a scope, out come ids, latest first. Served by the indexes of migrations 0008 and 0009.

use rusqlite::named_params;

use super::{Reader, Scope};
use crate::error::QueryError;
use crate::ids::EpisodeId;

pub(super) const RECENT: &str = "SELECT id FROM episodes WHERE embedding IS NOT NULL ORDER BY accessed_at DESC, id LIMIT :limit";
pub(super) const RECENT_OF_PROJECT: &str = "SELECT id FROM episodes
    WHERE embedding IS NOT NULL AND project_id IS :project ORDER BY accessed_at DESC, id LIMIT :limit";

impl Reader {
    /// The `limit` most recently accessed episodes with an embedding (of any model), ties by id.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn recently_accessed(&self, scope: Scope, limit: usize) -> Result<Vec<EpisodeId>, QueryError> {
        let limit = limit as i64;
        self.run("read recent episodes", |db| match scope {
            Scope::All => db
                .prepare_cached(RECENT)?
                .query_map(named_params! {":limit": limit}, |row| row.get(0))?
                .collect(),
            Scope::Project(project) => db
                .prepare_cached(RECENT_OF_PROJECT)?
                .query_map(named_params! {":project": project, ":limit": limit}, |row| row.get(0))?
                .collect(),
        })
    }
}
