//! Migrations: from every older version with rows in it, twice, and failing at every statement.

use std::path::PathBuf;

use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::*;
use crate::{Reader, Writer};

/// Released files never change: a change to one of these needs a new migration instead.
#[test]
fn migration_files_are_pinned() {
    let hashes: Vec<String> = MIGRATIONS
        .iter()
        .map(|migration| {
            let digest = Sha256::digest(migration.sql);
            let head = u64::from_be_bytes(digest[..8].try_into().expect("has eight bytes"));
            format!("{} {head:016x}", migration.name)
        })
        .collect();
    insta::assert_snapshot!(hashes.join("\n"), @r"
    0001_init 553041af42075448
    0002_episodes 6615a58bb8193fd7
    0003_full_text 8cd27b37967180a0
    0004_vectors 828beacaa2d0b8e9
    0005_recollections 3095d65d8ad8c3ea
    0006_user_choices f23fcf6274fe7e16
    0007_problems adb98c22e90783c4
    0008_accessed_at_index 321c7a944b6febc3
    0009_project_accessed_at_index 303457b342658fec
    0010_recollection_uses ba3741d790f7e24d
    0011_episode_lengths 9322e03893d81a4d
    0012_unread_records d215f1f8f6cf8d38
    0013_instruction_files 2078507cc01be3cc
    0014_retirement 941576e78614ece3
    0015_parser_states e95007f09d7a7662
    0016_steering b60a32ede99271db
    0017_explanations db93ebbc0e11b88f
    0018_turns_by_time ddcc69b1842b7a04
    0019_shared 90d75d6e7fbe8376
    0020_share_marks 37747a6b88695930
    ");
}

/// A database that stopped at `version`, opened as the runner would.
fn database_at(folder: &TempDir, version: usize) -> (Connection, PathBuf) {
    crate::vec_extension::register().expect("registers");
    let path = folder.path().join("memory.db");
    let db = Connection::open(&path).expect("opens");
    db.pragma_update(None, "application_id", 0x524D_4252).expect("marks");
    db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
        .expect("switches");
    for (index, migration) in MIGRATIONS.iter().take(version).enumerate() {
        db.execute_batch(migration.sql).expect("migrates");
        db.pragma_update(None, "user_version", index as u32 + 1).expect("counts");
    }
    (db, path)
}

/// Puts a row into every table that there is at `version`.
fn populate(db: &Connection, version: usize) {
    let hash = [9_u8; 32];
    let no_table = || Ok(());
    let rows: [&dyn Fn() -> rusqlite::Result<()>; 20] = [
        &|| {
            set_meta(db, "schema_version", &version.to_string())?;
            db.execute_batch(
                "INSERT INTO projects (name, created_at) VALUES ('engine', 1);
                 INSERT INTO project_aliases VALUES ('git:engine', 1);
                 INSERT INTO sessions (agent, external_id, project_id) VALUES ('claude-code', 's', 1);",
            )?;
            db.execute(
                "INSERT INTO sources (agent, path, kind, device, inode, size, mtime, read_offset, read_line, committed_offset,
                     committed_line, committed_turn, prefix_hash, prefix_len, tail_hash, tail_len, generation, records, skipped)
                 VALUES ('claude-code', '/s.jsonl', 'jsonl', 1, 2, 3, 4, 5, 6, 7, 8, 9, ?1, 10, ?1, 11, 0, 12, 13)",
                [hash],
            )
            .map(drop)
        },
        &|| {
            db.execute("INSERT INTO embedding_models (id, name) VALUES (1, 'm')", [])?;
            for (uid, embedding) in [(1_u8, None), (2, Some(vec![0_u8; 1536]))] {
                db.execute(
                    "INSERT INTO episodes (uid, turn_uid, session_id, project_id, source_id, generation, origin, turn, part,
                         importance, importance_rule, created_at, updated_at, accessed_at, content_hash, embedding, embedding_model)
                     VALUES (?1, ?1, 1, 1, 1, 0, 'user', 0, 0, 1, 'default', 1, 1, 1, ?2, ?3, iif(?3 IS NULL, NULL, 1))",
                    params![[uid; 16], hash, embedding],
                )?;
            }
            db.execute_batch("INSERT INTO episode_texts SELECT id, '/home', 'main', 'how', 'so', '{}' FROM episodes")
        },
        &|| db.execute_batch("INSERT INTO episodes_fts (rowid, prompt, project) SELECT id, 'how', 'p=1' FROM episodes"),
        &|| {
            db.execute("INSERT INTO episodes_vec (rowid, code) VALUES (2, vec_bit(?1))", [[1_u8; 48]])
                .map(drop)
        },
        &|| {
            db.execute(
                "INSERT INTO recollections (at, session_id, prompt_hash, terms, pool, stages, degradations) VALUES (1, 1, ?1, '[]', 1, '[]', '[]')",
                [hash],
            )?;
            db.execute_batch(
                "INSERT INTO recollection_candidates (recollection_id, place, episode_id, fused) VALUES (1, 0, 1, 0.5);
                 INSERT INTO session_shown VALUES (1, 1, 1);",
            )
        },
        &|| {
            db.execute("INSERT INTO tombstones VALUES (?1, 1)", [[5_u8; 16]])?;
            db.execute_batch("INSERT INTO exclusions VALUES ('/secret', 1); INSERT INTO session_copies VALUES (1, 1);")
        },
        &|| {
            db.execute_batch(
                "INSERT INTO source_problems VALUES (1, 'malformed-json', 1, 2, 3); INSERT INTO counters VALUES ('x', 1);",
            )
        },
        &no_table,
        &no_table,
        &|| db.execute_batch("INSERT INTO recollection_uses VALUES (1, 1, 'words')"),
        &no_table,
        &|| db.execute_batch("INSERT INTO unread_records VALUES (1, 'malformed-json', 7, '2.1.0')"),
        &|| db.execute_batch("INSERT INTO instruction_files VALUES ('/p/AGENTS.md', '', '/p', NULL, 0, 1)"),
        &|| {
            db.execute("INSERT INTO retired_turns VALUES (?1, 1)", [[6_u8; 16]])?;
            db.execute_batch("INSERT INTO untitled_sessions VALUES (1)")
        },
        &|| db.execute_batch("INSERT INTO source_states VALUES (1, '{}')"),
        &|| {
            db.execute("INSERT INTO steered_turns VALUES (?1, 1, 2)", [[1_u8; 16]])?;
            db.execute_batch(
                "INSERT INTO boosted_episodes VALUES (1, 1, 'default'); INSERT INTO imported_uses VALUES (1, 1, 1, 'words');",
            )
        },
        &|| db.execute_batch("INSERT INTO recollection_traces VALUES (1, '{}')"),
        &no_table,
        &|| share_something(db),
        &|| leave_another_team(db),
    ];
    rows.iter().take(version).for_each(|fill| fill().expect("fills"));
}

