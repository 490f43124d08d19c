//! Databases among the transcripts: their sessions wait in the backfill like files, each by a path of its own. A change of a
//! database costs a look at what changed in it, and the sessions that did.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use remembrancer_processor::Deadline;
use remembrancer_processor::ingest::Shape;
use remembrancer_schema::Layout;

use super::{DOCUMENT_WAIT, Ingest};
use crate::causes::with_causes;
use crate::files::is_gone;
use crate::roots::Session;
use crate::scan::{self, FileStat};
use crate::source_file::ReadStep;

impl Ingest {
    /// The sessions of the database at `path`. Where it can't be read, they are those that it held before; where that passes, it
    /// is tried again soon.
    pub(super) fn sessions_of(&mut self, path: &Path, layout: Layout) -> Vec<FileStat> {
        self.look_into(path, layout, false);
        let mut sessions = self.databases.sessions(path);
        sessions.retain(|stat| !self.never_counts(&stat.path));
        sessions
    }

    /// Notes which session the transcript at `path` tells: where it is in a database, too, it is not read from there, and what
    /// was goes soon.
    pub(super) fn note_transcript(&mut self, path: &Path) {
        if let Some((agent, shape)) = self.setup.roots.claim(path)
            && !matches!(shape, Shape::Database(_))
            && let Some(id) = agent.told_by(path)
        {
            for database in self.databases.give_way(id) {
                self.wait_for(&database);
            }
        }
    }

    /// Whether a session that gives way to a transcript was never read.
    fn never_counts(&self, path: &Path) -> bool {
        let session = self.setup.roots.session(path);
        !self.known.contains_key(path) && session.is_some_and(|session| self.databases.gives_way(session.layout, &session.id))
    }

    /// Finds out what a database holds, `told` that it changed or not.
    fn look_into(&mut self, path: &Path, layout: Layout, told: bool) {
        match self.databases.look(path, layout, told) {
            Ok(()) => self.troubles.clear(path),
            Err(error) => {
                if error.is_passing() {
                    self.wait_for(path);
                }
                self.troubles.unreadable(path, with_causes(&error));
            }
        }
    }

    /// Makes the sessions that changed in a database the backfill's first, the last changed before all.
    pub(super) fn take_sessions(&mut self, path: &Path, layout: Layout) {
        self.look_into(path, layout, true);
        let mut changed = self.databases.sessions(path);
        changed.retain(|stat| self.is_unread(stat) && !self.never_counts(&stat.path));
        scan::newest_first(&mut changed);
        let first: HashSet<&PathBuf> = changed.iter().map(|stat| &stat.path).collect();
        self.backfill.retain(|path| !first.contains(path));
        drop(first);
        let changed = changed.into_iter().map(|stat| stat.path);
        self.backfill = changed.chain(self.backfill.drain(..)).collect();
    }

    /// Reads a session; `None` where there is nothing to read.
    pub(super) fn read_session(&mut self, path: &Path, session: &Session) -> Option<Result<ReadStep, String>> {
        if self.troubles.leaves_out(path) || self.never_counts(path) {
            return None;
        }
        match self.databases.read(session) {
            Ok(Some(step)) => {
                self.reread.remove(path);
                Some(Ok(step))
            }
            Ok(None) => {
                self.troubles.clear(path);
                None
            }
            Err(error) => {
                if error.is_passing() {
                    self.wait_for(&session.database);
                } else {
                    self.databases.leave_out(session);
                }
                Some(Err(with_causes(&error)))
            }
        }
    }

    /// Whether there is something in a transcript that was not read.
    pub(super) fn is_unread(&self, stat: &FileStat) -> bool {
        let known = self.known.get(&stat.path);
        known.is_none_or(|known| !scan::is_untouched(stat, known)) && !self.databases.leaves_out(stat)
    }

    /// Whether a transcript is gone. Of a session that is only known where its database could be read.
    pub(super) fn is_gone(&self, path: &Path) -> bool {
        match self.setup.roots.session(path) {
            Some(session) => is_gone(&session.database) || self.databases.lacks(&session),
            None => is_gone(path),
        }
    }

    /// Has what changed read after a while.
    pub(super) fn wait_for(&mut self, path: &Path) {
        let wait = || Deadline::after(DOCUMENT_WAIT);
        self.waiting.entry(path.to_owned()).or_insert_with(wait);
    }
}
