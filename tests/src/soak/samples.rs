//! What the daemon's process takes, at a moment and over a stretch of its life.

use std::path::Path;

use crate::{DaemonProcess, Sandbox};

/// The process at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// How many percent of the prompts were asked.
    pub percent: u32,
    /// Resident memory that no file backs, in bytes.
    pub anonymous: u64,
    /// Resident memory, in bytes.
    pub resident: u64,
    /// Open file descriptors.
    pub descriptors: u32,
    /// Threads.
    pub threads: u32,
    /// Child processes.
    pub children: u32,
    /// Bytes of the database's log.
    pub log_bytes: u64,
    /// Episodes stored.
    pub episodes: u64,
}

impl Sample {
    /// The process now. Descriptors, threads and children are 0 where the system does not tell.
    pub(super) fn take(daemon: &DaemonProcess<'_>, sandbox: &Sandbox, percent: u32) -> Self {
        let process = Path::new("/proc").join(daemon.pid().to_string());
        let entries = |name: &str| fs_err::read_dir(process.join(name)).map_or(0, |entries| entries.count() as u32);
        let children = process.join("task").join(daemon.pid().to_string()).join("children");
        let status = daemon.status();
        let number = |value: &serde_json::Value| value.as_u64().unwrap_or_default();
        Self {
            percent,
            anonymous: number(&status["daemon"]["memory"]["anonymous_bytes"]),
            resident: number(&status["daemon"]["memory"]["resident_bytes"]),
            descriptors: entries("fd"),
            threads: entries("task"),
            children: fs_err::read_to_string(children).map_or(0, |pids| pids.split_whitespace().count() as u32),
            log_bytes: fs_err::metadata(sandbox.places().database_file().with_extension("db-wal"))
                .map_or(0, |metadata| metadata.len()),
            episodes: number(&status["episodes"]),
        }
    }
}

/// The process over a stretch: its begin and its end each as the median of a fifth of the samples.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    /// Memory that no file backs at its begin and its end, in bytes.
    pub anonymous: (u64, u64),
    /// Resident memory likewise.
    pub resident: (u64, u64),
    /// The fewest and the most descriptors.
    pub descriptors: (u32, u32),
    /// The fewest and the most threads.
    pub threads: (u32, u32),
    /// The most children.
    pub children: u32,
    /// The longest log, in bytes.
    pub log_bytes: u64,
    /// Episodes at its begin and its end.
    pub episodes: (u64, u64),
}

impl Stretch {
    /// Of those `samples` that were taken from `percent` of the prompts on; of none, all is 0.
    pub(super) fn of(samples: &[Sample], percent: u32) -> Self {
        let samples: Vec<&Sample> = samples.iter().filter(|sample| sample.percent >= percent).collect();
        let fifth = samples.len().div_ceil(5);
        let ends = |of: fn(&Sample) -> u64| {
            let values: Vec<u64> = samples.iter().map(|sample| of(sample)).collect();
            (median(&values[..fifth]), median(&values[values.len() - fifth..]))
        };
        let bounds = |of: fn(&Sample) -> u32| {
            let values = || samples.iter().map(|sample| of(sample));
            (values().min().unwrap_or_default(), values().max().unwrap_or_default())
        };
        Self {
            anonymous: ends(|sample| sample.anonymous),
            resident: ends(|sample| sample.resident),
            descriptors: bounds(|sample| sample.descriptors),
            threads: bounds(|sample| sample.threads),
            children: bounds(|sample| sample.children).1,
            log_bytes: samples.iter().map(|sample| sample.log_bytes).max().unwrap_or_default(),
            episodes: ends(|sample| sample.episodes),
        }
    }

    /// By how much memory grew, as a share of what it was at the begin.
    pub fn growth(&self) -> f64 {
        let (before, after) = self.anonymous;
        after as f64 / before.max(1) as f64 - 1.0
    }
}

fn median(values: &[u64]) -> u64 {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(percent: u32, anonymous: u64, descriptors: u32) -> Sample {
        Sample {
            percent,
            anonymous,
            resident: 0,
            descriptors,
            threads: 0,
            children: 0,
            log_bytes: anonymous,
            episodes: 0,
        }
    }

    #[test]
    fn growth_is_told_of_the_steady_stretch_alone() {
        let mut samples: Vec<Sample> = (0..4).map(|at| sample(at * 10, 900, 90)).collect();
        samples.extend((0..10).map(|at| sample(40 + at * 6, 100 + u64::from(at), 20 + at % 3)));
        let stretch = Stretch::of(&samples, 40);
        assert_eq!(
            (stretch.anonymous, stretch.descriptors, stretch.log_bytes),
            ((101, 109), (20, 22), 109)
        );
        assert!((stretch.growth() - 0.079).abs() < 0.001, "{}", stretch.growth());
        assert_eq!(Stretch::of(&[], 40).descriptors, (0, 0));
    }
}
