//! Waiting for a condition instead of for a time, and measuring how long things take.

use std::time::Duration;

use remembrancer_processor::{Deadline, Stopwatch};

/// Between two looks at a condition.
const PAUSE: Duration = Duration::from_millis(10);

/// Looks again and again until `look` gives something.
///
/// # Panics
/// When `patience` ends before: `what` is what was waited for.
pub fn eventually<T>(what: &str, patience: Duration, look: impl FnMut() -> Option<T>) -> T {
    within(patience, look).unwrap_or_else(|| panic!("waited {patience:?} in vain for {what}"))
}

/// Looks again and again until `look` gives something; `None` when `patience` ends before.
pub fn within<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Deadline::after(patience);
    loop {
        let found = look();
        if found.is_some() || deadline.has_passed() {
            return found;
        }
        std::thread::park_timeout(PAUSE);
    }
}

/// What `work` gives, and how long it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let mut watch = Stopwatch::start();
    let result = work();
    watch.lap("work");
    (result, watch.total())
}
