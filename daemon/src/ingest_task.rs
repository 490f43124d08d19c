//! The ingest thread: changed transcripts first, then the backfill, newest first; bytes become turns, turns become
//! episodes, and each step's episodes and file position are stored in one transaction, of the backfill several steps in
//! one ([`batch`]).
//!
//! It is a thread and not a task, since all it does blocks: reading files, parsing, waiting for the writer. What happens
//! to a file that can't be read, or a store that can't be written, is a problem that `status` shows; nothing is lost,
//! since a position moves only with what was read before it.

mod batch;
mod databases;
mod open_files;
mod rescan;
mod troubles;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use batch::Reading;
use open_files::OpenFiles;
use remembrancer_processor::ingest::Shape;
use remembrancer_processor::{Deadline, Stopwatch};
use remembrancer_schema::{QueryError, Reader, ToldProject, Writer};
use rescan::SETTLE;
use troubles::Troubles;

use crate::causes::with_causes;
use crate::clock;
use crate::codes::SharedCodes;
use crate::control::REREADS_DONE;
use crate::conversations::Conversations;
use crate::counts::Count;
use crate::databases::Databases;
use crate::drift::Teller;
use crate::exclusions::Exclusions;
use crate::feedback::Feedback;
use crate::instructions::Due;
use crate::mailbox::Mailbox;
use crate::politeness::Politeness;
use crate::progress::{Part, Progress};
use crate::project::Folders;
use crate::roots::Roots;
use crate::scan::{self, FileStat, KnownFile};
use crate::source_file::{CHUNK_BYTES, ReadStep, SourceFile};
use crate::store::{NoAnswer, StoreHandle};
use crate::threads::contained;
use crate::watch::Watch;

/// Steps that a live file takes at once; the rest waits at the backfill's front.
const LIVE_STEPS: usize = 8;
/// What the backfill stores in one transaction at most: bytes read, but for the last step, and files. A transaction costs
/// as much as ten small turns, and the segment that each leaves in the full-text index is merged with others later.
const BATCH_BYTES: usize = 2 * CHUNK_BYTES;
const BATCH_FILES: usize = 64;
/// How long ingest rests after the store could not be written, before it tries again.
const AFTER_FAILURE: Duration = Duration::from_secs(10);
/// How long a changed document waits to be read, all of it again: some agents write theirs anew with every word.
const DOCUMENT_WAIT: Duration = Duration::from_secs(2);
/// How often a paused ingest looks whether the pause is over.
const PAUSED_LOOK: Duration = Duration::from_millis(500);

/// What the ingest thread is given.
pub(crate) struct IngestSetup {
    /// Folders with transcripts.
    pub roots: Roots,
    /// What is never read, from the settings.
    pub exclusions: Exclusions,
    /// Only so many of the newest, if set.
    pub newest: Option<usize>,
    /// How often everything is looked at again.
    pub rescan: Duration,
    /// How much of the machine the backfill may take.
    pub politeness: Politeness,
    /// Finds the projects of folders.
    pub folders: Folders,
    /// What was read of which file before.
    pub known: Vec<KnownFile>,
    /// The store.
    pub writer: StoreHandle<Writer>,
    /// The thread on which codes are changed.
    pub background: StoreHandle<Reader>,
    /// What counts the uses of what was shown.
    pub feedback: Feedback,
    /// Where to say what happens.
    pub progress: Arc<Progress>,
    /// What each conversation has been answered: a compaction ends it.
    pub conversations: Arc<Conversations>,
    /// The codes of all embedded episodes: those of episodes that ingest removes go.
    pub codes: SharedCodes,
    /// Where hints arrive.
    pub mailbox: Arc<Mailbox>,
    /// Whose instruction files are to be written anew.
    pub due: Arc<Due>,
}

