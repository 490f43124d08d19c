//! What is passed over, given up or late has a name, under which it is counted since the daemon's start and shown by `status`;
//! `docs/status.md` says what each means, which a test compares. (What a transcript holds that can't be read is counted in the
//! store, by file; why a prompt got nothing, and what a recall went without, are counted by the recall.)

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// A hook waited for the daemon until its time was up.
    HookGaveUp,
    /// A hook did not ask, since another had given up a moment before.
    HookKeptSilent,
    /// More transcripts changed at once than are remembered one by one: all are looked at.
    ChangesOverflowed,
    /// A line of a transcript was too long to be kept whole: data in it was dropped.
    LineShortened,
    /// A record had a time that it can't have, and got another.
    TimeNotTaken,
    /// An episode can't be embedded, and is found by its words alone.
    EpisodeWithoutVector,
    /// A prompt's recollection file was ready too late to be written.
    FileLate,
    /// A prompt's recollection file could not be written.
    FileNotWritten,
    /// What was shown for a prompt could not be noted.
    ShowingNotNoted,
    /// Whether what was shown was used could not be told.
    UseNotTold,
    /// The store's regular upkeep failed, and is tried again.
    UpkeepFailed,
    /// A daily backup failed.
    BackupFailed,
    /// What is beyond the bounds of retention could not be removed.
    RetentionFailed,
    /// A copy of the memory was removed: secrets that newer rules found may have been in it, and it could not be rewritten.
    CopyRemoved,
    /// A guarded session could not be kept out.
    GuardFailed,
    /// The way to the shared store was interrupted, or could not be made.
    ShareInterrupted,
    /// The shared store does not take an episode for what it holds.
    ShareSetAside,
    /// An episode of others is sealed with another key than ours.
    ShareNotOpened,
    /// What others shared as an episode is none.
    ShareNotTaken,
    /// A job panicked.
    JobPanicked,
}

impl Count {
    /// All of them, in the order in which `status` shows them.
    pub(crate) const ALL: [Self; 20] = [
        Self::HookGaveUp,
        Self::HookKeptSilent,
        Self::ChangesOverflowed,
        Self::LineShortened,
        Self::TimeNotTaken,
        Self::EpisodeWithoutVector,
        Self::FileLate,
        Self::FileNotWritten,
        Self::ShowingNotNoted,
        Self::UseNotTold,
        Self::UpkeepFailed,
        Self::BackupFailed,
        Self::RetentionFailed,
        Self::CopyRemoved,
        Self::GuardFailed,
        Self::ShareInterrupted,
        Self::ShareSetAside,
        Self::ShareNotOpened,
        Self::ShareNotTaken,
        Self::JobPanicked,
    ];

    /// Its name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::HookGaveUp => "hook-gave-up",
            Self::HookKeptSilent => "hook-kept-silent",
            Self::ChangesOverflowed => "changes-overflowed",
            Self::LineShortened => "line-shortened",
            Self::TimeNotTaken => "time-not-taken",
            Self::EpisodeWithoutVector => "episode-without-vector",
            Self::FileLate => "file-late",
            Self::FileNotWritten => "file-not-written",
            Self::ShowingNotNoted => "showing-not-noted",
            Self::UseNotTold => "use-not-told",
            Self::UpkeepFailed => "upkeep-failed",
            Self::BackupFailed => "backup-failed",
            Self::RetentionFailed => "retention-failed",
            Self::CopyRemoved => "copy-removed",
            Self::GuardFailed => "guard-failed",
            Self::ShareInterrupted => "share-interrupted",
            Self::ShareSetAside => "share-set-aside",
            Self::ShareNotOpened => "share-not-opened",
            Self::ShareNotTaken => "share-not-taken",
            Self::JobPanicked => "job-panicked",
        }
    }
}

/// How often each was met.
#[derive(Debug, Default)]
pub(crate) struct Tally([AtomicU64; Count::ALL.len()]);

impl Tally {
    /// Tally `times` more of `what`.
    pub(crate) fn add(&self, what: Count, times: u64) {
        self.0[what as usize].fetch_add(times, Ordering::Relaxed);
    }

    /// How often `what` was met.
    pub(crate) fn of(&self, what: Count) -> u64 {
        self.0[what as usize].load(Ordering::Relaxed)
    }

    /// Those that were met, by name.
    pub(crate) fn met(&self) -> BTreeMap<&'static str, u64> {
        let counted = Count::ALL.into_iter().map(|what| (what.as_str(), self.of(what)));
        counted.filter(|(_, times)| *times > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use remembrancer_processor::ingest::ProblemKind;
    use remembrancer_processor::recall::{Degradation, Silence};

    use super::*;
    use crate::health::State;
    use crate::reason::Reason;

    #[test]
    fn each_is_counted_by_itself_and_under_a_name_of_its_own() {
        let tally = Tally::default();
        for (times, what) in Count::ALL.into_iter().enumerate() {
            assert_eq!(what as usize, times, "the order of ALL is that of the kinds");
            tally.add(what, times as u64);
        }
        let met = tally.met();
        assert_eq!(
            met.len(),
            Count::ALL.len() - 1,
            "what was not met is not shown, and no two share a name"
        );
        assert_eq!(met["hook-kept-silent"], 1);
        assert_eq!(met["job-panicked"], Count::JobPanicked as u64);
    }

    /// Every name that `status` may show of something that is passed over, given up, late, or not well.
    fn names() -> Vec<&'static str> {
        let counts = Count::ALL.map(Count::as_str);
        let reasons = Reason::BEFORE_A_RECALL.map(Reason::as_str);
        let silences = Silence::ALL.map(Silence::as_str);
        let degradations = Degradation::ALL.map(Degradation::as_str);
        let states = State::ALL.map(State::as_str);
        [&counts[..], &reasons, &silences, &degradations, &states, &ProblemKind::NAMES].concat()
    }

    #[test]
    fn the_documentation_explains_every_name() {
        let text = fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/status.md")).unwrap();
        let explained = |name: &str| text.contains(&format!("| `{name}` |"));
        let missing: Vec<&str> = names().into_iter().filter(|name| !explained(name)).collect();
        assert!(missing.is_empty(), "docs/status.md does not explain {missing:?}");
    }
}
