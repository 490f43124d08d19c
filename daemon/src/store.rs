//! The threads that own the database: `store-writer` with the one write connection, two `store-reader`s for prompts, and
//! `store-background` for everything that may wait.
//!
//! SQLite blocks, so no task ever touches it: a thread is reached by a handle over a bounded channel, and answers by a
//! oneshot. A job runs to its end before the next. A panic in a job is that job's alone: its asker gets an error, what it
//! had begun to write is rolled back, it is logged and counted, and the thread goes on to the next.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use remembrancer_schema::{OpenError, Reader, Writer};
use tokio::sync::{mpsc, oneshot};

use crate::progress::Progress;
use crate::threads::Threads;

/// Jobs that may wait for a thread. A prompt that finds the queue full is answered with nothing.
const QUEUE: usize = 64;
/// Threads that answer prompts: one may be held up by a slow query while the other serves.
const PROMPT_READERS: usize = 2;

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// The thread behind a handle has ended, its queue is full, or it failed on the job.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreGone {
    /// The thread has ended, since the daemon is stopping, or the job panicked.
    #[error("the store gave no answer: the daemon is stopping, or failed on this; see its log")]
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
    pub(crate) fn start(writer: Writer, path: &Path, progress: &Arc<Progress>) -> anyhow::Result<Self> {
        let prompt_readers = (0..PROMPT_READERS)
            .map(|_| Reader::open(path))
            .collect::<Result<Vec<_>, OpenError>>()?;
        let background_reader = Reader::open(path)?;
        let mut house = Spawner {
            threads: Threads::default(),
            progress,
        };
        // What a panic leaves open in a writer is closed as its transaction is dropped.
        let writer = house.spawn("store-writer", vec![writer], |_| (), close)?;
        let prompts = house.spawn("store-reader", prompt_readers, without_deadline, drop)?;
        let background = house.spawn("store-background", vec![background_reader], without_deadline, drop)?;
        let threads = house.threads;
        Ok(Self {
            writer,
            prompts,
            background,
            threads,
        })
    }
}

fn close(writer: Writer) {
    if let Err(error) = writer.close() {
        tracing::warn!(%error, "the database was not closed cleanly; it is checked at the next start");
    }
}

/// Takes off the deadline of a recall that did not come to its end: the next has its own.
fn without_deadline(reader: &mut Reader) {
    reader.set_deadline_check(None);
}

struct Spawner<'a> {
    threads: Threads,
    progress: &'a Arc<Progress>,
}

impl Spawner<'_> {
    /// Starts one thread for each of `stores`. After a job that panicked its store is given to `mend`, and at the end to
    /// `end`.
    fn spawn<S: Send + 'static>(
        &mut self,
        name: &'static str,
        stores: Vec<S>,
        mend: fn(&mut S),
        end: fn(S),
    ) -> std::io::Result<StoreHandle<S>> {
        let (jobs, queue) = mpsc::channel::<Job<S>>(QUEUE);
        // Shared by the threads of one kind: held only while waiting for the next job.
        let queue = Arc::new(Mutex::new(queue));
        for mut store in stores {
            let (queue, progress) = (Arc::clone(&queue), Arc::clone(self.progress));
            self.threads.spawn(name, move || {
                while let Some(job) = next(&queue) {
                    if catch_unwind(AssertUnwindSafe(|| job(&mut store))).is_err() {
                        tracing::error!(thread = name, "a job panicked, which is a fault to report; the next goes on");
                        progress.panicked();
                        mend(&mut store);
                    }
                }
                end(store);
            })?;
        }
        Ok(StoreHandle { jobs })
    }
}

fn next<S>(queue: &Mutex<mpsc::Receiver<Job<S>>>) -> Option<Job<S>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_panics_fails_alone() {
        let progress = Arc::new(Progress::default());
        let mut house = Spawner {
            threads: Threads::default(),
            progress: &progress,
        };
        let handle = house.spawn("store-test", vec![1], |store| *store += 1, drop).unwrap();
        let failed: Result<(), _> = handle.call_blocking(|_| panic!("on purpose"));
        assert_eq!(failed, Err(StoreGone::Closed));
        assert_eq!(handle.call_blocking(|store| *store), Ok(2), "mended, and going on");
        assert_eq!(progress.problems().len(), 1, "it is counted");
        drop(handle);
        assert!(house.threads.join());
    }
}
