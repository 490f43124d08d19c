//! Whether the daemon does its work: well, behind with it, degraded, or stalled, and why. Told from progress and never from a
//! heartbeat: each part of the work says when some of it waits and when it moved ([`Beacon`]), and what is judged is how long
//! it has not moved although some waits.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use remembrancer_hooks::clock::monotonic_ns;
use serde_json::{Value, json};

/// Work that has waited for this long is behind. A new turn is to be found by its words within a second, and by its meaning
/// within five (DESIGN §9).
const BEHIND: Duration = Duration::from_secs(10);
/// Work that has not moved for this long is stalled. A step reads a megabyte, or embeds eight episodes: seconds on the slowest
/// machine, rests for politeness included.
const STALLED: Duration = Duration::from_mins(2);
/// One job of a store thread that runs for this long is stalled: a whole index rebuilt, or a database scrubbed of what was
/// forgotten, may take minutes.
const JOB_STALLED: Duration = Duration::from_mins(10);

/// How the daemon is, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// All that came is done.
    Well,
    /// Work waits, and is being done.
    Behind,
    /// It does less than it should, or less well.
    Degraded,
    /// Work waits, and nothing of it moves.
    Stalled,
}

impl State {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 4] = [Self::Well, Self::Behind, Self::Degraded, Self::Stalled];

    /// The state's name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::Behind => "behind",
            Self::Degraded => "degraded",
            Self::Stalled => "stalled",
        }
    }
}

/// One reason for a state other than well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The state that follows from it.
    pub state: State,
    /// The part that it is about.
    pub part: &'static str,
    /// What is so, for people.
    pub why: String,
}

impl Finding {
    /// A finding.
    pub(crate) fn new(state: State, part: &'static str, why: impl Into<String>) -> Self {
        Self {
            state,
            part,
            why: why.into(),
        }
    }
}

/// The findings as `status` tells them: the worst state, and why, worst first.
pub(crate) fn told(mut findings: Vec<Finding>) -> Value {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.state));
    let worst = findings.first().map_or(State::Well, |finding| finding.state);
    let why = |finding: &Finding| json!({"state": finding.state.as_str(), "part": finding.part, "why": finding.why});
    json!({"state": worst.as_str(), "why": findings.iter().map(why).collect::<Vec<_>>()})
}

/// One kind of work: whether some of it waits, since when, and when it last moved. Monotonic nanoseconds, 0 for never.
#[derive(Debug, Default)]
pub(crate) struct Beacon {
    waits_since: AtomicU64,
    moved_at: AtomicU64,
    on: Mutex<Option<PathBuf>>,
}

impl Beacon {
    /// Some of it waits, now or still.
    pub(crate) fn waits(&self) {
        // Only the thread that does the work calls this, so nothing comes between.
        if self.waits_since.load(Ordering::Relaxed) == 0 {
            self.waits_since.store(monotonic_ns().max(1), Ordering::Relaxed);
        }
    }

    /// A step of it is done.
    pub(crate) fn moved(&self) {
        self.moved_at.store(monotonic_ns(), Ordering::Relaxed);
    }

    /// None of it waits any more, or none is to be done.
    pub(crate) fn rests(&self) {
        self.waits_since.store(0, Ordering::Relaxed);
        self.set_on(None);
    }

    /// What it is at now.
    pub(crate) fn is_on(&self, path: &Path) {
        self.set_on(Some(path.to_owned()));
    }

    fn set_on(&self, path: Option<PathBuf>) {
        *self.on.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }

    /// How long some of it has waited, and how long it has not moved meanwhile; `None` while it rests.
    fn standing(&self, now_ns: u64) -> Option<(Duration, Duration)> {
        let since = self.waits_since.load(Ordering::Relaxed);
        let moved = self.moved_at.load(Ordering::Relaxed).max(since);
        let until_now = |at: u64| Duration::from_nanos(now_ns.saturating_sub(at));
        (since > 0).then(|| (until_now(since), until_now(moved)))
    }

