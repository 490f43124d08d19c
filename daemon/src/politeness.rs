//! How background work keeps out of the user's way: a share of the machine, a low priority, rests between steps, and longer
//! ones on battery.

mod power;

use std::time::Duration;

use power::PowerSupply;

/// Of the share that background work may take, so much is left on battery.
const ON_BATTERY: f64 = 0.25;

/// How much of the machine background work may take.
#[derive(Debug, Clone)]
pub(crate) struct Politeness {
    threads: usize,
    /// The share of its time in which a background thread works, in (0, 1].
    duty: f64,
    power: PowerSupply,
}

impl Politeness {
    /// For `share` of this machine: as many threads as whole processors are in it; where it comes to less than one, one that
    /// rests in between.
    pub(crate) fn new(share: f64) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::on(share, processors, PowerSupply::of_this_machine())
    }

    fn on(share: f64, processors: usize, power: PowerSupply) -> Self {
        let worth = share * processors as f64;
        Self {
            threads: (worth as usize).max(1),
            duty: worth.clamp(0.01, 1.0),
            power,
        }
    }

    /// How many threads may embed in the background.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// How long to rest after a step that took `took`.
    pub(crate) fn rest_after(&self, took: Duration) -> Duration {
        let duty = if self.power.on_battery() {
            self.duty * ON_BATTERY
        } else {
            self.duty
        };
        took.mul_f64(1.0 / duty - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const STEP: Duration = Duration::from_millis(10);

    fn check(share: f64, processors: usize, threads: usize, rest: Duration) {
        let politeness = Politeness::on(share, processors, PowerSupply::in_folder(Path::new("/nowhere")));
        assert_eq!((politeness.threads(), politeness.rest_after(STEP)), (threads, rest));
    }

    #[test]
    fn threads_and_rests_make_up_the_share() {
        check(0.5, 1, 1, STEP);
        check(0.5, 2, 1, Duration::ZERO);
        check(0.5, 16, 8, Duration::ZERO);
        check(0.05, 4, 1, STEP * 4);
    }

    #[test]
    fn on_battery_it_rests_longer() {
        let supplies = tempfile::tempdir().unwrap();
        power::put(supplies.path(), "BAT0", &[("type", "Battery"), ("status", "Discharging")]);
        let politeness = Politeness::on(0.5, 2, PowerSupply::in_folder(supplies.path()));
        assert_eq!(politeness.rest_after(STEP), STEP * 3);
    }
}
