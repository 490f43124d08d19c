//! States in which a store may be found, made on purpose for tests: of an older version, indexed by older rules, with a damaged index.
//!
//! In goes the path of a store that is closed; out comes the same store in that state, with all the rows that the state can hold.

use std::path::Path;

use rusqlite::{Connection, named_params};

use crate::copy::with_suffix;
use crate::ids::{EpisodeId, ProjectId};
use crate::migrate::{LATEST, MIGRATIONS, set_meta};
use crate::open::{CLEAN_SHUTDOWN, make_ours};
use crate::redaction::{REDACTED_TO, REDACTION_VERSION};
use crate::vec_extension;
use crate::write::{INDEX_ANALYSIS, current_model, indexed_columns, parse_facets};

/// The migrations from which on a store has episodes, an index, vectors.
const EPISODES: u32 = 2;
const INDEX: u32 = 3;
const VECTORS: u32 = 4;

/// Makes the store at `path` one of `version`, as that version would have written it: what it had no place for is gone. Of a store
/// without episodes the transcripts count as unread.
///
/// # Panics
/// Where the version is none that can become this one, or the store can't be read or written.
pub fn make_older(path: &Path, version: u32) {
    assert!((1..LATEST).contains(&version), "{version} is no older version");
    vec_extension::register().expect("registers");
    let newer = with_suffix(path, ".newer");
    fs_err::rename(path, &newer).expect("moves aside");
    let made = older(path, &newer, version);
    made.unwrap_or_else(|error| panic!("version {version}: {error}"));
    fs_err::remove_file(&newer).expect("removes");
}

/// Makes the store's index one that older rules of analysis wrote, so that it is brought up to date at the next start. (Its terms
/// are the same.)
///
/// # Panics
/// Where the store can't be written.
pub fn make_analysis_older(path: &Path) {
    let db = Connection::open(path).expect("opens");
    set_meta(&db, INDEX_ANALYSIS, "0").expect("writes");
}

/// Notes that all rows of the store have been through the rules of redaction of `version`, whatever they hold; `None` takes the note
/// out, as if nobody had ever made one.
///
/// # Panics
/// Where the store can't be written.
pub fn note_redaction(path: &Path, version: Option<u32>) {
    let db = Connection::open(path).expect("opens");
    db.execute(
        "DELETE FROM _meta WHERE key IN (:version, :position)",
        [REDACTION_VERSION, REDACTED_TO],
    )
    .expect("writes");
    if let Some(version) = version {
        set_meta(&db, REDACTION_VERSION, &version.to_string()).expect("writes");
    }
}

/// Empties pages of the store's full-text index, as a torn write would, so that it is made anew at the next opening.
///
/// # Panics
/// Where the store can't be written.
pub fn damage_index(path: &Path) {
    let db = Connection::open(path).expect("opens");
    // Beyond the first rows, which tell of the index as a whole, lie its segments.
    db.execute(
        "UPDATE episodes_fts_data SET block = zeroblob(length(block)) WHERE id > 10",
        [],
    )
    .expect("damages");
    set_meta(&db, CLEAN_SHUTDOWN, "0").expect("writes");
}

/// Has the store refuse every episode of the project at `folder` from now on, or of none, as it refuses content that breaks a rule of the schema.
///
/// # Panics
/// Where the store can't be written.
pub fn refuse_project(path: &Path, folder: Option<&str>) {
    let db = Connection::open(path).expect("opens");
    db.execute_batch("DROP TRIGGER IF EXISTS refused").expect("accepts");
    if let Some(folder) = folder {
        let refuse = format!(
            "CREATE TRIGGER refused BEFORE INSERT ON episodes
             WHEN EXISTS (SELECT 1 FROM projects WHERE id = NEW.project_id AND root = '{folder}')
             BEGIN SELECT RAISE(ABORT, 'refused'); END"
        );
        db.execute_batch(&refuse).expect("refuses");
    }
}

