use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

mod cursor;

/// The tables of `OpenCode` 1.x, as far as they are read.
const FIRST: &str = "
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
        time_updated integer NOT NULL, data text NOT NULL);
    CREATE INDEX message_session ON message (session_id, time_created, id);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE INDEX part_message ON part (message_id, id);
    CREATE INDEX part_session ON part (session_id);";
/// Those that 2.x has beside them.
const SECOND: &str = "
    CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text,
        time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE UNIQUE INDEX session_message_seq ON session_message (session_id, seq);";
/// Goose's, as it first made them.
const GOOSE: &str = "
    CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
        role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
        timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER);
    CREATE INDEX idx_messages_session ON messages (session_id);";
const IN_A_LOG: &str = "PRAGMA journal_mode = WAL;";
const A_SESSION: &str = "
    INSERT INTO session VALUES ('s1', NULL, '/srv/shop', 'Till', 100, 100);
    INSERT INTO message VALUES ('m1', 's1', 101, 101, '{\"role\":\"user\"}');
    INSERT INTO part VALUES ('p1', 'm1', 's1', 102, 102, '{\"type\":\"text\",\"text\":\"one\"}');";

/// An agent's database in a folder of its own.
struct Place {
    folder: TempDir,
}

impl Place {
    fn with(script: &str) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        place.writer().run(script);
        place
    }

    fn path(&self) -> PathBuf {
        // What an address would have to escape.
        self.folder.path().join("an agent's 100%?#é.db")
    }

    fn writer(&self) -> ForeignWriter {
        ForeignWriter::open(&self.path())
    }

    fn database(&self) -> ForeignDatabase {
        ForeignDatabase::new(&self.path(), Layout::OpenCode, || false)
    }

    /// The names and sizes of all files in the folder.
    fn files(&self) -> BTreeMap<String, u64> {
        let entries = fs_err::read_dir(self.folder.path()).unwrap().map(Result::unwrap);
        entries
            .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
            .collect()
    }
}

fn stamps(database: &ForeignDatabase) -> BTreeMap<String, Stamp> {
    let mut catalogue = Catalogue::default();
    database.look(&mut catalogue).unwrap();
    of(&catalogue)
}

fn of(catalogue: &Catalogue) -> BTreeMap<String, Stamp> {
    catalogue.stamps().map(|(id, stamp)| (id.to_owned(), stamp)).collect()
}

fn parsed(json: &[u8]) -> Value {
    serde_json::from_slice(json).unwrap()
}

#[rstest]
#[case::a_log_at_rest(IN_A_LOG, false)]
#[case::a_log_in_use(IN_A_LOG, true)]
#[case::a_journal_at_rest("", false)]
#[case::a_journal_in_use("", true)]
fn nothing_is_left_beside_it_and_all_is_read(#[case] mode: &str, #[case] in_use: bool) {
    let place = Place::with(&format!("{mode}{FIRST}"));
    let writer = place.writer();
    writer.run(A_SESSION);
    let writer = in_use.then_some(writer);
    let before = place.files();
    let session = place.database().session("s1").unwrap().unwrap();
    assert_eq!(session.messages.len(), 1);
    assert_eq!(stamps(&place.database()).keys().collect::<Vec<_>>(), ["s1"]);
    assert_eq!(place.files(), before);
    drop(writer);
}

#[test]
fn a_writer_is_not_hindered_by_a_look() {
    let place = Place::with(&format!("{IN_A_LOG}{FIRST}"));
    let writer = place.writer();
    writer.run(A_SESSION);
    let looked = place.database().within(|db| {
        let before: i64 = db.query_row("SELECT count(*) FROM part", [], |row| row.get(0))?;
        writer.run("INSERT INTO part VALUES ('p2', 'm1', 's1', 103, 103, '{}')");
        let after: i64 = db.query_row("SELECT count(*) FROM part", [], |row| row.get(0))?;
        Ok((before, after))
    });
    assert_eq!(looked.unwrap(), Some((1, 1)), "one look sees one moment");
    assert_eq!(stamps(&place.database())["s1"].rows, 3);
}

#[test]
fn what_is_read_without_locks_counts_only_if_nothing_was_written() {
    let place = Place::with(&format!("{IN_A_LOG}{FIRST}"));
    let looked = place.database().within(|_| {
        place.writer().run(A_SESSION);
        Ok(())
    });
    assert!(matches!(looked, Err(ForeignError::Busy { .. })), "{looked:?}");
    assert_eq!(stamps(&place.database()).len(), 1);
}

#[test]
fn a_locked_database_is_tried_again() {
    let place = Place::with(FIRST);
    let writer = place.writer();
    writer.lock();
    let mut catalogue = Catalogue::default();
    let error = place.database().look(&mut catalogue).unwrap_err();
    assert!(error.is_passing(), "{error}");
    writer.unlock();
    place.database().look(&mut catalogue).unwrap();
}

#[test]
fn a_look_ends_when_it_is_told_to() {
    let place = Place::with(FIRST);
    let database = ForeignDatabase::new(&place.path(), Layout::OpenCode, || true);
    let counted = database.within(|db| {
        db.query_row(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
            [],
            |row| row.get::<_, i64>(0),
        )
    });
    assert!(counted.unwrap_err().is_passing());
}