/// The ingest thread's state.
pub(crate) struct Ingest {
    setup: IngestSetup,
    watch: Watch,
    known: HashMap<PathBuf, KnownFile>,
    open: OpenFiles,
    projects: HashMap<String, Option<Arc<ToldProject>>>,
    /// Where folders lead, where that is another path, and until when that holds.
    reals: HashMap<String, (Option<String>, Deadline)>,
    backfill: VecDeque<PathBuf>,
    /// Documents and databases that changed, and when each is the backfill's first.
    waiting: BTreeMap<PathBuf, Deadline>,
    reread: HashSet<PathBuf>,
    /// How many times reading everything again was asked for and is not done yet.
    rereads: u64,
    troubles: Troubles,
    databases: Databases,
    drift: Teller,
    flushes: Vec<tokio::sync::oneshot::Sender<()>>,
    next_scan: Deadline,
    /// When a hint may lead to a look at everything again.
    settled: Deadline,
    /// Until when nothing is read, after the store could not be written.
    resting: Deadline,
}

/// Why a file could not be taken up.
#[derive(Debug, thiserror::Error)]
enum IngestError {
    #[error("the store refused a write")]
    Store(#[from] QueryError),
    #[error(transparent)]
    Gone(#[from] NoAnswer),
    #[error("a pause began")]
    Paused,
}

impl Ingest {
    /// Prepares the thread's state.
    pub(crate) fn new(setup: IngestSetup) -> Self {
        let watch = Watch::start(Arc::clone(&setup.mailbox), Arc::new(setup.roots.clone()));
        let known = setup
            .known
            .iter()
            .map(|known| (known.stat.path.clone(), known.clone()))
            .collect();
        let mut ingest = Self {
            troubles: Troubles::new(Arc::clone(&setup.progress)),
            databases: Databases::new(Arc::clone(&setup.mailbox)),
            setup,
            watch,
            known,
            open: OpenFiles::default(),
            projects: HashMap::new(),
            reals: HashMap::new(),
            backfill: VecDeque::new(),
            waiting: BTreeMap::new(),
            reread: HashSet::new(),
            rereads: 0,
            drift: Teller::default(),
            flushes: Vec::new(),
            next_scan: Deadline::after(Duration::ZERO),
            settled: Deadline::after(Duration::ZERO),
            resting: Deadline::after(Duration::ZERO),
        };
        // Also those that are gone: what was read of them stays.
        let read: Vec<PathBuf> = ingest.known.keys().cloned().collect();
        for path in &read {
            ingest.note_transcript(path);
        }
        ingest
    }

    /// Runs until the mailbox says stop, or the store is gone.
    pub(crate) fn run(mut self) {
        let mailbox = Arc::clone(&self.setup.mailbox);
        let mut patience = Duration::ZERO;
        loop {
            let mail = mailbox.take(patience);
            if mail.stop {
                return;
            }
            let at_once = !mail.flushes.is_empty();
            self.flushes.extend(mail.flushes);
            self.begin_reread(mail.rereads);
            self.setup.progress.count(Count::ChangesOverflowed, mail.overflowed);
            if mail.forget_projects {
                self.projects.clear();
            }
            if self.setup.progress.is_paused(clock::now()) {
                // What changed meanwhile is found by the scan after the pause.
                self.next_scan = Deadline::after(Duration::ZERO);
                self.release_flushes();
                self.setup.progress.ingest.rests();
                patience = PAUSED_LOOK;
                continue;
            }
            if !at_once && !self.resting.has_passed() {
                // A busy session must not have the store tried with every line: what changed is found by the scan after the rest.
                patience = self.resting.remaining();
                continue;
            }
            // From the look at the folders on, which may hang as a transcript may, until nothing is left.
            self.setup.progress.ingest.waits();
            self.scan_where_due(mail.rescan);
            if mail.folder_appeared {
                self.next_scan = Deadline::after(SETTLE);
            }
            for (agent, path) in mail.named.into_values() {
                if !self.setup.exclusions.cover(&path) && self.setup.roots.lack(agent, &path) {
                    self.setup.progress.found_elsewhere(agent, path);
                }
            }
            let worked = self.take_changed(mail.changed).and_then(|()| {
                self.end_waiting(at_once);
                self.take_from_backfill()
            });
            patience = match worked {
                Ok(rest) => rest,
                Err(IngestError::Gone(_)) => return,
                Err(IngestError::Paused) => {
                    self.put_off();
                    Duration::ZERO
                }
                Err(error) => self.rest_after(&error),
            };
        }
    }

    fn begin_reread(&mut self, times: u64) {
        if times > 0 {
            self.rereads += times;
            self.reread = self.known.keys().cloned().collect();
            self.open.close_all();
        }
    }

    /// Notes that everything was read again, so that the next start need not.
    fn end_reread(&mut self) -> Result<(), IngestError> {
        let done = std::mem::take(&mut self.rereads);
        if done > 0 {
            self.setup
                .writer
                .call_blocking(move |writer| writer.add_counter(REREADS_DONE, done))??;
        }
        Ok(())
    }

    /// A live change costs only what is new in that file, so it is taken at once. What is larger than that, such as a file
    /// that was copied here, is the backfill's, lest the other live ones wait for it; a document is, too, after a while.
    fn take_changed(&mut self, changed: impl IntoIterator<Item = PathBuf>) -> Result<(), IngestError> {
        for path in changed {
            let Some((path, shape)) = self.ours(path) else { continue };
            self.note_transcript(&path);
            if shape != Shape::Lines {
                self.wait_for(&path);
                continue;
            }
            let (mut at_end, mut steps) = (false, 0);
            while !at_end && steps < LIVE_STEPS {
                if self.setup.mailbox.stops() || self.setup.progress.is_paused(clock::now()) {
                    // The next start, or the scan after the pause, finds what is left.
                    self.next_scan = Deadline::after(Duration::ZERO);
                    return Ok(());
                }
                at_end = self.advance(&path)?;
                steps += 1;
            }
            if !at_end {
                self.put_first(path);
            }
        }
        Ok(())
    }

    fn put_first(&mut self, path: PathBuf) {
        self.backfill.retain(|waiting| *waiting != path);
        self.backfill.push_front(path);
    }

    /// Documents that have waited long enough are the backfill's first now, of databases the sessions that changed; with
    /// `at_once`, all are.
    fn end_waiting(&mut self, at_once: bool) {
        let ready = self.waiting.extract_if(.., |_, until| at_once || until.has_passed());
        for (path, _) in ready.collect::<Vec<_>>() {
            match self.setup.roots.claim(&path) {
                Some((_, Shape::Database(layout))) => self.take_sessions(&path, layout),
                _ => self.put_first(path),
            }
        }
    }

    /// The next files of the backfill, one step each, stored together. Returns how long mail may be waited for.
    fn take_from_backfill(&mut self) -> Result<Duration, IngestError> {
        if self.backfill.is_empty() {
            self.end_reread()?;
            self.tell_drift()?;
            // Nothing is owed any more, whatever it was that failed.
            self.setup.progress.works(Part::Ingest);
            self.release_flushes();
            self.setup.progress.ingest.rests();
            let next = self.waiting.values().copied().fold(self.next_scan, Deadline::min);
            return Ok(next.remaining());
        }
        let mut watch = Stopwatch::start();
        let batch = self.next_of_backfill();
        let unfinished = self.store(batch)?;
        watch.lap("batch");
        for path in unfinished.into_iter().rev() {
            self.backfill.push_front(path);
        }
        self.setup.progress.set_waiting_files(self.backfill.len());
        let took: Duration = watch.total();
        // Who has stopped waiting makes no haste.
        self.flushes.retain(|done| !done.is_closed());
        Ok(if self.flushes.is_empty() {
            self.setup.politeness.rest_after(took)
        } else {
            Duration::ZERO
        })
    }

    /// Reads from the backfill's first files until it is enough for one transaction. Files that failure leaves out here
    /// are found again by the scan that follows it.
    fn next_of_backfill(&mut self) -> Vec<Reading> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES && batch.len() < BATCH_FILES && !self.setup.mailbox.stops() {
            let Some(path) = self.backfill.pop_front() else { break };
            self.waiting.remove(&path);
            if let Some(reading) = self.look(&path) {
                bytes += reading.bytes;
                batch.push(reading);
            }
        }
        batch
    }

    /// What was read last is not stored, and parsers are ahead of the store now: they begin again from the stored positions, by the
    /// next scan.
    fn put_off(&mut self) {
        self.open.close_all();
        self.projects.clear();
        if self.rereads > 0 {
            self.reread = self.known.keys().cloned().collect();
        }
        self.next_scan = Deadline::after(Duration::ZERO);
    }

    fn rest_after(&mut self, error: &IngestError) -> Duration {
        self.setup.progress.fails(Part::Ingest, with_causes(error));
        self.put_off();
        self.release_flushes();
        self.resting = Deadline::after(AFTER_FAILURE);
        self.next_scan = self.resting;
        AFTER_FAILURE
    }

    fn release_flushes(&mut self) {
        for done in self.flushes.drain(..) {
            // Whoever asked may have gone.
            done.send(()).ok();
        }
    }

    /// The one path of a changed transcript, and how it grows; `None` where it is not to be read. By another path it would
    /// be another source, past the exclusions.
    fn ours(&self, path: PathBuf) -> Option<(PathBuf, Shape)> {
        let path = self.setup.roots.as_scanned(path)?;
        let (_, shape) = self.setup.roots.claim(&path)?;
        (!self.setup.exclusions.cover(&path)).then_some((path, shape))
    }

    /// Takes one step in the file at `path`. Returns whether its end was reached.
    fn advance(&mut self, path: &Path) -> Result<bool, IngestError> {
        match self.look(path) {
            Some(reading) => Ok(self.store(vec![reading])?.is_empty()),
            None => Ok(true),
        }
    }

    /// Reads what is new in the transcript at `path`, at most one step; `None` where there is nothing to store.
    fn look(&mut self, path: &Path) -> Option<Reading> {
        self.setup.progress.ingest.moved();
        self.setup.progress.ingest.is_on(path);
        let read = contained(|| match self.setup.roots.session(path) {
            Some(session) => self.read_session(path, &session),
            None => self.read_file(path),
        });
        let step = match read {
            Ok(None) => return None,
            Ok(Some(Ok(step))) => step,
            Ok(Some(Err(problem))) => {
                self.open.close(path);
                self.troubles.unreadable(path, problem);
                return None;
            }
            Err(panicked) => {
                self.open.close(path);
                self.troubles.poison(path, &panicked.to_string());
                return None;
            }
        };
        Some(self.reading(step))
    }

    /// Reads what is new in a file; `None` where there is nothing to read.
    fn read_file(&mut self, path: &Path) -> Option<Result<ReadStep, String>> {
        let stat = match scan::look(path) {
            Ok(Some(stat)) => stat,
            Ok(None) => {
                self.open.close(path);
                self.troubles.clear(path);
                return None;
            }
            Err(error) => return Some(Err(scan::unreadable(path, &error))),
        };
        // A file that is written anew is empty for a moment, and can't be told then from another one.
        let is_emptied = stat.size == 0 && self.known.get(path).is_some_and(|known| known.position.read_offset.0 > 0);
        if is_emptied || self.troubles.leaves_out(path) {
            return None;
        }
        Some(self.step(&stat).map_err(|error| scan::unreadable(path, &error)))
    }

    /// The store refused what this file holds, which must not hold up the others. It may have been for a project that was
    /// forgotten meanwhile: so it is tried once more, with nothing remembered. Returns whether that is the end of it.
    fn refuse(&mut self, path: &Path, error: &QueryError) -> bool {
        self.projects.clear();
        self.open.close(path);
        self.troubles.refuse(path, error)
    }

    fn step(&mut self, stat: &FileStat) -> std::io::Result<ReadStep> {
        let Some((agent, shape)) = self.setup.roots.claim(&stat.path) else {
            return Err(std::io::Error::from(std::io::ErrorKind::NotFound));
        };
        let again = self.reread.contains(&stat.path);
        let mut opened = false;
        let step = self.open.step(agent, stat, |stat| {
            opened = true;
            SourceFile::open(agent, shape, stat, self.known.get(&stat.path), again)
        })?;
        if opened {
            self.reread.remove(&stat.path);
        }
        Ok(step)
    }
}

#[cfg(test)]
mod tests;
