//! Versions from outside: two processes and many threads on one fresh file, and databases of other versions.

use std::path::Path;
use std::process::Command;
use std::thread;

use remembrancer_schema::{FreshCopy, OpenError, Reader, SCHEMA_VERSION, Writer};
use rusqlite::Connection;

/// Names the file that a child process opens.
const SHARED_FILE: &str = "REMEMBRANCER_TEST_SHARED_FILE";

fn set_version(path: &Path, version: u32) {
    let db = Connection::open(path).expect("opens");
    db.pragma_update(None, "user_version", version).expect("sets");
    db.pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()))
        .expect("checkpoints");
}

fn assert_whole(path: &Path) {
    let db = Connection::open(path).expect("opens");
    let tables: i64 = db
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'episodes'", [], |row| {
            row.get(0)
        })
        .expect("reads");
    assert_eq!(tables, 1);
    let reader = Reader::open(path).expect("opens");
    let stats = reader.stats().expect("counts");
    assert_eq!(
        (stats.schema_version, stats.meta_schema_version),
        (SCHEMA_VERSION, SCHEMA_VERSION)
    );
}

#[test]
fn threads_open_one_fresh_file_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store/memory.db");
    thread::scope(|scope| {
        let writers: Vec<_> = (0..8).map(|_| scope.spawn(|| Writer::open(&path))).collect();
        for writer in writers {
            writer.join().expect("does not panic").expect("opens");
        }
    });
    assert_whole(&path);
}

#[test]
fn processes_open_one_fresh_file_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store/memory.db");
    let child = || {
        Command::new(std::env::current_exe().expect("has a name"))
            .args(["--exact", "child_opens_the_shared_file"])
            .env(SHARED_FILE, &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("starts")
    };
    let children: Vec<_> = (0..4).map(|_| child()).collect();
    for mut child in children {
        assert!(child.wait().expect("ends").success());
    }
    assert_whole(&path);
}

/// The other half of the test above; alone it has nothing to do.
#[test]
fn child_opens_the_shared_file() {
    if let Some(path) = std::env::var_os(SHARED_FILE) {
        Writer::open(Path::new(&path)).expect("opens");
    }
}

#[test]
fn tc_38_a_future_database_is_refused_and_left_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memory.db");
    Writer::open(&path).expect("opens").close().expect("closes");
    set_version(&path, SCHEMA_VERSION + 1);
    let before = fs_err::read(&path).expect("reads");
    for error in [Writer::open(&path).err(), Reader::open(&path).err()] {
        let error = error.expect("is refused");
        assert!(matches!(error, OpenError::Future { backup: None, .. }), "{error:?}");
        assert!(error.to_string().contains("install the newer version again"), "{error}");
    }
    assert_eq!(fs_err::read(&path).expect("reads"), before);
}

#[test]
fn a_future_database_names_the_copy_before_its_migration() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memory.db");
    let copy = folder.path().join(format!("memory.db.v{SCHEMA_VERSION}.bak"));
    let writer = Writer::open(&path).expect("opens");
    for target in [
        copy.clone(),
        folder.path().join("memory.db.v1.bak"),
        folder.path().join(format!("memory.db.v{}.bak", SCHEMA_VERSION + 1)),
    ] {
        FreshCopy::make(&path, &target, &mut |_| std::ops::ControlFlow::Continue(()))
            .and_then(|copy| copy.put_at(&target))
            .expect("copies");
    }
    writer.close().expect("closes");
    set_version(&path, SCHEMA_VERSION + 2);
    let error = Writer::open(&path).expect_err("is refused");
    let message = error.to_string();
    assert!(message.contains(copy.to_str().expect("is text")), "{message}");
    assert!(message.contains("`remembrancer restore --pre-migration`"), "{message}");
    let named = remembrancer_schema::newest_before_migration(&path)
        .expect("lists")
        .expect("is there");
    assert_eq!(named, copy, "what the command takes");
    remembrancer_schema::restore(&path, &named, "now").expect("restores");
    Writer::open(&path).expect("opens the copy");
}

#[test]
fn a_reader_never_migrates() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memory.db");
    Writer::open(&path).expect("opens").close().expect("closes");
    // What the last migration made goes, and what it replaced comes back.
    Connection::open(&path)
        .and_then(|db| {
            db.execute_batch(
                "DROP TRIGGER share_episode_added; DROP TRIGGER share_episode_changed; DROP TRIGGER share_episode_removed;
                 DROP TRIGGER share_branch_changed; DROP TRIGGER share_turn_forgotten; DROP TRIGGER share_project_renamed;
                 DROP TRIGGER share_key_added; DROP TRIGGER share_key_changed; DROP TRIGGER share_key_removed;
                 DROP TABLE share_former; DROP TABLE share_server; DROP TABLE share_outbox;",
            )?;
            db.execute_batch(include_str!("../migrations/0019_shared.sql"))
        })
        .expect("drops");
    set_version(&path, SCHEMA_VERSION - 1);
    let error = Reader::open(&path).expect_err("is refused");
    assert!(matches!(error, OpenError::NeedsMigration { .. }), "{error:?}");
    assert!(error.to_string().contains("start the daemon"), "{error}");
    Writer::open(&path).expect("migrates");
    Reader::open(&path).expect("opens");
}
