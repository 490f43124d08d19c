//! What the daemon does for its store beside all else: an index of an older text analysis is brought up to date, a damaged
//! one is made anew, what a `forget` left undone is ended, the clean-up after what others forgot is done, the log is folded into the
//! database, and recollection files are kept few.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use remembrancer_schema::{Reader, Writer};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::causes::with_causes;
use crate::counts::Count;
use crate::progress::Progress;
use crate::recollection_files;
use crate::store::StoreHandle;

/// How often the database's log is folded into it, and its statistics refreshed.
const INTERVAL: Duration = Duration::from_mins(10);
/// Rows that are indexed anew in one step after a change of the text analysis; the old index serves meanwhile.
const REINDEX_STEP: usize = 200;

/// Between the first tries to end what a `forget` left undone; each try after that waits twice as long.
const FIRST_RETRY: Duration = Duration::from_secs(2);
/// Tries until it is left to the next [`INTERVAL`].
const RETRIES: u32 = 6;
/// Between a finding of damage and a look through the whole database; where it can't be read then, the next looks come at twice the
/// distance each, up to [`INTERVAL`], and all else goes on between them.
const BEFORE_LOOK: Duration = Duration::from_secs(10);

/// What is looked after.
pub(crate) struct Upkeep {
    /// The one writer.
    pub writer: StoreHandle<Writer>,
    /// Where damage is told.
    pub progress: Arc<Progress>,
    /// The database.
    pub database: PathBuf,
    /// The folder of the recollection files.
    pub recollections: PathBuf,
}

