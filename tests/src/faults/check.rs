//! Holds a home against the truth. In go the places of a home whose daemon is dead and a [`Truth`], out come violations.
//!
//! The store is looked through in a copy (the database with its log, without SQLite's index of the log), so that what a crash left
//! is left for the daemon to find.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remembrancer_hooks::places::Places;
use remembrancer_hooks::recollection_file::{Opening, prompt_hash, prompt_hash_hex};
use remembrancer_processor::FENCE_CLOSE;
use remembrancer_schema::{Audit, AuditedEpisode, EpisodeUid, audit};
use walkdir::WalkDir;

use super::truth::{Truth, Turn, Wish};

/// An interrupted write's file older than this should have been removed by a daemon that started since.
const REMAINS: Duration = Duration::from_secs(150);
/// As many remains of interrupted writes there may be at all.
const MOST_REMAINS: usize = 100;

/// What kind of promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Broken {
    /// The database contradicts itself.
    Integrity,
    /// An episode is gone that was there, or not there that should be.
    Lost,
    /// An episode is there twice.
    Doubled,
    /// An episode is there that no transcript tells, or tells otherwise.
    Invented,
    /// What was forgotten is there again, or that it was is forgotten.
    CameBack,
    /// A recollection file tells of another prompt than the last.
    Stale,
    /// Remains of interrupted writes pile up.
    LeftBehind,
    /// Others may read a file.
    Exposed,
    /// A hook took longer than its deadline allows.
    HookLate,
    /// A hook failed, or wrote what a host does not know.
    HookLoud,
    /// A daemon did not start, or a command failed that nothing stood in the way of.
    Stuck,
}

/// A broken promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which promise.
    pub broken: Broken,
    /// What was found.
    pub detail: String,
}

impl Violation {
    /// One of a kind.
    pub fn new(broken: Broken, detail: impl Into<String>) -> Self {
        Self {
            broken,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.broken, self.detail)
    }
}

/// At which moment a home is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The writer died at any moment: what was seen must be there, and nothing that was never written.
    Crashed,
    /// A daemon has read everything (`flush`) and stopped in order: the store must be the truth, no more and no less.
    Settled,
}

/// What was found of a home.
#[derive(Debug, Default)]
pub struct Found {
    /// The broken promises.
    pub violations: Vec<Violation>,
    /// The store, where there is one that can be read.
    pub audit: Option<Audit>,
    /// The turns that the journal says are forgotten, whether the store knows it already or not.
    pub decided: BTreeSet<String>,
}

/// Holds the home at `places`, in which no daemon runs, against `truth`.
///
/// # Panics
/// Where the database can't be copied.
pub fn check(places: &Places, truth: &Truth, moment: Moment) -> Found {
    let mut found = Found {
        decided: decided(&places.database_file()),
        ..Found::default()
    };
    files(places, moment, &mut found.violations);
    recollections(places, truth, &mut found.violations);
    match look(&places.database_file()) {
        Ok(audit) => {
            let faults = audit.faults.iter().map(|fault| Violation::new(Broken::Integrity, fault));
            found.violations.extend(faults);
            store(&audit, truth, moment, &mut found.violations);
            found.audit = Some(audit);
        }
        Err(detail) if places.database_file().exists() => {
            found.violations.push(Violation::new(Broken::Integrity, detail));
        }
        Err(_) if moment == Moment::Settled || !truth.seen.is_empty() => {
            found.violations.push(Violation::new(Broken::Lost, "there is no database"));
        }
        Err(_) => {}
    }
    found
}

/// What the whole lines of the journal say is forgotten.
fn decided(database: &Path) -> BTreeSet<String> {
    let journal = fs_err::read_to_string(format!("{}.journal", database.display())).unwrap_or_default();
    let mut turns = BTreeSet::new();
    for line in journal.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let entry = line.split_once(' ').map_or("", |(_, entry)| entry);
        let entry: serde_json::Value = serde_json::from_str(entry).unwrap_or_default();
        let named = entry["turns"].as_array().filter(|_| entry["kind"] == "forget");
        turns.extend(
            named
                .into_iter()
                .flatten()
                .filter_map(|turn| turn.as_str().map(str::to_owned)),
        );
    }
    turns
}

/// Looks through a copy of the database.
fn look(database: &Path) -> Result<Audit, String> {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("memory.db");
    let beside = |path: &Path, suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    for suffix in ["", "-wal"] {
        let from = beside(database, suffix);
        if from.exists() {
            fs_err::copy(from, beside(&copy, suffix)).unwrap();
        }
    }
    audit(&copy).map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        format!("{error}: {cause}")
    })
}

