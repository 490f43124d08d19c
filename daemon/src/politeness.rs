//! How background work keeps out of the user's way: a low priority, and rests between steps.

use std::time::Duration;

/// How much of the machine one background thread may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Politeness {
    /// The share of its time in which a background thread works, in (0, 1].
    duty: f64,
}

impl Politeness {
    /// For `share` of a machine with `processors`: a background worker is one thread, so it works all the time where the
    /// share comes to a processor or more, and rests in between where it comes to less.
    pub(crate) fn new(share: f64, processors: usize) -> Self {
        Self {
            duty: (share * processors as f64).clamp(0.01, 1.0),
        }
    }

    /// How long to rest after a step that took `took`.
    pub(crate) fn rest_after(self, took: Duration) -> Duration {
        took.mul_f64(1.0 / self.duty - 1.0)
    }
}

/// Gives the calling thread the lowest priority, so that whatever else the user runs comes first.
///
/// On Linux a priority belongs to a thread. Elsewhere it belongs to the process, whose prompts must not wait: there the
/// rests alone have to do.
pub(crate) fn lower_this_thread() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "the priority of a background thread stays as it is");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_make_up_the_share() {
        let step = Duration::from_millis(10);
        assert_eq!(Politeness::new(0.5, 1).rest_after(step), step);
        assert_eq!(Politeness::new(0.5, 2).rest_after(step), Duration::ZERO);
        assert_eq!(Politeness::new(0.05, 4).rest_after(step), step * 4);
    }
}
