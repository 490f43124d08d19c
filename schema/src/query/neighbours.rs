//! Which turns stand beside others in the same conversation.
//! In go episode ids, out come pairs of ids: each with what was said just before it and just after, in the same project.

use rusqlite::params_from_iter;

use super::Reader;
use crate::error::QueryError;
use crate::ids::EpisodeId;

/// Ids asked for at most; more are left out.
const MOST_IDS: usize = 32;

/// The first part alone of a neighbour: it names the turn. A conversation is short and a source may be long, so it is looked
/// up by session alone: a `+` keeps the index of a column out of it.
const NEIGHBOURS: &str = "SELECT hit.id, near.id FROM episodes AS hit
    JOIN episodes AS near ON near.session_id = hit.session_id AND +near.source_id IS hit.source_id
        AND +near.generation = hit.generation AND +near.project_id IS hit.project_id
        AND near.turn IN (hit.turn - 1, hit.turn + 1) AND near.part = 0 AND near.hidden = 0
    WHERE hit.id IN ";

impl Reader {
    /// For each of these episodes (the first 32) the turns just before and after it in its conversation and of its project,
    /// as pairs of its id and theirs, ordered by id.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn neighbours(&self, ids: &[EpisodeId]) -> Result<Vec<(EpisodeId, EpisodeId)>, QueryError> {
        let ids = &ids[..ids.len().min(MOST_IDS)];
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.run("read neighbouring turns", |db| {
            // One statement whatever the number: the rest of the places holds an id again.
            let filled = ids.iter().chain(std::iter::repeat(&ids[0])).take(MOST_IDS);
            let placeholders = ["?"; MOST_IDS].join(", ");
            db.prepare_cached(&format!("{NEIGHBOURS} ({placeholders}) ORDER BY 1, 2"))?
                .query_map(params_from_iter(filled), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
    }
}
