//! Explanations of logged prompts over a real store: what is filled in, what is gone, what an older version left out.

use remembrancer_schema::trace::{TracedQuery, TracedTerm, TracedTop};
use remembrancer_schema::{ForgetTarget, SessionKey, UnixMillis, Writer};
use tempfile::TempDir;

use super::*;
use crate::sample_rows;

/// A store of two episodes.
struct Store {
    folder: TempDir,
    writer: Writer,
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Writer::open(&folder.path().join("memory.db")).unwrap();
        let turns = vec![sample_rows::turn(1, "/shop"), sample_rows::turn(2, "/shop")];
        writer.ingest(&sample_rows::batch(turns)).unwrap();
        Self { folder, writer }
    }

    fn reader(&self) -> Reader {
        Reader::open(&self.folder.path().join("memory.db")).unwrap()
    }

    fn ids(&self) -> Vec<EpisodeId> {
        self.reader().episodes_of(&ForgetTarget::All).unwrap()
    }
}

fn log(ids: &[EpisodeId], stages: &[&str]) -> RecollectionLog {
    let candidates = ids.iter().zip(0..).map(|(id, place)| LoggedCandidate {
        episode: *id,
        fused: 2.0 - f64::from(place),
        bm25: Some(-4.5),
        cosine: Some(0.5),
        bm25_rank: Some(place + 1),
        vector_rank: Some(1),
        recency_rank: Some(1),
        access_rank: None,
        gate: (place > 0).then(|| "below-floor".to_owned()),
        position: (place == 0).then_some(1),
    });
    RecollectionLog {
        at: UnixMillis(1_790_000_000_000),
        session: SessionKey {
            agent: "claude-code".to_owned(),
            external_id: "asks".to_owned(),
        },
        project: None,
        prompt_hash: [0; 32],
        terms: vec!["alpha".to_owned(), "beta".to_owned()],
        reason: None,
        pool: 7,
        stages: stages.iter().map(|name| ((*name).to_owned(), 5)).collect(),
        degradations: vec!["no-model".to_owned()],
        candidates: candidates.collect(),
    }
}

fn trace(ids: &[EpisodeId]) -> RecollectionTrace {
    RecollectionTrace {
        profile: "default".to_owned(),
        whole_micros: 9_000,
        budget_micros: 240_000,
        query: TracedQuery {
            stop_words: 4,
            ..TracedQuery::default()
        },
        terms: vec![TracedTerm::default(); 2],
        lists: vec![TracedList {
            leg: "bm25".to_owned(),
            top: ids.iter().map(|id| TracedTop(id.0, -4.5, 1)).collect(),
            ..TracedList::default()
        }],
        candidates: ids
            .iter()
            .zip(1..)
            .map(|(_, place)| TracedCandidate {
                place,
                words: 0b10,
                coverage: 0.25,
                ..TracedCandidate::default()
            })
            .collect(),
        ..RecollectionTrace::default()
    }
}

#[test]
fn a_logged_prompt_is_told_with_ids_words_and_numbers() {
    let mut store = Store::new();
    let ids = store.ids();
    store
        .writer
        .record_explained(&log(&ids, &["bm25", "text"]), Some(&trace(&ids)))
        .unwrap();
    let told = explain(&store.reader(), &ExplainRequest::default()).unwrap();
    assert_eq!((told.known, told.prompt.number), (Known::Whole, Some(1)));
    let by_id = ExplainRequest {
        id: told.prompt.id.clone(),
        ..ExplainRequest::default()
    };
    assert_eq!(explain(&store.reader(), &by_id).unwrap(), told);
    let shown = told.shown();
    assert_eq!(shown.len(), 1);
    assert_eq!(
        (shown[0].words.as_slice(), shown[0].matched),
        (&["beta".to_owned()][..], Some(1))
    );
    assert_eq!(shown[0].id, told.lists[0].top[0].id);
    assert!(shown[0].id.is_some() && shown[0].asked.is_some());
    assert!(told.candidates[1].because.is_some());
    assert_eq!((told.query.stop_words.count, told.pool.size), (4, 7));
    assert_eq!(told.times.whole_micros, Some(9_000));
    assert_eq!(told.degradations[0].about, "there was no model: words alone");
    let value = serde_json::to_value(&told).unwrap();
    assert_eq!(
        serde_json::from_value::<Explanation>(value).unwrap(),
        told,
        "whoever reads it gets the same"
    );
}

