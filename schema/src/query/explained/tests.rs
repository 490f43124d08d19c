//! The logged prompts as they are read again, and what of them goes when something is forgotten.

use rusqlite::Connection;

use crate::rows::trace::{TracedCandidate, TracedGate, TracedList, TracedQuery, TracedSource, TracedTerm, TracedTop};
use crate::testing::{Store, batch, in_project, session, turn};
use crate::{EpisodeId, ForgetTarget, LoggedCandidate, ProjectId, RecollectionLog, RecollectionTrace, SessionKey, UnixMillis};

fn candidate(episode: EpisodeId, position: Option<u32>) -> LoggedCandidate {
    LoggedCandidate {
        episode,
        fused: 1.5,
        bm25: Some(-2.5),
        cosine: Some(0.25),
        bm25_rank: Some(1),
        vector_rank: Some(2),
        recency_rank: Some(3),
        access_rank: Some(1),
        gate: position.is_none().then(|| "below-floor".to_owned()),
        position,
    }
}

fn log(asking: SessionKey, project: Option<ProjectId>, candidates: Vec<LoggedCandidate>) -> RecollectionLog {
    RecollectionLog {
        at: UnixMillis(9_000),
        session: asking,
        project,
        prompt_hash: [3; 32],
        terms: vec!["term".to_owned()],
        reason: candidates.is_empty().then(|| "chatter".to_owned()),
        pool: candidates.len() as u32,
        stages: vec![("bm25".to_owned(), 12)],
        degradations: Vec::new(),
        candidates,
    }
}

/// As long as a trace can get: more candidates, terms, lists and gates than a recall ever notes, with numbers of all digits.
fn longest() -> RecollectionTrace {
    const LONG: f64 = -0.000_123_46;
    let part = || vec![LONG; 7];
    let name = |number: usize| format!("name-of-a-part-{number:02}");
    RecollectionTrace {
        profile: "default".to_owned(),
        scope: "project-first".to_owned(),
        budget_micros: 240_000,
        left_micros: Some(239_999),
        whole_micros: 239_999,
        query: TracedQuery {
            characters: 100_000,
            asked: 16_384,
            command: true,
            pasted_lines: 9_999,
            error_kept: true,
            stop_words: 150,
            beyond: 9_999,
        },
        terms: vec![
            TracedTerm {
                episodes: 9_999_999,
                weight: 12.3456,
                too_common: true,
            };
            32
        ],
        sources: (0..6)
            .map(|number| TracedSource {
                name: name(number),
                found: 500,
                added: 500,
                passed_over: Some(500),
                absent: Some("expansion-absent".to_owned()),
            })
            .collect(),
        lists: (0..6)
            .map(|number| TracedList {
                leg: name(number),
                counts: true,
                ranked: 999,
                // What is absent has no first.
                absent: None,
                top: vec![TracedTop(9_999_999, 1_795_836_770_500.0, 999); 10],
            })
            .collect(),
        gates: (0..11)
            .map(|number| TracedGate {
                name: name(number),
                value: Some(LONG),
                threshold: LONG,
                passed: Some(false),
            })
            .collect(),
        reranked: true,
        fused_parts: (0..7).map(name).collect(),
        second_parts: (0..13).map(name).collect(),
        candidates: vec![
            TracedCandidate {
                place: 40,
                fused: LONG,
                fused_parts: part(),
                second_parts: vec![LONG; 13],
                // No profile has one of these beside a second stage.
                expansion_rank: None,
                graph_rank: None,
                remote_rank: Some(999),
                words: u64::from(u32::MAX),
                coverage: 0.1234,
                foreign: true,
                web: true,
                important: true,
                in_time: true,
                uses: 9_999,
            };
            23
        ],
        ..RecollectionTrace::default()
    }
}

fn traces(store: &Store) -> i64 {
    let db = Connection::open(&store.path).expect("opens");
    let count = db.query_row("SELECT count(*) FROM recollection_traces", [], |row| row.get(0));
    count.expect("counts")
}

#[test]
fn how_a_prompt_was_answered_comes_back_as_written() {
    let mut store = Store::new();
    let ids = store.fill(&["one", "two"]);
    let written = log(
        session("asks"),
        None,
        vec![candidate(ids[1], Some(1)), candidate(ids[0], None)],
    );
    let id = store.writer.record_explained(&written, Some(&longest())).expect("logs");
    let read = store.reader().explained(id).expect("reads").expect("is there");
    assert_eq!((read.id, read.number, &read.log), (id, 1, &written));
    assert_eq!((read.places.as_slice(), read.trace), (&[0, 1][..], Some(longest())));
    let older = store.writer.record_recollection(&written).expect("logs");
    let read = store.reader().explained(older).expect("reads").expect("is there");
    assert_eq!((read.trace, read.log), (None, written), "as an older version logged it");
}

/// ADR 46 states the size.
#[test]
fn the_longest_trace_is_within_its_bound() {
    let mut trace = longest();
    let bytes = serde_json::to_string(&trace).expect("is JSON").len();
    assert!(
        (12_000..RecollectionTrace::MOST_BYTES).contains(&bytes),
        "{bytes} bytes: neither far from the bound nor over it"
    );
    let mut store = Store::new();
    trace.candidates.extend(longest().candidates);
    let written = log(session("asks"), None, Vec::new());
    let id = store
        .writer
        .record_explained(&written, Some(&trace))
        .expect("logs what it can");
    let read = store.reader().explained(id).expect("reads").expect("is there");
    assert_eq!((read.trace, read.log), (None, written));
}

