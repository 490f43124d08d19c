//! The unix socket: only its user may connect, a line is bounded in size and in time, and connections are bounded in
//! number. A prompt that finds the house full is answered with nothing.

use std::sync::Arc;
use std::time::Duration;

use remembrancer_hooks::clock::monotonic_ns;
use remembrancer_hooks::protocol::{Answer, MAX_REQUEST_BYTES, RecallReply, Reply, Request};
use remembrancer_processor::Deadline;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::operations::Operations;
use crate::reason::Reason;
use crate::system::{self, Listener, Stream};

/// Connections served at a time.
const CONNECTIONS: usize = 64;
/// How long a client may take to send its line, and to take the reply.
const PATIENCE: Duration = Duration::from_secs(2);

/// Between two attempts to accept where the system refuses: a prompt that waits is still answered in time.
const AFTER_REFUSAL: Duration = Duration::from_millis(50);

/// What lasts is told no more often than this.
const UNTOLD: Duration = Duration::from_mins(1);

/// What the server is told while it serves.
pub(crate) enum Order {
    /// Listen here from now on.
    Listen(Listener),
    /// Say that connections are being taken.
    Answer(oneshot::Sender<()>),
}

/// Serves `listener` until `shutdown`, and does what `orders` say; requests in progress are finished.
///
/// # Errors
/// Where the listener itself fails.
pub(crate) async fn serve(
    mut listener: Listener,
    mut orders: mpsc::Receiver<Order>,
    operations: Arc<Operations>,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut told_until = Deadline::after(Duration::ZERO);
    loop {
        let stream = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            Some(order) = orders.recv() => {
                match order {
                    Order::Listen(replacement) => listener = replacement,
                    // Whoever asked may have given up.
                    Order::Answer(answer) => {
                        answer.send(()).ok();
                    }
                }
                continue;
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // Out of file descriptors, or a client that left: neither ends the service.
                Err(error) => {
                    if told_until.has_passed() {
                        tracing::warn!(%error, "connections are not accepted; it is tried again until they are");
                        told_until = Deadline::after(UNTOLD);
                    }
                    tokio::time::sleep(AFTER_REFUSAL).await;
                    continue;
                }
            },
        };
        let received_ns = monotonic_ns();
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            if told_until.has_passed() {
                tracing::warn!("too many connections at once; some are turned away");
                told_until = Deadline::after(UNTOLD);
            }
            continue;
        };
        let operations = Arc::clone(&operations);
        connections.spawn(async move {
            if let Err(error) = converse(stream, &operations, received_ns).await {
                tracing::debug!(%error, "a conversation ended early");
            }
            drop(place);
        });
    }
    while connections.join_next().await.is_some() {}
    Ok(())
}

async fn converse(stream: Stream, operations: &Operations, received_ns: u64) -> std::io::Result<()> {
    let peer = system::peer(&stream)?;
    if peer != system::user_id() {
        tracing::warn!(peer, "another user's connection is refused");
        return Ok(());
    }
    let (read, mut write) = stream.into_split();
    let mut line = Vec::new();
    let mut bounded = BufReader::new(read).take(MAX_REQUEST_BYTES as u64 + 1);
    match tokio::time::timeout(PATIENCE, bounded.read_until(b'\n', &mut line)).await {
        Ok(read) => read?,
        Err(_) => return Ok(()),
    };
    if line.is_empty() {
        return Ok(());
    }
    let reply = match Request::parse(&line) {
        Ok(request) => operations.perform(request, received_ns).await,
        Err(error) => Answer::refused(error.to_string()).into(),
    };
    let bytes = reply.to_line().or_else(|error| too_long(&reply, &error).to_line());
    let sending = async {
        write.write_all(&bytes.unwrap_or_default()).await?;
        write.shutdown().await
    };
    // One that takes nothing must not hold its place, nor the daemon's stop.
    tokio::time::timeout(PATIENCE, sending)
        .await
        .unwrap_or_else(|late| Err(late.into()))
}

fn too_long(reply: &Reply, error: &remembrancer_hooks::protocol::ProtocolError) -> Reply {
    match reply {
        Reply::Recall(_) => RecallReply::nothing(Reason::TooLong.as_str()).into(),
        Reply::Answer(_) => Answer::refused(error.to_string()).into(),
    }
}
