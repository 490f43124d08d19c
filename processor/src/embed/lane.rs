//! Threads for one kind of embedding work.
//!
//! The model splits a text's tokens over the rayon pool it is called in, so a pool a lane is what keeps the background
//! work on one thread (at a low priority, which `on_start` sets) and off the threads that answer prompts. The lanes share
//! nothing but the weights: no lock of one is ever waited for by the other.

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::EmbedError;

/// A named set of threads; embedding called inside [`Lane::run`] uses these and no others.
pub struct Lane {
    pool: ThreadPool,
}

impl Lane {
    /// Starts `threads` threads (at least one) named `<name>-<n>`, each of which calls `on_start` first.
    ///
    /// # Errors
    /// [`EmbedError::Threads`] if the system refuses a thread.
    pub fn new(name: &str, threads: usize, on_start: impl Fn() + Send + Sync + 'static) -> Result<Self, EmbedError> {
        let lane = name.to_owned();
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads.max(1))
            .thread_name({
                let lane = lane.clone();
                move |index| format!("{lane}-{index}")
            })
            .start_handler(move |_| on_start())
            .build();
        match pool {
            Ok(pool) => Ok(Self { pool }),
            Err(source) => Err(EmbedError::Threads { lane, source }),
        }
    }

    /// Does `work` on the lane's threads and waits for it. A panic in it goes on in the caller.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn work_runs_on_the_lane_s_own_threads() {
        let started = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&started);
        let lane = Lane::new("trial", 1, move || {
            counter.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
        let name = lane.run(|| std::thread::current().name().map(str::to_owned));
        assert_eq!(name.as_deref(), Some("trial-0"));
        assert_eq!((lane.threads(), started.load(Ordering::SeqCst)), (1, 1));
    }

    #[test]
    fn no_threads_means_one() {
        assert_eq!(Lane::new("trial", 0, || ()).unwrap().threads(), 1);
    }
}