impl Upkeep {
    /// Looks after it until `shutdown`.
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        self.run_at(INTERVAL, BEFORE_LOOK, shutdown).await;
    }

    async fn run_at(self, interval: Duration, before_look: Duration, shutdown: CancellationToken) {
        // A kill may have come in the middle of it.
        self.finish_forgetting().await;
        self.reindex(&shutdown).await;
        // An index that is damaged again at once is damaged by what rebuilding it can't mend.
        let mut rebuilt = false;
        let mut tidy = pin!(sleep(interval));
        let mut look = pin!(sleep(before_look));
        // How long the next look through the database is put off, while one is due.
        let mut pause = None;
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                () = &mut tidy => {
                    self.tidy().await;
                    rebuilt = false;
                    tidy.set(sleep(interval));
                }
                () = self.progress.index_damaged.notified(), if !rebuilt => {
                    self.rebuild_index().await;
                    rebuilt = true;
                }
                () = self.progress.forgetting_unfinished.notified() => self.retry_forgetting(&shutdown).await,
                () = self.progress.database_damaged.notified(), if pause.is_none() => {
                    pause = Some(before_look);
                    look.set(sleep(before_look));
                }
                () = &mut look, if pause.is_some() => {
                    let again = !self.has_been_looked_through().await;
                    pause = pause.filter(|_| again).map(|pause| interval.min(pause * 2));
                    if let Some(pause) = pause {
                        look.set(sleep(pause));
                    }
                }
            }
        }
    }

    async fn retry_forgetting(&self, shutdown: &CancellationToken) {
        for retry in 0..RETRIES {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                () = sleep(FIRST_RETRY * 2_u32.pow(retry)) => {}
            }
            if self.finish_forgetting().await {
                return;
            }
        }
    }

    /// Ends what a `forget` left undone; gives whether nothing is left to do.
    async fn finish_forgetting(&self) -> bool {
        match self.writer.call(Writer::finish_forgetting).await {
            Ok(Ok(finished)) => finished,
            Ok(Err(error)) => {
                tracing::warn!(error = %with_causes(&error), "bytes of what was forgotten may be left on the disk; it is tried again");
                false
            }
            // The daemon is stopping: the next start does it.
            Err(_) => true,
        }
    }

    /// Brings the full-text index to this version's text analysis, where an older version wrote it.
    async fn reindex(&self, shutdown: &CancellationToken) {
        while !shutdown.is_cancelled() {
            match self.writer.call(|writer| writer.reindex_step(REINDEX_STEP)).await {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) | Err(_) => return,
                Ok(Err(error)) => {
                    self.progress.count(Count::UpkeepFailed, 1);
                    tracing::warn!(error = %with_causes(&error), "the full-text index stays as the older version wrote it until the next start");
                    return;
                }
            }
        }
    }

    /// SQLite calls a page damaged that the disk fails to read, and a disk may fail for a moment: so the database is looked through. Says
    /// whether it could be read: if not, it is to be looked through again.
    async fn has_been_looked_through(&self) -> bool {
        let path = self.database.clone();
        // A connection of its own: the look may take long, and nobody should wait behind it.
        let look = move || Ok(Reader::open(&path)?.damages()?);
        let looked: Result<anyhow::Result<Vec<String>>, _> = tokio::task::spawn_blocking(look).await;
        match looked {
            Ok(Ok(damages)) if damages.is_empty() => {
                self.progress.found_whole();
                tracing::info!("the database is whole: what was taken for damage could not be read for a while");
                true
            }
            Ok(Ok(_)) => {
                // The next start says what to do; status has told of it.
                tracing::error!("the database is damaged; start the daemon again, which looks through it");
                true
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "the database can't be looked through yet");
                false
            }
            Err(_) => {
                tracing::debug!("the look through the database failed");
                false
            }
        }
    }

    async fn rebuild_index(&self) {
        tracing::warn!("the full-text index is damaged and is rebuilt from the stored texts");
        match self.writer.call(Writer::rebuild_index).await {
            Ok(Ok(())) => tracing::info!("the full-text index is rebuilt"),
            Ok(Err(error)) => {
                self.progress.count(Count::UpkeepFailed, 1);
                tracing::error!(error = %with_causes(&error), "the full-text index could not be rebuilt");
            }
            // The daemon is stopping: the next start looks through the store.
            Err(_) => {}
        }
    }

    async fn tidy(&self) {
        self.finish_forgetting().await;
        let folder = self.recollections.clone();
        // One that panicked is logged, and the next tries again.
        tokio::task::spawn_blocking(move || recollection_files::prune(&folder))
            .await
            .ok();
        let tidied = self
            .writer
            .call(|writer| {
                writer.optimize()?;
                writer.checkpoint()
            })
            .await;
        if let Ok(Err(error)) = tidied {
            self.progress.count(Count::UpkeepFailed, 1);
            tracing::warn!(error = %with_causes(&error), "the database could not be tidied; it is tried again");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use remembrancer_schema::Damage;

    use super::*;
    use crate::store::Store;

    /// How long what is to happen within milliseconds is waited for.
    const PATIENCE: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn a_database_that_cant_be_looked_through_keeps_nothing_else_from_being_done() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("memory.db");
        let progress: Arc<Progress> = Arc::default();
        let store = Store::start(Writer::open(&database).unwrap(), &database, &progress).unwrap();
        let recollections = folder.path().join("recollections");
        fs_err::create_dir(&recollections).unwrap();
        let upkeep = Upkeep {
            writer: store.writer.clone(),
            progress: Arc::clone(&progress),
            database: folder.path().join("cannot-be-read.db"),
            recollections: recollections.clone(),
        };
        progress.found_damage(Damage::Database);
        let shutdown = CancellationToken::new();
        let ends = tokio::spawn(upkeep.run_at(Duration::from_millis(50), Duration::from_millis(5), shutdown.clone()));
        // Twice, so that it is not only done before the first look.
        for round in 0..2 {
            let stale = recollections.join(format!(".claude-code-{round}.md.tmp"));
            let file = fs_err::File::create(&stale).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            drop(file);
            let gone = async {
                while stale.exists() {
                    sleep(Duration::from_millis(5)).await;
                }
            };
            tokio::time::timeout(PATIENCE, gone)
                .await
                .expect("what is left of writes is tidied away");
        }
        assert!(progress.is_damaged(), "nobody could look through it");
        shutdown.cancel();
        ends.await.unwrap();
    }
}
