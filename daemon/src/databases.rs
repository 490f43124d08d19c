//! Agents' databases as ingest knows them: which sessions each holds, and one session read whole. A session is a transcript
//! like a file: it is described by a [`FileStat`] and known again by it after a restart.
//!
//! A session of Cursor's that a transcript tells, too, gives way to it: it is one without content from then on, so that what
//! was read of it goes, and nothing is remembered twice.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use remembrancer_processor::ingest::Piece;
use remembrancer_schema::{Catalogue, ForeignDatabase, ForeignError, ForeignSession, Layout, Stamp};

use crate::files::is_gone;
use crate::mailbox::Mailbox;
use crate::roots::{Session, session_path};
use crate::scan::{self, FileStat};
use crate::source_file::{ReadStep, SourceFile, time_of};

/// The databases that were looked into.
pub(crate) struct Databases {
    /// Says when to stop.
    mailbox: Arc<Mailbox>,
    seen: BTreeMap<PathBuf, Seen>,
    /// Sessions that transcripts tell, of agents whose databases may tell them, too.
    told: HashSet<String>,
}

/// What a look into a database found.
struct Seen {
    /// What tables it has.
    layout: Layout,
    /// The database and its log just before the last look.
    files: [Option<FileStat>; 2],
    catalogue: Catalogue,
    /// Sessions that can't be read as they stand.
    left_out: BTreeMap<PathBuf, FileStat>,
}

impl Seen {
    fn nothing(layout: Layout) -> Self {
        Self {
            layout,
            files: [None, None],
            catalogue: Catalogue::default(),
            left_out: BTreeMap::new(),
        }
    }
}

impl Databases {
    /// None yet. What is read of one ends early where `mailbox` says stop.
    pub(crate) fn new(mailbox: Arc<Mailbox>) -> Self {
        Self {
            mailbox,
            seen: BTreeMap::new(),
            told: HashSet::new(),
        }
    }

    /// Finds out which sessions the database at `path` holds now. Where its files are as they were at the last look, there is
    /// none, unless it was `told` that something changed.
    ///
    /// # Errors
    /// What is in the way; its sessions are those of before then.
    pub(crate) fn look(&mut self, path: &Path, layout: Layout, told: bool) -> Result<(), ForeignError> {
        let files = [scan::stat(path), scan::stat(&ForeignDatabase::log_of(path))];
        if files[0].is_none() && is_gone(path) {
            self.seen.remove(path);
            return Ok(());
        }
        let seen = self.seen.entry(path.to_owned()).or_insert_with(|| Seen::nothing(layout));
        if told || files != seen.files {
            database(path, layout, &self.mailbox).look(&mut seen.catalogue)?;
            seen.files = files;
        }
        Ok(())
    }

    /// Notes that a transcript tells the session with this id. Returns the databases that it has to give way in now.
    pub(crate) fn give_way(&mut self, id: &str) -> Vec<PathBuf> {
        if !self.told.insert(id.to_owned()) {
            return Vec::new();
        }
        let holds = |seen: &Seen| seen.layout == Layout::Cursor && seen.catalogue.stamp(id).is_some();
        self.seen
            .iter()
            .filter(|(_, seen)| holds(seen))
            .map(|(path, _)| path.clone())
            .collect()
    }

    /// Whether a session is read from a transcript instead.
    pub(crate) fn gives_way(&self, layout: Layout, id: &str) -> bool {
        layout == Layout::Cursor && self.told.contains(id)
    }

    /// The sessions that a database held at the last look. Those that give way are as if nothing were in them.
    pub(crate) fn sessions(&self, path: &Path) -> Vec<FileStat> {
        let Some(seen) = self.seen.get(path) else { return Vec::new() };
        let stamps = seen.catalogue.stamps();
        stamps
            .map(|(id, stamp)| {
                let gives_way = self.gives_way(seen.layout, id);
                stat(path, id, if gives_way { Stamp::default() } else { stamp })
            })
            .collect()
    }

    /// Whether it is a session that was left out, and is as it was then.
    pub(crate) fn leaves_out(&self, stat: &FileStat) -> bool {
        self.seen.values().any(|seen| seen.left_out.get(&stat.path) == Some(stat))
    }

    /// Leaves a session out until it changes.
    pub(crate) fn leave_out(&mut self, session: &Session) {
        if let Some(seen) = self.seen.get_mut(&session.database)
            && let Some(stamp) = seen.catalogue.stamp(&session.id)
        {
            let stat = stat(&session.database, &session.id, stamp);
            seen.left_out.insert(stat.path.clone(), stat);
        }
    }

    /// Whether the session was not in its database at the last look.
    pub(crate) fn lacks(&self, session: &Session) -> bool {
        let seen = self.seen.get(&session.database);
        seen.is_some_and(|seen| seen.files[0].is_some() && seen.catalogue.stamp(&session.id).is_none())
    }

    /// Reads a session; `None` where it is gone. Of one that gives way nothing is read.
    ///
    /// # Errors
    /// What is in the way.
    pub(crate) fn read(&self, session: &Session) -> Result<Option<ReadStep>, ForeignError> {
        if self.gives_way(session.layout, &session.id) {
            let stat = stat(&session.database, &session.id, Stamp::default());
            let info = session.agent.session(&session.id, time_of(&stat), Vec::new());
            let step = SourceFile::emptied(&info, session.layout, &stat);
            return Ok(Some(step));
        }
        let found = database(&session.database, session.layout, &self.mailbox).session(&session.id)?;
        Ok(found.map(|found| step(session, found)))
    }
}

fn database(path: &Path, layout: Layout, mailbox: &Arc<Mailbox>) -> ForeignDatabase {
    let mailbox = Arc::clone(mailbox);
    ForeignDatabase::new(path, layout, move || mailbox.stops())
}

/// A session as a file would be described: its rows are its size, its greatest row number is its number.
fn stat(database: &Path, id: &str, stamp: Stamp) -> FileStat {
    FileStat {
        path: session_path(database, id),
        device: 0,
        inode: stamp.newest,
        size: stamp.rows,
        mtime: stamp.changed,
    }
}

fn step(session: &Session, found: ForeignSession) -> ReadStep {
    let stat = stat(&session.database, &session.id, found.stamp);
    let of_message = |piece: &Piece| piece.content.len() + piece.parts.iter().map(Vec::len).sum::<usize>();
    let pieces: Vec<Piece> = found
        .messages
        .into_iter()
        .map(|message| Piece {
            name: message.id,
            content: message.content,
            parts: message.parts,
        })
        .collect();
    let bytes = found.record.len() + pieces.iter().map(of_message).sum::<usize>();
    let info = session.agent.session(&session.id, time_of(&stat), pieces);
    SourceFile::session(&info, session.layout, &stat, &found.record, bytes)
}
