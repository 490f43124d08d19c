//! Backups: whole copies of the memory that the user may go back to, at the user's word and once a day by the daemon itself.
//!
//! A copy is made on a thread of its own, at the lowest priority and with rests, through a connection of its own: neither a prompt nor
//! the ingest waits for it. What goes wrong is counted and told by `status`, and ends nothing.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use remembrancer_schema::{
    Contents, CopyError, CopyProgress, FreshCopy, OpenError, UnixMillis, backup_path, backups, backups_folder, may_be_replaced,
    remove_copy,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::causes::with_causes;
use crate::clock;
use crate::config::BackupSettings;
use crate::counts::Count;
use crate::files::private_folder;
use crate::progress::Progress;
use crate::sizes::size;
use crate::system;
use crate::threads::{Panicked, contained};

/// How often it is looked whether a daily backup is due.
const LOOK: Duration = Duration::from_mins(10);
/// The rest after each step of 2 MB: with it a copy reads and writes at most 200 MB a second.
const REST: Duration = Duration::from_millis(10);
/// What must stay free beside a backup, in bytes.
pub(crate) const ROOM_LEFT: u64 = 256 * 1024 * 1024;
/// A daily backup that holds more than so many times what the new one holds is not rotated out for it: a memory that was made anew, or
/// begun anew by mistake, would push out what there was.
const FAR_MORE: u64 = 2;
/// For how long: beyond that, what retention removed would never leave the backups.
const SPARED_FOR: Duration = Duration::from_hours(30 * 24);
/// A moment in a backup's name: sorts as it passes, and is a name everywhere.
const STAMP: &str = "%Y-%m-%dT%H%M%SZ";

/// Told after each step how far a copy is; says whether it goes on.
type Pace<'a> = &'a mut dyn FnMut(CopyProgress) -> ControlFlow<()>;

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    /// Something that is no backup of ours is there.
    #[error("{} is there already and is no backup of this memory; name another place", .0.display())]
    InTheWay(PathBuf),
    /// The folder that was named is not there: a stick that is not mounted must not be made a folder.
    #[error("there is no folder {}; make it first, or name another place", .0.display())]
    NoFolder(PathBuf),
    /// The disk has too little room.
    #[error("{} has {} free, and the backup needs {}; make room there", folder.display(), size(*free), size(*needed))]
    NoRoom {
        /// Where.
        folder: PathBuf,
        /// Bytes free.
        free: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// The memory can't be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The copy failed.
    #[error("cannot back up to {}", path.display())]
    Copy {
        /// The backup.
        path: PathBuf,
        /// Why.
        #[source]
        source: CopyError,
    },
    /// A folder or an old backup is in the way.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Our fault.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// One is being made.
    #[error("a backup is being made; ask again when it is done")]
    Busy,
}

/// A moment as it stands in names.
pub(crate) fn stamp(at: UnixMillis) -> String {
    let at = Timestamp::from_millisecond(at.0).unwrap_or(Timestamp::UNIX_EPOCH);
    at.strftime(STAMP).to_string()
}

/// When the daily backup at `path` was made, by its name.
fn made_at(path: &Path) -> Option<UnixMillis> {
    let stem = path.file_stem()?.to_str()?.strip_suffix("-daily")?;
    let (_, stamp) = stem.split_once('-')?;
    let at = DateTime::strptime(STAMP, stamp).ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(UnixMillis(at.timestamp().as_millisecond()))
}

/// Makes a backup of `database` at `target`, or in the usual place.
///
/// # Errors
/// [`BackupError`]; what was at `target` is still there then.
pub(crate) fn make(database: &Path, target: Option<&Path>, pace: Pace<'_>) -> Result<Value, BackupError> {
    if let Some(folder) = target.and_then(Path::parent).filter(|folder| !folder.is_dir()) {
        return Err(BackupError::NoFolder(folder.to_owned()));
    }
    let target = target.map_or_else(|| backup_path(database, &stamp(clock::now()), false), Path::to_owned);
    if !may_be_replaced(&target, database) {
        return Err(BackupError::InTheWay(target));
    }
    let copy = copy(database, &target, pace)?;
    let failed = |source| BackupError::Copy {
        path: target.clone(),
        source,
    };
    let contents = copy.put_at(&target).map_err(failed)?;
    Ok(
        json!({"path": target.display().to_string(), "bytes": contents.bytes, "episodes": contents.episodes, "schema_version": contents.schema_version}),
    )
}

