//! The full-text index: one row of analysed text an episode, written by code and never by triggers.
//! In go stored texts, out come index rows. Nothing here searches.

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

/// Adds the index row of an episode that has none.
pub(super) fn insert(db: &Connection, id: EpisodeId, episode: &Indexed<'_>) -> rusqlite::Result<()> {
    let (prompt, answer) = (index_text(episode.prompt), index_text(episode.answer));
    let facets = index_text(&facet_text(episode.facets));
    db.prepare_cached(
        "INSERT INTO episodes_fts (rowid, prompt, answer, facets, project) VALUES (:id, :prompt, :answer, :facets, :project)",
    )?
    .execute(named_params! {
        ":id": id,
        ":prompt": prompt,
        ":answer": answer,
        ":facets": facets,
        ":project": project_token(episode.project),
    })?;
    let terms = [&prompt, &answer, &facets].map(|text| text.split_ascii_whitespace().count());
    // And the project's token.
    lengths::set(db, id, terms.iter().sum::<usize>() + 1)
}

/// Removes the index row of an episode, if it has one.
pub(super) fn remove(db: &Connection, id: EpisodeId) -> rusqlite::Result<()> {
    let removed = db
        .prepare_cached("DELETE FROM episodes_fts WHERE rowid = :id")?
        .execute([id])?;
    if removed > 0 {
        lengths::set(db, id, 0)?;
    }
    Ok(())
}

/// Indexes a stored episode from its texts.
pub(super) fn insert_stored(db: &Connection, id: EpisodeId) -> rusqlite::Result<()> {
    let (prompt, answer, facets, project) = db
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
    insert(
        db,
        id,
        &Indexed {
            prompt: &prompt,
            answer: &answer,
            facets: &facets,
            project,
        },
    )
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
    for &id in &ids {
        remove(db, id)?;
        insert_stored(db, id)?;
    }
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
    let full_text = MIGRATIONS.iter().find(|migration| migration.name == FULL_TEXT);
    tx.execute_batch(full_text.map_or("", |migration| migration.sql))?;
    lengths::clear(&tx)?;
    for id in visible_after(&tx, EpisodeId(0), i64::MAX as usize)? {
        insert_stored(&tx, id)?;
    }
    set_meta(&tx, INDEX_ANALYSIS, &ANALYSIS_VERSION.to_string())?;
    tx.commit()
}
