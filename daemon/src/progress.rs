//! What the daemon has done and is doing, for `status`: counters and latest problems, written by the threads, read by the
//! server. Never a heartbeat: only progress counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use remembrancer_hooks::backoff::Misses;
use remembrancer_hooks::clock::monotonic_ns;
use remembrancer_processor::ingest::Agent;
use remembrancer_schema::{Damage, IngestOutcome, Pause, UnixMillis};
use tokio::sync::Notify;

use crate::counts::{Count, Tally};
use crate::health::{Beacon, Finding, State};
use crate::plural;
use crate::scan::ScanProblem;

mod recalls;

pub(crate) use recalls::RecallStatistics;

/// How long a hook that gave up counts as news.
const GAVE_UP_LATELY: Duration = Duration::from_mins(10);

/// Where a whole folder or disk can't be read, so many of its files are named in the log: one line for each of thousands helps nobody.
pub(crate) const MOST_TOLD: usize = 8;

/// What may fail for a while, and goes on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// Storing what is read of transcripts.
    Ingest,
    /// Storing vectors.
    Embedding,
    /// Writing recollection files.
    Recollections,
    /// Storing what the user decides.
    Store,
    /// Serving the page, where the settings want it.
    Page,
    /// Sharing, where the settings name a server.
    #[cfg_attr(not(feature = "share"), expect(dead_code, reason = "without it nothing is shared"))]
    Sharing,
}

impl Part {
    /// Its name in `status`.
    fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Embedding => "embedding",
            Self::Recollections => "recall",
            Self::Store => "store",
            Self::Page => "page",
            Self::Sharing => "sharing",
        }
    }

    /// What is said while it fails.
    fn failing(self) -> &'static str {
        match self {
            Self::Ingest => "what is read can't be stored; it is tried again every 10 s, from where the store stands",
            Self::Embedding => "vectors can't be stored; it is tried again every 10 s",
            Self::Recollections => "recollection files can't be written; prompts are answered all the same",
            Self::Page => {
                "the page that `page.serve` wants can't be served: the daemon goes on without it, and tries again every 10 s"
            }
            Self::Sharing => {
                "nothing is shared until somebody changes something; it is tried again every 5 min, and at once by `remembrancer share resume`"
            }
            Self::Store => "what you decide can't be stored; only `pause` holds all the same, while the daemon runs",
        }
    }

    /// What is said once it works again.
    fn working(self) -> &'static str {
        match self {
            Self::Ingest => "what is read is stored again",
            Self::Embedding => "vectors are stored again",
            Self::Recollections => "recollection files are written again",
            Self::Store => "what you decide is stored again",
            Self::Page => "the page can be served now",
            Self::Sharing => "sharing goes on",
        }
    }
}

