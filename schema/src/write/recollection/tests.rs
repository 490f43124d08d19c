//! The log: what is kept, and what showing changes.

use crate::testing::{MODEL, Store, batch, session, turn};
use crate::{
    EpisodeId, ForgetTarget, LoggedCandidate, RecollectionId, RecollectionLog, RecollectionUse, SessionUpdate, Showing,
    UnixMillis,
};

fn candidate(episode: EpisodeId, position: Option<u32>) -> LoggedCandidate {
    LoggedCandidate {
        episode,
        fused: 0.25,
        bm25: Some(-1.5),
        cosine: Some(0.5),
        bm25_rank: Some(1),
        vector_rank: None,
        recency_rank: Some(2),
        access_rank: Some(3),
        gate: position.is_none().then(|| "floor".to_owned()),
        position,
    }
}

fn log(at: i64, candidates: Vec<LoggedCandidate>) -> RecollectionLog {
    RecollectionLog {
        at: UnixMillis(at),
        session: session("asking"),
        project: None,
        prompt_hash: [3; 32],
        terms: vec!["term".to_owned()],
        reason: Some("floor".to_owned()),
        pool: 7,
        stages: vec![("embed".to_owned(), 12)],
        degradations: vec!["late".to_owned()],
        candidates,
    }
}

#[test]
fn a_log_comes_back_as_written() {
    let mut store = Store::new();
    let ids = store.fill(&["one", "two"]);
    let written = log(5_000, vec![candidate(ids[1], Some(1)), candidate(ids[0], None)]);
    let id = store.writer.record_recollection(&written).expect("logs");
    let read = store.reader().last_recollection(None).expect("reads").expect("is there");
    assert_eq!((read.id, &read.log), (id, &written));
    assert_eq!(store.reader().last_recollection(Some("asking")).expect("reads"), Some(read));
    assert_eq!(store.reader().last_recollection(Some("other")).expect("reads"), None);
}

#[test]
fn the_log_of_a_session_is_found_whatever_its_agent() {
    let mut store = Store::new();
    let mut written = log(5_000, Vec::new());
    written.session.agent = "codex".to_owned();
    store.writer.record_recollection(&written).expect("logs");
    let read = store.reader().last_recollection(Some("asking")).expect("reads");
    assert_eq!(read.map(|logged| logged.log.session.agent).as_deref(), Some("codex"));
}

#[test]
fn showing_is_no_use() {
    let mut store = Store::new();
    let ids = store.fill(&["one", "two"]);
    store
        .writer
        .record_recollection(&log(5_000, vec![candidate(ids[0], Some(1)), candidate(ids[1], None)]))
        .expect("logs");
    let rows = store.reader().candidates(&ids, MODEL).expect("reads");
    assert_eq!(
        rows.iter()
            .map(|row| (row.accessed_at.0, row.access_count))
            .collect::<Vec<_>>(),
        [(5_000, 0), (1_000, 0)]
    );
    store.writer.record_use(ids[0], UnixMillis(4_000)).expect("counts");
    let row = store.reader().candidates(&ids[..1], MODEL).expect("reads").remove(0);
    assert_eq!(
        (row.accessed_at.0, row.access_count),
        (5_000, 1),
        "a clock set back makes nothing older"
    );
    let shown: i64 = store
        .writer
        .db
        .query_row("SELECT sum(shown_count) FROM episodes", [], |row| row.get(0))
        .expect("reads");
    assert_eq!(shown, 1);
}

#[test]
fn what_was_shown_counts_until_compaction() {
    let mut store = Store::new();
    let ids = store.fill(&["one", "two"]);
    store
        .writer
        .record_recollection(&log(5_000, vec![candidate(ids[0], Some(1))]))
        .expect("logs");
    store
        .writer
        .record_recollection(&log(7_000, vec![candidate(ids[1], Some(1))]))
        .expect("logs");
    let shown = |store: &Store| store.reader().shown_in_session(&session("asking")).expect("reads");
    assert_eq!(shown(&store), ids);
    let mut pass = batch(Vec::new());
    pass.sessions.push(SessionUpdate {
        session: session("asking"),
        title: None,
        compacted_at: Some(UnixMillis(6_000)),
        started_at: None,
    });
    store.writer.ingest(&pass).expect("stores");
    assert_eq!(shown(&store), [ids[1]]);
    assert_eq!(store.reader().shown_in_session(&session("other")).expect("reads"), []);
}

