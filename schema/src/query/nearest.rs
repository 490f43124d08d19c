//! The nearest codes by SQL, for tests and benches alone: the oracle of the coarse search in memory.
//! In goes a code, out come episodes of the current model.

use rusqlite::{Params, named_params};

use super::Reader;
use crate::error::QueryError;
use crate::ids::{EpisodeId, ProjectId};

/// sqlite-vec's own bound on neighbours a query.
const MOST_NEIGHBOURS: usize = 4_096;

pub(super) const NEAREST: &str = "SELECT rowid, distance FROM episodes_vec WHERE code MATCH vec_bit(:code) AND k = :k";
const NEAREST_OF_PROJECT: &str = "SELECT rowid, distance FROM episodes_vec
    WHERE code MATCH vec_bit(:code) AND k = :k AND rowid IN (SELECT id FROM episodes WHERE project_id IS :project)";

impl Reader {
    /// The `k` (at most 4,096) episodes whose codes differ least from `code`, with the number of differing bits, nearest
    /// first, ties by id.
    ///
    /// # Errors
    /// [`QueryError::Invalid`] for a `k` out of range; what SQLite reports, so for a code of another dimension.
    pub fn nearest_codes(&self, code: &[u8], k: usize) -> Result<Vec<(EpisodeId, u32)>, QueryError> {
        self.nearest(NEAREST, named_params! {":code": code, ":k": k as i64}, k)
    }

    /// As [`Reader::nearest_codes`], within one project or (`None`) what belongs to none. The filter acts inside the
    /// search: nearer codes of other projects take no place.
    ///
    /// # Errors
    /// As [`Reader::nearest_codes`].
    pub fn nearest_codes_of(
        &self,
        project: Option<ProjectId>,
        code: &[u8],
        k: usize,
    ) -> Result<Vec<(EpisodeId, u32)>, QueryError> {
        self.nearest(
            NEAREST_OF_PROJECT,
            named_params! {":code": code, ":k": k as i64, ":project": project},
            k,
        )
    }

    fn nearest(&self, sql: &str, parameters: impl Params, k: usize) -> Result<Vec<(EpisodeId, u32)>, QueryError> {
        const ACT: &str = "search the vectors";
        if k == 0 || k > MOST_NEIGHBOURS {
            let detail = format!("{k} neighbours are not from 1 to {MOST_NEIGHBOURS}");
            return Err(QueryError::Invalid { act: ACT, detail });
        }
        self.run(ACT, |db| {
            let mut nearest: Vec<(EpisodeId, u32)> = db
                .prepare_cached(sql)?
                .query_map(parameters, |row| Ok((row.get(0)?, row.get::<_, f64>(1)? as u32)))?
                .collect::<Result<_, _>>()?;
            nearest.sort_unstable_by_key(|&(id, distance)| (distance, id));
            Ok(nearest)
        })
    }
}
