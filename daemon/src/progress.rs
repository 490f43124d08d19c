//! What the daemon has done and is doing, for `status`: counters and latest problems, written by the threads, read by the
//! server. Never a heartbeat: only progress counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use remembrancer_processor::ingest::Agent;
use remembrancer_schema::{Damage, IngestOutcome, Pause, UnixMillis};
use tokio::sync::Notify;

use crate::scan::ScanProblem;

/// Recalls whose times are kept for the percentiles.
const RECALL_TIMES: usize = 1_000;

/// Shared counters. Every lock is held for a few instructions and never across an await.
#[derive(Default)]
pub(crate) struct Progress {
    /// Woken when there may be something to embed.
    pub backlog_grew: Notify,
    /// Woken when the full-text index was found damaged.
    pub index_damaged: Notify,
    files: AtomicUsize,
    waiting_files: AtomicUsize,
    added: AtomicU64,
    updated: AtomicU64,
    embedded: AtomicU64,
    embed_micros: AtomicU64,
    paused: Mutex<Option<Pause>>,
    damage: Mutex<Option<Damage>>,
    panics: AtomicU64,
    failed_backups: AtomicU64,
    scan_problems: Mutex<Vec<ScanProblem>>,
    file_problems: Mutex<BTreeMap<PathBuf, String>>,
    elsewhere: Mutex<BTreeMap<&'static str, PathBuf>>,
    ingest_problem: Mutex<Option<String>>,
    recalls: Mutex<RecallStatistics>,
}

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
}

impl RecallStatistics {
    /// The time that the share `of` of the last recalls did not exceed; `None` before the first.
    pub(crate) fn percentile(&self, of: f64) -> Option<Duration> {
        let mut times = self.times.clone();
        times.sort_unstable();
        let last = times.len().checked_sub(1)?;
        times.get((last as f64 * of).round() as usize).copied()
    }

    fn record(&mut self, took: Duration) {
        self.count += 1;
        if self.times.len() < RECALL_TIMES {
            self.times.push(took);
        } else {
            self.times[self.next] = took;
            self.next = (self.next + 1) % RECALL_TIMES;
        }
    }
}

/// Counters as they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Transcripts found by the last scan.
    pub files: usize,
    /// Transcripts that wait to be read.
    pub waiting_files: usize,
    /// Episodes added since the start.
    pub added: u64,
    /// Episodes changed since the start.
    pub updated: u64,
    /// Episodes embedded since the start.
    pub embedded: u64,
    /// Microseconds spent on that, rests between the batches among them.
    pub embed_micros: u64,
}

