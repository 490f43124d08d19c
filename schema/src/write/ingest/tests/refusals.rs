//! What is not stored: the forgotten, and what the disk, a lock or a broken batch forbid.

use super::{check, check_batch, outcome};
use crate::testing::{Store, batch, in_project, session, turn, turn_uid};
use crate::{ByteOffset, EpisodeUid, QueryError, UnixMillis};

#[test]
fn what_was_forgotten_never_comes_back() {
    let mut store = Store::new();
    let turns = vec![turn(1, "s", &["one", "two"]), turn(2, "s", &["three"])];
    check(&mut store, turns.clone(), outcome(|it| it.added = 3));
    let target = crate::ForgetTarget::Episode(EpisodeUid::of(&turn_uid(1), 1).short());
    let forgotten = store.writer.forget(&target, UnixMillis(0)).expect("forgets");
    assert_eq!(
        (forgotten.episodes, forgotten.turn_uids),
        (2, vec![turn_uid(1)]),
        "whole turns are forgotten"
    );
    check(
        &mut store,
        turns.clone(),
        outcome(|it| (it.tombstoned, it.unchanged) = (2, 1)),
    );
    let mut fork = turns;
    fork[0].session = session("fork");
    check(&mut store, vec![fork[0].clone()], outcome(|it| it.tombstoned = 2));
    assert_eq!(store.reader().tombstones().expect("reads"), [turn_uid(1)]);
}

#[test]
fn a_restored_tombstone_of_one_episode_counts_too() {
    let mut store = Store::new();
    let uid = EpisodeUid::of(&turn_uid(1), 1);
    store
        .writer
        .restore_tombstones(&[crate::TurnUid(uid.0)], UnixMillis(0))
        .expect("restores");
    check(
        &mut store,
        vec![turn(1, "s", &["one", "two"])],
        outcome(|it| (it.added, it.tombstoned) = (1, 1)),
    );
}

#[test]
fn a_full_disk_stores_nothing_and_can_go_on() {
    let mut store = Store::new();
    store.fill(&["one"]);
    let pages: i64 = store
        .writer
        .db
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .expect("reads");
    let limit = |store: &Store, pages: i64| {
        store
            .writer
            .db
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .expect("sets");
    };
    limit(&store, pages);
    let text = "many words ".repeat(20_000);
    let mut pass = batch(vec![turn(7, "s", &[&text])]);
    pass.source.position.read_offset = ByteOffset(12_345);
    let error = store.writer.ingest(&pass).expect_err("there is no room");
    assert!(matches!(error, QueryError::Full { .. }), "{error:?}");
    assert!(!error.is_of_content());
    let position = store
        .reader()
        .source(&pass.source.path)
        .expect("reads")
        .expect("is known")
        .position;
    assert_eq!(position.read_offset, ByteOffset(100), "the position did not move");
    assert_eq!(store.found("one").len(), 1);
    limit(&store, 1 << 30);
    check_batch(&mut store, &pass, outcome(|it| it.added = 1));
}

#[test]
fn a_locked_database_is_busy_and_still_read() {
    let mut store = Store::new();
    store.fill(&["one"]);
    let other = rusqlite::Connection::open(&store.path).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locks");
    store.writer.db.busy_timeout(std::time::Duration::ZERO).expect("sets");
    let error = store
        .writer
        .ingest(&batch(vec![turn(2, "s", &["two"])]))
        .expect_err("is locked");
    assert!(matches!(error, QueryError::Busy { .. }), "{error:?}");
    assert!(!error.is_of_content());
    assert_eq!(store.found("one").len(), 1);
    other.execute_batch("ROLLBACK").expect("unlocks");
    check(&mut store, vec![turn(2, "s", &["two"])], outcome(|it| it.added = 1));
}

#[test]
fn a_project_that_is_gone_is_a_fault_of_what_was_handed_in() {
    let mut store = Store::new();
    let error = store
        .writer
        .ingest(&batch(vec![in_project(turn(1, "s", &["one"]), crate::ProjectId(404))]))
        .expect_err("there is none");
    assert!(error.is_of_content(), "{error:?}");
    check(&mut store, vec![turn(2, "s", &["two"])], outcome(|it| it.added = 1));
}
