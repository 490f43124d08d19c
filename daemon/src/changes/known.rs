//! What a look found out of the files below a folder. In goes a moment, out comes what has become of a file since.

use std::collections::HashMap;

use remembrancer_processor::recall::{Fate, MOST_COMMITS};
use remembrancer_schema::UnixMillis;

/// What is known of files, by their whole paths.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// When the look was.
    pub(super) at: UnixMillis,
    /// The files of which anything is known.
    pub(super) files: HashMap<String, FileState>,
}

impl Known {
    /// What is known of the file at `path`.
    pub(super) fn of(&self, path: &str) -> Option<&FileState> {
        self.files.get(path)
    }
}

/// A file, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileState {
    /// When the commits were written that touched it, the newest first; [`MOST_COMMITS`] of them at most.
    pub(super) commits: Vec<UnixMillis>,
    /// Whether it is there.
    pub(super) presence: Presence,
}

/// Whether a file is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is.
    There {
        /// When it was written last, where its content is not known to be that of a commit.
        written: Option<UnixMillis>,
    },
    /// It is not.
    Gone {
        /// It was there until then, or longer.
        until: UnixMillis,
    },
}

impl FileState {
    /// What has become of it since `settled`; `None` where it is as it was then, as far as is known.
    pub(super) fn fate(&self, settled: UnixMillis) -> Option<Fate> {
        match self.presence {
            Presence::Gone { until } => (until > settled).then_some(Fate::Gone),
            Presence::There { written } => {
                let commits = self.commits.iter().filter(|at| **at > settled).count();
                let commits = u32::try_from(commits).unwrap_or(MOST_COMMITS);
                let is_changed = commits > 0 || written.is_some_and(|at| at > settled);
                is_changed.then_some(Fate::Changed { commits })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn there(written: Option<i64>) -> Presence {
        Presence::There {
            written: written.map(UnixMillis),
        }
    }

    #[rstest]
    #[case::as_it_was(&[], there(None), None)]
    #[case::committed_before(&[50, 10], there(None), None)]
    #[case::committed_since(&[300, 200, 100], there(None), Some(Fate::Changed { commits: 2 }))]
    #[case::written_before(&[], there(Some(100)), None)]
    #[case::written_since(&[], there(Some(101)), Some(Fate::Changed { commits: 0 }))]
    #[case::both(&[200], there(Some(300)), Some(Fate::Changed { commits: 1 }))]
    #[case::gone_before(&[], Presence::Gone { until: UnixMillis(100) }, None)]
    #[case::gone_since(&[], Presence::Gone { until: UnixMillis(101) }, Some(Fate::Gone))]
    fn what_came_after_counts(#[case] commits: &[i64], #[case] presence: Presence, #[case] expected: Option<Fate>) {
        let commits = commits.iter().copied().map(UnixMillis).collect();
        assert_eq!(FileState { commits, presence }.fate(UnixMillis(100)), expected);
    }
}
