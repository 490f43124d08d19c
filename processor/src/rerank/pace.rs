//! Work in pieces that stops before a deadline is passed, judged by the pieces that came before.

use std::time::Duration;

use crate::deadline::Deadline;

/// Begins no piece of work that would, at the slowest pace seen so far, end after the deadline.
pub(super) struct Pace {
    deadline: Deadline,
    /// The most time that a token took.
    slowest: Duration,
}

impl Pace {
    /// No pace is known yet, so the first piece is begun unless the deadline has passed.
    pub(super) fn until(deadline: Deadline) -> Self {
        Self {
            deadline,
            slowest: Duration::ZERO,
        }
    }

    /// Does `work` on `tokens` tokens (at least one), or nothing if time is short.
    pub(super) fn run<T>(&mut self, tokens: usize, work: impl FnOnce() -> T) -> Option<T> {
        let left = self.deadline.remaining();
        if left.is_zero() || self.slowest * tokens as u32 > left {
            return None;
        }
        let done = work();
        // Where the deadline has been passed, this is too little, but then nothing follows.
        let took = left.saturating_sub(self.deadline.remaining());
        self.slowest = self.slowest.max(took / tokens as u32);
        Some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AN_HOUR: Duration = Duration::from_hours(1);

    /// Work that lasts until `deadline` has passed.
    fn busy(deadline: Deadline) {
        while !deadline.has_passed() {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn nothing_is_begun_after_the_deadline() {
        let mut pace = Pace::until(Deadline::after(Duration::ZERO));
        assert_eq!(pace.run(1, || ()), None);
    }

    #[test]
    fn the_first_piece_may_pass_the_deadline_and_is_the_last() {
        let deadline = Deadline::after(Duration::from_millis(100));
        let mut pace = Pace::until(deadline);
        assert_eq!(pace.run(1, || busy(deadline)), Some(()));
        assert_eq!(pace.run(1, || ()), None);
    }

    #[test]
    fn a_piece_that_would_take_too_long_is_not_begun() {
        let mut pace = Pace::until(Deadline::after(AN_HOUR));
        pace.run(1, || busy(Deadline::after(Duration::from_millis(1))));
        pace.run(1, || ());
        // At a millisecond a token: more than two hours, and a tenth of a second.
        assert_eq!(pace.run(10_000_000, || ()), None);
        assert_eq!(pace.run(100, || ()), Some(()));
    }
}
