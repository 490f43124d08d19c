use rstest::rstest;

use super::*;
use crate::testing::Store;
use crate::{Writer, make_older};

fn of(version: u32) -> Connection {
    vec_extension::register().expect("registers");
    let db = Connection::open_in_memory().expect("opens");
    for migration in MIGRATIONS.iter().take(version as usize) {
        db.execute_batch(migration.sql).expect("migrates");
    }
    db.pragma_update(None, "user_version", version).expect("sets");
    db.pragma_update(None, "foreign_keys", false).expect("sets");
    db
}

#[test]
fn every_version_is_as_its_migrations_make_it_and_no_other() {
    for version in 0..=LATEST {
        assert_eq!(difference(&of(version)).expect("reads"), None, "{version}");
    }
    let db = of(LATEST);
    db.pragma_update(None, "user_version", LATEST - 1).expect("sets");
    assert!(difference(&db).expect("reads").is_some(), "it calls itself older than it is");
    db.pragma_update(None, "user_version", LATEST + 1).expect("sets");
    assert_eq!(difference(&db).expect("reads"), None, "nothing is known of a newer one");
}

#[test]
fn what_this_program_does_to_its_own_is_no_difference() {
    let mut store = Store::new();
    store.fill(&["one", "two"]);
    // Vectors of another dimension, the index made anew, statistics.
    store.embed();
    store.writer.rebuild_index().expect("rebuilds");
    store.writer.optimize().expect("optimizes");
    let path = store.path.clone();
    store.writer.close().expect("closes");
    let shape_of = |path: &Path| difference(&Connection::open(path).expect("opens")).expect("reads");
    assert_eq!(shape_of(&path), None);
    // (An older store with codes of that dimension is none that any version made.)
    let mut store = Store::new();
    store.fill(&["one", "two"]);
    let path = store.path.clone();
    store.writer.close().expect("closes");
    for older in [LATEST - 1, 6] {
        make_older(&path, older);
        assert_eq!(shape_of(&path), None, "{older}");
        drop(Writer::open(&path).expect("migrates").close());
        assert_eq!(shape_of(&path), None, "{older}, migrated");
    }
}

#[rstest]
#[case::a_table_that_is_gone("DROP TABLE episode_texts", "the table `episode_texts` is missing")]
#[case::an_index_that_is_gone("DROP INDEX idx_episodes_turn", "the index `idx_episodes_turn` is missing")]
#[case::the_full_text_index("DROP TABLE episodes_fts", "episodes_fts")]
#[case::a_column_more("ALTER TABLE sources ADD COLUMN more TEXT", "the table `sources` is not as")]
#[case::a_column_less("ALTER TABLE sessions DROP COLUMN title", "the table `sessions` is not as")]
#[case::another_index(
    "DROP INDEX idx_episodes_turn; CREATE INDEX idx_episodes_turn ON episodes (id)",
    "is not as"
)]
#[case::a_trigger(
    "CREATE TRIGGER x AFTER INSERT ON episodes BEGIN DELETE FROM episodes; END",
    "a trigger `x`"
)]
#[case::a_view("CREATE VIEW v AS SELECT 1", "a view `v`")]
#[case::a_table_more("CREATE TABLE \"e'; DROP\nvery long\" (x)", "a table `e DROPvery long`")]
#[case::a_trigger_on_the_index_of_fts(
    "CREATE TRIGGER episodes_fts_x AFTER INSERT ON episodes BEGIN SELECT 1; END",
    "a trigger `episodes_fts_x`"
)]
fn what_others_changed_is_told(#[case] sql: &str, #[case] expected: &str) {
    let db = of(LATEST);
    db.execute_batch(sql).expect("changes");
    let told = difference(&db).expect("reads").expect("is told");
    assert!(told.contains(expected), "{told}");
}
