//! Lines of the protocol in and out, each and all of them bounded: a line that is too long is passed over without being kept, and
//! nothing more is read while too many replies wait for a client that does not take them.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::bounds::{LONGEST_LINE, MOST_UNTAKEN};

/// How long what is at work when the client goes may go on: with the rest, less than the second in which a host expects us to be gone.
pub(super) const GRACE: Duration = Duration::from_millis(700);

/// Messages that were handed over to be written, and are not yet.
#[derive(Debug, Default)]
struct Untaken {
    count: AtomicUsize,
    fewer: Notify,
}

impl Untaken {
    fn more(self: &Arc<Self>) -> One {
        self.count.fetch_add(1, Ordering::SeqCst);
        One(Arc::clone(self))
    }

    /// Waits until there are not too many.
    async fn are_few(&self) {
        loop {
            let fewer = self.fewer.notified();
            if self.count.load(Ordering::SeqCst) < MOST_UNTAKEN {
                return;
            }
            fewer.await;
        }
    }
}

/// One of them, until it is written or given up.
struct One(Arc<Untaken>);

impl Drop for One {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::SeqCst);
        self.0.fewer.notify_waiters();
        // Whoever looked at the count just before is told, too.
        self.0.fewer.notify_one();
    }
}

/// A transport whose lines and queues are bounded.
pub(super) struct Bounded<R: AsyncRead, W: AsyncWrite> {
    inner: AsyncRwTransport<RoleServer, R, W>,
    untaken: Arc<Untaken>,
    /// Cancelled once nothing more can come, or nothing can be said any more.
    ended: CancellationToken,
}

impl<R, W> Bounded<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(input: R, output: W, ended: CancellationToken) -> Self {
        Self {
            inner: AsyncRwTransport::new_server(input, output).with_max_line_length(LONGEST_LINE),
            untaken: Arc::default(),
            ended,
        }
    }
}

impl<R, W> Transport<RoleServer> for Bounded<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let one = self.untaken.more();
        let ended = self.ended.clone();
        let sent = self.inner.send(item);
        async move {
            let sent = sent.await;
            if sent.is_err() {
                ended.cancel();
            }
            drop(one);
            sent
        }
    }

    // May be dropped at any await: what of a line was read stays with the inner transport.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.untaken.are_few().await;
        let received = self.inner.receive().await;
        if received.is_none() {
            self.ended.cancel();
        }
        received
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests;