#[test]
fn what_was_forgotten_is_gone_and_its_place_stays() {
    let mut store = Store::new();
    let ids = store.ids();
    store
        .writer
        .record_explained(&log(&ids, &["bm25", "text"]), Some(&trace(&ids)))
        .unwrap();
    let uid = store.reader().texts(&ids[..1]).unwrap()[0].uid;
    store
        .writer
        .forget(&ForgetTarget::Episode(uid.to_string()), UnixMillis(5))
        .unwrap();
    let told = explain(&store.reader(), &ExplainRequest::default()).unwrap();
    assert_eq!(told.candidates.len(), 2);
    assert_eq!((&told.candidates[0].id, told.candidates[0].fused_place), (&None, Some(1)));
    assert!(told.candidates[1].id.is_some());
    assert_eq!((&told.lists[0].top[0].id, &told.lists[0].top[0].asked), (&None, &None));
    assert!(told.lists[0].top[1].id.is_some());
    assert_eq!(told.query.terms.len(), 2, "how many there were is no secret");
    assert!(told.query.terms.iter().all(|term| term.term.is_none()));
    assert_eq!((told.candidates[1].words.len(), told.candidates[1].matched), (0, Some(1)));
}

#[test]
fn how_much_is_known_is_said() {
    let mut store = Store::new();
    let ids = store.ids();
    store.writer.record_recollection(&log(&ids, &["bm25", "text"])).unwrap();
    store.writer.record_recollection(&log(&[], &["whole"])).unwrap();
    let number = |number| {
        let request = ExplainRequest {
            number: Some(number),
            ..ExplainRequest::default()
        };
        explain(&store.reader(), &request)
    };
    assert_eq!(number(1).unwrap().known, Known::NotSearched);
    let older = number(2).unwrap();
    assert_eq!(
        (older.known, older.candidates.len(), older.pool.found),
        (Known::Older, 2, None)
    );
    assert_eq!(
        older.candidates[1].because.as_deref(),
        Some("neither words nor meaning support it enough")
    );
    assert_eq!(number(3).unwrap_err().to_string(), "fewer than 3 prompts are kept");
}

#[test]
fn what_is_no_id_is_refused_in_words() {
    let store = Store::new();
    let by_id = |id: &str| {
        let request = ExplainRequest {
            id: Some(id.to_owned()),
            ..ExplainRequest::default()
        };
        explain(&store.reader(), &request).unwrap_err().to_string()
    };
    assert!(by_id("1207").contains("is no id of a prompt"));
    assert!(by_id("p-x").contains("is no id of a prompt"));
    assert!(by_id("p1207").contains("there is no prompt p1207"));
    let nothing = explain(&store.reader(), &ExplainRequest::default()).unwrap_err();
    assert_eq!(nothing.to_string(), "no prompt has been answered yet");
}

#[test]
fn the_list_is_of_the_latest() {
    let mut store = Store::new();
    let ids = store.ids();
    store.writer.record_recollection(&log(&ids, &["bm25", "text"])).unwrap();
    store.writer.record_recollection(&log(&[], &["whole"])).unwrap();
    let listed = explanations(&store.reader(), None, Some(1)).unwrap();
    assert_eq!(listed["prompts"].as_array().unwrap().len(), 1);
    let listed = explanations(&store.reader(), Some("asks"), None).unwrap();
    assert_eq!(
        (&listed["prompts"][1]["shown"], &listed["prompts"][1]["number"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(listed["prompts"][1]["terms"], json!(["alpha", "beta"]));
    assert_eq!(
        explanations(&store.reader(), Some("other"), None).unwrap(),
        json!({"prompts": []})
    );
}

/// `docs/json.md` tells of every member.
#[test]
fn every_member_is_documented() {
    let documentation = include_str!("../../../../docs/json.md");
    let mut whole = Explanation {
        prompt: Prompt::default(),
        candidates: vec![Candidate::default()],
        ..Explanation::default()
    };
    whole.lists.push(List {
        top: vec![Top::default()],
        ..List::default()
    });
    whole.query.terms.push(Term::default());
    whole.sources.push(Source::default());
    whole.gates.push(Gate::default());
    whole.degradations.push(Named::default());
    whole.stages.push(Stage::default());
    let mut missing = Vec::new();
    undocumented(&serde_json::to_value(&whole).unwrap(), documentation, &mut missing);
    assert!(missing.is_empty(), "{missing:?}");
}

fn undocumented(value: &Value, documentation: &str, missing: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if !documentation.contains(&format!("`{name}`")) {
                    missing.push(name.clone());
                }
                undocumented(value, documentation, missing);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| undocumented(value, documentation, missing)),
        _ => {}
    }
}
