//! What arrives while somebody looks. Nothing goes in but who looks; an event goes out whenever the newest turn is another than before, or
//! something else was stored: its data is the place of that turn, its id the row up to which the store is filled.
//! The store is looked at once for all who look, and not at all while nobody does.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use remembrancer_hooks::protocol::{Request, TimelineRequest};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::memory::{Look, Memory};

/// Streams at a time: a browser holds one for the tab that is looked at.
const STREAMS: usize = 8;
/// Between two looks at what is newest: a turn is in the store within a second.
const LOOK: Duration = Duration::from_secs(1);
/// Between two looks where the last one failed.
const AFTER_FAILURE: Duration = Duration::from_secs(5);
/// How often a stream says that it is there, by which one whose other end is gone is found.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// How the store stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stored {
    /// The place of the newest turn; empty where there is none.
    newest: String,
    /// The row that was stored last, of whatever time it tells.
    last: i64,
}

/// Tells what arrives.
#[derive(Clone)]
pub(super) struct Arrivals {
    memory: Arc<Memory>,
    stored: watch::Sender<Option<Stored>>,
    somebody_looks: Arc<Notify>,
    places: Arc<Semaphore>,
}

/// One that is told.
struct Told {
    stored: watch::Receiver<Option<Stored>>,
    shutdown: CancellationToken,
    _place: OwnedSemaphorePermit,
}

impl Arrivals {
    /// Of `memory`.
    pub(super) fn new(memory: Arc<Memory>) -> Self {
        Self {
            memory,
            stored: watch::Sender::new(None),
            somebody_looks: Arc::default(),
            places: Arc::new(Semaphore::new(STREAMS)),
        }
    }

    /// Looks at what is stored as long as somebody wants to know, until `shutdown`.
    pub(super) async fn watch(self, shutdown: CancellationToken) {
        let looking = async {
            loop {
                if self.stored.receiver_count() == 0 {
                    // What came meanwhile is on the page that the next one loads.
                    self.stored.send_replace(None);
                    self.somebody_looks.notified().await;
                }
                let pause = if self.look().await { LOOK } else { AFTER_FAILURE };
                tokio::time::sleep(pause).await;
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = looking => {}
        }
    }

    async fn look(&self) -> bool {
        let request = TimelineRequest {
            limit: Some(1),
            ..TimelineRequest::default()
        };
        // In this order, so that what is stored in between is put on top before it is asked whether anything came late.
        let Ok(last) = self.memory.look(Look::LastStored).await else {
            return false;
        };
        let Ok(answered) = self.memory.ask(Request::Timeline(request)).await else {
            return false;
        };
        let stored = Stored {
            newest: answered.value["turns"][0]["place"].as_str().unwrap_or_default().to_owned(),
            last: last.as_i64().unwrap_or_default(),
        };
        self.stored.send_if_modified(|known| {
            let is_new = known.as_ref() != Some(&stored);
            *known = Some(stored);
            is_new
        });
        true
    }

    /// The events of one more that looks; none where too many do. The first names what is newest and last now.
    pub(super) fn stream(
        &self,
        shutdown: CancellationToken,
    ) -> Option<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let mut stored = self.stored.subscribe();
        stored.mark_changed();
        self.somebody_looks.notify_one();
        let told = Told {
            stored,
            shutdown,
            _place: place,
        };
        let events = unfold(told, |mut told| async move {
            loop {
                tokio::select! {
                    biased;
                    () = told.shutdown.cancelled() => return None,
                    changed = told.stored.changed() => changed.ok()?,
                }
                // Nobody has looked yet.
                let Some(Stored { newest, last }) = told.stored.borrow_and_update().clone() else {
                    continue;
                };
                let event = Event::default().event("newest").id(last.to_string()).data(newest);
                return Some((Ok(event), told));
            }
        });
        Some(Sse::new(events).keep_alive(KeepAlive::new().interval(SIGN_OF_LIFE)))
    }
}