/// Makes a daily backup; then there are at most `keep` of them, and one more where the one that is kept is not the richest.
fn make_daily(database: &Path, keep: usize, pace: Pace<'_>) -> Result<(), BackupError> {
    let target = backup_path(database, &stamp(clock::now()), true);
    let copy = copy(database, &target, pace)?;
    let failed = |source| BackupError::Copy {
        path: target.clone(),
        source,
    };
    let contents = copy.put_at(&target).map_err(failed)?;
    // Only now: whoever kills this keeps one more, not one less.
    let old: Vec<PathBuf> = backups(database, true)?.into_iter().filter(|path| *path != target).collect();
    let too_many = (old.len() + 1).saturating_sub(keep);
    let spared = far_richer(&old, contents.episodes, clock::now());
    let mut going = old.iter().filter(|path| Some(*path) != spared).take(too_many);
    going.try_for_each(|path| remove_copy(path))?;
    Ok(())
}

/// The backup that holds most of these, the newest of equals, if it holds far more than `episodes` and is recent at `now`.
fn far_richer(backups: &[PathBuf], episodes: u64, now: UnixMillis) -> Option<&PathBuf> {
    let is_recent = |path: &&PathBuf| {
        made_at(path).is_some_and(|made| u128::from((now.0 - made.0).max(0).unsigned_abs()) < SPARED_FOR.as_millis())
    };
    let episodes_of = |path: &Path| match Contents::of(path) {
        Ok(contents) => Some(contents.episodes),
        Err(OpenError::Missing { .. } | OpenError::NotAFile { .. } | OpenError::Corrupt { .. } | OpenError::Foreign { .. }) => {
            None
        }
        // What can't be told now may be the richest.
        Err(_) => Some(u64::MAX),
    };
    let held = backups
        .iter()
        .filter(is_recent)
        .filter_map(|path| Some((episodes_of(path)?, path)));
    let (most, richest) = held.max_by_key(|(held, _)| *held)?;
    (most > episodes.saturating_mul(FAR_MORE)).then_some(richest)
}

/// Whether the last daily backup of `database` is old enough at `now`, and something has changed since.
///
/// # Errors
/// The file system's, where the backups can't be listed: another would be made at each look, and none would go.
fn is_due(database: &Path, every: Duration, now: UnixMillis) -> std::io::Result<bool> {
    // One from the future was made before the clock was set back: it tells nothing of when the next is due.
    let is_past = |path: &PathBuf| made_at(path).is_some_and(|made| made <= now);
    let Some(last) = backups(database, true)?.into_iter().rev().find(is_past) else {
        return Ok(true);
    };
    let is_old = made_at(&last).is_none_or(|made| (now.0 - made.0).unsigned_abs() >= every.as_millis() as u64);
    Ok(is_old && Contents::of(database).map(|now| now.state).ok() != Contents::of(&last).map(|then| then.state).ok())
}

fn copy(database: &Path, target: &Path, pace: Pace<'_>) -> Result<FreshCopy, BackupError> {
    let folder = backups_folder(database);
    if target.starts_with(&folder) {
        private_folder(&folder)?;
    }
    let needed = Contents::of(database)?.bytes + ROOM_LEFT;
    let within = target.ancestors().skip(1).find(|folder| folder.is_dir());
    if let Some((within, free)) = within.and_then(|within| Some((within, system::room(within)?)))
        && free < needed
    {
        return Err(BackupError::NoRoom {
            folder: within.to_owned(),
            free,
            needed,
        });
    }
    FreshCopy::make(database, target, pace).map_err(|source| BackupError::Copy {
        path: target.to_owned(),
        source,
    })
}

/// What `status` tells of the backups of `database`.
pub(crate) fn status(database: &Path) -> Value {
    let all = match backups(database, false) {
        Ok(all) => all,
        Err(error) => return json!({"count": null, "bytes": null, "newest": null, "problem": with_causes(&error)}),
    };
    let bytes: u64 = all.iter().filter_map(|path| Some(fs_err::metadata(path).ok()?.len())).sum();
    let written = |path: &PathBuf| fs_err::metadata(path).ok().map(|metadata| clock::of_file(&metadata));
    let newest = all.iter().max_by_key(|path| (written(path), (*path).clone()));
    json!({"count": all.len(), "bytes": bytes, "newest": newest.map(|newest| newest.display().to_string())})
}