/// Shared counters. Every lock is held for a few instructions and never across an await.
#[derive(Default)]
pub(crate) struct Progress {
    /// Woken when there may be something to embed.
    pub backlog_grew: Notify,
    /// Woken when something came, changed or went that others may have to know.
    pub memory_changed: Notify,
    /// Woken when the full-text index was found damaged.
    pub index_damaged: Notify,
    /// Woken when bytes of what was forgotten are left on the disk: a reader or a backup was in the way, or a copy could not be cleaned.
    pub forgetting_unfinished: Notify,
    /// Woken when more than the full-text index was found damaged.
    pub database_damaged: Notify,
    files: AtomicUsize,
    waiting_files: AtomicUsize,
    added: AtomicU64,
    updated: AtomicU64,
    embedded: AtomicU64,
    embed_micros: AtomicU64,
    paused: Mutex<Option<Pause>>,
    damage: Mutex<Option<Damage>>,
    tally: Tally,
    /// The monotonic instant at which it was last noticed that a hook had given up, 0 for never.
    gave_up_ns: AtomicU64,
    /// Transcripts that wait to be read.
    pub ingest: Beacon,
    /// Episodes that wait for their vector.
    pub embedding: Beacon,
    jobs: Mutex<Vec<(&'static str, Arc<Beacon>)>>,
    is_polling: AtomicBool,
    unwatched: Mutex<Vec<PathBuf>>,
    damaged_decisions: AtomicU64,
    scan_problems: Mutex<Vec<ScanProblem>>,
    unknown_files: Mutex<BTreeMap<String, (u64, PathBuf)>>,
    file_problems: Mutex<BTreeMap<PathBuf, String>>,
    /// Transcripts on which the store or the program failed, left out until the next start.
    left_out: Mutex<BTreeSet<PathBuf>>,
    elsewhere: Mutex<BTreeMap<&'static str, PathBuf>>,
    part_problems: Mutex<BTreeMap<Part, String>>,
    recalls: Mutex<RecallStatistics>,
    refused: Mutex<BTreeMap<&'static str, u64>>,
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
    pub(crate) fn set_scan(&self, files: usize, problems: Vec<ScanProblem>, unknown: BTreeMap<String, (u64, PathBuf)>) {
        self.files.store(files, Ordering::Relaxed);
        *lock(&self.unknown_files) = unknown;
        let mut known = lock(&self.scan_problems);
        let news: Vec<&ScanProblem> = problems.iter().filter(|problem| !known.contains(problem)).collect();
        for problem in news.iter().take(MOST_TOLD) {
            tracing::warn!("{}", problem.message);
        }
        if let Some(more @ 1..) = news.len().checked_sub(MOST_TOLD) {
            tracing::warn!(more, "places can't be read, too; see `remembrancer status`");
        }
        *known = problems;
    }

    /// Files that seem to be transcripts and are not read: by suffix, how many, and one of them.
    pub(crate) fn unknown_files(&self) -> BTreeMap<String, (u64, PathBuf)> {
        lock(&self.unknown_files).clone()
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
        if outcome.added + outcome.updated + outcome.retired > 0 {
            self.memory_changed.notify_one();
        }
    }

    /// What one batch embedded, and what it took with the rest after it.
    pub(crate) fn embedded(&self, episodes: usize, took: Duration) {
        self.embedded.fetch_add(episodes as u64, Ordering::Relaxed);
        self.embed_micros.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
        // A vector goes along with what was shared before it was made.
        self.memory_changed.notify_one();
    }

    /// Begins, or with `None` ends, a pause. Gives the one that was before.
    pub(crate) fn set_paused(&self, pause: Option<Pause>) -> Option<Pause> {
        let before = std::mem::replace(&mut *lock(&self.paused), pause);
        self.backlog_grew.notify_one();
        before
    }

    /// The pause that holds at `now`.
    pub(crate) fn pause_at(&self, now: UnixMillis) -> Option<Pause> {
        (*lock(&self.paused)).filter(|pause| pause.holds_at(now))
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
        match damage {
            Damage::Index => self.index_damaged.notify_one(),
            Damage::Database => self.database_damaged.notify_one(),
        }
    }

    /// A look through the whole database found none: what seemed damaged could not be read for a while.
    pub(crate) fn found_whole(&self) {
        lock(&self.damage).take();
    }

    /// Whether damage was found since the start, mended since or not.
    pub(crate) fn is_damaged(&self) -> bool {
        lock(&self.damage).is_some()
    }

    /// A part fails for now. Told to the log once, since it may fail again and again for days.
    pub(crate) fn fails(&self, part: Part, problem: String) {
        let mut known = lock(&self.part_problems);
        if known.get(&part) != Some(&problem) {
            tracing::warn!(error = %problem, "{}", part.failing());
        }
        known.insert(part, problem);
    }

    /// It does not (any more).
    pub(crate) fn works(&self, part: Part) {
        if lock(&self.part_problems).remove(&part).is_some() {
            tracing::info!("{}", part.working());
        }
    }

    /// Whether a part fails for now.
    pub(crate) fn is_failing(&self, part: Part) -> bool {
        lock(&self.part_problems).contains_key(&part)
    }

    /// Why the store refuses writes, if it does.
    pub(crate) fn ingest_problem(&self) -> Option<String> {
        lock(&self.part_problems).get(&Part::Ingest).cloned()
    }

    /// A job panicked, and the thread that ran it goes on.
    pub(crate) fn panicked(&self) {
        self.count(Count::JobPanicked, 1);
    }

    /// Counts what was passed over, given up or late.
    pub(crate) fn count(&self, what: Count, times: u64) {
        self.tally.add(what, times);
    }

    /// What was counted, by name.
    pub(crate) fn counted(&self) -> BTreeMap<&'static str, u64> {
        self.tally.met()
    }

