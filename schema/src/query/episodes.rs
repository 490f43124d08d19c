//! Episodes by id: what scoring needs, and whole texts.
//! In go ids, out come rows in the order of the ids; an id that is gone is left out. Ids go in as placeholders, in
//! chunks, never as text and never as an empty list.

use std::collections::HashMap;

use rusqlite::{Connection, Params, Row, ToSql, params_from_iter};

use super::Reader;
use super::sharers::{shared_by, shared_by_columns};
use super::targets::by_prefix;
use crate::error::QueryError;
use crate::ids::EpisodeId;
use crate::rows::{CandidateRow, EpisodeText};
use crate::vector_code::from_bytes;
use crate::write::parse_facets;

/// Ids a statement. Chunks are filled up to a power of two by repeating an id, so that few statements are prepared.
const CHUNK: usize = 256;

const CANDIDATES: &str =
    "SELECT id, uid, turn_uid, session_id, turn, part, project_id, origin, importance, created_at, accessed_at, access_count,
        CASE WHEN embedding_model = (SELECT id FROM embedding_models WHERE name = ?1) THEN embedding END
    FROM episodes WHERE hidden = 0 AND id IN ";

/// `?1` is null to leave hidden episodes out.
const TEXTS: &str = concat!(
    "SELECT episodes.id, uid, turn_uid, part, turn, prompt, answer, facets, episodes.created_at, episodes.project_id,
        projects.name, sessions.agent, sessions.external_id, episode_texts.cwd, sources.path, importance, importance_rule, ",
    shared_by_columns!(),
    " FROM episodes
    JOIN episode_texts ON episode_texts.episode_id = episodes.id
    JOIN sessions ON sessions.id = episodes.session_id
    LEFT JOIN projects ON projects.id = episodes.project_id
    LEFT JOIN sources ON sources.id = episodes.source_id
    LEFT JOIN shared_episodes ON shared_episodes.episode_id = episodes.id
    WHERE (hidden = 0 OR ?1 IS NOT NULL) AND episodes.id IN "
);
const WITH_HIDDEN: Option<&str> = Some("with hidden");

impl Reader {
    /// What scoring needs of these episodes, but for hidden ones; embeddings only where `model_id` made them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn candidates(&self, ids: &[EpisodeId], model_id: &str) -> Result<Vec<CandidateRow>, QueryError> {
        self.run("read candidates", |db| {
            by_ids(db, CANDIDATES, Some(model_id), ids, |row| Ok((row.get(0)?, candidate(row)?)))
        })
    }

    /// These episodes in full, but for hidden ones.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn texts(&self, ids: &[EpisodeId]) -> Result<Vec<EpisodeText>, QueryError> {
        self.run("read episodes", |db| texts(db, None, ids))
    }

    /// These episodes in full, hidden ones too: to tell the user of what was shown before, never to answer a prompt.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn texts_with_hidden(&self, ids: &[EpisodeId]) -> Result<Vec<EpisodeText>, QueryError> {
        self.run("read episodes", |db| texts(db, WITH_HIDDEN, ids))
    }

    /// The episodes, hidden ones too, whose uid begins with these (at least 4) hexadecimal digits; none for anything else.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn find_episode(&self, prefix: &str) -> Result<Vec<EpisodeText>, QueryError> {
        self.run("find an episode", |db| texts(db, WITH_HIDDEN, &by_prefix(db, prefix)?))
    }
}

fn texts(db: &Connection, hidden: Option<&str>, ids: &[EpisodeId]) -> rusqlite::Result<Vec<EpisodeText>> {
    by_ids(db, TEXTS, hidden, ids, |row| Ok((row.get(0)?, text(row)?)))
}

/// Runs `select` over `ids`; `parameter` is its `?1`.
pub(super) fn by_ids<T>(
    db: &Connection,
    select: &str,
    parameter: Option<&str>,
    ids: &[EpisodeId],
    read: impl Fn(&Row<'_>) -> rusqlite::Result<(EpisodeId, T)>,
) -> rusqlite::Result<Vec<T>> {
    let mut found = HashMap::with_capacity(ids.len());
    for chunk in ids.chunks(CHUNK) {
        let count = chunk.len().next_power_of_two();
        let placeholders = vec!["?"; count].join(", ");
        let mut statement = db.prepare_cached(&format!("{select}({placeholders})"))?;
        let mut rows = statement.query(parameters(&parameter, chunk, count))?;
        while let Some(row) = rows.next()? {
            let (id, value) = read(row)?;
            found.insert(id, value);
        }
    }
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}

fn parameters<'a>(first: &'a dyn ToSql, chunk: &'a [EpisodeId], count: usize) -> impl Params + 'a {
    let last = chunk.last().into_iter().cycle();
    let ids = chunk.iter().chain(last).take(count).map(|id| id as &dyn ToSql);
    params_from_iter(std::iter::once(first).chain(ids))
}

fn candidate(row: &Row<'_>) -> rusqlite::Result<CandidateRow> {
    Ok(CandidateRow {
        id: row.get(0)?,
        uid: row.get(1)?,
        turn_uid: row.get(2)?,
        session: row.get(3)?,
        turn: row.get(4)?,
        part: row.get(5)?,
        project: row.get(6)?,
        origin: row.get(7)?,
        importance: row.get(8)?,
        created_at: row.get(9)?,
        accessed_at: row.get(10)?,
        access_count: row.get::<_, i64>(11)? as u64,
        embedding: row.get_ref(12)?.as_blob_or_null()?.map(from_bytes),
    })
}

fn text(row: &Row<'_>) -> rusqlite::Result<EpisodeText> {
    Ok(EpisodeText {
        id: row.get(0)?,
        uid: row.get(1)?,
        turn_uid: row.get(2)?,
        part: row.get(3)?,
        turn: row.get(4)?,
        prompt: row.get(5)?,
        answer: row.get(6)?,
        facets: parse_facets(row.get_ref(7)?.as_str()?)?,
        created_at: row.get(8)?,
        project: row.get(9)?,
        project_name: row.get(10)?,
        agent: row.get(11)?,
        session: row.get(12)?,
        cwd: row.get(13)?,
        source: row.get(14)?,
        importance: row.get(15)?,
        importance_rule: row.get(16)?,
        shared_by: shared_by(row, 17)?,
    })
}
