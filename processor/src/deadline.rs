//! The monotonic clock of the prompt path: one [`Deadline`] made when a prompt is accepted and passed down, and a
//! [`Stopwatch`] for stage times. Nobody restarts a deadline; a leg that misses it is an absent leg.

use std::time::{Duration, Instant};

/// What a budget counts as that leads beyond the clock.
const FAR: Duration = Duration::from_hours(100 * 365 * 24);

/// The moment by which a recall must have answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

impl Deadline {
    /// A deadline `budget` from now.
    #[expect(clippy::disallowed_methods, reason = "the one reader of the monotonic clock in this crate")]
    pub fn after(budget: Duration) -> Self {
        let now = Instant::now();
        Self(now.checked_add(budget).unwrap_or(now + FAR))
    }

    /// The time left, zero once it has passed.
    #[expect(clippy::disallowed_methods, reason = "the one reader of the monotonic clock in this crate")]
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether the deadline has passed.
    pub fn has_passed(self) -> bool {
        self.remaining().is_zero()
    }

    /// The same deadline, earlier by `margin`: what an inner step may use so that the outer one can still finish.
    #[must_use]
    pub fn earlier_by(self, margin: Duration) -> Self {
        Self(self.0.checked_sub(margin).unwrap_or(self.0))
    }
}

/// Measures how long the stages of one recall took.
#[derive(Debug, Clone)]
pub struct Stopwatch {
    last: Instant,
    laps: Vec<(&'static str, Duration)>,
}

impl Stopwatch {
    /// Starts the first stage.
    #[expect(clippy::disallowed_methods, reason = "the one reader of the monotonic clock in this crate")]
    pub fn start() -> Self {
        Self {
            last: Instant::now(),
            laps: Vec::new(),
        }
    }

    /// Ends the running stage under `name` and starts the next.
    #[expect(clippy::disallowed_methods, reason = "the one reader of the monotonic clock in this crate")]
    pub fn lap(&mut self, name: &'static str) {
        let now = Instant::now();
        self.laps.push((name, now.duration_since(self.last)));
        self.last = now;
    }

    /// The time of all stages so far.
    pub fn total(&self) -> Duration {
        self.laps.iter().map(|(_, took)| *took).sum()
    }

    /// The stages so far with their durations, in order.
    pub fn laps(&self) -> &[(&'static str, Duration)] {
        &self.laps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_only_comes_nearer() {
        let deadline = Deadline::after(Duration::from_mins(1));
        let inner = deadline.earlier_by(Duration::from_secs(30));
        assert!(inner < deadline);
        assert!(inner.remaining() <= Duration::from_secs(30));
        assert!(!inner.has_passed());
        assert!(Deadline::after(Duration::ZERO).has_passed());
        assert!(!Deadline::after(Duration::MAX).has_passed());
    }

    #[test]
    fn laps_keep_their_order() {
        let mut watch = Stopwatch::start();
        watch.lap("first");
        watch.lap("second");
        let names: Vec<_> = watch.laps().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["first", "second"]);
    }
}