    /// What hooks noted that had waited in vain, or had not asked for that.
    pub(crate) fn hooks_noted(&self, misses: Misses) {
        self.count(Count::HookGaveUp, misses.gave_up);
        self.count(Count::HookKeptSilent, misses.kept_silent);
        if misses.gave_up > 0 {
            self.gave_up_ns.store(monotonic_ns().max(1), Ordering::Relaxed);
        }
    }

    /// Whether changes are looked for at intervals, since the system's watcher can't be used.
    pub(crate) fn set_polling(&self, is_polling: bool) {
        self.is_polling.store(is_polling, Ordering::Relaxed);
    }

    /// How many of the user's decisions could not be read at the start.
    pub(crate) fn set_damaged_decisions(&self, lines: u64) {
        self.damaged_decisions.store(lines, Ordering::Relaxed);
    }

    /// Folders in which changes are not noticed, since they can't be watched.
    pub(crate) fn set_unwatched(&self, folders: Vec<PathBuf>) {
        *lock(&self.unwatched) = folders;
    }

    /// The beacon of one more thread that does jobs.
    pub(crate) fn jobs_of(&self, thread: &'static str) -> Arc<Beacon> {
        let beacon = Arc::<Beacon>::default();
        lock(&self.jobs).push((thread, Arc::clone(&beacon)));
        beacon
    }

    /// A transcript can't be read, or an instruction file can't be written.
    pub(crate) fn add_file_problem(&self, path: &Path, problem: String) {
        lock(&self.file_problems).insert(path.to_owned(), problem);
    }

    /// The store or the program failed on what a transcript holds: it is left out until the next start.
    pub(crate) fn left_out(&self, path: &Path, problem: String) {
        lock(&self.left_out).insert(path.to_owned());
        self.add_file_problem(path, problem);
    }

    /// It can be (again), or is no concern of ours any more.
    pub(crate) fn clear_file_problem(&self, path: &Path) {
        lock(&self.file_problems).remove(path);
        lock(&self.left_out).remove(path);
    }

    /// What can't be read or written now, one line each.
    pub(crate) fn problems(&self) -> Vec<String> {
        let parts = lock(&self.part_problems);
        let mut problems: Vec<String> = parts
            .iter()
            .map(|(part, problem)| format!("{}: {problem}", part.failing()))
            .collect();
        drop(parts);
        problems.extend(lock(&self.scan_problems).iter().map(|problem| problem.message.clone()));
        problems.extend(lock(&self.file_problems).values().cloned());
        for (agent, path) in &*lock(&self.elsewhere) {
            problems.push(format!(
                "{} is a transcript of {agent} and lies in no folder that is read; add one above it to `[transcripts] folders` in config.toml, and start the daemon again",
                path.display()
            ));
        }
        if *lock(&self.damage) == Some(Damage::Database) {
            problems.push(
                "the database is damaged; start the daemon again, which sets it aside and makes it anew from what can be read"
                    .to_owned(),
            );
        }
        let panics = self.tally.of(Count::JobPanicked);
        if panics > 0 {
            problems.push(format!(
                "the program failed on {panics} jobs, which is a fault to report; see its log"
            ));
        }
        problems
    }

