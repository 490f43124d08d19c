//! The full-text index: one row of analysed text an episode, written by code and never by triggers.
//! In go stored texts, out come index rows. Nothing here searches.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, TransactionBehavior, named_params};

use super::{INDEX_ANALYSIS, REINDEXED_TO};
use crate::analysis::{ANALYSIS_VERSION, index_text};
use crate::fts_query::project_token;
use crate::ids::{EpisodeId, ProjectId};
use crate::lengths;
use crate::migrate::{MIGRATIONS, meta, set_meta};
use crate::rows::Facets;

/// The migration that makes the index.
const FULL_TEXT: &str = "0003_full_text";

/// What is indexed of an episode.
pub(super) struct Indexed<'a> {
    pub(super) prompt: &'a str,
    pub(super) answer: &'a str,
    pub(super) facets: &'a Facets,
    pub(super) project: Option<ProjectId>,
}

/// What a transaction changes of the index, gathered until its end.
///
/// FTS5 collects terms in memory, and writes them out as a segment of their own as soon as a statement begins that could be
/// undone alone (`xSavepoint`), as most that store an episode are. Rows that are indexed one after the other, with nothing
/// between, share a segment, where each would have its own, to be merged with others again and again.
#[derive(Default)]
pub(super) struct Changes<'a> {
    removed: BTreeSet<EpisodeId>,
    added: BTreeMap<EpisodeId, Indexed<'a>>,
}

impl<'a> Changes<'a> {
    /// Adds the index row of an episode that has none, or none any more.
    pub(super) fn insert(&mut self, id: EpisodeId, episode: Indexed<'a>) {
        self.added.insert(id, episode);
    }

    /// Removes the index row of an episode, if it has one.
    pub(super) fn remove(&mut self, id: EpisodeId) {
        self.added.remove(&id);
        self.removed.insert(id);
    }

    /// Writes all of it, in the order of the ids, as FTS5 wants it.
    pub(super) fn write(self, db: &Connection) -> rusqlite::Result<()> {
        let mut rows = Rows::of(db);
        self.removed.into_iter().try_for_each(|id| rows.remove(id))?;
        self.added.iter().try_for_each(|(id, episode)| rows.insert(*id, episode))?;
        rows.finish()
    }
}

/// Removes the index rows of those episodes that have one.
pub(super) fn remove(db: &Connection, ids: &[EpisodeId]) -> rusqlite::Result<()> {
    let mut rows = Rows::of(db);
    ids.iter().try_for_each(|id| rows.remove(*id))?;
    rows.finish()
}

/// Indexes stored episodes, which have no index rows, from their texts; ids ascend.
pub(super) fn insert_stored(db: &Connection, ids: &[EpisodeId]) -> rusqlite::Result<()> {
    let mut rows = Rows::of(db);
    ids.iter().try_for_each(|id| rows.insert_stored(*id))?;
    rows.finish()
}

/// Writes index rows, and with them the episodes' lengths.
struct Rows<'db> {
    db: &'db Connection,
    lengths: lengths::Changes,
}

impl<'db> Rows<'db> {
    fn of(db: &'db Connection) -> Self {
        let lengths = lengths::Changes::default();
        Self { db, lengths }
    }

    fn insert(&mut self, id: EpisodeId, episode: &Indexed<'_>) -> rusqlite::Result<()> {
        let columns = columns(episode.prompt, episode.answer, episode.facets, episode.project);
        let [prompt, answer, facets, project] = &columns;
        self.db
            .prepare_cached(
                "INSERT INTO episodes_fts (rowid, prompt, answer, facets, project)
                 VALUES (:id, :prompt, :answer, :facets, :project)",
            )?
            .execute(named_params! {
                ":id": id, ":prompt": prompt, ":answer": answer, ":facets": facets, ":project": project,
            })?;
        let terms = columns.iter().map(|text| text.split_ascii_whitespace().count());
        self.lengths.set(self.db, id, terms.sum())
    }

