//! The log: what is kept, and what showing changes.

use crate::testing::{MODEL, Store, batch, session, turn};
use crate::{EpisodeId, LoggedCandidate, RecollectionLog, SessionUpdate, UnixMillis};

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
    assert_eq!(
        store.reader().last_recollection(Some(&session("asking"))).expect("reads"),
        Some(read)
    );
    assert_eq!(
        store.reader().last_recollection(Some(&session("other"))).expect("reads"),
        None
    );
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