impl Progress {
    /// Counters as they stand.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            files: self.files.load(Ordering::Relaxed),
            waiting_files: self.waiting_files.load(Ordering::Relaxed),
            added: self.added.load(Ordering::Relaxed),
            updated: self.updated.load(Ordering::Relaxed),
            embedded: self.embedded.load(Ordering::Relaxed),
            embed_micros: self.embed_micros.load(Ordering::Relaxed),
        }
    }

    /// What a scan found.
    pub(crate) fn set_scan(&self, files: usize, problems: Vec<ScanProblem>) {
        self.files.store(files, Ordering::Relaxed);
        let mut known = lock(&self.scan_problems);
        for problem in problems.iter().filter(|problem| !known.contains(problem)) {
            tracing::warn!("{}", problem.message);
        }
        *known = problems;
    }

    /// A hook named a transcript that lies in none of the folders.
    pub(crate) fn found_elsewhere(&self, agent: Agent, path: PathBuf) {
        tracing::warn!(agent = agent.id(), path = %path.display(), "a hook names a transcript in no folder that is read");
        lock(&self.elsewhere).insert(agent.name(), path);
    }

    /// How many transcripts wait.
    pub(crate) fn set_waiting_files(&self, waiting: usize) {
        self.waiting_files.store(waiting, Ordering::Relaxed);
    }

    /// What one step stored.
    pub(crate) fn ingested(&self, outcome: &IngestOutcome) {
        self.added.fetch_add(outcome.added, Ordering::Relaxed);
        self.updated.fetch_add(outcome.updated, Ordering::Relaxed);
        if outcome.added + outcome.updated > 0 {
            self.backlog_grew.notify_one();
        }
    }

    /// What one batch embedded, and what it took with the rest after it.
    pub(crate) fn embedded(&self, episodes: usize, took: Duration) {
        self.embedded.fetch_add(episodes as u64, Ordering::Relaxed);
        self.embed_micros.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    /// Begins, or with `None` ends, a pause.
    pub(crate) fn set_paused(&self, pause: Option<Pause>) {
        *lock(&self.paused) = pause;
        self.backlog_grew.notify_one();
    }

    /// Whether a pause holds at `now`.
    pub(crate) fn is_paused(&self, now: UnixMillis) -> bool {
        lock(&self.paused).is_some_and(|pause| pause.holds_at(now))
    }

    /// A connection found damage: a damaged index is told to who waits for that.
    pub(crate) fn found_damage(&self, damage: Damage) {
        let mut known = lock(&self.damage);
        *known = known.max(Some(damage));
        drop(known);
        if damage == Damage::Index {
            self.index_damaged.notify_one();
        }
    }

    /// Whether damage was found since the start, mended since or not.
    pub(crate) fn is_damaged(&self) -> bool {
        lock(&self.damage).is_some()
    }

    /// The store refuses writes, or no longer does.
    pub(crate) fn set_ingest_problem(&self, problem: Option<String>) {
        *lock(&self.ingest_problem) = problem;
    }

    /// Why the store refuses writes, if it does.
    pub(crate) fn ingest_problem(&self) -> Option<String> {
        lock(&self.ingest_problem).clone()
    }

    /// A job panicked, and the thread that ran it goes on.
    pub(crate) fn panicked(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// A daily backup failed.
    pub(crate) fn backup_failed(&self) {
        self.failed_backups.fetch_add(1, Ordering::Relaxed);
    }

    /// How many daily backups failed since the start.
    pub(crate) fn failed_backups(&self) -> u64 {
        self.failed_backups.load(Ordering::Relaxed)
    }

    /// A transcript can't be read, or an instruction file can't be written.
    pub(crate) fn add_file_problem(&self, path: &Path, problem: String) {
        lock(&self.file_problems).insert(path.to_owned(), problem);
    }

    /// It can be (again), or is no concern of ours any more.
    pub(crate) fn clear_file_problem(&self, path: &Path) {
        lock(&self.file_problems).remove(path);
    }

    /// What can't be read or written now, one line each.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = lock(&self.ingest_problem).iter().cloned().collect();
        problems.extend(lock(&self.scan_problems).iter().map(|problem| problem.message.clone()));
        problems.extend(lock(&self.file_problems).values().cloned());
        for (agent, path) in &*lock(&self.elsewhere) {
            problems.push(format!(
                "{} is a transcript of {agent} and lies in no folder that is read; add one above it to `[transcripts] folders` in config.toml, and start the daemon again",
                path.display()
            ));
        }
        if *lock(&self.damage) == Some(Damage::Database) {
            problems
                .push("the database is damaged; start the daemon again, which looks through it and says what to do".to_owned());
        }
        let panics = self.panics.load(Ordering::Relaxed);
        if panics > 0 {
            problems.push(format!(
                "the program failed on {panics} jobs, which is a fault to report; see its log"
            ));
        }
        problems
    }

    /// A recall was answered.
    pub(crate) fn recalled(&self, took: Duration, shown: bool, reason: Option<&str>, degradations: &[String]) {
        let mut recalls = lock(&self.recalls);
        recalls.record(took);
        recalls.shown += u64::from(shown);
        for degradation in degradations {
            *recalls.degradations.entry(degradation.clone()).or_default() += 1;
        }
        if let Some(reason) = reason {
            *recalls.silences.entry(reason.to_owned()).or_default() += 1;
        }
    }

    /// Recollections turned out to be used.
    pub(crate) fn used(&self, recollections: u64) {
        lock(&self.recalls).used += recollections;
    }

    /// Recalls since the start.
    pub(crate) fn recalls(&self) -> RecallStatistics {
        lock(&self.recalls).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_last_recalls() {
        let mut recalls = RecallStatistics::default();
        assert_eq!(recalls.percentile(0.5), None);
        for millis in 0..2_001 {
            recalls.record(Duration::from_millis(millis));
        }
        assert_eq!(recalls.count, 2_001);
        assert_eq!(recalls.percentile(0.0), Some(Duration::from_millis(1_001)));
        assert_eq!(recalls.percentile(1.0), Some(Duration::from_secs(2)));
    }

    #[test]
    fn a_pause_ends_by_itself() {
        let progress = Progress::default();
        progress.set_paused(Some(Pause::Until(UnixMillis(1_000))));
        assert!(progress.is_paused(UnixMillis(999)));
        assert!(!progress.is_paused(UnixMillis(1_000)));
        progress.set_paused(None);
        assert!(!progress.is_paused(UnixMillis(5)));
    }
}
