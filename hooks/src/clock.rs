//! The clocks of the hook. Nothing comes in; instants of the monotonic clock, deadlines and the wall clock's milliseconds go out.
//!
//! Hook and daemon read the same `CLOCK_MONOTONIC`, so an absolute deadline can travel between them as a plain number of
//! nanoseconds. No other file of this crate reads a clock.

use std::time::Duration;

use crate::system::clock as system;

/// From the hook's start to its exit (seed 004).
pub const BUDGET: Duration = Duration::from_millis(240);

/// The part of the budget that is kept for printing and for leaving, measured with a busy machine in mind. The deadline that
/// travels with a request lies this much before the end of the budget.
pub const EXIT_MARGIN: Duration = Duration::from_millis(8);

/// At most this much of the time between the process's making and its first act is counted: more of it is the work of a
/// wrapper that became the hook by `exec`.
const LONGEST_START: Duration = Duration::from_millis(100);

/// Returns `CLOCK_MONOTONIC` in nanoseconds since an arbitrary start, the same for every process of this machine until it reboots.
pub fn monotonic_ns() -> u64 {
    u64::try_from(system::monotonic().as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the instant of `CLOCK_MONOTONIC` at which this process was made, as far as the system tells; the present instant
/// where it doesn't. The host waits from then on, and on a busy machine a new process gets its first turn late.
pub fn process_started_ns() -> u64 {
    let now_ns = monotonic_ns();
    system::age_of_process().map_or(now_ns, |age| now_ns.saturating_sub(age.min(LONGEST_START).as_nanos() as u64))
}

/// Returns the wall clock in milliseconds since the Unix epoch, UTC.
pub fn unix_millis() -> i64 {
    i64::try_from(system::since_epoch().as_millis()).unwrap_or(i64::MAX)
}

/// An instant of the monotonic clock by which an answer must be there. Made once, passed down, never restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    at_ns: u64,
}

impl Deadline {
    /// The deadline at `at_ns` nanoseconds of the monotonic clock.
    pub fn at(at_ns: u64) -> Self {
        Self { at_ns }
    }

    /// The deadline `span` after the instant `start_ns` of the monotonic clock.
    pub fn after(start_ns: u64, span: Duration) -> Self {
        let span_ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Self {
            at_ns: start_ns.saturating_add(span_ns),
        }
    }

    /// The instant in nanoseconds of the monotonic clock, as it travels in `deadline_ns`.
    pub fn at_ns(self) -> u64 {
        self.at_ns
    }

    /// The time left now; zero once the deadline has passed.
    pub fn remaining(self) -> Duration {
        self.remaining_at(monotonic_ns())
    }

    /// The time left at the instant `now_ns`; zero once the deadline has passed.
    pub fn remaining_at(self, now_ns: u64) -> Duration {
        Duration::from_nanos(self.at_ns.saturating_sub(now_ns))
    }

    /// Whether no time is left.
    pub fn has_passed(self) -> bool {
        self.remaining().is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_clock_never_runs_backwards() {
        let first = monotonic_ns();
        let second = monotonic_ns();
        assert!(first > 0 && second >= first);
    }

    #[test]
    fn a_deadline_counts_down_to_zero_and_stays_there() {
        let deadline = Deadline::after(1_000, Duration::from_nanos(500));
        assert_eq!(deadline.at_ns(), 1_500);
        assert_eq!(deadline.remaining_at(1_200), Duration::from_nanos(300));
        assert_eq!(deadline.remaining_at(1_500), Duration::ZERO);
        assert_eq!(deadline.remaining_at(9_999), Duration::ZERO);
        assert!(Deadline::at(0).has_passed());
        assert_eq!(Deadline::after(u64::MAX, BUDGET), Deadline::at(u64::MAX));
    }

    #[test]
    fn a_process_was_made_before_its_first_act() {
        let now_ns = monotonic_ns();
        let started_ns = process_started_ns();
        assert!(started_ns <= monotonic_ns());
        assert!(started_ns + LONGEST_START.as_nanos() as u64 >= now_ns);
    }

    #[test]
    fn the_wall_clock_is_in_milliseconds() {
        // 2020-01-01 and 2100-01-01.
        assert!((1_577_836_800_000..4_102_444_800_000).contains(&unix_millis()));
    }
}