    /// What is wrong with `part` at the monotonic instant `now_ns`, of which `what` waits.
    pub(crate) fn finding(&self, part: &'static str, what: &str, now_ns: u64) -> Option<Finding> {
        let (waited, still) = self.standing(now_ns)?;
        if still >= STALLED {
            let on = self.on.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let place = on.map_or_else(String::new, |path| format!("; it is at {}", path.display()));
            return Some(Finding::new(
                State::Stalled,
                part,
                format!("{what}, and nothing has moved for {}{place}", span(still)),
            ));
        }
        (waited >= BEHIND).then(|| Finding::new(State::Behind, part, format!("{what}, for {} by now", span(waited))))
    }

    /// The same of a thread that does one job after another: only one that does not end is a finding.
    pub(crate) fn job_finding(&self, part: &'static str, now_ns: u64) -> Option<Finding> {
        let (runs, _) = self.standing(now_ns)?;
        if runs < STALLED {
            return None;
        }
        let state = if runs >= JOB_STALLED { State::Stalled } else { State::Behind };
        Some(Finding::new(
            state,
            part,
            format!("one job has run for {}, and others wait for its end", span(runs)),
        ))
    }
}

/// `40 s`, `12 min`, `3 h 20 min`.
pub(crate) fn span(of: Duration) -> String {
    let seconds = of.as_secs();
    match (seconds / 3_600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(number: u64) -> u64 {
        number * 1_000_000_000
    }

    /// The state of work that began to wait at 100 s and last moved at `moved`, at `now`.
    fn state(moved: u64, now: u64) -> State {
        let beacon = Beacon::default();
        beacon.waits_since.store(seconds(100), Ordering::Relaxed);
        beacon.moved_at.store(seconds(moved), Ordering::Relaxed);
        beacon
            .finding("part", "some waits", seconds(now))
            .map_or(State::Well, |finding| finding.state)
    }

    #[test]
    fn what_moves_is_behind_and_what_does_not_is_stalled() {
        assert_eq!(state(0, 101), State::Well);
        assert_eq!(state(0, 110), State::Behind);
        assert_eq!(state(0, 219), State::Behind);
        assert_eq!(state(0, 220), State::Stalled);
        assert_eq!(state(219, 220), State::Behind, "it moved");
        assert_eq!(state(219, 339), State::Stalled, "and then no more");
        assert_eq!(state(400, 300), State::Behind, "a step that ends while this is asked");
    }

    #[test]
    fn what_rests_is_well_however_long() {
        let beacon = Beacon::default();
        assert_eq!(beacon.finding("part", "some waits", seconds(1_000_000)), None);
        beacon.waits();
        beacon.is_on(Path::new("/a/transcript.jsonl"));
        let later = monotonic_ns() + seconds(500);
        let finding = beacon.finding("ingest", "3 transcripts wait", later).unwrap();
        assert_eq!(
            finding.why,
            "3 transcripts wait, and nothing has moved for 8 min; it is at /a/transcript.jsonl"
        );
        beacon.rests();
        assert_eq!(beacon.finding("ingest", "", later), None);
    }

    #[test]
    fn a_long_job_is_behind_before_it_is_stalled() {
        let beacon = Beacon::default();
        beacon.waits_since.store(seconds(100), Ordering::Relaxed);
        let state = |now| beacon.job_finding("store-writer", seconds(now)).map(|finding| finding.state);
        assert_eq!(
            [state(219), state(220), state(699), state(700)],
            [None, Some(State::Behind), Some(State::Behind), Some(State::Stalled)]
        );
    }

    #[test]
    fn the_worst_is_told_first() {
        assert_eq!(told(Vec::new()), json!({"state": "well", "why": []}));
        let findings = vec![
            Finding::new(State::Behind, "a", "x"),
            Finding::new(State::Stalled, "b", "y"),
            Finding::new(State::Degraded, "c", "z"),
        ];
        let told = told(findings);
        assert_eq!(told["state"], "stalled");
        let parts: Vec<&str> = told["why"]
            .as_array()
            .unwrap()
            .iter()
            .map(|why| why["part"].as_str().unwrap())
            .collect();
        assert_eq!(parts, ["b", "c", "a"]);
    }
}
