//! Retention: where the settings bound the memory by age or by size, what is beyond leaves it, in small steps while nothing else
//! is to be done. What went does not come back by reading; what is still there is the user's to keep by raising the bound.

use std::sync::Arc;
use std::time::Duration;

use remembrancer_processor::Stopwatch;
use remembrancer_schema::{EpisodeId, QueryError, Reader, TurnUid, UnixMillis, Writer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::causes::with_causes;
use crate::clock;
use crate::codes::SharedCodes;
use crate::counts::Count;
use crate::instructions::Due;
use crate::politeness::Politeness;
use crate::progress::Progress;
use crate::store::{NoAnswer, StoreHandle};

/// From the daemon's start to the first look: prompts and what is new come first.
const FIRST: Duration = Duration::from_secs(2);
/// Between two looks.
const INTERVAL: Duration = Duration::from_mins(10);
/// How long ingest is waited for while it has files to read.
const BUSY: Duration = Duration::from_secs(5);
/// Turns removed in one transaction: a new turn waits for one such step at most.
const STEP: usize = 50;
/// Turns removed between two measurements of the file.
const ROUND: u64 = 5_000;
/// Where the file is too large, it is brought to this share of what it may be, so that the next turns fit.
const TARGET: f64 = 0.95;

/// The bounds of the memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// How old a turn may become.
    pub max_age: Option<Duration>,
    /// How many bytes of the database may be in use.
    pub max_bytes: Option<u64>,
}

impl Bounds {
    fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Before which moment a turn is too old.
    fn oldest(self, now: UnixMillis) -> Option<UnixMillis> {
        let age = i64::try_from(self.max_age?.as_millis()).unwrap_or(i64::MAX);
        Some(UnixMillis(now.0.saturating_sub(age)))
    }
}

/// What the bounds come to now, for `status`; null where there are none and nothing was ever removed.
///
/// # Errors
/// The store's error.
pub(crate) fn describe(bounds: Bounds, reader: &Reader, now: UnixMillis) -> Result<Value, QueryError> {
    let removed = reader.stats()?.retired;
    if bounds.is_none() && removed == 0 {
        return Ok(Value::Null);
    }
    let due = match bounds.oldest(now) {
        Some(oldest) => reader.count_turns_before(oldest)?,
        None => 0,
    };
    let space = reader.space()?;
    let excess = bounds.max_bytes.map_or(0, |most| space.used.saturating_sub(most));
    Ok(json!({
        "max_age_days": bounds.max_age.map(|age| age.as_secs() / 86_400),
        "max_bytes": bounds.max_bytes,
        "used_bytes": space.used,
        "turns_too_old": due,
        "bytes_too_many": excess,
        "turns_removed": removed,
    }))
}

/// Keeps the memory within its bounds.
pub(crate) struct Retention {
    /// The bounds.
    pub bounds: Bounds,
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

/// Why a look at the memory ended early.
#[derive(Debug, thiserror::Error)]
enum RetentionError {
    #[error(transparent)]
    Store(#[from] QueryError),
    #[error(transparent)]
    Gone(#[from] NoAnswer),
}

impl Retention {
    /// Looks from time to time, until `shutdown`.
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        if self.bounds.is_none() {
            return shutdown.cancelled().await;
        }
        let mut rest = FIRST;
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(rest) => {}
            }
            if self.progress.counts().waiting_files > 0 || self.progress.is_paused(clock::now()) {
                rest = BUSY;
                continue;
            }
            rest = INTERVAL;
            match self.look(&shutdown).await {
                Ok(0) => {}
                Ok(turns) => tracing::info!(turns, "retention removed turns"),
                Err(RetentionError::Store(error)) => {
                    self.progress.count(Count::RetentionFailed, 1);
                    tracing::warn!(error = %with_causes(&error), "retention rests, and tries again");
                }
                // The daemon is stopping.
                Err(RetentionError::Gone(_)) => return shutdown.cancelled().await,
            }
        }
    }

    /// Removes what is beyond the bounds. Gives how many turns went.
    async fn look(&self, shutdown: &CancellationToken) -> Result<u64, RetentionError> {
        let mut removed = 0;
        if let Some(oldest) = self.bounds.oldest(clock::now()) {
            loop {
                let turns = self
                    .background
                    .call(move |reader| reader.turns_before(oldest, STEP))
                    .await??;
                if turns.is_empty() || shutdown.is_cancelled() {
                    break;
                }
                removed += turns.len() as u64;
                self.retire(turns).await?;
            }
            if removed > 0 {
                self.writer.call(Writer::give_back_space).await??;
            }
        }
        if let Some(most) = self.bounds.max_bytes {
            removed += self.shrink(most, shutdown).await?;
        }
        Ok(removed)
    }

    /// Removes what is worth least until the file fits. The index's share of the space is only known to be free once its segments
    /// are made one, so some are removed, and it is measured again.
    async fn shrink(&self, most: u64, shutdown: &CancellationToken) -> Result<u64, RetentionError> {
        let mut removed = 0;
        while !shutdown.is_cancelled() {
            let space = self.background.call(|reader| reader.space()).await??;
            if space.used <= most || space.turns == 0 {
                break;
            }
            let count = turns_to_remove(space.used, space.turns, most);
            let turns = self
                .background
                .call(move |reader| reader.turns_of_least_worth(count as usize))
                .await??;
            for step in turns.chunks(STEP) {
                if shutdown.is_cancelled() {
                    break;
                }
                removed += step.len() as u64;
                self.retire(step.to_vec()).await?;
            }
            self.writer.call(Writer::give_back_space).await??;
        }
        Ok(removed)
    }

    /// One step, what follows from it in memory, and the rest after it.
    async fn retire(&self, turns: Vec<TurnUid>) -> Result<(), RetentionError> {
        let mut watch = Stopwatch::start();
        let gone: Vec<EpisodeId> = self.writer.call(move |writer| writer.retire(&turns, clock::now())).await??;
        let codes = self.codes.clone();
        self.background.call(move |reader| codes.remove(reader, &gone)).await?;
        self.due.all();
        watch.lap("step");
        tokio::time::sleep(self.politeness.rest_after(watch.total())).await;
        Ok(())
    }
}

/// How many of `turns` turns, which take `used` bytes, are to go, so that [`TARGET`] of `most` bytes is left: as if all were of one
/// size, and never more than a round.
fn turns_to_remove(used: u64, turns: u64, most: u64) -> u64 {
    let target = most as f64 * TARGET;
    let share = (1.0 - target / used as f64).clamp(0.0, 1.0);
    ((turns as f64 * share).ceil() as u64).clamp(1, ROUND)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_little_too_large(1_000, 100, 990, 6)]
    #[case::twice_as_large(2_000, 100, 1_000, 53)]
    #[case::one_turn_alone(10_000, 1, 10, 1)]
    #[case::far_too_large(1_000_000, 1_000_000, 10, ROUND)]
    fn so_many_go_that_the_rest_fits(#[case] used: u64, #[case] turns: u64, #[case] most: u64, #[case] expected: u64) {
        assert_eq!(turns_to_remove(used, turns, most), expected);
    }

    #[test]
    fn an_age_is_counted_back_from_now() {
        let bounds = |max_age| Bounds {
            max_age,
            max_bytes: None,
        };
        assert_eq!(
            bounds(Some(Duration::from_secs(5))).oldest(UnixMillis(7_000)),
            Some(UnixMillis(2_000))
        );
        assert_eq!(bounds(None).oldest(UnixMillis(7_000)), None);
        assert!(bounds(None).is_none());
    }
}
