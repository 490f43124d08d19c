//! The look at everything, which is the truth where the watcher's events are hints: what is to be read, and what is gone.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remembrancer_processor::Deadline;

use super::Ingest;
use crate::causes::with_causes;
use crate::scan::{self, FileStat, Scan};
use crate::watch::POLL;

/// When everything is looked at once more after a folder appeared: its own watch has begun by then. Nor is everything looked
/// at more often than that at hints of the watcher.
pub(super) const SETTLE: Duration = Duration::from_millis(250);

impl Ingest {
    /// Looks at all folders where it is time to, or was `asked` for. Hints come in bursts, as where a program makes many
    /// folders: so they are waited for a moment after each look, but not where somebody waits for all that is on disk.
    pub(super) fn scan_where_due(&mut self, asked: bool) {
        if self.next_scan.has_passed() || asked && (self.settled.has_passed() || !self.flushes.is_empty()) {
            self.scan();
        } else if asked {
            self.next_scan = self.next_scan.min(self.settled);
        }
    }

    /// Looks at all folders: what is new waits in the backfill then, and what is gone is marked.
    pub(super) fn scan(&mut self) {
        for root in self.setup.roots.folders() {
            self.watch.follow(root);
        }
        self.setup.progress.set_polling(self.watch.is_polling());
        self.setup.progress.set_unwatched(self.watch.unwatched());
        let Scan {
            mut files,
            databases,
            problems,
            unknown,
        } = scan::scan(&self.setup.roots, &self.setup.exclusions);
        for file in &files {
            self.note_transcript(&file.path);
        }
        for (path, layout) in databases {
            files.extend(self.sessions_of(&path, layout));
        }
        scan::newest_first(&mut files);
        if let Some(newest) = self.setup.newest {
            files.truncate(newest);
        }
        self.setup.progress.set_scan(files.len(), problems, unknown);
        self.mark_missing(&files);
        self.clear_gone();
        let waiting: HashSet<&PathBuf> = self.backfill.iter().collect();
        let fresh: Vec<PathBuf> = files
            .into_iter()
            .filter(|stat| !waiting.contains(&stat.path))
            .filter(|stat| self.is_unread(stat) || self.reread.contains(&stat.path))
            .map(|stat| stat.path)
            .collect();
        drop(waiting);
        // What changed since the last look is newer than what still waits.
        self.backfill = fresh.into_iter().chain(self.backfill.drain(..)).collect();
        self.setup.progress.set_waiting_files(self.backfill.len());
        self.next_scan = Deadline::after(if self.watch.is_polling() {
            POLL.min(self.setup.rescan)
        } else {
            self.setup.rescan
        });
        self.settled = Deadline::after(SETTLE);
    }

    /// A transcript that is gone is no trouble any more, and another one in its place may be none.
    fn clear_gone(&mut self) {
        let gone: Vec<PathBuf> = self.troubles.told().filter(|path| self.is_gone(path)).cloned().collect();
        for path in gone {
            self.troubles.clear(&path);
        }
    }

    /// A transcript that is gone keeps its episodes: it is only marked.
    fn mark_missing(&mut self, files: &[FileStat]) {
        let present: HashSet<&Path> = files.iter().map(|stat| stat.path.as_path()).collect();
        let changed: Vec<(PathBuf, bool)> = self
            .known
            .iter()
            .filter(|(path, known)| known.missing == present.contains(path.as_path()) && (known.missing || self.is_gone(path)))
            .map(|(path, known)| (path.clone(), !known.missing))
            .collect();
        if changed.is_empty() {
            return;
        }
        let marked = self.setup.writer.call_blocking(move |writer| {
            changed
                .iter()
                .try_for_each(|(path, missing)| writer.mark_source_missing(&path.to_string_lossy(), *missing))
                .map(|()| changed)
        });
        match marked {
            Ok(Ok(changed)) => {
                for (path, missing) in changed {
                    if let Some(known) = self.known.get_mut(&path) {
                        known.missing = missing;
                    }
                }
            }
            Ok(Err(error)) => {
                tracing::warn!(error = %with_causes(&error), "cannot mark missing transcripts; it is tried again at the next rescan");
            }
            // The next write finds out.
            Err(_) => {}
        }
    }
}
