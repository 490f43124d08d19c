//! The codes of the vectors as the daemon loads them for the coarse search, which is made in memory (ADR 3).
//! In goes nothing, out come codes of the current model. The exact cosine comes from [`super::Reader::candidates`].

use super::Reader;
use crate::error::QueryError;
use crate::ids::{EpisodeId, ProjectId};
use crate::write::EMBEDDING_MODEL;

pub(super) const CURRENT: &str = "SELECT id, project_id FROM episodes
    WHERE embedding_model = (SELECT id FROM embedding_models WHERE name = :model)";
pub(super) const CODES: &str = "SELECT rowid, code FROM episodes_vec";

impl Reader {
    /// Gives `each` every code of the current model with its episode and project, in no order.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn for_each_code(&self, mut each: impl FnMut(EpisodeId, Option<ProjectId>, &[u8])) -> Result<(), QueryError> {
        self.run("read the vector codes", |db| {
            let Some(model) = crate::migrate::meta(db, EMBEDDING_MODEL)? else {
                return Ok(());
            };
            let mut statement = db.prepare_cached(CURRENT)?;
            let mut projects: Vec<(EpisodeId, Option<ProjectId>)> = statement
                .query_map([model], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            projects.sort_unstable();
            let mut statement = db.prepare_cached(CODES)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let id: EpisodeId = row.get(0)?;
                if let Ok(place) = projects.binary_search_by_key(&id, |&(id, _)| id) {
                    each(id, projects[place].1, row.get_ref(1)?.as_blob()?);
                }
            }
            Ok(())
        })
    }
}
