//! What is made from the tables, beside them: the full-text index, the vectors and their codes. Does it agree with the tables, and what
//! of it is to be made anew? In go rows, out come counts; [`Writer::mend_vectors`] mends the vectors, [`Writer::rebuild_index`] the index.

use std::collections::BTreeMap;

use rusqlite::{Connection, named_params};

use crate::damage::Damage;
use crate::error::QueryError;
use crate::ids::EpisodeId;
use crate::integrity::{broken_reference, is_about_index, quick_check};
use crate::migrate::meta;
use crate::query::Reader;
use crate::shape;
use crate::vector_code::{bit_code, from_bytes};
use crate::write::{INDEX_ANALYSIS, Writer, current_model, insert_code, rebuild_codes, remove_code};

/// What does not agree with the tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DerivedFaults {
    /// Visible episodes that are not in the full-text index, and rows of it without such an episode.
    pub unindexed: u64,
    /// Vectors of the current model that are none: of another length, not finite, without a direction. Their texts are to be embedded
    /// again.
    pub vectors: u64,
    /// Codes that are missing, another vector's, or without a vector.
    pub codes: u64,
}

/// What is wrong with the vectors, episode by episode.
#[derive(Default)]
struct Unsound {
    vectors: Vec<EpisodeId>,
    /// Those whose code is to be made of their vector.
    codes: Vec<EpisodeId>,
    /// Codes without a vector.
    strays: Vec<EpisodeId>,
}

impl Reader {
    /// What SQLite's quick check finds damaged, the worst, in its words, else what of the schema is not ours, or a row that refers to
    /// none; `None` where the database is whole. It reads all of it.
    ///
    /// # Errors
    /// What SQLite reports but for damage.
    pub fn damage(&self) -> Result<Option<(Damage, String)>, QueryError> {
        let findings = match self.run("look through the database", quick_check) {
            Ok(findings) => findings,
            Err(QueryError::Corrupt { index_only, source, .. }) => {
                let damage = if index_only { Damage::Index } else { Damage::Database };
                return Ok(Some((damage, source.to_string())));
            }
            Err(error) => return Err(error),
        };
        let mut findings: Vec<String> = findings.into_iter().filter(|finding| finding != "ok").collect();
        findings.extend(self.run("look at the schema", shape::difference)?);
        if findings.iter().all(|finding| is_about_index(finding)) {
            findings.extend(self.run("look at what rows refer to", broken_reference)?);
        }
        let of = |finding: &String| {
            if is_about_index(finding) {
                Damage::Index
            } else {
                Damage::Database
            }
        };
        Ok(findings
            .into_iter()
            .map(|finding| (of(&finding), finding))
            .max_by_key(|(damage, _)| *damage))
    }

    /// What is made from the tables and does not agree with them. It reads every vector.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn derived_faults(&self) -> Result<DerivedFaults, QueryError> {
        self.run("compare index and vectors with the episodes", |db| {
            // All of one moment: a daemon may be writing.
            let snapshot = db.unchecked_transaction()?;
            let unsound = look(&snapshot)?;
            let faults = DerivedFaults {
                unindexed: unindexed(&snapshot)?,
                vectors: unsound.vectors.len() as u64,
                codes: (unsound.codes.len() + unsound.strays.len()) as u64,
            };
            snapshot.finish()?;
            Ok(faults)
        })
    }
}

impl Writer {
    /// Takes away vectors that are none, so that their texts are embedded again, and makes codes anew from their vectors: all of them
    /// where the table of codes can't be read. Gives what was wrong.
    ///
    /// # Errors
    /// What SQLite reports; nothing is changed then.
    pub fn mend_vectors(&mut self) -> Result<DerivedFaults, QueryError> {
        self.within("mend the vectors", |db| {
            let Some((model, dimension)) = current_model(db)? else {
                return Ok(DerivedFaults::default());
            };
            let mut remade = 0;
            let unsound = match look(db) {
                Ok(unsound) => unsound,
                Err(_) => {
                    remade = rebuild_codes(db, &model, dimension)? as u64;
                    look(db)?
                }
            };
            for id in &unsound.vectors {
                db.prepare_cached(
                    "UPDATE episodes SET room = coalesce(room, zeroblob(:room)), embedding = NULL, embedding_model = NULL WHERE id = :id",
                )?
                .execute(named_params! {":id": id, ":room": (dimension * size_of::<f32>()) as i64})?;
            }
            for id in unsound.vectors.iter().chain(&unsound.codes).chain(&unsound.strays) {
                remove_code(db, *id)?;
            }
            let mut vector = db.prepare_cached("SELECT embedding FROM episodes WHERE id = :id")?;
            for id in &unsound.codes {
                let code = vector.query_row([id], |row| Ok(bit_code(&from_bytes(row.get_ref(0)?.as_blob()?))))?;
                insert_code(db, *id, &code)?;
            }
            Ok(DerivedFaults {
                unindexed: 0,
                vectors: unsound.vectors.len() as u64,
                codes: remade + (unsound.codes.len() + unsound.strays.len()) as u64,
            })
        })
    }
}