/// Cuts the vector of the first episode short, and takes the code of the last one away.
///
/// # Panics
/// Where the store can't be written, or has no vectors.
pub fn damage_vectors(path: &Path) {
    vec_extension::register().expect("registers");
    let db = Connection::open(path).expect("opens");
    let cut = "UPDATE episodes SET embedding = x'0102' WHERE id = (SELECT min(id) FROM episodes WHERE embedding IS NOT NULL)";
    let taken = "DELETE FROM episodes_vec WHERE rowid = (SELECT max(id) FROM episodes WHERE embedding IS NOT NULL)";
    for change in [cut, taken] {
        assert_eq!(db.execute(change, []), Ok(1), "{change}");
    }
}

fn older(path: &Path, newer: &Path, version: u32) -> rusqlite::Result<()> {
    let mut db = Connection::open(path)?;
    make_ours(&db)?;
    db.pragma_update(None, "foreign_keys", false)?;
    for migration in MIGRATIONS.iter().take(version as usize) {
        db.execute_batch(migration.sql)?;
    }
    db.pragma_update(None, "user_version", version)?;
    db.execute("ATTACH :newer AS newer", [newer.to_str()])?;
    let tx = db.transaction()?;
    for table in tables(&tx)? {
        let columns = columns(&tx, &table)?.join(", ");
        tx.execute(
            &format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newer.{table}"),
            [],
        )?;
    }
    set_meta(&tx, "schema_version", &version.to_string())?;
    if version < EPISODES {
        tx.execute("DELETE FROM main.sources", [])?;
    }
    if version < INDEX {
        tx.execute("DELETE FROM main._meta WHERE key = :key", [INDEX_ANALYSIS])?;
    } else {
        fill_index(&tx)?;
    }
    if (EPISODES..VECTORS).contains(&version) {
        tx.execute("UPDATE main.episodes SET embedding = NULL, embedding_model = NULL", [])?;
        tx.execute("DELETE FROM main.embedding_models", [])?;
    }
    if version < VECTORS {
        tx.execute("DELETE FROM main._meta WHERE key LIKE 'embedding_%'", [])?;
    } else {
        fill_codes(&tx)?;
    }
    tx.commit()?;
    db.execute("DETACH newer", [])?;
    db.pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()))
}

/// The older store's own tables, but for those of indexes.
fn tables(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.prepare(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
             AND name NOT LIKE 'episodes_vec%' AND name NOT LIKE 'episodes_fts%' ORDER BY name",
    )?
    .query_map([], |row| row.get(0))?
    .collect()
}

fn columns(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    db.prepare("SELECT name FROM pragma_table_info(:table, 'main') ORDER BY cid")?
        .query_map([table], |row| row.get(0))?
        .collect()
}

fn fill_index(db: &Connection) -> rusqlite::Result<()> {
    let mut statement = db.prepare(
        "SELECT main.episodes.id, prompt, answer, facets, project_id
         FROM main.episodes JOIN main.episode_texts ON episode_texts.episode_id = episodes.id WHERE hidden = 0",
    )?;
    let mut insert = db.prepare(
        "INSERT INTO main.episodes_fts (rowid, prompt, answer, facets, project)
         VALUES (:id, :prompt, :answer, :facets, :project)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, project): (EpisodeId, Option<ProjectId>) = (row.get(0)?, row.get(4)?);
        let facets = parse_facets(row.get_ref(3)?.as_str()?)?;
        let [prompt, answer, facets, project] =
            indexed_columns(row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?, &facets, project);
        insert.execute(named_params! {
            ":id": id, ":prompt": prompt, ":answer": answer, ":facets": facets, ":project": project,
        })?;
    }
    Ok(())
}

fn fill_codes(db: &Connection) -> rusqlite::Result<()> {
    // Made for the model that the store has vectors of.
    if let Some((_, dimension)) = current_model(db)? {
        db.execute_batch(&format!(
            "DROP TABLE main.episodes_vec; CREATE VIRTUAL TABLE main.episodes_vec USING vec0 (code bit[{dimension}]);"
        ))?;
    }
    let codes: Vec<(EpisodeId, Vec<u8>)> = db
        .prepare("SELECT rowid, code FROM newer.episodes_vec")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut insert = db.prepare("INSERT INTO main.episodes_vec (rowid, code) VALUES (:id, vec_bit(:code))")?;
    for (id, code) in codes {
        insert.execute(named_params! {":id": id, ":code": code})?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
