//! How measured times are spread: the line that every bench prints.

use std::fmt;
use std::time::Duration;

/// Times in order.
#[derive(Debug, Clone, Default)]
pub struct Spread(Vec<Duration>);

impl From<Vec<Duration>> for Spread {
    fn from(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }
}

impl Spread {
    /// The milliseconds that this `share` (0 to 1) of the times doesn't exceed; 0 of no times.
    pub fn millis(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0
            .get((last as f64 * share).round() as usize)
            .map_or(0.0, |took| took.as_secs_f64() * 1e3)
    }

    /// How many times.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// How many took longer than `bound`.
    pub fn over(&self, bound: Duration) -> usize {
        self.0.len() - self.0.partition_point(|took| *took <= bound)
    }
}

/// Its least, median, 95th and 99th percentile and greatest, in ms.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, share) in [("min", 0.0), ("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)] {
            write!(f, "{name} {:8.2}  ", self.millis(share))?;
        }
        f.write_str("ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_times() {
        let times: Vec<Duration> = (0..=100).rev().map(Duration::from_millis).collect();
        let spread = Spread::from(times);
        assert_eq!(
            (
                spread.millis(0.0),
                spread.millis(0.5),
                spread.millis(0.99),
                spread.millis(1.0)
            ),
            (0.0, 50.0, 99.0, 100.0)
        );
        assert_eq!(spread.over(Duration::from_millis(98)), 2);
        assert_eq!(spread.over(Duration::from_millis(100)), 0);
        assert!(spread.to_string().contains("p99    99.00"));
        assert!(Spread::default().millis(0.5).abs() < f64::EPSILON);
    }
}
