//! Files that can't be read or stored: which are left out until the next start, which are tried once more, and what
//! `status` tells of them.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use remembrancer_schema::QueryError;

use crate::causes::with_causes;
use crate::progress::{MOST_TOLD, Progress};

/// How many files with troubles there are once the log names no more.
const FIRST_UNTOLD: usize = MOST_TOLD + 1;

/// The files with troubles.
pub(super) struct Troubles {
    progress: Arc<Progress>,
    /// Files on whose content the program or the store failed, left out until the next start.
    poisoned: HashSet<PathBuf>,
    /// Files that the store refused and that are tried once more.
    refused: HashSet<PathBuf>,
    /// Files of which `status` tells that they are left out or can't be read.
    told: BTreeSet<PathBuf>,
}

impl Troubles {
    /// None yet; they will be told to `progress`.
    pub(super) fn new(progress: Arc<Progress>) -> Self {
        Self {
            progress,
            poisoned: HashSet::new(),
            refused: HashSet::new(),
            told: BTreeSet::new(),
        }
    }

    /// Whether the file at `path` is left out until the next start.
    pub(super) fn leaves_out(&self, path: &Path) -> bool {
        self.poisoned.contains(path)
    }

    /// The file can't be read now.
    pub(super) fn unreadable(&mut self, path: &Path, problem: String) {
        if self.told.insert(path.to_owned()) {
            match self.told.len() {
                ..=MOST_TOLD => tracing::warn!("{problem}"),
                FIRST_UNTOLD => tracing::warn!("{problem}; those after it are named by `remembrancer status` alone"),
                _ => tracing::debug!("{problem}"),
            }
        }
        self.progress.add_file_problem(path, problem);
    }

    /// The program or the store failed on what the file holds: it is left out until the next start.
    pub(super) fn poison(&mut self, path: &Path, why: &str) {
        self.poisoned.insert(path.to_owned());
        let problem = format!("{}: {why}; the file is left out until the next start", path.display());
        // A fault of ours is in the log, however many files can't be read.
        if self.told.insert(path.to_owned()) {
            tracing::warn!("{problem}");
        }
        self.progress.left_out(path, problem);
    }

    /// The store refused what the file holds: the first time it is tried once more, the second it is left out. Returns
    /// whether it is.
    pub(super) fn refuse(&mut self, path: &Path, error: &QueryError) -> bool {
        let first = self.refused.insert(path.to_owned());
        if !first {
            self.poison(path, &format!("{}, twice", with_causes(error)));
        }
        !first
    }

    /// The file has no trouble any more.
    pub(super) fn clear(&mut self, path: &Path) {
        self.poisoned.remove(path);
        self.refused.remove(path);
        self.told.remove(path);
        self.progress.clear_file_problem(path);
    }

    /// The files of which `status` tells.
    pub(super) fn told(&self) -> impl Iterator<Item = &PathBuf> {
        self.told.iter()
    }
}