#[rstest]
#[case::no_database(Some("it is a diary, and no database at all"), "damaged or no database")]
#[case::none(None, "entity not found")]
fn what_is_no_database_has_a_name(#[case] content: Option<&str>, #[case] expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    if let Some(content) = content {
        fs_err::write(&path, content).unwrap();
    }
    let database = ForeignDatabase::new(&path, Layout::OpenCode, || false);
    let error = database.look(&mut Catalogue::default()).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    assert!(!error.is_passing());
}

#[rstest]
#[case::of_another("CREATE TABLE recipes (id)", false)]
#[case::of_a_newer_version("CREATE TABLE session_v9 (id); CREATE TABLE message (id); CREATE TABLE part (id)", false)]
#[case::without_a_column("CREATE TABLE session (id); CREATE TABLE message (id); CREATE TABLE part (id)", false)]
#[case::one_generation(FIRST, true)]
#[case::the_other(SECOND, true)]
fn tables_that_are_not_known_have_a_name(#[case] script: &str, #[case] known: bool) {
    let place = Place::with(script);
    let looked = place.database().look(&mut Catalogue::default());
    let unknown = matches!(looked, Err(ForeignError::Unknown { .. }));
    assert_eq!((looked.is_ok(), unknown), (known, !known), "{looked:?}");
}

#[test]
fn a_file_into_which_nothing_was_written_holds_no_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    fs_err::write(&path, "").unwrap();
    let database = ForeignDatabase::new(&path, Layout::OpenCode, || false);
    assert_eq!(stamps(&database), BTreeMap::new());
    assert!(database.session("s1").unwrap().is_none());
}

#[test]
fn a_part_that_grows_in_its_place_is_seen() {
    let place = Place::with(FIRST);
    place.writer().run(A_SESSION);
    let mut catalogue = Catalogue::default();
    place.database().look(&mut catalogue).unwrap();
    let before = of(&catalogue);
    place.database().look(&mut catalogue).unwrap();
    assert_eq!(of(&catalogue), before);
    place
        .writer()
        .run("UPDATE part SET data = '{\"type\":\"text\",\"text\":\"one, two\"}', time_updated = 150");
    place.database().look(&mut catalogue).unwrap();
    let after = of(&catalogue);
    assert_ne!(after, before);
    assert_eq!(after["s1"], place.database().session("s1").unwrap().unwrap().stamp);
}