fn leave_another_team(db: &Connection) -> rusqlite::Result<()> {
    db.execute(
        "INSERT INTO share_former VALUES ('db.example.org/other', ?1, ?1, 1)",
        [[1_u8; 16]],
    )?;
    db.execute_batch("INSERT INTO share_server VALUES (1, 1, 'm', 'first', NULL, 1)")
}

fn share_something(db: &Connection) -> rusqlite::Result<()> {
    db.execute(
        "INSERT INTO share_target (id, active, team_key, machine, allowed) VALUES (1, 1, 'db.example.org/team', ?1, '[]')",
        [[7_u8; 16]],
    )?;
    db.execute("INSERT INTO share_machines VALUES (?1)", [[8_u8; 16]])?;
    db.execute("INSERT INTO share_outbox (uid, turn_uid) VALUES (?1, ?1)", [[1_u8; 16]])?;
    db.execute("INSERT INTO share_pushed VALUES (?1, ?1, 1, 1)", [[1_u8; 16]])?;
    db.execute("INSERT INTO share_turns VALUES (?1, 'untold')", [[5_u8; 16]])?;
    db.execute_batch("INSERT INTO shared_keys VALUES ('url:example.org/engine', 1, 2)")?;
    db.execute("INSERT INTO share_forgotten VALUES (?1, 2)", [[4_u8; 16]])?;
    db.execute(
        "INSERT INTO shared_episodes VALUES (1, 2, 'bob', ?1, 'laptop', 5)",
        [[9_u8; 16]],
    )
    .map(drop)
}

/// Rows of all ordinary tables, to see that a migration loses none.
fn row_counts(db: &Connection) -> Vec<(String, i64)> {
    let mut tables = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE '%VIRTUAL%' AND name <> '_meta' ORDER BY name")
        .expect("prepares");
    let names: Vec<String> = tables
        .query_map([], |row| row.get(0))
        .expect("reads")
        .map(|name| name.expect("is text"))
        .collect();
    let count = |name: String| {
        let rows = db
            .query_row(&format!("SELECT count(*) FROM \"{name}\""), [], |row| row.get(0))
            .expect("counts");
        (name, rows)
    };
    names.into_iter().map(count).collect()
}

fn assert_whole(db: &Connection) {
    let integrity: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checks");
    assert_eq!(integrity, "ok");
    assert!(
        !db.prepare("PRAGMA foreign_key_check")
            .expect("prepares")
            .exists([])
            .expect("checks")
    );
    assert_eq!(version(db).expect("reads"), LATEST);
    assert_eq!(meta(db, "schema_version").expect("reads"), Some(LATEST.to_string()));
}