    /// What keeps the daemon from being well at the monotonic instant `now_ns`, with so many episodes in the backlog. A pause is
    /// the user's wish, and none.
    pub(crate) fn findings(&self, now_ns: u64, backlog: u64) -> Vec<Finding> {
        let waiting = match self.waiting_files.load(Ordering::Relaxed) {
            0 => "changed transcripts wait to be read".to_owned(),
            1 => "a transcript waits to be read".to_owned(),
            files => format!("{files} transcripts wait to be read"),
        };
        let vectors = match backlog {
            1 => "an episode waits for its vector, and is found by its words meanwhile".to_owned(),
            more => format!("{more} episodes wait for their vector, and are found by their words meanwhile"),
        };
        let mut findings = Vec::new();
        findings.extend(self.ingest.finding("ingest", &waiting, now_ns));
        findings.extend(self.embedding.finding("embedding", &vectors, now_ns));
        findings.extend(
            lock(&self.jobs)
                .iter()
                .filter_map(|(thread, beacon)| beacon.job_finding(thread, now_ns)),
        );
        for (part, problem) in &*lock(&self.part_problems) {
            findings.push(Finding::new(
                State::Degraded,
                part.as_str(),
                format!("{}: {problem}", part.failing()),
            ));
        }
        if self.is_polling.load(Ordering::Relaxed) {
            findings.push(Finding::new(
                State::Degraded,
                "watcher",
                "the system's file watcher can't be used: changes are looked for at intervals, and found later",
            ));
        }
        findings.extend(unwatched(&lock(&self.unwatched)));
        if let left_out @ 1.. = lock(&self.left_out).len() {
            let what = match left_out {
                1 => "a transcript is left out".to_owned(),
                more => format!("{more} transcripts are left out"),
            };
            let why = format!("{what} until the next start, since the store or the program failed on what is in it");
            findings.push(Finding::new(State::Degraded, "ingest", why));
        }
        if let lines @ 1.. = self.damaged_decisions.load(Ordering::Relaxed) {
            let damaged = plural::counted(
                lines,
                "line of the journal of what you decided was damaged and told",
                "lines of the journal of what you decided were damaged and told",
            );
            let why =
                format!("at the start {damaged} nothing any more: see whether what you excluded, forgot or paused still is");
            findings.push(Finding::new(State::Degraded, "store", why));
        }
        if self.is_damaged() {
            findings.push(Finding::new(State::Degraded, "store", "damage was found since the start"));
        }
        let gave_up = self.gave_up_ns.load(Ordering::Relaxed);
        if gave_up > 0 && Duration::from_nanos(now_ns.saturating_sub(gave_up)) < GAVE_UP_LATELY {
            findings.push(Finding::new(
                State::Degraded,
                "recall",
                "a hook lately waited for an answer in vain",
            ));
        }
        findings.extend(lock(&self.recalls).finding(now_ns));
        findings
    }

    /// A prompt was not answered, and is none of the recalls: `reason` says why.
    pub(crate) fn not_asked(&self, reason: &str) {
        lock(&self.recalls).silent(reason);
    }

    /// A connection or a request was refused, by this name.
    pub(crate) fn refused(&self, name: &'static str) {
        *lock(&self.refused).entry(name).or_default() += 1;
    }

