//! How long to wait before the server is called again: twice as long after each failure, each time a little longer by chance, so that
//! the machines of a team do not all come at once to a server that has just come back.

use std::time::Duration;

use crate::system;

/// The least and the most.
const FIRST: Duration = Duration::from_secs(1);
const MOST: Duration = Duration::from_mins(5);
/// Failures after which it is the most.
const STEPS: u32 = 9;

/// How often in a row it has failed.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// How long to wait after one more failure; `chance` is in [0, 1).
    pub(super) fn next(&mut self, chance: f64) -> Duration {
        let wait = (FIRST * 2_u32.pow(self.failures)).min(MOST);
        self.failures = (self.failures + 1).min(STEPS);
        wait.mul_f64(1.0 + chance / 2.0).min(MOST)
    }

    /// It has succeeded.
    pub(super) fn succeeded(&mut self) {
        self.failures = 0;
    }
}

/// A number in [0, 1) by chance.
pub(super) fn random_chance() -> f64 {
    let mut random = [0; 4];
    // Without one every machine waits as long as the others.
    system::fill_randomly(&mut random).ok();
    chance(random)
}

/// A number in [0, 1) of these bytes, which are random.
fn chance(random: [u8; 4]) -> f64 {
    f64::from(u32::from_le_bytes(random)) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_waits_twice_as_long_each_time_until_it_succeeds() {
        let mut backoff = Backoff::default();
        let waits: Vec<u64> = (0..12).map(|_| backoff.next(0.0).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        backoff.succeeded();
        assert_eq!(backoff.next(0.0), FIRST);
    }

    proptest! {
        #[test]
        fn chance_lengthens_a_wait_by_half_at_most(failures in 0_u32..12, random: [u8; 4]) {
            let chance = chance(random);
            prop_assert!((0.0..1.0).contains(&chance));
            let wait = Backoff { failures: failures.min(STEPS) }.next(chance);
            let least = Backoff { failures: failures.min(STEPS) }.next(0.0);
            prop_assert!((least..=least.mul_f64(1.5)).contains(&wait) && wait <= MOST, "{wait:?}");
        }
    }
}