/// Everything `sqlite_schema` says, to compare two ways to the latest version.
fn schema(db: &Connection) -> String {
    let mut statement = db
        .prepare("SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")
        .expect("prepares");
    let lines: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .expect("reads")
        .map(|line| line.expect("is text"))
        .collect();
    lines.join("\n")
}

#[test]
fn the_latest_schema_has_these_objects() {
    let names: Vec<String> = fresh_schema()
        .lines()
        .filter_map(|line| line.split_once(": CREATE ").map(|(name, _)| name.to_owned()))
        .filter(|name| !name.starts_with("table episodes_fts_") && !name.starts_with("table episodes_vec_"))
        .collect();
    insta::assert_snapshot!(names.join("\n"), @r"
    index idx_episodes_accessed_at
    index idx_episodes_backlog
    index idx_episodes_model
    index idx_episodes_project_accessed_at
    index idx_episodes_project_time
    index idx_episodes_session
    index idx_episodes_source
    index idx_episodes_time
    index idx_episodes_turn
    index idx_imported_uses_episode
    index idx_project_aliases_project
    index idx_recollection_candidates_episode
    index idx_recollection_uses_episode
    index idx_recollections_project
    index idx_recollections_session
    index idx_session_copies_episode
    index idx_session_shown_episode
    index idx_sessions_external_id
    index idx_sessions_project
    index idx_share_outbox_uid
    index idx_share_outbox_urgent
    index idx_share_pushed_turn
    index idx_shared_keys_project
    table _meta
    table boosted_episodes
    table counters
    table embedding_models
    table episode_lengths
    table episode_texts
    table episodes
    table episodes_fts
    table episodes_vec
    table exclusions
    table imported_uses
    table instruction_files
    table project_aliases
    table projects
    table recollection_candidates
    table recollection_traces
    table recollection_uses
    table recollections
    table retired_turns
    table session_copies
    table session_shown
    table sessions
    table share_forgotten
    table share_former
    table share_machines
    table share_outbox
    table share_pushed
    table share_server
    table share_target
    table share_turns
    table shared_episodes
    table shared_keys
    table source_problems
    table source_states
    table sources
    table sqlite_sequence
    table steered_turns
    table tombstones
    table unread_records
    table untitled_sessions
    trigger share_branch_changed
    trigger share_episode_added
    trigger share_episode_became_own
    trigger share_episode_changed
    trigger share_episode_removed
    trigger share_key_added
    trigger share_key_changed
    trigger share_key_removed
    trigger share_project_renamed
    trigger share_turn_forgotten
    ");
}

#[expect(clippy::unnecessary_wraps, reason = "the runner asks for a result")]
fn never(_: &'static str, _: usize) -> rusqlite::Result<()> {
    Ok(())
}

fn fresh_schema() -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut db, path) = database_at(&folder, 0);
    migrate(&mut db, &path, &mut never).expect("migrates");
    schema(&db)
}

#[test]
fn tc_38_every_older_version_migrates_with_its_rows() {
    let expected = fresh_schema();
    for from in 0..LATEST as usize {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut db, path) = database_at(&folder, from);
        populate(&db, from);
        let before = row_counts(&db);
        migrate(&mut db, &path, &mut never).unwrap_or_else(|error| panic!("from {from}: {error:?}"));
        let after = row_counts(&db);
        assert!(
            before.iter().all(|count| after.contains(count)),
            "from {from}: {before:?} became {after:?}"
        );
        assert_eq!(schema(&db), expected, "from {from}");
        assert_whole(&db);
        assert_eq!(
            copy::before_migration(&path, from as u32).exists(),
            from > 0,
            "a copy is made of a database that holds something"
        );
        drop(db);
        Writer::open(&path).expect("opens").close().expect("closes");
        Reader::open(&path).expect("opens for reading");
    }
}

#[test]
fn the_copy_before_a_migration_is_the_older_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut db, path) = database_at(&folder, 3);
    populate(&db, 3);
    migrate(&mut db, &path, &mut never).expect("migrates");
    let copy = Connection::open(copy::before_migration(&path, 3)).expect("opens");
    assert_eq!(version(&copy).expect("reads"), 3);
    let rows: i64 = copy
        .query_row("SELECT count(*) FROM episode_texts", [], |row| row.get(0))
        .expect("counts");
    assert_eq!(rows, 2);
}

