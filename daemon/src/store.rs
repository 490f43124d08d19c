//! The threads that own the database: `store-writer` with the one write connection, two `store-reader`s for prompts, and
//! `store-background` for everything that may wait.
//!
//! SQLite blocks, so no task ever touches it: a thread is reached by a handle over a bounded channel, and answers by a
//! oneshot. A job runs to its end before the next; a panic in a job ends the thread, which the supervisor notices.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use remembrancer_schema::{OpenError, Reader, Writer};
use tokio::sync::{mpsc, oneshot};

use crate::threads::Threads;

/// Jobs that may wait for a thread. A prompt that finds the queue full is answered with nothing.
const QUEUE: usize = 64;
/// Threads that answer prompts: one may be held up by a slow query while the other serves.
const PROMPT_READERS: usize = 2;

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// The thread behind a handle has ended, or its queue is full.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreGone {
    /// The thread has ended: the daemon is stopping.
    #[error("the store is closed")]
    Closed,
    /// Too many jobs wait already.
    #[error("the store is busy")]
    Busy,
}

/// Reaches the threads that own a `S`.
pub(crate) struct StoreHandle<S> {
    jobs: mpsc::Sender<Job<S>>,
}

impl<S> Clone for StoreHandle<S> {
    fn clone(&self) -> Self {
        Self { jobs: self.jobs.clone() }
    }
}

impl<S: 'static> StoreHandle<S> {
    /// Runs `job` on a thread of this store, waiting for a place in the queue.
    ///
    /// # Errors
    /// [`StoreGone::Closed`].
    pub(crate) async fn call<T: Send + 'static>(&self, job: impl FnOnce(&mut S) -> T + Send + 'static) -> Result<T, StoreGone> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(boxed(job, reply)).await.map_err(|_| StoreGone::Closed)?;
        answer.await.map_err(|_| StoreGone::Closed)
    }

    /// Runs `job` if there is a place in the queue now.
    ///
    /// # Errors
    /// [`StoreGone::Busy`] where the queue is full, [`StoreGone::Closed`].
    pub(crate) fn offer<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> Result<oneshot::Receiver<T>, StoreGone> {
        let (reply, answer) = oneshot::channel();
        self.jobs.try_send(boxed(job, reply)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StoreGone::Busy,
            mpsc::error::TrySendError::Closed(_) => StoreGone::Closed,
        })?;
        Ok(answer)
    }

    /// As [`StoreHandle::call`], for a thread that is not a task.
    ///
    /// # Errors
    /// [`StoreGone::Closed`].
    pub(crate) fn call_blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> Result<T, StoreGone> {
        let (reply, answer) = oneshot::channel();
        self.jobs.blocking_send(boxed(job, reply)).map_err(|_| StoreGone::Closed)?;
        answer.blocking_recv().map_err(|_| StoreGone::Closed)
    }
}

fn boxed<S, T: Send + 'static>(job: impl FnOnce(&mut S) -> T + Send + 'static, reply: oneshot::Sender<T>) -> Job<S> {
    Box::new(move |store| {
        // The asker may be gone by now: its answer is then nobody's.
        drop(reply.send(job(store)));
    })
}

/// The store's threads and the handles to them.
pub(crate) struct Store {
    /// The one writer.
    pub writer: StoreHandle<Writer>,
    /// Readers for prompts.
    pub prompts: StoreHandle<Reader>,
    /// A reader for what may wait.
    pub background: StoreHandle<Reader>,
    /// The threads, joined when all handles are gone.
    pub threads: Threads,
}

impl Store {
    /// Starts the threads with `writer`, and readers of the same file.
    ///
    /// # Errors
    /// Where a read connection can't be opened, or a thread can't be started.
    pub(crate) fn start(writer: Writer, path: &Path) -> anyhow::Result<Self> {
        let prompt_readers = (0..PROMPT_READERS)
            .map(|_| Reader::open(path))
            .collect::<Result<Vec<_>, OpenError>>()?;
        let background_reader = Reader::open(path)?;
        let mut threads = Threads::default();
        let writer = spawn("store-writer", vec![writer], &mut threads, |writer| {
            if let Err(error) = writer.close() {
                tracing::warn!(%error, "the database was not closed cleanly; it is checked at the next start");
            }
        })?;
        let prompts = spawn("store-reader", prompt_readers, &mut threads, drop)?;
        let background = spawn("store-background", vec![background_reader], &mut threads, drop)?;
        Ok(Self {
            writer,
            prompts,
            background,
            threads,
        })
    }
}

fn spawn<S: Send + 'static>(name: &str, stores: Vec<S>, threads: &mut Threads, end: fn(S)) -> std::io::Result<StoreHandle<S>> {
    let (jobs, queue) = mpsc::channel::<Job<S>>(QUEUE);
    // Shared by the threads of one kind: held only while waiting for the next job.
    let queue = Arc::new(Mutex::new(queue));
    for mut store in stores {
        let queue = Arc::clone(&queue);
        threads.spawn(name, move || {
            while let Some(job) = next(&queue) {
                job(&mut store);
            }
            end(store);
        })?;
    }
    Ok(StoreHandle { jobs })
}

fn next<S>(queue: &Mutex<mpsc::Receiver<Job<S>>>) -> Option<Job<S>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}