#[test]
fn the_nth_latest_is_found_of_all_of_a_session_and_of_those_that_showed_something() {
    let mut store = Store::new();
    let ids = store.fill(&["one"]);
    let shown = |asking| log(session(asking), None, vec![candidate(ids[0], Some(1))]);
    let silent = |asking| log(session(asking), None, Vec::new());
    let logs = [shown("a"), silent("b"), shown("b"), silent("a")];
    let logged: Vec<_> = logs
        .iter()
        .map(|log| store.writer.record_recollection(log).expect("logs"))
        .collect();
    let reader = store.reader();
    let found = |number, session, shown| {
        let found = reader.nth_explained(number, session, shown).expect("reads");
        found.map(|found| (found.id, found.number))
    };
    assert_eq!(found(1, None, false), Some((logged[3], 1)));
    assert_eq!(found(4, None, false), Some((logged[0], 4)));
    assert_eq!(found(5, None, false), None);
    assert_eq!(found(1, None, true), Some((logged[2], 2)));
    assert_eq!(found(2, None, true), Some((logged[0], 4)));
    assert_eq!(found(1, Some("b"), false), Some((logged[2], 2)));
    assert_eq!(found(1, Some("a"), true), Some((logged[0], 4)));
    assert_eq!(found(1, Some("c"), false), None);
    let listed = |session, limit| -> Vec<(u32, u32)> {
        let rows = reader.logged_prompts(session, limit).expect("lists");
        rows.iter().map(|row| (row.number, row.shown)).collect()
    };
    assert_eq!(listed(None, 3), [(1, 0), (2, 1), (3, 0)]);
    assert_eq!(listed(Some("a"), 9), [(1, 0), (4, 1)]);
}

#[test]
fn what_is_forgotten_leaves_the_explanations() {
    let mut store = Store::new();
    store
        .writer
        .ingest(&batch(vec![
            turn(1, "a", &["one"]),
            turn(2, "a", &["two"]),
            turn(3, "b", &["three"]),
        ]))
        .expect("stores");
    let ids = store.reader().episodes_of(&ForgetTarget::All).expect("lists");
    let candidates = || {
        vec![
            candidate(ids[2], Some(1)),
            candidate(ids[0], None),
            candidate(ids[1], Some(2)),
        ]
    };
    let of_a = store
        .writer
        .record_explained(&log(session("a"), None, candidates()), Some(&longest()));
    let of_b = store
        .writer
        .record_explained(&log(session("b"), None, candidates()), Some(&longest()));
    let (of_a, of_b) = (of_a.expect("logs"), of_b.expect("logs"));
    store
        .writer
        .forget(
            &ForgetTarget::Session {
                agent: None,
                external_id: "b".to_owned(),
            },
            UnixMillis(5),
        )
        .expect("forgets");
    assert_eq!(
        store.reader().explained(of_b).expect("reads"),
        None,
        "a prompt of what is forgotten is"
    );
    let read = store.reader().explained(of_a).expect("reads").expect("is there still");
    assert_eq!(read.places, [1, 2], "the first candidate is gone, and its place tells so");
    assert_eq!(read.log.terms, Vec::<String>::new());
    assert_eq!(read.trace, Some(longest()));
    store.writer.forget(&ForgetTarget::All, UnixMillis(6)).expect("forgets");
    assert_eq!(store.reader().logged_prompts(None, 9).expect("lists"), []);
    let left = traces(&store);
    assert_eq!(left, 0);
}

#[test]
fn the_prompts_of_a_forgotten_project_go_though_the_session_stays() {
    let mut store = Store::new();
    let project = store
        .writer
        .resolve_project(&["git:goes".to_owned()], "goes", None, UnixMillis(1))
        .expect("resolves");
    store
        .writer
        .ingest(&batch(vec![
            in_project(turn(1, "a", &["one"]), project),
            turn(2, "a", &["two"]),
        ]))
        .expect("stores");
    let there = store
        .writer
        .record_explained(&log(session("a"), Some(project), Vec::new()), Some(&longest()));
    let elsewhere = store
        .writer
        .record_explained(&log(session("a"), None, Vec::new()), Some(&longest()));
    store
        .writer
        .forget(&ForgetTarget::Project(project), UnixMillis(5))
        .expect("forgets");
    let read = |id| store.reader().explained(id).expect("reads").is_some();
    assert_eq!((read(there.expect("logs")), read(elsewhere.expect("logs"))), (false, true));
}

#[test]
fn a_thousand_explanations_are_kept() {
    let mut store = Store::new();
    let written = log(session("asks"), None, Vec::new());
    let first = store.writer.record_explained(&written, Some(&longest())).expect("logs");
    for _ in 0..1_000 {
        store
            .writer
            .record_explained(&written, Some(&RecollectionTrace::default()))
            .expect("logs");
    }
    assert_eq!(store.reader().explained(first).expect("reads"), None);
    let left = traces(&store);
    assert_eq!(left, 1_000);
}