    /// How many connections and requests were refused since the start, by kind.
    pub(crate) fn refusals(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.refused).clone()
    }

    /// A recall was answered.
    pub(crate) fn recalled(&self, took: Duration, shown: bool, reason: Option<&str>, degradations: &[String]) {
        lock(&self.recalls).record(took, shown, reason, degradations);
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

/// What is told of folders that can't be watched: their names, of many the first ones.
fn unwatched(folders: &[PathBuf]) -> Option<Finding> {
    let named: Vec<String> = folders
        .iter()
        .take(MOST_TOLD)
        .map(|folder| folder.display().to_string())
        .collect();
    let more = match folders.len().saturating_sub(MOST_TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let why = format!(
        "{}{more} can't be watched: what changes there is found by the regular rescan, where it can be read",
        named.join(", ")
    );
    (!folders.is_empty()).then(|| Finding::new(State::Degraded, "watcher", why))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_told_until_it_works_again() {
        let progress = Progress::default();
        progress.fails(Part::Ingest, "the disk is full".to_owned());
        progress.fails(Part::Recollections, "the disk is full".to_owned());
        assert_eq!(progress.problems().len(), 2);
        assert_eq!(progress.ingest_problem().as_deref(), Some("the disk is full"));
        progress.works(Part::Ingest);
        assert_eq!(progress.ingest_problem(), None);
        assert!(progress.problems()[0].starts_with("recollection files"));
    }

    #[test]
    fn what_seemed_damaged_and_is_whole_is_no_problem() {
        let progress = Progress::default();
        progress.found_damage(Damage::Database);
        assert!(progress.is_damaged() && progress.problems().len() == 1);
        progress.found_whole();
        assert!(!progress.is_damaged() && progress.problems().is_empty());
    }

    #[test]
    fn what_the_store_refuses_for_good_is_a_degradation_until_it_is_read() {
        let progress = Progress::default();
        let states = || {
            let found = progress.findings(monotonic_ns(), 0);
            found.iter().map(|finding| (finding.part, finding.state)).collect::<Vec<_>>()
        };
        progress.add_file_problem(Path::new("/a"), "can't be read now".to_owned());
        assert_eq!(states(), []);
        progress.left_out(Path::new("/a"), "refused, twice".to_owned());
        progress.left_out(Path::new("/b"), "refused, twice".to_owned());
        assert_eq!(states(), [("ingest", State::Degraded)]);
        assert!(progress.findings(monotonic_ns(), 0)[0].why.starts_with("2 transcripts"));
        progress.clear_file_problem(Path::new("/a"));
        progress.clear_file_problem(Path::new("/b"));
        assert_eq!((states(), progress.problems().len()), (vec![], 0));
    }

    #[test]
    fn folders_that_cant_be_watched_are_named() {
        let progress = Progress::default();
        progress.set_unwatched(vec!["/t/locked".into()]);
        let findings = progress.findings(monotonic_ns(), 0);
        assert_eq!((findings[0].state, findings[0].part), (State::Degraded, "watcher"));
        assert!(
            findings[0].why.starts_with("/t/locked can't be watched"),
            "{}",
            findings[0].why
        );
        progress.set_unwatched(Vec::new());
        assert_eq!(progress.findings(monotonic_ns(), 0), []);
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
    #[test]
    fn what_waits_and_what_is_wrong_is_found_and_a_pause_is_not() {
        let progress = Progress::default();
        let later = || monotonic_ns() + 500_000_000_000;
        let states = |backlog| {
            let found = progress.findings(later(), backlog);
            found.iter().map(|finding| (finding.part, finding.state)).collect::<Vec<_>>()
        };
        assert_eq!(states(0), []);
        progress.set_paused(Some(Pause::Indefinite));
        assert_eq!(states(7), [], "what waits by the user's wish is no finding");
        progress.ingest.waits();
        let jobs = progress.jobs_of("store-writer");
        jobs.waits();
        assert_eq!(states(0), [("ingest", State::Stalled), ("store-writer", State::Behind)]);
        progress.ingest.rests();
        jobs.rests();
        progress.fails(Part::Ingest, "no space".to_owned());
        progress.set_polling(true);
        progress.found_damage(Damage::Index);
        progress.hooks_noted(Misses {
            gave_up: 1,
            kept_silent: 4,
        });
        let parts: Vec<&str> = states(0).into_iter().map(|(part, _)| part).collect();
        assert_eq!(parts, ["ingest", "watcher", "store", "recall"]);
        assert_eq!(
            progress.counted(),
            BTreeMap::from([("hook-gave-up", 1), ("hook-kept-silent", 4)])
        );
    }
}
