//! What is stored by agent and by project, how large it is, and what became of it: for a person who wants numbers.
//! In go moments and bounds, out come rows of [`crate::rows`]. Not for the prompt's path: most of these read every row.

use rusqlite::{Row, named_params};

use super::Reader;
use super::recollections::json;
use crate::error::QueryError;
use crate::rows::{AgentShare, ProjectShare, ProjectSize, Showings};
use crate::units::UnixMillis;

const BY_AGENT: &str = "SELECT agent, count(DISTINCT session_id), count(*), min(created_at), max(created_at)
    FROM episodes JOIN sessions ON sessions.id = session_id
    GROUP BY agent ORDER BY count(*) DESC, agent";
const BY_PROJECT: &str =
    "SELECT name, root, count(DISTINCT session_id), count(*), min(episodes.created_at), max(episodes.created_at)
    FROM episodes LEFT JOIN projects ON projects.id = project_id
    GROUP BY project_id ORDER BY count(*) DESC, name, project_id";
/// `octet_length` tells a text's bytes without reading all of it.
const SIZES: &str = "SELECT name, root, count(*),
        sum(octet_length(prompt) + octet_length(answer) + octet_length(facets) + coalesce(octet_length(embedding), 0)) AS bytes
    FROM episodes JOIN episode_texts ON episode_id = episodes.id
    LEFT JOIN projects ON projects.id = project_id
    GROUP BY project_id ORDER BY bytes DESC, name, project_id";
/// What a session was shown outlives the log of its prompts.
const SHOWINGS: &str = "SELECT (SELECT count(*) FROM recollections WHERE at >= :since),
        (SELECT count(*) FROM recollections WHERE at >= :since AND EXISTS (
            SELECT 1 FROM recollection_candidates WHERE recollection_id = recollections.id AND position IS NOT NULL)),
        (SELECT count(*) FROM session_shown WHERE at >= :since),
        (SELECT count(*) FROM recollection_uses JOIN recollections ON recollections.id = recollection_id WHERE at >= :since)";

impl Reader {
    /// What is stored of each agent, most first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn shares_of_agents(&self) -> Result<Vec<AgentShare>, QueryError> {
        let read = |row: &Row<'_>| {
            Ok(AgentShare {
                agent: row.get(0)?,
                sessions: count(row, 1)?,
                episodes: count(row, 2)?,
                first: row.get(3)?,
                last: row.get(4)?,
            })
        };
        self.run("count by agent", |db| {
            db.prepare_cached(BY_AGENT)?.query_map([], read)?.collect()
        })
    }

    /// What is stored of each project that has an episode, most first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn shares_of_projects(&self) -> Result<Vec<ProjectShare>, QueryError> {
        let read = |row: &Row<'_>| {
            Ok(ProjectShare {
                name: row.get(0)?,
                root: row.get(1)?,
                sessions: count(row, 2)?,
                episodes: count(row, 3)?,
                first: row.get(4)?,
                last: row.get(5)?,
            })
        };
        self.run("count by project", |db| {
            db.prepare_cached(BY_PROJECT)?.query_map([], read)?.collect()
        })
    }

    /// How much room each project takes that has an episode, most first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn sizes_of_projects(&self) -> Result<Vec<ProjectSize>, QueryError> {
        let read = |row: &Row<'_>| {
            Ok(ProjectSize {
                name: row.get(0)?,
                root: row.get(1)?,
                episodes: count(row, 2)?,
                bytes: count(row, 3)?,
            })
        };
        self.run("measure the projects", |db| {
            db.prepare_cached(SIZES)?.query_map([], read)?.collect()
        })
    }

    /// How many turns are stored, hidden ones too.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn count_turns(&self) -> Result<u64, QueryError> {
        self.run("count the turns", |db| {
            db.prepare_cached("SELECT count(DISTINCT turn_uid) FROM episodes")?
                .query_row([], |row| count(row, 0))
        })
    }

    /// Bytes of the full-text index.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn index_bytes(&self) -> Result<u64, QueryError> {
        self.run("measure the index", |db| {
            db.prepare_cached("SELECT coalesce(sum(octet_length(block)), 0) FROM episodes_fts_data")?
                .query_row([], |row| count(row, 0))
        })
    }

    /// What was shown and used from `since` on.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn showings_since(&self, since: UnixMillis) -> Result<Showings, QueryError> {
        let read = |row: &Row<'_>| {
            Ok(Showings {
                prompts: count(row, 0)?,
                answered: count(row, 1)?,
                shown: count(row, 2)?,
                used: count(row, 3)?,
            })
        };
        self.run("count what was shown", |db| {
            db.prepare_cached(SHOWINGS)?.query_row(named_params! {":since": since}, read)
        })
    }

    /// When the oldest prompt came that is still logged; `None` where none is.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn first_logged_prompt(&self) -> Result<Option<UnixMillis>, QueryError> {
        self.run("find the oldest logged prompt", |db| {
            db.prepare_cached("SELECT min(at) FROM recollections")?
                .query_row([], |row| row.get(0))
        })
    }

    /// How long each logged prompt took the daemon, in microseconds, the newest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn recall_micros(&self) -> Result<Vec<u64>, QueryError> {
        self.run("read how long recalls took", |db| {
            db.prepare_cached("SELECT stages FROM recollections ORDER BY id DESC")?
                .query_map([], |row| {
                    let stages: Vec<(String, u64)> = json(row, 0)?;
                    Ok(stages.into_iter().map(|(_, micros)| micros).sum())
                })?
                .collect()
        })
    }
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|count| count as u64)
}

