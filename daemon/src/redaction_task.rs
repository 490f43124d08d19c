//! Rows that were stored under older rules of redaction go through today's, in small steps while nothing else is to be done: a kill
//! costs nothing. Then what they were leaves the index, the log and our copies, at once and not row by row.

use std::sync::Arc;
use std::time::Duration;

use remembrancer_processor::Stopwatch;
use remembrancer_processor::ingest::RULES;
use remembrancer_schema::{CleanupState, QueryError, Reader, RedactionStep, Writer};
use tokio_util::sync::CancellationToken;

use crate::causes::with_causes;
use crate::clock;
use crate::codes::SharedCodes;
use crate::counts::Count;
use crate::instructions::Due;
use crate::politeness::Politeness;
use crate::progress::Progress;
use crate::store::{NoAnswer, StoreHandle};

/// Rows of a step: a new turn waits for one such step at most, some ten milliseconds.
const STEP: usize = 200;
/// How long ingest is waited for before a step while it has files to read, and how long a pause is looked at again.
const BUSY: Duration = Duration::from_secs(2);
/// Between the first two tries to clean up, which a reader in the way or a backup that is being made puts off; each after that waits
/// twice as long.
const FIRST_RETRY: Duration = Duration::from_secs(2);
/// Tries until it is left to the next [`INTERVAL`].
const RETRIES: u32 = 6;
/// Between two looks for copies of older rows, and after a failure.
const INTERVAL: Duration = Duration::from_mins(10);

/// Rewrites older rows.
pub(crate) struct Redaction {
    /// The one writer.
    pub writer: StoreHandle<Writer>,
    /// A reader that may be kept waiting.
    pub background: StoreHandle<Reader>,
    /// The codes in memory.
    pub codes: SharedCodes,
    /// Whose instruction files are to be written anew.
    pub due: Arc<Due>,
    /// Whether there is something else to do.
    pub progress: Arc<Progress>,
    /// How much of the machine may be taken.
    pub politeness: Politeness,
}

/// Why the work rests.
#[derive(Debug, thiserror::Error)]
enum RedactionError {
    #[error(transparent)]
    Store(#[from] QueryError),
    #[error(transparent)]
    Gone(#[from] NoAnswer),
}

impl Redaction {
    /// Does what is to be done until `shutdown`.
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        let work = async {
            loop {
                match self.all().await {
                    Ok(()) => {}
                    Err(RedactionError::Store(error)) => {
                        self.progress.count(Count::UpkeepFailed, 1);
                        tracing::warn!(error = %with_causes(&error), "older texts could not be redacted by newer rules; it is tried again");
                    }
                    // The daemon is stopping.
                    Err(RedactionError::Gone(_)) => return std::future::pending().await,
                }
                tokio::time::sleep(INTERVAL).await;
            }
        };
        tokio::select! {
            biased;
            () = shutdown.cancelled() => {}
            () = work => {}
        }
    }

    /// All rows, then what they leave behind.
    async fn all(&self) -> Result<(), RedactionError> {
        let mut rewritten = 0;
        if self.writer.call(|writer| writer.begin_redaction(&RULES)).await?? {
            loop {
                self.wait_for_ingest().await;
                let mut watch = Stopwatch::start();
                let step = self
                    .writer
                    .call(|writer| writer.redact_step(&RULES, STEP, clock::now()))
                    .await??;
                watch.lap("step");
                rewritten += step.rewritten.len();
                let more = step.more;
                self.follow(step).await?;
                if !more {
                    break;
                }
                tokio::time::sleep(self.politeness.rest_after(watch.total())).await;
            }
            tracing::info!(
                rewritten,
                rules = RULES.version,
                "all stored texts have been through these rules of redaction"
            );
            self.due.all();
        }
        self.clean_up().await
    }

    /// What the rows were leaves the database and its copies, as far as nobody is in the way.
    async fn clean_up(&self) -> Result<(), RedactionError> {
        let mut retries = 0;
        loop {
            self.wait_for_ingest().await;
            let mut watch = Stopwatch::start();
            let cleanup = self
                .writer
                .call(|writer| writer.finish_redaction(&RULES, clock::now()))
                .await??;
            watch.lap("clean up");
            if cleanup.copies_removed > 0 {
                self.progress.count(Count::CopyRemoved, cleanup.copies_removed);
            }
            match cleanup.state {
                CleanupState::Done => return Ok(()),
                CleanupState::More => {
                    retries = 0;
                    tokio::time::sleep(self.politeness.rest_after(watch.total())).await;
                }
                CleanupState::Waits if retries == RETRIES => return Ok(()),
                CleanupState::Waits => {
                    tokio::time::sleep(FIRST_RETRY * 2_u32.pow(retries)).await;
                    retries += 1;
                }
            }
        }
    }

    /// Brings what is in memory in step with the store.
    async fn follow(&self, step: RedactionStep) -> Result<(), RedactionError> {
        if step.rewritten.is_empty() {
            return Ok(());
        }
        let codes = self.codes.clone();
        self.background
            .call(move |reader| codes.remove(reader, &step.rewritten))
            .await?;
        self.progress.backlog_grew.notify_one();
        Ok(())
    }

    /// A while in which transcripts are read first, and the whole of a pause.
    async fn wait_for_ingest(&self) {
        if self.progress.counts().waiting_files > 0 {
            tokio::time::sleep(BUSY).await;
        }
        while self.progress.is_paused(clock::now()) {
            tokio::time::sleep(BUSY).await;
        }
    }
}
