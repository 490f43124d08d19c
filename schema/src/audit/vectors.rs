//! The vectors and their codes: every vector of the current model decodes and has its own code, every code has its vector.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::Faults;
use crate::ids::EpisodeId;
use crate::vector_code::{bit_code, from_bytes};
use crate::write::current_model;

pub(super) fn check(db: &Connection, faults: &mut Faults) -> rusqlite::Result<()> {
    let model = current_model(db)?;
    let mut codes: BTreeMap<EpisodeId, Vec<u8>> = db
        .prepare("SELECT rowid, code FROM episodes_vec")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut statement = db.prepare(
        "SELECT episodes.id, embedding, embedding_models.name
         FROM episodes LEFT JOIN embedding_models ON embedding_models.id = embedding_model
         WHERE embedding IS NOT NULL",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, name): (EpisodeId, Option<String>) = (row.get(0)?, row.get(2)?);
        let Some((_, dimension)) = model.as_ref().filter(|(current, _)| name.as_ref() == Some(current)) else {
            continue;
        };
        let bytes = row.get_ref(1)?.as_blob()?;
        let vector = from_bytes(bytes);
        if bytes.len() != dimension * size_of::<f32>() || !vector.iter().all(|value| value.is_finite()) {
            faults.add("vector", format!("that of episode {id} does not decode"));
        } else if vector.iter().all(|value| *value == 0.0) {
            faults.add("vector", format!("that of episode {id} has no direction"));
        }
        match codes.remove(&id) {
            None => faults.add("vector", format!("that of episode {id} has no code")),
            Some(code) if code != bit_code(&vector) => {
                faults.add("vector", format!("the code of episode {id} is another vector's"));
            }
            Some(_) => {}
        }
    }
    for id in codes.keys() {
        faults.add(
            "vector",
            format!("a code for episode {id}, which has no vector of this model"),
        );
    }
    Ok(())
}
