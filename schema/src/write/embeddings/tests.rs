//! Embeddings: bits and neighbours against a naive search, and models that change (TC-32, TC-33).

use proptest::prelude::*;

use crate::testing::{MODEL, Store, batch, in_project, turn, vector};
use crate::{EmbeddedEpisode, EpisodeId, EpisodeUid, ProjectId, QueryError, Scope, TurnUpsert, UnixMillis, bit_code};

fn rows(store: &Store, model: &str, vector: impl Fn(EpisodeId) -> Vec<f32>) -> Vec<EmbeddedEpisode> {
    let backlog = store.reader().embedding_backlog(model, 1_000).expect("reads");
    backlog
        .into_iter()
        .map(|row| EmbeddedEpisode {
            id: row.id,
            content_hash: row.content_hash,
            vector: vector(row.id),
        })
        .collect()
}

fn codes(store: &Store) -> Vec<(EpisodeId, Vec<u8>)> {
    let mut codes = Vec::new();
    store
        .reader()
        .for_each_code(|id, _, code| codes.push((id, code.to_vec())))
        .expect("reads");
    codes.sort();
    codes
}

#[test]
fn vectors_come_back_as_stored() {
    let mut store = Store::new();
    let ids = store.fill(&["one", "two", "three"]);
    assert_eq!(store.embed().len(), 3);
    let candidates = store.reader().candidates(&ids, MODEL).expect("reads");
    assert!(candidates.iter().all(|row| row.embedding == Some(vector(row.id))));
    assert_eq!(
        codes(&store),
        ids.iter().map(|&id| (id, bit_code(&vector(id)))).collect::<Vec<_>>()
    );
    assert!(
        store
            .reader()
            .candidates(&ids, "other")
            .expect("reads")
            .iter()
            .all(|row| row.embedding.is_none())
    );
}

#[test]
fn late_embeddings_of_changed_texts_are_dropped() {
    let mut store = Store::new();
    let ids = store.fill(&["one", "two"]);
    store.writer.set_embedding_model(MODEL, 8).expect("sets");
    let late = rows(&store, MODEL, vector);
    store.writer.ingest(&batch(vec![turn(0, "s", &["changed"])])).expect("stores");
    assert_eq!(store.writer.store_embeddings(MODEL, &late).expect("stores"), [ids[1]]);
    assert_eq!(codes(&store).len(), 1);
}

#[test]
fn defective_vectors_are_refused() {
    let mut store = Store::new();
    store.fill(&["one"]);
    store.writer.set_embedding_model(MODEL, 8).expect("sets");
    for defective in [vec![0.0; 8], vec![1.0; 16], vec![f32::NAN; 8], Vec::new()] {
        let error = store
            .writer
            .store_embeddings(MODEL, &rows(&store, MODEL, |_| defective.clone()))
            .expect_err("is refused");
        assert!(matches!(error, QueryError::Invalid { .. }), "{error:?}");
    }
    assert_eq!(codes(&store), []);
    for dimension in [0, 7, 8_200] {
        assert!(matches!(
            store.writer.set_embedding_model("x", dimension),
            Err(QueryError::Invalid { .. })
        ));
    }
}

#[test]
fn tc_33_another_model_re_embeds_and_is_never_mixed() {
    let mut store = Store::new();
    let ids = store.fill(&["one", "two", "three"]);
    store.embed();
    store.writer.set_embedding_model("wide", 16).expect("sets");
    assert_eq!(codes(&store), [], "no code of the old model is current");
    assert_eq!(store.found("two").len(), 1, "words find it all the same");
    assert_eq!(
        store.reader().recently_accessed(Scope::All, 9).expect("reads").len(),
        3,
        "recall goes on meanwhile"
    );
    let stats = store.reader().stats().expect("counts");
    assert_eq!(
        (stats.embedded, stats.backlog, stats.model),
        (0, 3, Some(("wide".to_owned(), 16)))
    );
    assert_eq!(
        store
            .writer
            .store_embeddings(MODEL, &rows(&store, "wide", vector))
            .expect("is late"),
        [],
        "the old model is too late"
    );

    let first: Vec<_> = rows(&store, "wide", |_| vec![0.25; 16]).into_iter().take(2).collect();
    assert_eq!(first[0].id, ids[2], "newest first");
    assert_eq!(store.writer.store_embeddings("wide", &first).expect("stores").len(), 2);
    assert_eq!(codes(&store), [(ids[1], vec![255, 255]), (ids[2], vec![255, 255])]);
    assert_eq!(rows(&store, "wide", |_| vec![0.25; 16]).len(), 1, "the rest waits");

    store.writer.set_embedding_model(MODEL, 8).expect("sets back");
    assert_eq!(
        codes(&store),
        [(ids[0], bit_code(&vector(ids[0])))],
        "what it made before is current again"
    );
    assert_eq!(store.reader().embedding_backlog(MODEL, 9).expect("reads").len(), 2);
}