    fn remove(&mut self, id: EpisodeId) -> rusqlite::Result<()> {
        let removed = self
            .db
            .prepare_cached("DELETE FROM episodes_fts WHERE rowid = :id")?
            .execute([id])?;
        if removed > 0 {
            self.lengths.set(self.db, id, 0)?;
        }
        Ok(())
    }

    fn insert_stored(&mut self, id: EpisodeId) -> rusqlite::Result<()> {
        let (prompt, answer, facets, project) = self
            .db
            .prepare_cached(
                "SELECT prompt, answer, facets, project_id
                 FROM episode_texts JOIN episodes ON episodes.id = episode_texts.episode_id WHERE episode_id = :id",
            )?
            .query_row([id], |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, String>(2)?,
                    row.get(3)?,
                ))
            })?;
        let facets = parse_facets(&facets)?;
        self.insert(
            id,
            &Indexed {
                prompt: &prompt,
                answer: &answer,
                facets: &facets,
                project,
            },
        )
    }

    fn finish(self) -> rusqlite::Result<()> {
        self.lengths.write(self.db)
    }
}

/// The index row of an episode, in the order of the columns: analysed texts, and the project's one token.
pub(crate) fn columns(prompt: &str, answer: &str, facets: &Facets, project: Option<ProjectId>) -> [String; 4] {
    [
        index_text(prompt),
        index_text(answer),
        index_text(&facet_text(facets)),
        project_token(project),
    ]
}

/// Files, commands and errors, a line each; tool names would only be noise.
fn facet_text(facets: &Facets) -> String {
    let parts = facets.files.iter().chain(&facets.commands).chain(&facets.errors);
    parts.map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Facets as stored.
pub(crate) fn parse_facets(json: &str) -> rusqlite::Result<Facets> {
    serde_json::from_str(json)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error)))
}

/// See [`crate::Writer::reindex_step`].
pub(super) fn reindex_step(db: &Connection, limit: usize) -> rusqlite::Result<bool> {
    let current = ANALYSIS_VERSION.to_string();
    if meta(db, INDEX_ANALYSIS)?.as_deref() == Some(current.as_str()) {
        return Ok(false);
    }
    // `version:id`: a run that a still newer version interrupts begins anew.
    let progress = meta(db, REINDEXED_TO)?.unwrap_or_default();
    let after: i64 = progress
        .strip_prefix(&format!("{current}:"))
        .and_then(|id| id.parse().ok())
        .unwrap_or(0);
    let ids = visible_after(db, EpisodeId(after), limit)?;
    remove(db, &ids)?;
    insert_stored(db, &ids)?;
    match ids.last() {
        Some(last) if ids.len() == limit => {
            set_meta(db, REINDEXED_TO, &format!("{current}:{last}"))?;
            Ok(true)
        }
        _ => {
            set_meta(db, INDEX_ANALYSIS, &current)?;
            Ok(false)
        }
    }
}

fn visible_after(db: &Connection, after: EpisodeId, limit: usize) -> rusqlite::Result<Vec<EpisodeId>> {
    db.prepare_cached("SELECT id FROM episodes WHERE id > :after AND hidden = 0 ORDER BY id LIMIT :limit")?
        .query_map(named_params! {":after": after, ":limit": limit as i64}, |row| row.get(0))?
        .collect()
}

/// Drops the index, whatever its state, and makes it anew in one transaction.
pub(super) fn rebuild(db: &mut Connection) -> rusqlite::Result<()> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tx.execute_batch("DROP TABLE IF EXISTS episodes_fts_vocab; DROP TABLE IF EXISTS episodes_fts;")?;
    let full_text = MIGRATIONS
        .iter()
        .find(|migration| migration.name == FULL_TEXT)
        .expect("invariant: a migration makes the index");
    tx.execute_batch(full_text.sql)?;
    lengths::clear(&tx)?;
    insert_stored(&tx, &visible_after(&tx, EpisodeId(0), i64::MAX as usize)?)?;
    set_meta(&tx, INDEX_ANALYSIS, &ANALYSIS_VERSION.to_string())?;
    tx.commit()
}

#[cfg(test)]
mod tests;
