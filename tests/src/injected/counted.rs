//! What a running process has used of a processor, as Linux counts it.

use std::time::Duration;

use remembrancer_processor::Deadline;

use crate::wait::timed;

/// The time on a processor that the process `pid` has used since its start; `None` where the system does not tell.
pub(super) fn processor_time(pid: u32) -> Option<Duration> {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold blanks; what follows it does not.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let ticks: u64 = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_secs_f64(
        ticks as f64 / rustix::param::clock_ticks_per_second() as f64,
    ))
}

/// The part of one processor that the process `pid` takes while `span` passes, of which `work` is done at its begin.
///
/// # Panics
/// Where the system does not tell.
pub fn used<T>(pid: u32, span: Duration, work: impl FnOnce() -> T) -> f64 {
    let time = || processor_time(pid).expect("invariant: the process runs, on Linux");
    let (before, deadline) = (time(), Deadline::after(span));
    let (_, worked) = timed(work);
    while !deadline.has_passed() {
        std::thread::park_timeout(deadline.remaining());
    }
    time().saturating_sub(before).as_secs_f64() / span.max(worked).as_secs_f64()
}
