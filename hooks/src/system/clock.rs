//! The system's clocks, and how old this process is.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// `CLOCK_MONOTONIC`: the same for every process of this machine until it reboots.
pub(crate) fn monotonic() -> Duration {
    duration(clock_gettime(ClockId::Monotonic))
}

/// The time since the Unix epoch, UTC.
pub(crate) fn since_epoch() -> Duration {
    duration(clock_gettime(ClockId::Realtime))
}

fn duration(time: Timespec) -> Duration {
    Duration::new(
        time.tv_sec.try_into().unwrap_or_default(),
        time.tv_nsec.try_into().unwrap_or_default(),
    )
}

/// How long ago this process was made, as far as the system tells.
///
/// Linux tells it in ticks (10 ms as a rule); within its tick the latest instant is taken, so that no time is counted that had
/// not passed.
#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    reason = "nobody reads this error, and the hook links no more than it needs"
)]
pub(crate) fn age_of_process() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let since_boot = duration(clock_gettime(ClockId::Boottime));
    age_by_stat(&stat, rustix::param::clock_ticks_per_second(), since_boot)
}

/// How long ago this process was made: this system is not asked.
#[cfg(not(target_os = "linux"))]
pub(crate) fn age_of_process() -> Option<Duration> {
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
        .checked_mul(1_000_000_000)?
        .checked_div(ticks_per_second)?;
    Some(since_boot.saturating_sub(Duration::from_nanos(end_of_tick)))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

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
}