/// Episodes and rows of the index that lack the other. None while the episodes of an older store are indexed for the first time.
fn unindexed(db: &Connection) -> rusqlite::Result<u64> {
    if meta(db, INDEX_ANALYSIS)?.is_none() {
        return Ok(0);
    }
    let count = |sql| db.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|count| count as u64);
    let without_row =
        count("SELECT count(*) FROM episodes WHERE hidden = 0 AND id NOT IN (SELECT id FROM episodes_fts_docsize)")?;
    let without_episode =
        count("SELECT count(*) FROM episodes_fts_docsize WHERE id NOT IN (SELECT id FROM episodes WHERE hidden = 0)")?;
    Ok(without_row + without_episode)
}

fn look(db: &Connection) -> rusqlite::Result<Unsound> {
    let mut unsound = Unsound::default();
    let Some((model, dimension)) = current_model(db)? else {
        return Ok(unsound);
    };
    let mut codes: BTreeMap<EpisodeId, Vec<u8>> = db
        .prepare("SELECT rowid, code FROM episodes_vec")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut statement = db.prepare(
        "SELECT id, embedding FROM episodes
         WHERE embedding IS NOT NULL AND embedding_model = (SELECT id FROM embedding_models WHERE name = :model)",
    )?;
    let mut rows = statement.query([model])?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let bytes = row.get_ref(1)?.as_blob().unwrap_or_default();
        let vector = from_bytes(bytes);
        let is_sound = bytes.len() == dimension * size_of::<f32>()
            && vector.iter().all(|value| value.is_finite())
            && vector.iter().any(|value| *value != 0.0);
        let code = codes.remove(&id);
        if !is_sound {
            unsound.vectors.push(id);
        } else if code.is_none_or(|code| code != bit_code(&vector)) {
            unsound.codes.push(id);
        }
    }
    unsound.strays.extend(codes.into_keys());
    Ok(unsound)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::testing::Store;

    fn faults(unindexed: u64, vectors: u64, codes: u64) -> DerivedFaults {
        DerivedFaults {
            unindexed,
            vectors,
            codes,
        }
    }

    #[rstest]
    #[case::sound("", faults(0, 0, 0))]
    #[case::no_row("DELETE FROM episodes_fts WHERE rowid = 2", faults(1, 0, 0))]
    #[case::no_code("DELETE FROM episodes_vec WHERE rowid = 2", faults(0, 0, 1))]
    #[case::cut_short("UPDATE episodes SET embedding = x'0102' WHERE id = 1", faults(0, 1, 0))]
    #[case::no_direction("UPDATE episodes SET embedding = zeroblob(32) WHERE id = 1", faults(0, 1, 0))]
    #[case::no_vector(
        "UPDATE episodes SET embedding = NULL, embedding_model = NULL WHERE id = 1",
        faults(0, 0, 1)
    )]
    #[case::of_another(
        "UPDATE episodes SET embedding = (SELECT embedding FROM episodes WHERE id = 2) WHERE id = 1",
        faults(0, 0, 1)
    )]
    fn what_does_not_agree_is_found_and_mended(#[case] script: &str, #[case] expected: DerivedFaults) {
        let mut store = Store::new();
        store.fill(&["the parser drops the last line", "der Cache antwortet zweimal"]);
        store.embed();
        let db = Connection::open(&store.path).expect("opens");
        db.execute_batch(script).expect("breaks");
        assert_eq!(store.reader().derived_faults().expect("reads"), expected);
        store.writer.rebuild_index().expect("rebuilds");
        let mended = store.writer.mend_vectors().expect("mends");
        assert_eq!((mended.vectors, mended.codes), (expected.vectors, expected.codes));
        assert_eq!(store.reader().derived_faults().expect("reads"), faults(0, 0, 0));
        store.embed();
        let audit = crate::audit(&store.path).expect("reads");
        assert_eq!(audit.faults, Vec::<String>::new());
        assert!(audit.episodes.iter().all(|episode| episode.embedded));
    }

    #[test]
    fn a_damaged_index_is_told_from_a_damaged_database() {
        let mut store = Store::new();
        assert_eq!(store.reader().damage().expect("reads"), None);
        store.fill(&["the parser drops the last line"; 40]);
        crate::damage_index(&store.path);
        let found = store.reader().damage().expect("reads").map(|(damage, _)| damage);
        assert_eq!(found, Some(Damage::Index));
        store.writer.rebuild_index().expect("rebuilds");
        assert_eq!(store.reader().damage().expect("reads"), None);
    }
}
