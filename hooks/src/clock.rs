//! The clocks of the hook. Nothing comes in; instants of the monotonic clock, deadlines and the wall clock's milliseconds go out.
//!
//! Hook and daemon read the same `CLOCK_MONOTONIC`, so an absolute deadline can travel between them as a plain number of
//! nanoseconds. No other file of this crate reads a clock.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// From the hook's start to its exit (seed 004).
pub const BUDGET: Duration = Duration::from_millis(240);

/// The part of the budget that is kept for printing and for leaving, measured with a busy machine in mind. The deadline that
/// travels with a request lies this much before the end of the budget.
pub const EXIT_MARGIN: Duration = Duration::from_millis(8);

/// At most this much of the time between the process's making and its first act is counted: more of it is the work of a
/// wrapper that became the hook by `exec`.
const LONGEST_START: Duration = Duration::from_millis(100);

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Returns `CLOCK_MONOTONIC` in nanoseconds since an arbitrary start, the same for every process of this machine until it reboots.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64)
        .saturating_mul(NANOS_PER_SECOND)
        .saturating_add(now.tv_nsec as u64)
}

/// Returns the instant of `CLOCK_MONOTONIC` at which this process was made, as far as the system tells; the present instant
/// where it doesn't. The host waits from then on, and on a busy machine a new process gets its first turn late.
///
/// Linux tells it in ticks (10 ms as a rule); within its tick the latest instant is taken, so that no time is counted that had
/// not passed.
pub fn process_started_ns() -> u64 {
    let now_ns = monotonic_ns();
    age_of_process().map_or(now_ns, |age| now_ns.saturating_sub(age.min(LONGEST_START).as_nanos() as u64))
}

#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    reason = "nobody reads this error, and the hook links no more than it needs"
)]
fn age_of_process() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let since_boot = clock_gettime(ClockId::Boottime);
    let since_boot = Duration::new(since_boot.tv_sec.try_into().ok()?, since_boot.tv_nsec.try_into().ok()?);
    age_by_stat(&stat, rustix::param::clock_ticks_per_second(), since_boot)
}

#[cfg(not(target_os = "linux"))]
fn age_of_process() -> Option<Duration> {
    None
}

/// The least age of the process that a line of `/proc/self/stat` tells of (`proc_pid_stat(5)`: field 22 is its start after boot,
/// in ticks; the name in field 2 may hold blanks and brackets).
#[cfg(target_os = "linux")]
fn age_by_stat(stat: &str, ticks_per_second: u64, since_boot: Duration) -> Option<Duration> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let started: u64 = after_name.split_ascii_whitespace().nth(19)?.parse().ok()?;
    let end_of_tick = started
        .checked_add(1)?
        .checked_mul(NANOS_PER_SECOND)?
        .checked_div(ticks_per_second)?;
    Some(since_boot.saturating_sub(Duration::from_nanos(end_of_tick)))
}

/// Returns the wall clock in milliseconds since the Unix epoch, UTC.
pub fn unix_millis() -> i64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec.saturating_mul(1_000).saturating_add(now.tv_nsec / 1_000_000)
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

    #[cfg(target_os = "linux")]
    #[test]
    fn the_age_of_a_process_is_counted_from_the_end_of_its_tick() {
        // Fields 3 to 23 of a real line, of a process whose name holds what separates the fields.
        let line =
            |started: &str| format!("4242 (a) b (c) R 1 4242 4242 0 -1 4194304 101 0 0 0 0 0 0 0 20 0 1 0 {started} 5816320 432");
        let check = |started: &str, ticks_per_second: u64, since_boot_ms: u64, expected_ms: Option<u64>| {
            let age = age_by_stat(&line(started), ticks_per_second, Duration::from_millis(since_boot_ms));
            assert_eq!(age, expected_ms.map(Duration::from_millis), "{started}");
        };
        check("123", 100, 1_275, Some(35));
        check("123", 100, 1_232, Some(0));
        check("123", 250, 600, Some(104));
        check("none", 100, 1_275, None);
        check("18446744073709551615", 100, 1_275, None);
        check("123", 0, 1_275, None);
        assert_eq!(age_by_stat("4242 (cut off) R 1", 100, Duration::ZERO), None);
        assert_eq!(age_by_stat("", 100, Duration::ZERO), None);
    }

    #[test]
    fn the_wall_clock_is_in_milliseconds() {
        // 2020-01-01 and 2100-01-01.
        assert!((1_577_836_800_000..4_102_444_800_000).contains(&unix_millis()));
    }
}
