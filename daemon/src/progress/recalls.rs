//! The recalls since the start: how many, how fast, why some showed nothing, and whether the last of them went well.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use remembrancer_hooks::clock::monotonic_ns;

use crate::health::{Finding, State};
use crate::percentile::percentile;
use crate::reason::Reason;

/// Recalls whose times are kept for the percentiles.
const RECALL_TIMES: usize = 1_000;
/// Recalls by which it is told whether they go well, at most and at least, and how old they may be.
const LATEST: usize = 100;
const LATEST_LEAST: usize = 5;
const LATEST_AGE: Duration = Duration::from_hours(1);
/// From this share of them on, in percent, recall is degraded.
const DEGRADED_PERCENT: usize = 10;

/// Recalls since the start.
#[derive(Debug, Default, Clone)]
pub(crate) struct RecallStatistics {
    /// How many prompts were answered, with something or with nothing.
    pub count: u64,
    /// How many were shown something.
    pub shown: u64,
    /// How many recollections turned out to be used.
    pub used: u64,
    /// How often each degradation occurred.
    pub degradations: BTreeMap<String, u64>,
    /// How often each reason for silence occurred.
    pub silences: BTreeMap<String, u64>,
    times: Vec<Duration>,
    next: usize,
    /// When each of the latest was answered, and what was wrong with it.
    latest: VecDeque<(u64, Option<String>)>,
}

impl RecallStatistics {
    /// The time that `percent` of a hundred of the last recalls did not exceed; `None` before the first.
    pub(crate) fn percentile(&self, percent: usize) -> Option<Duration> {
        let mut times = self.times.clone();
        times.sort_unstable();
        percentile(&times, percent)
    }

    /// One more prompt was answered.
    pub(super) fn record(&mut self, took: Duration, shown: bool, reason: Option<&str>, degradations: &[String]) {
        self.count += 1;
        self.shown += u64::from(shown);
        if self.times.len() < RECALL_TIMES {
            self.times.push(took);
        } else {
            self.times[self.next] = took;
            self.next = (self.next + 1) % RECALL_TIMES;
        }
        for degradation in degradations {
            *self.degradations.entry(degradation.clone()).or_default() += 1;
        }
        if let Some(reason) = reason {
            self.silent(reason);
        }
        let failed = reason.filter(|reason| Reason::is_failure(Some(reason)));
        let wrong = failed.map(str::to_owned).or_else(|| degradations.first().cloned());
        self.latest.push_back((monotonic_ns(), wrong));
        if self.latest.len() > LATEST {
            self.latest.pop_front();
        }
    }

    /// A prompt got nothing for this reason.
    pub(super) fn silent(&mut self, reason: &str) {
        *self.silences.entry(reason.to_owned()).or_default() += 1;
    }

    /// Whether too many of the latest failed, or went without something.
    pub(super) fn finding(&self, now_ns: u64) -> Option<Finding> {
        let is_late = |at: u64| Duration::from_nanos(now_ns.saturating_sub(at)) < LATEST_AGE;
        let latest: Vec<&Option<String>> = self
            .latest
            .iter()
            .filter(|(at, _)| is_late(*at))
            .map(|(_, wrong)| wrong)
            .collect();
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for wrong in latest.iter().copied().flatten() {
            *kinds.entry(wrong).or_default() += 1;
        }
        let wrong: usize = kinds.values().sum();
        if latest.len() < LATEST_LEAST || wrong * 100 < latest.len() * DEGRADED_PERCENT {
            return None;
        }
        let kinds: Vec<String> = kinds.iter().map(|(kind, times)| format!("{kind} {times}")).collect();
        let why = format!(
            "of the last {} prompts {wrong} failed or went without something: {}",
            latest.len(),
            kinds.join(", ")
        );
        Some(Finding::new(State::Degraded, "recall", why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_last_recalls() {
        let mut recalls = RecallStatistics::default();
        assert_eq!(recalls.percentile(50), None);
        for millis in 0..2_001 {
            recalls.record(Duration::from_millis(millis), true, None, &[]);
        }
        assert_eq!((recalls.count, recalls.shown), (2_001, 2_001));
        assert_eq!(recalls.percentile(0), Some(Duration::from_millis(1_001)));
        assert_eq!(recalls.percentile(100), Some(Duration::from_secs(2)));
    }

    #[test]
    fn recall_is_degraded_by_a_tenth_of_the_latest() {
        let late = ["embedding-late".to_owned()];
        let mut recalls = RecallStatistics::default();
        let record = |recalls: &mut RecallStatistics, times: usize, reason, degradations: &[String]| {
            for _ in 0..times {
                recalls.record(Duration::ZERO, false, reason, degradations);
            }
        };
        record(&mut recalls, 4, Some("out-of-time"), &[]);
        assert_eq!(recalls.finding(monotonic_ns()), None, "too few to tell");
        record(&mut recalls, 1, None, &late);
        let finding = recalls.finding(monotonic_ns()).unwrap();
        assert_eq!(
            finding.why,
            "of the last 5 prompts 5 failed or went without something: embedding-late 1, out-of-time 4"
        );
        let in_two_hours = monotonic_ns() + 7_200_000_000_000;
        assert_eq!(recalls.finding(in_two_hours), None, "that is long ago");
        // Silence by a gate is no failure.
        record(&mut recalls, 91, Some("chatter"), &[]);
        record(&mut recalls, 4, None, &late);
        assert_eq!(recalls.finding(monotonic_ns()), None, "nine of a hundred");
        record(&mut recalls, 6, Some("busy"), &[]);
        assert!(
            recalls.finding(monotonic_ns()).is_some(),
            "the first have gone, and there are ten again"
        );
    }
}