/// Something that an agent does, to the session of that number.
fn act() -> impl Strategy<Value = (u8, u8)> {
    (0..5_u8, 0..6_u8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_look_after_others_finds_what_a_first_one_finds(acts in prop::collection::vec(act(), 1..24)) {
        let place = Place::with(&format!("{IN_A_LOG}{FIRST}{SECOND}"));
        let writer = place.writer();
        let mut catalogue = Catalogue::default();
        for (at, (session, act)) in acts.into_iter().enumerate() {
            let at = 1_000 + at;
            writer.run(&match act {
                0 => format!("INSERT OR REPLACE INTO session VALUES ('s{session}', NULL, '/srv', 'Till', {at}, {at})"),
                1 => format!("INSERT INTO message VALUES ('m{at}', 's{session}', {at}, {at}, '{{}}')"),
                2 => format!("INSERT INTO part VALUES ('p{at}', 'm', 's{session}', {at}, {at}, '{{}}')"),
                3 => format!("UPDATE part SET time_updated = {at} WHERE session_id = 's{session}'"),
                4 => format!("DELETE FROM session WHERE id = 's{session}'"),
                _ => format!(
                    "INSERT OR REPLACE INTO session_v2 VALUES ('s{session}', NULL, '/srv', NULL, {at}, {at});
                     INSERT INTO session_message VALUES ('n{at}', 's{session}', 'user', {at}, {at}, {at}, '{{}}')"
                ),
            });
            place.database().look(&mut catalogue).unwrap();
            prop_assert_eq!(of(&catalogue), stamps(&place.database()));
        }
    }
}

#[test]
fn a_session_is_told_as_its_files_were() {
    let place = Place::with(FIRST);
    place.writer().run(A_SESSION);
    place.writer().run(
        "INSERT INTO message VALUES ('m2', 's1', 103, 103, '{\"role\":\"assistant\"}');
         INSERT INTO part VALUES ('p3', 'm2', 's1', 105, 105, '{\"n\":3}'), ('p2', 'm2', 's1', 104, 104, '{\"n\":2}'),
             ('p4', 'm9', 's1', 106, 106, '{\"n\":4}');
         INSERT INTO session VALUES ('s2', 's1', '/srv/till', 'Child', 200, 200)",
    );
    let session = place.database().session("s1").unwrap().unwrap();
    assert_eq!(
        parsed(&session.record),
        json!({"id": "s1", "parentID": null, "directory": "/srv/shop", "title": "Till", "time": {"created": 100}})
    );
    let told: Vec<_> = session
        .messages
        .iter()
        .map(|message| {
            (
                message.id.as_str(),
                message.parts.iter().map(|part| parsed(part)).collect::<Vec<_>>(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("m1", vec![json!({"type": "text", "text": "one"})]),
            ("m2", vec![json!({"n": 2}), json!({"n": 3})])
        ]
    );
    assert_eq!(
        parsed(&place.database().session("s2").unwrap().unwrap().record)["parentID"],
        "s1"
    );
    assert!(place.database().session("s3").unwrap().is_none());
}

#[test]
fn a_session_of_both_generations_is_read_from_the_second() {
    let place = Place::with(&format!("{FIRST}{SECOND}"));
    place.writer().run(A_SESSION);
    place.writer().run(
        "INSERT INTO session_v2 VALUES ('s1', NULL, '/srv/shop', NULL, 100, 300);
         INSERT INTO session_message VALUES ('m1', 's1', 'user', 7, 101, 101, '{\"text\":\"one\"}'),
             ('m0', 's1', 'odd \"', 8, 101, 101, 'torn')",
    );
    let session = place.database().session("s1").unwrap().unwrap();
    assert_eq!(
        parsed(&session.messages[0].content),
        json!({"type": "user", "data": {"text": "one"}})
    );
    assert_eq!(session.messages[1].content, br#"{"type":"odd \"","data":torn}"#);
    assert_eq!((session.stamp.rows, session.stamp.changed.0), (2, 300));
    assert_eq!(stamps(&place.database())["s1"], session.stamp);
}

#[test]
fn a_session_of_goose_is_told_as_its_file_was() {
    let place = Place::with(GOOSE);
    place.writer().run(
        "INSERT INTO sessions (id, description, working_dir, updated_at)
             VALUES ('20260301_1', 'Till', '/srv/shop', '2026-03-01 10:00:00');
         INSERT INTO messages (session_id, role, content_json, created_timestamp)
             VALUES ('20260301_1', 'user', '[{\"type\":\"text\",\"text\":\"one\"}]', 1772359200)",
    );
    let database = ForeignDatabase::new(&place.path(), Layout::Goose, || false);
    let told = || database.session("20260301_1").unwrap().unwrap();
    let record = parsed(&told().record);
    assert_eq!(
        (&record["working_dir"], &record["description"]),
        (&json!("/srv/shop"), &json!("Till"))
    );
    let message =
        json!({"role": "user", "created": 1_772_359_200, "content": [{"type": "text", "text": "one"}], "metadata": null});
    assert_eq!(parsed(&told().messages[0].content), message);
    assert_eq!(told().stamp.changed.0, 1_772_359_200_000);
    // What later versions added.
    place.writer().run(
        "ALTER TABLE sessions ADD COLUMN name TEXT DEFAULT '';
         ALTER TABLE sessions ADD COLUMN session_type TEXT NOT NULL DEFAULT 'user';
         ALTER TABLE messages ADD COLUMN metadata_json TEXT;
         UPDATE messages SET metadata_json = '{\"userVisible\":false}'",
    );
    assert_eq!(parsed(&told().record)["description"], "Till");
    place.writer().run("UPDATE sessions SET name = 'Shop'");
    assert_eq!(parsed(&told().record)["description"], "Shop");
    assert_eq!(parsed(&told().messages[0].content)["metadata"], json!({"userVisible": false}));
}

#[test]
fn what_is_too_large_is_left_out_or_has_a_name() {
    let place = Place::with(FIRST);
    place.writer().run(A_SESSION);
    place
        .writer()
        .run("INSERT INTO part VALUES ('p2', 'm1', 's1', 103, 103, zeroblob(9000000))");
    assert_eq!(place.database().session("s1").unwrap().unwrap().messages[0].parts.len(), 1);
    place.writer().run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
         INSERT INTO part SELECT 'q' || i, 'm1', 's1', 104, 104, zeroblob(8000000) FROM n",
    );
    let error = place.database().session("s1").unwrap_err();
    assert!(matches!(error, ForeignError::TooLarge { .. }), "{error}");
}

#[rstest]
#[case::opencode(Layout::OpenCode, &[FIRST, SECOND])]
#[case::cursor(Layout::Cursor, &[cursor::MADE, cursor::HEADERS])]
fn a_look_after_others_reads_no_table_through(#[case] layout: Layout, #[case] script: &[&str]) {
    let place = Place::with(&script.concat());
    place
        .database()
        .within(|db| {
            let generations = layout.generations(db)?;
            assert_eq!(generations.len(), 2);
            for rows in generations.iter().flat_map(|generation| generation.rows) {
                for query in [rows.newer, rows.of_session] {
                    assert!(plan(db, query)?.starts_with("SEARCH "), "{query}");
                }
                let newer = plan(db, rows.newer)?;
                assert!(newer.contains("INTEGER PRIMARY KEY"), "{newer}");
            }
            Ok(())
        })
        .unwrap();
}

fn plan(db: &Connection, query: &str) -> rusqlite::Result<String> {
    let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {query}"))?;
    for parameter in 1..=statement.parameter_count() {
        statement.raw_bind_parameter(parameter, 1)?;
    }
    let mut rows = statement.raw_query();
    rows.next()?.expect("a step").get(3)
}
