use super::*;
use crate::testing::Store;
use crate::{Writer, audit};

/// A store of two embedded episodes with the built-in model's dimension, closed.
fn closed() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memory.db");
    let mut store = Store::new();
    store.fill(&["the parser drops the last line", "the cache answers twice"]);
    store.embed();
    store.copy_to(&path);
    (folder, path)
}

/// Opens as the daemon does, brings the index up to date as its upkeep does, and looks through what came of it.
fn opened(path: &Path) -> crate::Audit {
    let mut writer = Writer::open(path).expect("opens");
    writer.set_embedding_model(crate::testing::MODEL, 8).expect("sets the model");
    while writer.reindex_step(1).expect("indexes") {}
    writer.close().expect("closes");
    audit(path).expect("reads")
}

#[test]
fn an_older_store_is_sound_and_becomes_this_version_with_what_it_had() {
    for version in 1..LATEST {
        let (_folder, path) = closed();
        // Codes of another dimension than the first have no place in the table of migration 0004.
        let db = Connection::open(&path).expect("opens");
        db.execute_batch("UPDATE episodes SET embedding = NULL, embedding_model = NULL")
            .expect("writes");
        vec_extension::register().expect("registers");
        drop(db);
        let db = Connection::open(&path).expect("opens");
        db.execute_batch("DELETE FROM episodes_vec").expect("writes");
        drop(db);
        make_older(&path, version);
        let before = audit(&path).expect("reads");
        assert_eq!((before.schema_version, before.faults.as_slice()), (version, [].as_slice()));
        let episodes = if version < EPISODES { 0 } else { 2 };
        assert_eq!(before.episodes.len(), episodes, "version {version}");
        let after = opened(&path);
        assert_eq!(
            (after.schema_version, after.faults.as_slice()),
            (LATEST, [].as_slice()),
            "from {version}"
        );
        assert_eq!(after.episodes, before.episodes, "from {version}");
        assert_eq!(after.read.is_empty(), version < EPISODES);
    }
}

#[test]
fn an_older_analysis_and_a_damaged_index_are_made_good() {
    let (_folder, path) = closed();
    make_analysis_older(&path);
    assert_eq!(opened(&path).faults, Vec::<String>::new());
    damage_index(&path);
    assert!(audit(&path).map_or(true, |audit| !audit.faults.is_empty()), "it is damaged");
    assert_eq!(opened(&path).faults, Vec::<String>::new());
}
