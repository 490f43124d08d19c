//! The threads that own the database: `store-writer` with the one write connection, two `store-reader`s for prompts, and
//! `store-background` for everything that may wait.
//!
//! SQLite blocks, so no task ever touches it: a thread is reached by a handle over a bounded channel, and answers by a
//! oneshot. A job runs to its end before the next. A panic in a job is that job's alone: its asker gets an error, what it
//! had begun to write is rolled back, it is logged and counted, and the thread goes on to the next. What a job found damaged
//! is noted: a damaged index is rebuilt (`upkeep`), and a damaged store is looked through at the next start.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use remembrancer_schema::{Damage, OpenError, Reader, Writer};
use tokio::sync::{mpsc, oneshot};

use crate::causes::with_causes;
use crate::health::Beacon;
use crate::progress::Progress;
use crate::threads::{Threads, contained};

/// Jobs that may wait for a thread. A prompt that finds the queue full is answered with nothing.
const QUEUE: usize = 64;
/// Threads that answer prompts: one may be held up by a slow query while the other serves.
const PROMPT_READERS: usize = 2;

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// The thread behind a handle has ended, its queue is full, or it failed on the job.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
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
    /// [`NoAnswer::Closed`].
    pub(crate) async fn call<T: Send + 'static>(&self, job: impl FnOnce(&mut S) -> T + Send + 'static) -> Result<T, NoAnswer> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(boxed(job, reply)).await.map_err(|_| NoAnswer::Closed)?;
        answer.await.map_err(|_| NoAnswer::Closed)
    }

    /// Runs `job` if there is a place in the queue now.
    ///
    /// # Errors
    /// [`NoAnswer::Busy`] where the queue is full, [`NoAnswer::Closed`].
    pub(crate) fn offer<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> Result<oneshot::Receiver<T>, NoAnswer> {
        let (reply, answer) = oneshot::channel();
        self.jobs.try_send(boxed(job, reply)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => NoAnswer::Busy,
            mpsc::error::TrySendError::Closed(_) => NoAnswer::Closed,
        })?;
        Ok(answer)
    }

    /// As [`StoreHandle::call`], for a thread that is not a task.
    ///
    /// # Errors
    /// [`NoAnswer::Closed`].
    pub(crate) fn call_blocking<T: Send + 'static>(&self, job: impl FnOnce(&mut S) -> T + Send + 'static) -> Result<T, NoAnswer> {
        let (reply, answer) = oneshot::channel();
        self.jobs.blocking_send(boxed(job, reply)).map_err(|_| NoAnswer::Closed)?;
        answer.blocking_recv().map_err(|_| NoAnswer::Closed)
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
        let mut spawner = Spawner {
            threads: Threads::default(),
            progress,
        };
        let writer = spawner.spawn("store-writer", vec![writer])?;
        let prompts = spawner.spawn("store-reader", prompt_readers)?;
        let background = spawner.spawn("store-background", vec![background_reader])?;
        let threads = spawner.threads;
        Ok(Self {
            writer,
            prompts,
            background,
            threads,
        })
    }
}

/// What a thread of the store owns.
trait Connection: Send + 'static {
    /// Makes it fit for the next job after one that panicked.
    fn mend(&mut self);

    /// What the last jobs found damaged, told once.
    fn take_damage(&mut self) -> Option<Damage>;

    /// Ends it with its thread, and whether any of the store's connections found damage.
    fn end(self, damaged: bool);
}

impl Connection for Writer {
    /// What a panic left open was closed as its transaction was dropped.
    fn mend(&mut self) {}

    fn take_damage(&mut self) -> Option<Damage> {
        self.take_damage()
    }

    fn end(mut self, damaged: bool) {
        if damaged {
            self.distrust();
        }
        if let Err(error) = self.close() {
            tracing::warn!(error = %with_causes(&error), "the database was not closed cleanly; it is checked at the next start");
        }
    }
}

