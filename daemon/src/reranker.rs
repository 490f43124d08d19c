//! The reranker, where the settings name one. It is loaded in the background, and run for the thread that searches, on a
//! lane of its own.
//!
//! Until it is there, and where it can't be loaded, recall goes on without it, and `status` says so. A panic of the model is
//! a failed reranking, and the recall goes on.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use remembrancer_processor::Deadline;
use remembrancer_processor::embed::{DeviceChoice, Lane};
use remembrancer_processor::rerank::{CrossEncoder, Rerank, RerankError};

use crate::causes::with_causes;
use crate::threads::{Threads, contained};

/// Threads of the lane at most: beyond four a short passage gains little.
const MOST_THREADS: usize = 4;

/// Reaches the reranker, if there is to be one.
#[derive(Clone, Default)]
pub(crate) struct Reranker {
    /// Once it is set, the model, or for people why there is none.
    loaded: Option<Arc<OnceLock<Result<OnLane, String>>>>,
}

impl Reranker {
    /// Begins to load the model of `model_dir` on one of `threads`; with no folder there is none.
    ///
    /// # Errors
    /// Where a thread can't be started.
    pub(crate) fn start(model_dir: Option<PathBuf>, device: DeviceChoice, threads: &mut Threads) -> std::io::Result<Self> {
        match model_dir {
            None => Ok(Self::default()),
            Some(folder) => Self::start_with(move || Ok(Box::new(CrossEncoder::from_dir(&folder, device)?)), threads),
        }
    }

    /// Begins to load the model that `load` gives.
    fn start_with(
        load: impl FnOnce() -> Result<Box<dyn Rerank>, RerankError> + Send + 'static,
        threads: &mut Threads,
    ) -> std::io::Result<Self> {
        let cell = Arc::new(OnceLock::new());
        let loaded = Some(Arc::clone(&cell));
        threads.spawn("reranker-load", move || {
            cell.get_or_init(|| {
                let loaded = contained(|| OnLane::new(load()?)).unwrap_or(Err(RerankError::Panicked));
                loaded.map_err(|error| {
                    let reason = with_causes(&error);
                    tracing::warn!(%reason, "recall goes on without a reranker");
                    reason
                })
            });
        })?;
        Ok(Self { loaded })
    }

    /// The model, once it is there.
    pub(crate) fn ready(&self) -> Option<&dyn Rerank> {
        let model = self.loaded.as_ref()?.get()?.as_ref().ok()?;
        Some(model)
    }

    /// The state for `status`; none where the settings name no reranker.
    pub(crate) fn describe(&self) -> Option<String> {
        Some(match self.loaded.as_ref()?.get() {
            None => "loading".to_owned(),
            Some(Ok(model)) => model.model_id().to_owned(),
            Some(Err(reason)) => format!("none: {reason}"),
        })
    }
}

/// A model with threads of its own, which all that search share.
struct OnLane {
    model: Box<dyn Rerank>,
    lane: Lane,
}

impl OnLane {
    fn new(model: Box<dyn Rerank>) -> Result<Self, RerankError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let lane = Lane::new("rerank", threads, || ())?;
        Ok(Self { model, lane })
    }
}

impl Rerank for OnLane {
    fn model_id(&self) -> &str {
        self.model.model_id()
    }

    fn scores(&self, query: &str, passages: &[&str], deadline: Deadline) -> Result<Vec<Option<f32>>, RerankError> {
        contained(|| self.lane.run(|| self.model.scores(query, passages, deadline))).unwrap_or(Err(RerankError::Panicked))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// Says on which thread it runs, by its score; panics at an empty prompt.
    struct Fake;

    impl Rerank for Fake {
        fn model_id(&self) -> &'static str {
            "fake"
        }

        fn scores(&self, query: &str, passages: &[&str], _: Deadline) -> Result<Vec<Option<f32>>, RerankError> {
            assert!(!query.is_empty());
            let on_lane = std::thread::current().name().is_some_and(|name| name.starts_with("rerank-"));
            Ok(vec![Some(f32::from(u8::from(on_lane))); passages.len()])
        }
    }

    fn scores(reranker: &Reranker, query: &str) -> Result<Vec<Option<f32>>, RerankError> {
        let deadline = Deadline::after(Duration::from_mins(1));
        reranker.ready().unwrap().scores(query, &["a", "b"], deadline)
    }

    #[test]
    fn no_folder_is_no_reranker() {
        let mut threads = Threads::default();
        let reranker = Reranker::start(None, DeviceChoice::Cpu, &mut threads).unwrap();
        assert!(reranker.ready().is_none() && reranker.describe().is_none());
        assert!(threads.join());
    }

    #[test]
    fn it_is_absent_until_it_is_loaded_and_then_runs_on_its_lane() {
        let (go_on, told) = channel::<()>();
        let mut threads = Threads::default();
        let load = move || {
            told.recv().unwrap();
            Ok(Box::new(Fake) as Box<dyn Rerank>)
        };
        let reranker = Reranker::start_with(load, &mut threads).unwrap();
        assert!(reranker.ready().is_none());
        assert_eq!(reranker.describe().as_deref(), Some("loading"));
        go_on.send(()).unwrap();
        assert!(threads.join());
        assert_eq!(reranker.describe().as_deref(), Some("fake"));
        assert_eq!(scores(&reranker, "lock").unwrap(), [Some(1.0), Some(1.0)]);
    }

    #[test]
    fn a_panic_of_the_model_is_a_failed_reranking() {
        let mut threads = Threads::default();
        let reranker = Reranker::start_with(|| Ok(Box::new(Fake)), &mut threads).unwrap();
        assert!(threads.join());
        assert!(matches!(scores(&reranker, ""), Err(RerankError::Panicked)));
        assert!(scores(&reranker, "lock").is_ok());
    }

    #[test]
    fn a_folder_that_won_t_do_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut threads = Threads::default();
        let reranker = Reranker::start(Some(folder.path().to_owned()), DeviceChoice::Cpu, &mut threads).unwrap();
        assert!(threads.join());
        assert!(reranker.ready().is_none());
        let told = reranker.describe().unwrap();
        assert!(
            told.starts_with("none: can't read ") && told.contains("config.json"),
            "{told}"
        );
    }
}
