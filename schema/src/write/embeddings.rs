//! Embeddings in: the exact vector into the episode's row, its code into the vector table.
//! In go vectors of the current model, out come the ids really stored. Vectors of two models are never mixed.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::{EMBEDDING_DIMENSION, EMBEDDING_MODEL, Writer};
use crate::error::QueryError;
use crate::ids::EpisodeId;
use crate::migrate::{meta, set_meta};
use crate::rows::EmbeddedEpisode;
use crate::vector_code::{bit_code, from_bytes, to_bytes};

/// Dimension of a store that no model was set for: that of the table in migration 0004.
const FIRST_DIMENSION: usize = 384;
/// sqlite-vec's own bound on dimensions.
const MOST_DIMENSIONS: usize = 8192;

impl Writer {
    /// Makes `model_id` the model whose vectors are current. Another model, or another dimension, empties the vector
    /// table, and refills it with what episodes still hold of that model; vectors of other models stay in their rows
    /// until they are re-embedded, and take part in nothing.
    ///
    /// # Errors
    /// [`QueryError::Invalid`] unless `dimension` is a multiple of 8 from 8 to 8,192.
    pub fn set_embedding_model(&mut self, model_id: &str, dimension: usize) -> Result<(), QueryError> {
        const ACT: &str = "set the embedding model";
        if dimension == 0 || !dimension.is_multiple_of(8) || dimension > MOST_DIMENSIONS {
            let detail = format!("a dimension of {dimension} is no multiple of 8 up to {MOST_DIMENSIONS}");
            return Err(QueryError::Invalid { act: ACT, detail });
        }
        self.within(ACT, |db| {
            if current_model(db)? == Some((model_id.to_owned(), dimension)) {
                return Ok(());
            }
            db.prepare_cached("INSERT OR IGNORE INTO embedding_models (name) VALUES (:model)")?
                .execute([model_id])?;
            set_meta(db, EMBEDDING_MODEL, model_id)?;
            set_meta(db, EMBEDDING_DIMENSION, &dimension.to_string())?;
            rebuild_codes(db, model_id, dimension).map(drop)
        })
    }

    /// Stores embeddings, and gives the ids really stored: left out are episodes that are gone or hidden, whose content
    /// changed since it was embedded, and all of them if `model_id` is no longer the current model.
    ///
    /// # Errors
    /// [`QueryError::Invalid`] if a vector has another dimension than the model, is not finite, or is all zeros;
    /// nothing is stored then.
    pub fn store_embeddings(&mut self, model_id: &str, rows: &[EmbeddedEpisode]) -> Result<Vec<EpisodeId>, QueryError> {
        const ACT: &str = "store embeddings";
        let current = current_model(&self.db).map_err(QueryError::at(ACT))?;
        let Some((_, dimension)) = current.filter(|(model, _)| model == model_id) else {
            return Ok(Vec::new());
        };
        if let Some(detail) = rows.iter().find_map(|row| defect(&row.vector, dimension)) {
            return Err(QueryError::Invalid { act: ACT, detail });
        }
        self.within(ACT, |db| {
            let mut stored = Vec::with_capacity(rows.len());
            for row in rows {
                if store(db, model_id, row)? {
                    stored.push(row.id);
                }
            }
            Ok(stored)
        })
    }
}

/// The current model and its dimension, if one was ever set.
pub(crate) fn current_model(db: &Connection) -> rusqlite::Result<Option<(String, usize)>> {
    let dimension = meta(db, EMBEDDING_DIMENSION)?.and_then(|dimension| dimension.parse().ok());
    Ok(meta(db, EMBEDDING_MODEL)?.zip(dimension))
}

/// Bytes that an embedding of the current model takes in an episode's row.
pub(super) fn embedding_size(db: &Connection) -> rusqlite::Result<i64> {
    let dimension = current_model(db)?.map_or(FIRST_DIMENSION, |(_, dimension)| dimension);
    Ok((dimension * size_of::<f32>()) as i64)
}

/// Why a vector can't be stored.
pub(super) fn defect(vector: &[f32], dimension: usize) -> Option<String> {
    if vector.len() != dimension {
        return Some(format!("a vector has {} dimensions, the model {dimension}", vector.len()));
    }
    if !vector.iter().all(|value| value.is_finite()) || vector.iter().all(|value| *value == 0.0) {
        return Some("a vector is not finite, or has no direction".to_owned());
    }
    None
}

/// Stores an embedding and its code; `false` where the episode is gone, hidden, or of another content.
pub(super) fn store(db: &Connection, model_id: &str, row: &EmbeddedEpisode) -> rusqlite::Result<bool> {
    let changed = db
        .prepare_cached(
            "UPDATE episodes SET room = NULL, embedding = :embedding, embedding_model = (SELECT id FROM embedding_models WHERE name = :model)
             WHERE id = :id AND content_hash = :hash AND hidden = 0",
        )?
        .execute(named_params! {
            ":id": row.id, ":hash": row.content_hash, ":model": model_id, ":embedding": to_bytes(&row.vector),
        })?;
    if changed == 0 {
        return Ok(false);
    }
    remove_code(db, row.id)?;
    insert_code(db, row.id, &bit_code(&row.vector))?;
    Ok(true)
}

/// Makes the table of codes anew from the vectors of this model. Gives how many there are.
pub(crate) fn rebuild_codes(db: &Connection, model_id: &str, dimension: usize) -> rusqlite::Result<usize> {
    // The dimension is part of the table's definition, where SQL takes no parameters.
    db.execute_batch(&format!(
        "DROP TABLE episodes_vec; CREATE VIRTUAL TABLE episodes_vec USING vec0 (code bit[{dimension}]);"
    ))?;
    refill_codes(db, model_id, dimension)
}

pub(crate) fn insert_code(db: &Connection, id: EpisodeId, code: &[u8]) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT INTO episodes_vec (rowid, code) VALUES (:id, vec_bit(:code))")?
        .execute(named_params! {":id": id, ":code": code})?;
    Ok(())
}

/// Removes an episode's code, if it has one.
pub(crate) fn remove_code(db: &Connection, id: EpisodeId) -> rusqlite::Result<()> {
    // vec0 takes a point query for "delete", and a row that is not there for none.
    let there: Option<i64> = db
        .prepare_cached("SELECT rowid FROM episodes_vec WHERE rowid = :id")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    if there.is_some() {
        db.prepare_cached("DELETE FROM episodes_vec WHERE rowid = :id")?
            .execute([id])?;
    }
    Ok(())
}

/// Gives the codes back to episodes whose vectors the model made when it was current before.
fn refill_codes(db: &Connection, model_id: &str, dimension: usize) -> rusqlite::Result<usize> {
    let mut statement = db.prepare_cached(
        "SELECT id, embedding FROM episodes
         WHERE embedding_model = (SELECT id FROM embedding_models WHERE name = :model)",
    )?;
    let mut rows = statement.query([model_id])?;
    let mut refilled = 0;
    while let Some(row) = rows.next()? {
        let vector = from_bytes(row.get_ref(1)?.as_blob()?);
        if vector.len() == dimension {
            insert_code(db, row.get(0)?, &bit_code(&vector))?;
            refilled += 1;
        }
    }
    Ok(refilled)
}

#[cfg(test)]
mod tests;