/// Makes backups while the daemon runs.
#[derive(Clone)]
pub(crate) struct Backups {
    database: PathBuf,
    settings: BackupSettings,
    progress: Arc<Progress>,
    /// Set when the daemon stops.
    stopped: Arc<AtomicBool>,
    /// Held while one is made.
    one: Arc<tokio::sync::Mutex<()>>,
}

impl Backups {
    pub(crate) fn new(database: PathBuf, settings: BackupSettings, progress: Arc<Progress>) -> Self {
        Self {
            database,
            settings,
            progress,
            stopped: Arc::default(),
            one: Arc::default(),
        }
    }

    /// Makes one at the user's word.
    ///
    /// # Errors
    /// [`BackupError`].
    pub(crate) async fn make(&self, target: Option<PathBuf>) -> Result<Value, BackupError> {
        let database = self.database.clone();
        self.on_a_thread(move |pace| make(&database, target.as_deref(), pace)).await
    }

    /// Makes one a day, until `shutdown`.
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        let look = LOOK.min(self.settings.every);
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                () = tokio::time::sleep(look), if self.settings.keep > 0 => self.daily(&shutdown).await,
            }
        }
        self.stopped.store(true, Ordering::Relaxed);
    }

    async fn daily(&self, shutdown: &CancellationToken) {
        // What is still to be read may be the backfill's: the next look comes soon.
        if self.progress.counts().waiting_files > 0 {
            return;
        }
        let folder = backups_folder(&self.database);
        let made = match self.is_due().await {
            Ok(false) => return self.progress.clear_file_problem(&folder),
            Ok(true) => self.daily_until(shutdown).await,
            Err(error) => Err(error.into()),
        };
        match made {
            Ok(()) => self.progress.clear_file_problem(&folder),
            Err(
                BackupError::Busy
                | BackupError::Copy {
                    source: CopyError::Stopped,
                    ..
                },
            ) => {}
            Err(error) => {
                let problem = format!("no daily backup was made: {}", with_causes(&error));
                tracing::warn!("{problem}");
                self.progress.count(Count::BackupFailed, 1);
                self.progress.add_file_problem(&folder, problem);
            }
        }
    }

    /// Makes one, and has it stopped at `shutdown`.
    async fn daily_until(&self, shutdown: &CancellationToken) -> Result<(), BackupError> {
        let (database, keep) = (self.database.clone(), self.settings.keep);
        let making = self.on_a_thread(move |pace| make_daily(&database, keep, pace));
        tokio::pin!(making);
        tokio::select! {
            biased;
            () = shutdown.cancelled() => {
                self.stopped.store(true, Ordering::Relaxed);
                making.await
            }
            made = &mut making => made,
        }
    }

    /// Whether the last one is old enough and something has changed since.
    async fn is_due(&self) -> std::io::Result<bool> {
        let (database, every) = (self.database.clone(), self.settings.every);
        let due = tokio::task::spawn_blocking(move || is_due(&database, every, clock::now()));
        due.await.unwrap_or(Ok(false))
    }

    /// Runs `work` on a thread of its own, one at a time.
    async fn on_a_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(Pace<'_>) -> Result<T, BackupError> + Send + 'static,
    ) -> Result<T, BackupError> {
        let Ok(held) = Arc::clone(&self.one).try_lock_owned() else {
            return Err(BackupError::Busy);
        };
        let stopped = Arc::clone(&self.stopped);
        let (done, made) = tokio::sync::oneshot::channel();
        let job = move || {
            system::lower_this_thread();
            let mut pace = |_| {
                std::thread::sleep(REST);
                if stopped.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let made = contained(|| work(&mut pace)).unwrap_or_else(|panicked| Err(panicked.into()));
            drop(held);
            // Whoever asked may have given up.
            done.send(made).ok();
        };
        std::thread::Builder::new().name("backup".to_owned()).spawn(job)?;
        made.await.unwrap_or_else(|_| Err(Panicked.into()))
    }
}

#[cfg(test)]
mod tests;