#[test]
fn twenty_candidates_and_a_thousand_prompts_are_kept() {
    let mut store = Store::new();
    let prompts: Vec<String> = (0..30).map(|number| format!("prompt {number}")).collect();
    let ids = store.fill(&prompts.iter().map(String::as_str).collect::<Vec<_>>());
    let candidates = ids.iter().map(|&id| candidate(id, (id == ids[28]).then_some(1))).collect();
    let first = store.writer.record_recollection(&log(1, candidates)).expect("logs");
    let kept = store
        .reader()
        .last_recollection(None)
        .expect("reads")
        .expect("is there")
        .log
        .candidates;
    assert_eq!(kept.len(), 21);
    assert_eq!(kept[20].episode, ids[28], "what was shown is kept wherever it stood");
    for at in 0..1_000 {
        store.writer.record_recollection(&log(at, Vec::new())).expect("logs");
    }
    let (count, oldest): (i64, i64) = store
        .writer
        .db
        .query_row("SELECT count(*), min(id) FROM recollections", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .expect("reads");
    assert_eq!((count, oldest), (1_000, first.0 + 1));
    assert_eq!(
        store.reader().shown_in_session(&session("asking")).expect("reads"),
        [ids[28]],
        "the cap forgets nothing shown"
    );
}

#[test]
fn candidates_that_are_gone_are_left_out() {
    let mut store = Store::new();
    let ids = store.fill(&["one", "two"]);
    store.writer.ingest(&batch(vec![turn(0, "s", &[])])).expect("retires");
    let mut late = log(1, vec![candidate(ids[0], Some(1)), candidate(ids[1], Some(2))]);
    late.project = Some(crate::ProjectId(99));
    store.writer.record_recollection(&late).expect("logs");
    let read = store.reader().last_recollection(None).expect("reads").expect("is there").log;
    assert_eq!((read.candidates.len(), read.project), (1, None));
}

fn showing(recollection: RecollectionId, at: i64, episode: EpisodeId) -> Showing {
    Showing {
        recollection,
        at: UnixMillis(at),
        episode,
    }
}

fn used(recollection: RecollectionId, episode: EpisodeId) -> RecollectionUse {
    RecollectionUse {
        recollection,
        episode,
        evidence: "words".to_owned(),
    }
}

fn unused(store: &Store, from: i64, to: i64) -> Vec<Showing> {
    store
        .reader()
        .unused_showings(&session("asking"), UnixMillis(from), UnixMillis(to))
        .expect("reads")
}

fn access_counts(store: &Store, ids: &[EpisodeId]) -> Vec<u64> {
    let rows = store.reader().candidates(ids, MODEL).expect("reads");
    rows.iter().map(|row| row.access_count).collect()
}

/// Three episodes; the first was shown at 5,000, the first and the second at 7,000, the third never.
fn shown_twice() -> (Store, Vec<EpisodeId>, [RecollectionId; 2]) {
    let mut store = Store::new();
    let ids = store.fill(&["one", "two", "three"]);
    let mut show = |at, second| {
        let candidates = vec![candidate(ids[0], Some(1)), candidate(ids[1], second), candidate(ids[2], None)];
        store.writer.record_recollection(&log(at, candidates)).expect("logs")
    };
    let logs = [show(5_000, None), show(7_000, Some(2))];
    (store, ids, logs)
}

#[test]
fn what_was_shown_in_a_while_is_found() {
    let (store, ids, [first, second]) = shown_twice();
    let later = [showing(second, 7_000, ids[0]), showing(second, 7_000, ids[1])];
    assert_eq!(unused(&store, 0, 6_999), [showing(first, 5_000, ids[0])]);
    assert_eq!(unused(&store, 5_001, 7_000), later);
    assert_eq!(unused(&store, 7_001, 9_000), []);
    let other = store
        .reader()
        .unused_showings(&session("other"), UnixMillis(0), UnixMillis(9_000));
    assert_eq!(other.expect("reads"), []);
}

#[test]
fn a_showing_counts_as_a_use_once() {
    let (mut store, ids, [first, second]) = shown_twice();
    let mut record = |uses: &[RecollectionUse]| {
        store
            .writer
            .record_recollection_uses(uses, UnixMillis(8_000))
            .expect("counts")
    };
    assert_eq!(record(&[used(second, ids[0])]), 1);
    assert_eq!(
        record(&[used(second, ids[0]), used(second, ids[1])]),
        1,
        "one of them is counted already"
    );
    assert_eq!(record(&[used(first, ids[0])]), 1, "another showing is another use");
    assert_eq!(
        record(&[used(second, ids[2]), used(RecollectionId(99), ids[0])]),
        0,
        "never shown"
    );
    assert_eq!(access_counts(&store, &ids), [2, 1, 0]);
    assert_eq!(unused(&store, 0, 9_000), []);
    let rows = store.reader().candidates(&ids, MODEL).expect("reads");
    assert_eq!(rows[0].accessed_at, UnixMillis(8_000));
}

#[test]
fn uses_go_with_their_episode_and_with_their_log() {
    let (mut store, ids, [_, second]) = shown_twice();
    let uses = [used(second, ids[0]), used(second, ids[1])];
    store
        .writer
        .record_recollection_uses(&uses, UnixMillis(8_000))
        .expect("counts");
    let uid = crate::EpisodeUid::of(&crate::testing::turn_uid(0), 0).to_string();
    store
        .writer
        .forget(&ForgetTarget::Episode(uid), UnixMillis(9_000))
        .expect("forgets");
    assert_eq!(
        store
            .writer
            .record_recollection_uses(&uses, UnixMillis(9_000))
            .expect("counts"),
        0
    );
    let left = |store: &Store| -> i64 {
        let count = store
            .writer
            .db
            .query_row("SELECT count(*) FROM recollection_uses", [], |row| row.get(0));
        count.expect("counts")
    };
    assert_eq!(left(&store), 1);
    for at in 10_000..11_000 {
        store.writer.record_recollection(&log(at, Vec::new())).expect("logs");
    }
    assert_eq!(
        (left(&store), access_counts(&store, &ids[1..])),
        (0, vec![1, 0]),
        "what was counted stays"
    );
}

#[test]
fn what_was_hidden_meanwhile_may_still_be_counted() {
    let (mut store, ids, [_, second]) = shown_twice();
    store.writer.exclude_session(&session("s")).expect("hides");
    let counted = store
        .writer
        .record_recollection_uses(&[used(second, ids[0])], UnixMillis(8_000));
    assert_eq!(counted.expect("counts"), 1);
    store.writer.include_session(&session("s")).expect("shows");
    assert_eq!(access_counts(&store, &ids), [1, 0, 0]);
}