impl Connection for Reader {
    /// Takes off the deadline of a recall that did not come to its end: the next has its own.
    fn mend(&mut self) {
        self.set_deadline_check(None);
    }

    fn take_damage(&mut self) -> Option<Damage> {
        Self::take_damage(self)
    }

    fn end(self, _: bool) {}
}

struct Spawner<'a> {
    threads: Threads,
    progress: &'a Arc<Progress>,
}

impl Spawner<'_> {
    /// Starts one thread for each of `connections`.
    fn spawn<S: Connection>(&mut self, name: &'static str, connections: Vec<S>) -> std::io::Result<StoreHandle<S>> {
        let (jobs, queue) = mpsc::channel::<Job<S>>(QUEUE);
        // Shared by the threads of one kind: held only while waiting for the next job.
        let queue = Arc::new(Mutex::new(queue));
        for connection in connections {
            let (queue, progress, jobs) = (Arc::clone(&queue), Arc::clone(self.progress), self.progress.jobs_of(name));
            self.threads
                .spawn(name, move || serve(name, connection, &queue, &progress, &jobs))?;
        }
        Ok(StoreHandle { jobs })
    }
}

/// Does one job after the other, until nobody can ask for more.
fn serve<S: Connection>(
    name: &'static str,
    mut connection: S,
    queue: &Mutex<mpsc::Receiver<Job<S>>>,
    progress: &Progress,
    jobs: &Beacon,
) {
    while let Some(job) = next(queue) {
        jobs.waits();
        if contained(|| job(&mut connection)).is_err() {
            tracing::error!(thread = name, "a job panicked, which is a fault to report; the next goes on");
            progress.panicked();
            connection.mend();
        }
        if let Some(damage) = connection.take_damage() {
            tracing::error!(thread = name, ?damage, "a job found the store damaged");
            progress.found_damage(damage);
        }
        jobs.rests();
    }
    connection.end(progress.is_damaged());
}

fn next<S>(queue: &Mutex<mpsc::Receiver<Job<S>>>) -> Option<Job<S>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts its mends; says of every job what it found damaged, and at the end what it was told.
    struct Fake {
        mends: usize,
        finds: Option<Damage>,
        told: Arc<Mutex<Option<bool>>>,
    }

    impl Connection for Fake {
        fn mend(&mut self) {
            self.mends += 1;
        }

        fn take_damage(&mut self) -> Option<Damage> {
            self.finds
        }

        fn end(self, damaged: bool) {
            *self.told.lock().unwrap() = Some(damaged);
        }
    }

    /// The problems after a job that panicked, a wait for a damaged index, and what the connection was told at its end.
    fn check(finds: Option<Damage>) -> (usize, bool, Option<bool>) {
        let progress = Arc::new(Progress::default());
        let mut spawner = Spawner {
            threads: Threads::default(),
            progress: &progress,
        };
        let told = Arc::default();
        let fake = Fake {
            mends: 0,
            finds,
            told: Arc::clone(&told),
        };
        let handle = spawner.spawn("store-test", vec![fake]).unwrap();
        let failed: Result<(), _> = handle.call_blocking(|_| panic!("on purpose"));
        assert_eq!(failed, Err(NoAnswer::Closed));
        assert_eq!(handle.call_blocking(|fake| fake.mends), Ok(1), "mended, and going on");
        drop(handle);
        assert!(spawner.threads.join());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let notified =
            runtime.block_on(async { tokio::time::timeout(std::time::Duration::ZERO, progress.index_damaged.notified()).await });
        let told = *told.lock().unwrap();
        (progress.problems().len(), notified.is_ok(), told)
    }

    #[test]
    fn a_job_that_panics_fails_alone() {
        assert_eq!(check(None), (1, false, Some(false)), "it is counted");
    }

    #[test]
    fn damage_is_told_to_who_mends_it_and_to_who_closes_the_store() {
        assert_eq!(check(Some(Damage::Index)), (1, true, Some(true)));
        assert_eq!(check(Some(Damage::Database)), (2, false, Some(true)), "and the user");
    }
}
