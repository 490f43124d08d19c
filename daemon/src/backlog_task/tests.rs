use remembrancer_processor::embed::EmbedError;
use remembrancer_processor::recall::Degradation;
use remembrancer_schema::UnixMillis;

use super::*;
use crate::embedder::start_with;
use crate::sample_rows::{batch, turn};
use crate::store::Store;

/// A model of which only the dimension matters.
struct Model {
    dimension: usize,
    panics: bool,
}

impl Embed for Model {
    fn model_id(&self) -> &'static str {
        "test-model"
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed_query(&self, _: &str) -> Result<Embedding, EmbedError> {
        assert!(!self.panics, "on purpose");
        Embedding::normalised(vec![1.0; self.dimension])
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        texts.iter().map(|text| self.embed_query(text)).collect()
    }
}

fn count(codes: &SharedCodes) -> usize {
    codes.index().read().unwrap().len()
}

/// The embedder, the codes and the number of embedded episodes after a backlog of two was worked on with this model.
fn after_work(model: Model) -> (EmbedderHandle, SharedCodes, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut writer = Writer::open(&path).unwrap();
    writer.ingest(&batch(vec![turn(1, "/a"), turn(2, "/b")])).unwrap();
    let progress = Arc::new(Progress::default());
    let store = Store::start(writer, &path, &progress).unwrap();
    let (embedder, threads) = start_with(move || ModelState::Ready(Arc::new(model)), 1).unwrap();
    let codes = SharedCodes::new(64);
    let backlog = Backlog {
        writer: store.writer.clone(),
        background: store.background.clone(),
        embedder: embedder.clone(),
        codes: codes.clone(),
        progress: Arc::clone(&progress),
        politeness: Politeness::new(1.0),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ModelState::Ready(model) = embedder.loaded().await else {
            panic!("it is ready")
        };
        match backlog
            .round(model.as_ref(), &mut Memory::default(), &CancellationToken::new())
            .await
        {
            Ok(()) => {}
            Err(BacklogError::Unusable(reason)) => embedder.give_up(reason),
            Err(error) => panic!("{error}"),
        }
    });
    drop((backlog, store.writer, store.prompts, store.background));
    assert!(store.threads.join());
    drop(threads);
    (embedder, codes, progress.counts().embedded)
}

#[test]
fn a_backlog_is_embedded_and_its_codes_are_there() {
    let (_, codes, vectors) = after_work(Model {
        dimension: 64,
        panics: false,
    });
    assert_eq!((count(&codes), vectors), (2, 2));
}

#[test]
fn a_model_whose_vectors_can_t_be_stored_is_none() {
    let (embedder, codes, vectors) = after_work(Model {
        dimension: 12,
        panics: false,
    });
    assert_eq!((count(&codes), vectors), (0, 0));
    let described = embedder.state().describe();
    assert!(
        described.starts_with("none: ") && described.contains("multiple of 8"),
        "{described}"
    );
}

#[test]
fn a_model_that_panics_leaves_its_threads_alive() {
    let (embedder, codes, vectors) = after_work(Model {
        dimension: 64,
        panics: true,
    });
    assert_eq!((count(&codes), vectors), (0, 0), "each is left out, and the backlog ends");
    let patience = Duration::from_secs(10);
    for _ in 0..2 {
        let mut asked = embedder.ask("why".to_owned(), remembrancer_processor::Deadline::after(patience));
        assert_eq!(asked.wait(patience).err(), Some(Degradation::EmbeddingFailed));
    }
}

#[test]
fn codes_follow_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut writer = Writer::open(&path).unwrap();
    writer.ingest(&batch(vec![turn(1, "/a"), turn(2, "/b")])).unwrap();
    writer.set_embedding_model("test-model", 64).unwrap();
    let reader = Reader::open(&path).unwrap();
    let rows: Vec<EmbeddedEpisode> = reader
        .embedding_backlog("test-model", 2)
        .unwrap()
        .iter()
        .map(|row| embedded(row, Embedding::normalised(vec![1.0; 64]).unwrap()))
        .collect();
    let stored = writer.store_embeddings("test-model", &rows).unwrap();

    let codes = SharedCodes::new(64);
    codes.reload(&reader).unwrap();
    assert_eq!(count(&codes), 0, "before a model is adopted the store may hold another's");
    assert_eq!(codes.adopt(&reader, 64).unwrap(), 2);
    writer.exclude_path("/a", UnixMillis(2)).unwrap();
    codes.renew(&reader, "test-model", &stored).unwrap();
    assert_eq!(count(&codes), 1, "one of the batch was hidden before its codes came");
    writer.exclude_path("/b", UnixMillis(3)).unwrap();
    codes.reload(&reader).unwrap();
    assert_eq!(count(&codes), 0);
}
