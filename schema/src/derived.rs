//! What is made from the tables, beside them: the full-text index, the vectors and their codes. Does it agree with the tables, and what
//! of it is to be made anew? In go rows, out come counts; [`Writer::mend_vectors`] mends the vectors, [`Writer::rebuild_index`] the index.

use std::collections::BTreeMap;

use rusqlite::{Connection, ErrorCode, named_params};

use crate::damage::Damage;
use crate::error::QueryError;
use crate::ids::EpisodeId;
use crate::integrity::look_through;
use crate::migrate::meta;
use crate::query::Reader;
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
    /// What is found damaged, the worst, in SQLite's words, else what of the schema is not ours, or a row that refers to none; `None`
    /// where the database is whole. It reads all of it, and on past a damaged full-text index, which may hide the rest.
    ///
    /// # Errors
    /// What SQLite reports but for damage.
    pub fn damage(&self) -> Result<Option<(Damage, String)>, QueryError> {
        match self.run("look through the database", look_through) {
            Ok(looked) => {
                let of_index = looked.index_damaged.then(|| "the full-text index is damaged".to_owned());
                let of_database = looked.damage.map(|found| (Damage::Database, found));
                Ok(of_database.or(of_index.map(|found| (Damage::Index, found))))
            }
            Err(QueryError::Corrupt { index_only, source, .. }) => {
                let damage = if index_only { Damage::Index } else { Damage::Database };
                Ok(Some((damage, source.to_string())))
            }
            Err(error) => Err(error),
        }
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
    /// What SQLite reports; nothing is changed then. What passes, such as a lock or a disk that fails, costs no code.
    pub fn mend_vectors(&mut self) -> Result<DerivedFaults, QueryError> {
        self.within("mend the vectors", |db| {
            let Some((model, dimension)) = current_model(db)? else {
                return Ok(DerivedFaults::default());
            };
            let mut remade = 0;
            match codes(db) {
                Err(error) if is_about_the_table(&error) => remade = rebuild_codes(db, &model, dimension)? as u64,
                read => drop(read?),
            }
            let unsound = look(db)?;
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

/// Every code by its episode.
fn codes(db: &Connection) -> rusqlite::Result<BTreeMap<EpisodeId, Vec<u8>>> {
    db.prepare("SELECT rowid, code FROM episodes_vec")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Whether reading the table of codes failed for what is in it: damaged pages, or, as the vector extension tells of what it can't make
/// sense of in its own tables, SQLite's error without a kind.
fn is_about_the_table(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
    )
}

fn look(db: &Connection) -> rusqlite::Result<Unsound> {
    let mut unsound = Unsound::default();
    let Some((model, dimension)) = current_model(db)? else {
        return Ok(unsound);
    };
    let mut codes = codes(db)?;
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

    #[test]
    fn a_damaged_index_hides_no_damaged_table() {
        let mut store = Store::new();
        store.fill(&["the parser drops the last line"; 40]);
        crate::damage_index(&store.path);
        store.writer.checkpoint().expect("folds");
        let db = Connection::open(&store.path).expect("opens");
        let root: usize = db
            .query_row(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'idx_episodes_turn'",
                [],
                |row| row.get::<_, i64>(0).map(|page| page as usize),
            )
            .expect("reads");
        drop(db);
        let mut bytes = fs_err::read(&store.path).expect("reads");
        bytes[(root - 1) * 8192..root * 8192].fill(0x5a);
        fs_err::write(&store.path, bytes).expect("writes");
        let found = store.reader().damage().expect("reads").map(|(damage, _)| damage);
        assert_eq!(found, Some(Damage::Database));
    }

    #[rstest]
    #[case::damaged(rusqlite::ffi::SQLITE_CORRUPT, true)]
    #[case::of_a_table_of_an_extension(rusqlite::ffi::SQLITE_CORRUPT_VTAB, true)]
    #[case::of_the_extension(rusqlite::ffi::SQLITE_ERROR, true)]
    #[case::in_use(rusqlite::ffi::SQLITE_BUSY, false)]
    #[case::full(rusqlite::ffi::SQLITE_FULL, false)]
    #[case::out_of_time(rusqlite::ffi::SQLITE_INTERRUPT, false)]
    #[case::not_read(rusqlite::ffi::SQLITE_IOERR_READ, false)]
    #[case::no_memory(rusqlite::ffi::SQLITE_NOMEM, false)]
    fn the_codes_go_for_damage_alone(#[case] code: i32, #[case] expected: bool) {
        let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        assert_eq!(is_about_the_table(&error), expected);
    }
}
