//! What retention asks before it removes: which turns are old, which are worth least, and how large the file is.
//! Not for the prompt's path: the order of worth reads every row.

use rusqlite::named_params;

use super::Reader;
use crate::error::QueryError;
use crate::ids::TurnUid;
use crate::rows::Space;
use crate::units::UnixMillis;

/// What the user had remembered never grows too old, and is worth more than all that was only read; what others shared is worth less than
/// what is one's own.
const BEFORE: &str = "SELECT turn_uid FROM episodes
    WHERE created_at < :at AND (generation = -2
        OR session_id IS NOT (SELECT id FROM sessions WHERE agent = 'user' AND external_id = 'remembered'))
    GROUP BY turn_uid ORDER BY min(created_at), turn_uid LIMIT :limit";
const COUNT_BEFORE: &str = "SELECT count(DISTINCT turn_uid) FROM episodes
    WHERE created_at < :at AND (generation = -2
        OR session_id IS NOT (SELECT id FROM sessions WHERE agent = 'user' AND external_id = 'remembered'))";
const LEAST_WORTH: &str = "SELECT turn_uid FROM episodes
    WHERE generation = -2
        OR session_id IS NOT (SELECT id FROM sessions WHERE agent = 'user' AND external_id = 'remembered')
    GROUP BY turn_uid ORDER BY max(generation) > -2, max(importance), max(access_count) > 0, min(created_at), turn_uid LIMIT :limit";

impl Reader {
    /// At most `limit` turns that began before `at`, oldest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn turns_before(&self, at: UnixMillis, limit: usize) -> Result<Vec<TurnUid>, QueryError> {
        self.run("find old turns", |db| {
            db.prepare_cached(BEFORE)?
                .query_map(named_params! {":at": at, ":limit": limit as i64}, |row| row.get(0))?
                .collect()
        })
    }

    /// How many turns began before `at`.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn count_turns_before(&self, at: UnixMillis) -> Result<u64, QueryError> {
        self.run("count old turns", |db| {
            db.prepare_cached(COUNT_BEFORE)?
                .query_row([at], |row| row.get::<_, i64>(0))
                .map(|count| count as u64)
        })
    }

    /// At most `limit` turns, those worth least first: what others alone told of, then by importance, then whether they were ever used, then by age.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn turns_of_least_worth(&self, limit: usize) -> Result<Vec<TurnUid>, QueryError> {
        self.run("find the turns worth least", |db| {
            db.prepare_cached(LEAST_WORTH)?
                .query_map(named_params! {":limit": limit as i64}, |row| row.get(0))?
                .collect()
        })
    }

    /// How large the database is.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn space(&self) -> Result<Space, QueryError> {
        self.run("measure the database", |db| {
            let pages = "SELECT page_size * (page_count - freelist_count)
                FROM pragma_page_size, pragma_page_count, pragma_freelist_count";
            let used: i64 = db.query_row(pages, [], |row| row.get(0))?;
            let turns: i64 = db.query_row("SELECT count(DISTINCT turn_uid) FROM episodes", [], |row| row.get(0))?;
            Ok(Space {
                used: used as u64,
                turns: turns as u64,
            })
        })
    }
}
