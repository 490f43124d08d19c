//! Threads that end by themselves when every handle to them is dropped, and jobs on them that may fail alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

/// Threads to wait for at the end.
#[derive(Default)]
pub(crate) struct Threads(Vec<JoinHandle<()>>);

impl Threads {
    /// Starts a thread called `name`.
    ///
    /// # Errors
    /// Where the system refuses one.
    pub(crate) fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        self.0.push(std::thread::Builder::new().name(name.to_owned()).spawn(work)?);
        Ok(())
    }

    /// Waits until all have ended. Returns whether none of them panicked.
    pub(crate) fn join(self) -> bool {
        let ended: Vec<_> = self.0.into_iter().map(JoinHandle::join).collect();
        ended.iter().all(Result::is_ok)
    }
}

/// The program is at fault; where, its log says.
#[derive(Debug, thiserror::Error)]
#[error("the program failed on this, which is a fault to report; see its log")]
pub(crate) struct Panicked;

/// What `work` gives, or that it panicked: one job, text or file must not end the thread that others wait for.
pub(crate) fn contained<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}