#[cfg(test)]
mod tests {
    use crate::testing::{Store, batch, session, turn};
    use crate::{EpisodeId, LoggedCandidate, RecollectionLog, RecollectionUse, UnixMillis};

    fn log(at: i64, shown: &[EpisodeId]) -> RecollectionLog {
        let candidates = shown.iter().map(|episode| LoggedCandidate {
            episode: *episode,
            fused: 1.0,
            bm25: None,
            cosine: None,
            bm25_rank: None,
            vector_rank: None,
            recency_rank: None,
            access_rank: None,
            gate: None,
            position: Some(1),
        });
        RecollectionLog {
            at: UnixMillis(at),
            session: session("asks"),
            project: None,
            prompt_hash: [0; 32],
            terms: Vec::new(),
            reason: None,
            pool: 1,
            stages: vec![("terms".to_owned(), 300), ("search".to_owned(), 700)],
            degradations: Vec::new(),
            candidates: candidates.collect(),
        }
    }

    #[test]
    fn an_empty_store_has_no_shares() {
        let store = Store::new();
        let reader = store.reader();
        assert_eq!(reader.shares_of_agents().expect("reads"), []);
        assert_eq!(reader.shares_of_projects().expect("reads"), []);
        assert_eq!(reader.sizes_of_projects().expect("reads"), []);
        assert_eq!(
            (
                reader.count_turns().expect("reads"),
                reader.first_logged_prompt().expect("reads")
            ),
            (0, None)
        );
        assert_eq!(
            reader.showings_since(UnixMillis(0)).expect("reads"),
            super::Showings::default()
        );
    }

    #[test]
    fn what_is_stored_is_counted_by_agent_and_by_project() {
        let mut store = Store::new();
        store
            .writer
            .ingest(&batch(vec![turn(1, "a", &["one", "two"]), turn(3, "b", &["three"])]))
            .expect("stores");
        let reader = store.reader();
        let agents = reader.shares_of_agents().expect("reads");
        assert_eq!(agents.len(), 1);
        assert_eq!((agents[0].sessions, agents[0].episodes), (2, 3));
        assert_eq!((agents[0].first, agents[0].last), (UnixMillis(1_000), UnixMillis(3_000)));
        assert_eq!(reader.count_turns().expect("reads"), 2);
        let projects = reader.shares_of_projects().expect("reads");
        assert_eq!(projects.iter().map(|project| project.episodes).sum::<u64>(), 3);
        let bytes = |reader: &crate::Reader| -> u64 {
            reader
                .sizes_of_projects()
                .expect("reads")
                .iter()
                .map(|project| project.bytes)
                .sum()
        };
        let before = bytes(&reader);
        assert!(before > "onetwothree".len() as u64, "{before}");
        assert!(reader.index_bytes().expect("reads") > 0);
        store.embed();
        assert_eq!(bytes(&store.reader()), before + 3 * 8 * 4, "vectors of eight dimensions");
    }

    #[test]
    fn showings_and_uses_are_counted_from_a_moment_on() {
        let mut store = Store::new();
        let ids = store.fill(&["one", "two"]);
        store.writer.record_recollection(&log(1_000, &ids[..1])).expect("logs");
        let second = store.writer.record_recollection(&log(2_000, &ids[1..])).expect("logs");
        store.writer.record_recollection(&log(3_000, &[])).expect("logs");
        let used = RecollectionUse {
            recollection: second,
            episode: ids[1],
            evidence: "words".to_owned(),
        };
        store
            .writer
            .record_recollection_uses(&[used], UnixMillis(4_000))
            .expect("counts");
        let reader = store.reader();
        let numbers = |since| {
            let showings = reader.showings_since(UnixMillis(since)).expect("reads");
            (showings.prompts, showings.answered, showings.shown, showings.used)
        };
        assert_eq!(
            (numbers(0), numbers(2_000), numbers(2_001)),
            ((3, 2, 2, 1), (2, 1, 1, 1), (1, 0, 0, 0))
        );
        assert_eq!(reader.first_logged_prompt().expect("reads"), Some(UnixMillis(1_000)));
        assert_eq!(reader.recall_micros().expect("reads"), [1_000, 1_000, 1_000]);
    }
}