#[test]
fn migrations_run_twice_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut db, path) = database_at(&folder, 0);
    migrate(&mut db, &path, &mut never).expect("migrates");
    populate(&db, LATEST as usize);
    let (rows, expected) = (row_counts(&db), schema(&db));
    for migration in MIGRATIONS {
        db.execute_batch(migration.sql)
            .unwrap_or_else(|error| panic!("{} again: {error}", migration.name));
    }
    migrate(&mut db, &path, &mut |name, _| panic!("{name} ran again")).expect("has nothing to do");
    assert_eq!((row_counts(&db), schema(&db)), (rows, expected));
    assert_whole(&db);
}

/// Fails at the `n`th step of the whole run, for every n there is, then goes on with a new connection (TC-38).
#[test]
fn tc_38_a_failure_at_any_statement_converges_when_opened_again() {
    let expected = fresh_schema();
    for fail_at in 1.. {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut db, path) = database_at(&folder, 2);
        populate(&db, 2);
        let (before, mut steps) = (row_counts(&db), 0);
        let outcome = migrate(&mut db, &path, &mut |_, _| {
            steps += 1;
            if steps == fail_at {
                Err(rusqlite::Error::InvalidQuery)
            } else {
                Ok(())
            }
        });
        let Err(error) = outcome else {
            assert!(steps > 20, "every statement was failed at, {steps} in all");
            return;
        };
        assert!(matches!(error, MigrateError::Statement { .. }), "{error:?}");
        assert_eq!(
            meta(&db, "schema_version").expect("reads"),
            Some(version(&db).expect("reads").to_string())
        );
        drop(db);
        let mut db = Connection::open(&path).expect("opens");
        migrate(&mut db, &path, &mut never).expect("goes on");
        let after = row_counts(&db);
        assert!(before.iter().all(|count| after.contains(count)));
        assert_eq!(schema(&db), expected);
        assert_whole(&db);
        let copies: Vec<u32> = copy::migration_copies(&path)
            .expect("lists")
            .into_iter()
            .map(|(version, _)| version)
            .collect();
        assert_eq!(copies, [2], "one copy, however often it was begun");
        assert_eq!(meta(&db, BEGAN_AT).expect("reads"), None);
    }
}

#[test]
fn a_migration_that_goes_on_after_an_older_program_was_at_work_copies_that_too() {
    for was_used in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut db, path) = database_at(&folder, 3);
        populate(&db, 3);
        let stopped = migrate(&mut db, &path, &mut |name, _| match name {
            "0006_user_choices" => Err(rusqlite::Error::InvalidQuery),
            _ => Ok(()),
        });
        assert!(stopped.is_err() && version(&db).expect("reads") == 5);
        if was_used {
            db.execute("UPDATE episodes SET updated_at = updated_at + 1", [])
                .expect("changes");
        }
        migrate(&mut db, &path, &mut never).expect("goes on");
        let copies: Vec<u32> = copy::migration_copies(&path)
            .expect("lists")
            .into_iter()
            .map(|(version, _)| version)
            .collect();
        assert_eq!(copies, if was_used { vec![3, 5] } else { vec![3] });
    }
}

#[test]
fn the_seeds_index_is_migration_eight_as_written() {
    let written = "CREATE INDEX IF NOT EXISTS idx_episodes_accessed_at ON episodes(accessed_at DESC) WHERE embedding IS NOT NULL";
    assert!(MIGRATIONS[7].sql.contains(written));
}

#[test]
fn numbers_of_what_waits_to_be_told_go_on_from_where_they_were() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut db, path) = database_at(&folder, 19);
    for number in 1..=4_u8 {
        db.execute(
            "INSERT INTO share_outbox (uid, turn_uid, urgent) VALUES (?1, ?1, ?2)",
            params![[number; 16], number % 2],
        )
        .expect("stores");
    }
    // The last numbers were given, and are not given again.
    db.execute("DELETE FROM share_outbox WHERE change > 2", []).expect("removes");
    migrate(&mut db, &path, &mut never).expect("migrates");
    db.execute("INSERT INTO share_outbox (uid, turn_uid) VALUES (?1, ?1)", [[9_u8; 16]])
        .expect("stores");
    let mut statement = db
        .prepare("SELECT change, urgent FROM share_outbox ORDER BY change")
        .expect("prepares");
    let rows: Vec<(i64, bool)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("reads")
        .map(|row| row.expect("is a row"))
        .collect();
    assert_eq!(rows, [(1, true), (2, false), (5, false)]);
}

#[test]
fn all_tables_are_strict() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut db, path) = database_at(&folder, 0);
    migrate(&mut db, &path, &mut never).expect("migrates");
    let mut statement = db
        .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'")
        .expect("prepares");
    let loose: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .expect("reads")
        .map(|name| name.expect("is text"))
        .collect();
    // The extension's own tables; FTS5's are of another type.
    assert!(loose.iter().all(|name| name.starts_with("episodes_vec_")), "{loose:?}");
}
