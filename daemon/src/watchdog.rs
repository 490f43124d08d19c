//! The service manager's watchdog: how long it waits comes in, and a word goes out for as long as every part answers that a prompt or
//! a transcript needs. A timer alone would go on beside a store that is wedged.

use std::time::Duration;

use remembrancer_schema::{Reader, Writer};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::server::Order;
use crate::store::{NoAnswer, Store, StoreHandle};
use crate::system::service_manager;

/// The parts that must answer.
pub(crate) struct Watchdog {
    server: mpsc::Sender<Order>,
    writer: StoreHandle<Writer>,
    prompts: StoreHandle<Reader>,
    background: StoreHandle<Reader>,
}

impl Watchdog {
    /// The parts of a daemon with this store, whose server takes `server`'s orders.
    pub(crate) fn of(store: &Store, server: mpsc::Sender<Order>) -> Self {
        Self {
            server,
            writer: store.writer.clone(),
            prompts: store.prompts.clone(),
            background: store.background.clone(),
        }
    }

    /// Gives the word twice in each `patience` of the manager until `shutdown`; where there is none, nothing is woken.
    pub(crate) async fn run(self, patience: Option<Duration>, shutdown: CancellationToken) {
        let Some(pause) = patience.map(|patience| patience / 2) else {
            return shutdown.cancelled().await;
        };
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                () = self.look_after(pause) => {}
            }
        }
    }

    async fn look_after(&self, pause: Duration) {
        tokio::time::sleep(pause).await;
        match self.silent_part(pause).await {
            None => service_manager::alive(),
            Some(part) => tracing::error!(part, "gives no answer; the service manager is not told that all is well"),
        }
    }

    /// The first part that does not answer within `patience`.
    async fn silent_part(&self, patience: Duration) -> Option<&'static str> {
        let (server, writer, prompts, background) = tokio::join!(
            tokio::time::timeout(patience, self.ask_server()),
            tokio::time::timeout(patience, self.writer.call(|_| ())),
            tokio::time::timeout(patience, self.prompts.call(|_| ())),
            tokio::time::timeout(patience, self.background.call(|_| ())),
        );
        let answers = [
            ("server", server),
            ("store-writer", writer),
            ("store-reader", prompts),
            ("store-background", background),
        ];
        let silent = answers.into_iter().find(|(_, answer)| !matches!(answer, Ok(Ok(()))));
        silent.map(|(part, _)| part)
    }

    async fn ask_server(&self) -> Result<(), NoAnswer> {
        let (reply, answer) = oneshot::channel();
        self.server.send(Order::Answer(reply)).await.map_err(|_| NoAnswer::Closed)?;
        answer.await.map_err(|_| NoAnswer::Closed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::progress::Progress;

    /// A watchdog over a store of its own and a server that answers, or not.
    fn watchdog(folder: &std::path::Path, server_answers: bool) -> (Watchdog, Store) {
        let path = folder.join("memory.db");
        let writer = Writer::open(&path).unwrap();
        let store = Store::start(writer, &path, &Arc::new(Progress::default())).unwrap();
        let (server, mut orders) = mpsc::channel(1);
        tokio::spawn(async move {
            let mut kept = Vec::new();
            while let Some(order) = orders.recv().await {
                match order {
                    Order::Answer(answer) if server_answers => answer.send(()).unwrap(),
                    unanswered => kept.push(unanswered),
                }
            }
        });
        (Watchdog::of(&store, server), store)
    }

    #[tokio::test]
    async fn a_store_that_is_wedged_is_named() {
        let place = tempfile::tempdir().unwrap();
        let (watchdog, store) = watchdog(place.path(), true);
        assert_eq!(watchdog.silent_part(Duration::from_secs(20)).await, None);
        let (release, wedge) = std::sync::mpsc::channel::<()>();
        let wedged = store.writer.offer(move |_| wedge.recv().ok()).unwrap();
        assert_eq!(watchdog.silent_part(Duration::from_millis(200)).await, Some("store-writer"));
        drop(release);
        wedged.await.unwrap();
        assert_eq!(watchdog.silent_part(Duration::from_secs(20)).await, None);
    }

    #[tokio::test]
    async fn a_server_that_takes_no_orders_is_named() {
        let place = tempfile::tempdir().unwrap();
        let (watchdog, _store) = watchdog(place.path(), false);
        assert_eq!(watchdog.silent_part(Duration::from_millis(200)).await, Some("server"));
    }
}