#[test]
fn the_backlog_is_newest_first_and_bounded() {
    let mut store = Store::new();
    let ids = store.fill(&["one", "two", "three"]);
    let backlog = store.reader().embedding_backlog(MODEL, 2).expect("reads");
    assert_eq!(
        backlog.iter().map(|row| (row.id, row.prompt.as_str())).collect::<Vec<_>>(),
        [(ids[2], "three"), (ids[1], "two")]
    );
}

#[test]
fn a_query_of_another_dimension_is_an_error_and_no_answer() {
    let mut store = Store::new();
    store.fill(&["one"]);
    store.embed();
    assert!(store.reader().nearest_codes(&[1, 2], 3).is_err());
    assert!(matches!(
        store.reader().nearest_codes(&[1], 0),
        Err(QueryError::Invalid { .. })
    ));
    assert!(matches!(
        store.reader().nearest_codes(&[1], 4_097),
        Err(QueryError::Invalid { .. })
    ));
}

/// 4,100 nearer vectors of another project, and three rightful ones (TC-32).
#[test]
fn a_project_filter_acts_inside_the_search() {
    let mut store = Store::new();
    let mut project = |key: &str| {
        store
            .writer
            .resolve_project(&[key.to_owned()], key, None, UnixMillis(1))
            .expect("resolves")
    };
    let (near, far) = (project("near"), project("far"));
    let turns = (0..4_103_u32)
        .map(|number| numbered(number, if number % 1_400 == 7 { far } else { near }))
        .collect();
    store.writer.ingest(&batch(turns)).expect("stores");
    store.writer.set_embedding_model(MODEL, 8).expect("sets");
    let backlog = store.reader().embedding_backlog(MODEL, 5_000).expect("reads");
    let is_far = |part: &str| part.ends_with("far");
    let embedded: Vec<_> = backlog
        .into_iter()
        .map(|row| EmbeddedEpisode {
            id: row.id,
            content_hash: row.content_hash,
            vector: vec![if is_far(&row.prompt) { -0.5 } else { 0.5 }; 8],
        })
        .collect();
    store.writer.store_embeddings(MODEL, &embedded).expect("stores");
    let found = store.reader().nearest_codes_of(Some(far), &[0xff], 9).expect("searches");
    assert_eq!(found.iter().map(|&(_, distance)| distance).collect::<Vec<_>>(), [8, 8, 8]);
    assert_eq!(
        store
            .reader()
            .nearest_codes_of(Some(near), &[0xff], 4_096)
            .expect("searches")
            .len(),
        4_096
    );
    assert_eq!(store.reader().nearest_codes_of(None, &[0xff], 9).expect("searches"), []);
    let mut in_memory = 0;
    store
        .reader()
        .for_each_code(|_, project, _| in_memory += usize::from(project == Some(far)))
        .expect("reads");
    assert_eq!(in_memory, 3);
}

/// A turn of its own number; its prompt names its project.
fn numbered(number: u32, project: ProjectId) -> TurnUpsert {
    let name = if project == ProjectId(2) { "far" } else { "near" };
    let mut turn = in_project(turn(0, "s", &[name]), project);
    turn.turn_uid.0[..4].copy_from_slice(&number.to_le_bytes());
    turn.episodes[0].turn_uid = turn.turn_uid;
    turn.episodes[0].uid = EpisodeUid::of(&turn.turn_uid, 0);
    turn
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn neighbours_are_those_of_a_naive_search(vectors in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 64), 1..60), k in 1_usize..20, gone in 0_u8..60) {
        let mut store = Store::new();
        store.fill(&vec!["text"; vectors.len()]);
        store.writer.set_embedding_model(MODEL, 64).expect("sets");
        let first = store.id(0, 0).0;
        let embedded = rows(&store, MODEL, |id| vectors[(id.0 - first) as usize].clone());
        store.writer.store_embeddings(MODEL, &embedded).expect("stores");
        store.writer.ingest(&batch(vec![turn(gone, "s", &[])])).expect("retires one");

        let query = bit_code(&vectors[0]);
        let mut expected: Vec<(u32, EpisodeId)> = embedded
            .iter()
            .filter(|row| row.id.0 - first != i64::from(gone))
            .map(|row| (bit_code(&row.vector).iter().zip(&query).map(|(a, b)| (a ^ b).count_ones()).sum(), row.id))
            .collect();
        expected.sort_unstable();
        let nearest = store.reader().nearest_codes(&query, k).expect("searches");
        let distances: Vec<u32> = nearest.iter().map(|&(_, distance)| distance).collect();
        prop_assert_eq!(&distances, &expected.iter().take(k).map(|&(distance, _)| distance).collect::<Vec<_>>());
        // Which of several equally far ones come last is the extension's choice.
        let last = distances.last().copied().unwrap_or(0);
        let certain = |list: &mut dyn Iterator<Item = (u32, EpisodeId)>| list.filter(|&(distance, _)| distance < last).collect::<Vec<_>>();
        prop_assert_eq!(certain(&mut nearest.iter().map(|&(id, distance)| (distance, id))), certain(&mut expected.into_iter().take(k)));
    }
}