fn store(audit: &Audit, truth: &Truth, moment: Moment, violations: &mut Vec<Violation>) {
    let mut tell = |broken, detail: String| violations.push(Violation::new(broken, detail));
    let mut by_prompt: BTreeMap<&str, Vec<&AuditedEpisode>> = BTreeMap::new();
    for episode in &audit.episodes {
        by_prompt.entry(&episode.prompt).or_default().push(episode);
    }
    for (prompt, episodes) in &by_prompt {
        match truth.turns.get(*prompt) {
            None => tell(Broken::Invented, format!("{prompt:?} stands in no transcript")),
            Some(turn) if turn.wish == Wish::Forgotten => tell(Broken::CameBack, format!("{prompt:?} was forgotten")),
            Some(turn) if !episodes.iter().all(|episode| is_told(&episode.answer, turn)) => {
                tell(Broken::Invented, format!("{prompt:?} has another answer than its transcript"));
            }
            Some(_) => {}
        }
        if episodes.len() > 1 {
            let ids: Vec<i64> = episodes.iter().map(|episode| episode.id.0).collect();
            tell(Broken::Doubled, format!("{prompt:?} is stored as {ids:?}"));
        }
    }
    let stored: BTreeSet<EpisodeUid> = audit.episodes.iter().map(|episode| episode.uid).collect();
    let is_kept = |prompt: &String| truth.turns.get(prompt).is_none_or(|turn| turn.wish == Wish::Kept);
    for (uid, prompt) in truth.seen.iter().filter(|&(_, prompt)| is_kept(prompt)) {
        if !stored.contains(uid) {
            tell(Broken::Lost, format!("{prompt:?} was seen in the store, as {uid}"));
        }
    }
    for turn in truth.buried.difference(&audit.tombstones) {
        tell(Broken::CameBack, format!("that {turn} was forgotten is forgotten"));
    }
    for session in half_forgotten(&stored, truth) {
        tell(Broken::Lost, format!("session {session} was forgotten by half"));
    }
    if moment == Moment::Settled {
        let due = truth
            .turns
            .iter()
            .filter(|(_, turn)| turn.wish == Wish::Kept && turn.answer.is_some());
        for (prompt, turn) in due {
            let complete = |episode: &&AuditedEpisode| turn.answer.as_ref() == Some(&episode.answer) && !episode.hidden;
            if !by_prompt
                .get(prompt.as_str())
                .is_some_and(|stored| stored.iter().any(complete))
            {
                tell(
                    Broken::Lost,
                    format!("{prompt:?} of {} is not in the store as it was written", turn.session),
                );
            }
        }
    }
}

/// Sessions that were to be forgotten, and of which some of what was seen is there and some is gone.
fn half_forgotten<'a>(stored: &BTreeSet<EpisodeUid>, truth: &'a Truth) -> BTreeSet<&'a str> {
    let mut states: BTreeMap<&str, BTreeSet<bool>> = BTreeMap::new();
    for (uid, prompt) in &truth.seen {
        let turn = truth.turns.get(prompt).filter(|turn| turn.wish == Wish::Forgetting);
        if let Some(turn) = turn {
            states.entry(&turn.session).or_default().insert(stored.contains(uid));
        }
    }
    states
        .into_iter()
        .filter(|(_, found)| found.len() > 1)
        .map(|(session, _)| session)
        .collect()
}

/// Whether a stored answer is one that the transcript tells, or told when it was read.
fn is_told(stored: &str, turn: &Turn) -> bool {
    stored.is_empty() || turn.answer.as_deref() == Some(stored)
}

/// Files of ours: private, and of interrupted writes few and young.
fn files(places: &Places, moment: Moment, violations: &mut Vec<Violation>) {
    let mut remains = 0;
    for entry in [places.data_dir(), places.state_dir()]
        .iter()
        .flat_map(WalkDir::new)
        .flatten()
    {
        let Ok(metadata) = entry.metadata() else { continue };
        let (mode, name) = (mode(&metadata), entry.file_name().to_string_lossy().into_owned());
        if (metadata.is_file() || metadata.is_dir()) && mode & 0o077 != 0 {
            let detail = format!("{} has mode {:o}", entry.path().display(), mode & 0o777);
            violations.push(Violation::new(Broken::Exposed, detail));
        }
        // A copy of the database that was not completed is made anew, or is of no use any more.
        let of_a_copy = name.contains(".part") || name.ends_with("-journal");
        if metadata.is_file() && (of_a_copy || entry.path().extension().is_some_and(|extension| extension == "tmp")) {
            remains += 1;
            let age = metadata.modified().ok().and_then(|at| at.elapsed().ok()).unwrap_or_default();
            if age > REMAINS || (of_a_copy && moment == Moment::Settled) {
                let detail = format!("{} is {} s old", entry.path().display(), age.as_secs());
                violations.push(Violation::new(Broken::LeftBehind, detail));
            }
        }
    }
    if remains > MOST_REMAINS {
        let detail = format!("{remains} remains of interrupted writes");
        violations.push(Violation::new(Broken::LeftBehind, detail));
    }
}

fn mode(metadata: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions())
}

/// A session's recollection file tells of its last prompt, or is not there.
fn recollections(places: &Places, truth: &Truth, violations: &mut Vec<Violation>) {
    for (session, prompt) in &truth.asked {
        let path = places.recollection_path("claude-code", session);
        let Ok(text) = fs_err::read_to_string(&path) else { continue };
        let opening = Opening::parse(text.lines().next().unwrap_or_default());
        let expected = prompt_hash_hex(&prompt_hash(session, prompt));
        if opening.is_none_or(|opening| opening.prompt != expected) || !text.trim_end().ends_with(FENCE_CLOSE) {
            let detail = format!("{} is not of the last prompt, or not whole", path.display());
            violations.push(Violation::new(Broken::Stale, detail));
        }
    }
}

#[cfg(test)]
mod tests;
