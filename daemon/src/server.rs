//! The unix socket: only its user may connect, a line is bounded in size and in time, and connections are bounded in number. Who says
//! nothing keeps nobody out: of those that wait, the one that has said nothing for the longest time goes first. Whatever is refused is
//! counted by kind.

mod waiting;

use std::sync::Arc;
use std::time::Duration;

use remembrancer_hooks::clock::monotonic_ns;
use remembrancer_hooks::protocol::{Answer, MAX_REQUEST_BYTES, RecallReply, Reply, Request};
use remembrancer_processor::Deadline;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, SemaphorePermit, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::operations::Operations;
use crate::progress::Progress;
use crate::reason::Reason;
use crate::system::{self, Listener, Stream};
use waiting::{Ticket, Waiting};

/// Connections of which no whole line has come yet.
const WAITING: usize = 192;
/// Requests that are worked on at a time. Prompts are fewer: their readers have a queue of their own.
const WORKED_ON: usize = 128;
/// Lines over [`SMALL_LINE`] that are read or worked on at a time, so that no number of clients takes more memory than this.
const LARGE_LINES: usize = 8;
/// Bytes of a line that are read without asking: more than any but a very long prompt has.
const SMALL_LINE: usize = 64 * 1024;
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

/// Why a connection gets no proper reply, apart from what is wrong with its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// Another user's process.
    AnotherUser,
    /// It said nothing, until others needed its place or its time was up.
    Idle,
    /// Its line did not come in time.
    Slow,
    /// Too many requests are worked on.
    Busy,
    /// It did not take its reply.
    Unread,
    /// It left before what it asked for was begun.
    Left,
}

impl Refused {
    /// The name under which it is counted.
    fn as_str(self) -> &'static str {
        match self {
            Self::AnotherUser => "another-user",
            Self::Idle => "idle",
            Self::Slow => "slow",
            Self::Busy => "busy",
            Self::Unread => "unread",
            Self::Left => "left",
        }
    }
}

/// What the conversations share.
struct House {
    operations: Arc<Operations>,
    waiting: Waiting,
    worked_on: Semaphore,
    large_lines: Semaphore,
}

impl House {
    fn progress(&self) -> &Progress {
        &self.operations.recaller.progress
    }

    fn refuse(&self, why: Refused) {
        self.progress().refused(why.as_str());
    }
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
    let house = Arc::new(House {
        operations,
        waiting: Waiting::new(WAITING),
        worked_on: Semaphore::new(WORKED_ON),
        large_lines: Semaphore::new(LARGE_LINES),
    });
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
        let (ticket, has_displaced) = house.waiting.enter();
        if has_displaced {
            house.refuse(Refused::Idle);
        }
        let house = Arc::clone(&house);
        connections.spawn(async move {
            if let Err(error) = converse(stream, &house, &ticket, received_ns).await {
                tracing::debug!(%error, "a conversation ended early");
            }
        });
    }
    while connections.join_next().await.is_some() {}
    Ok(())
}

async fn converse(stream: Stream, house: &House, ticket: &Ticket, received_ns: u64) -> std::io::Result<()> {
    let peer = system::peer(&stream);
    if !peer.as_ref().is_ok_and(|peer| is_admitted(*peer)) {
        house.waiting.leave(ticket);
        house.refuse(Refused::AnotherUser);
        let peer = peer?;
        tracing::warn!(peer, "another user's connection is refused");
        return Ok(());
    }
    let (read, mut write) = stream.into_split();
    let mut line = Vec::new();
    let reading = tokio::time::timeout(PATIENCE, read_line(read, &mut line, &house.large_lines));
    let read = tokio::select! {
        biased;
        () = ticket.turned_out.cancelled() => return Ok(()),
        read = reading => read,
    };
    if !house.waiting.leave(ticket) {
        return Ok(());
    }
    let Ok(read) = read else {
        house.refuse(if line.is_empty() { Refused::Idle } else { Refused::Slow });
        return Ok(());
    };
    let _large = read?;
    if line.is_empty() {
        return Ok(());
    }
    let Some(reply) = reply_to(&line, house, received_ns, || system::has_left(write.as_ref())).await else {
        house.refuse(Refused::Left);
        return Ok(());
    };
    let bytes = reply.to_line().or_else(|error| too_long(&reply, &error).to_line());
    let sending = async {
        write.write_all(&bytes.unwrap_or_default()).await?;
        write.shutdown().await
    };
    // One that takes nothing must not hold its place, nor the daemon's stop.
    tokio::time::timeout(PATIENCE, sending).await.unwrap_or_else(|late| {
        house.refuse(Refused::Unread);
        Err(late.into())
    })
}

/// Whether the user at the other end is this one.
pub(crate) fn is_admitted(peer: u32) -> bool {
    peer == system::user_id()
}

/// Reads up to the first newline, the end, or what is too much for a line. A long line waits for one of the few places that there are
/// for such, and holds it as long as what is returned lives.
async fn read_line<'a>(
    from: impl AsyncRead + Unpin,
    line: &mut Vec<u8>,
    large_lines: &'a Semaphore,
) -> std::io::Result<Option<SemaphorePermit<'a>>> {
    let mut bounded = BufReader::new(from).take(SMALL_LINE as u64);
    bounded.read_until(b'\n', line).await?;
    if line.len() < SMALL_LINE || line.ends_with(b"\n") {
        return Ok(None);
    }
    let place = large_lines.acquire().await.map_err(std::io::Error::other)?;
    bounded.set_limit((MAX_REQUEST_BYTES + 1 - SMALL_LINE) as u64);
    bounded.read_until(b'\n', line).await?;
    Ok(Some(place))
}

/// The reply; `None` where whoever asked has left before anything was begun.
async fn reply_to(line: &[u8], house: &House, received_ns: u64, has_left: impl FnOnce() -> bool) -> Option<Reply> {
    let request = match Request::parse(line) {
        Ok(request) => request,
        Err(error) => {
            house.progress().refused(error.name());
            return Some(Answer::refused(error.to_string()).into());
        }
    };
    // A command that was given up, as while the daemon stood still, is not done behind the user's back.
    if waits_for_its_end(&request) && has_left() {
        return None;
    }
    let Ok(_place) = house.worked_on.try_acquire() else {
        house.refuse(Refused::Busy);
        return Some(match request {
            Request::Recall(_) => RecallReply::nothing(Reason::Busy.as_str()).into(),
            _ => Answer::refused("too many requests are worked on; ask again").into(),
        });
    };
    Some(house.operations.perform(request, received_ns).await)
}

/// Whether whoever asks this waits for the answer: a hook only tells that a transcript has grown, or that its session is kept out.
fn waits_for_its_end(request: &Request) -> bool {
    !matches!(request, Request::Changed { .. } | Request::ExcludeSession { .. })
}

fn too_long(reply: &Reply, error: &remembrancer_hooks::protocol::ProtocolError) -> Reply {
    match reply {
        Reply::Recall(_) => RecallReply::nothing(Reason::TooLong.as_str()).into(),
        Reply::Answer(_) => Answer::refused(error.to_string()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tc_39_only_the_user_of_the_daemon_is_admitted() {
        assert!(is_admitted(system::user_id()));
        assert!(!is_admitted(system::user_id() + 1));
        // The superuser of another daemon's user, too.
        assert_eq!(is_admitted(0), system::user_id() == 0);
    }

    #[tokio::test]
    async fn a_line_of_any_length_is_read_to_its_bound() {
        let large_lines = Semaphore::new(1);
        for (length, is_large) in [
            (10, false),
            (SMALL_LINE - 1, false),
            (SMALL_LINE, true),
            (3 * MAX_REQUEST_BYTES, true),
        ] {
            let sent = [vec![b'x'; length], b"\nmore".to_vec()].concat();
            let mut line = Vec::new();
            let place = read_line(sent.as_slice(), &mut line, &large_lines).await.unwrap();
            assert_eq!(place.is_some(), is_large, "{length}");
            assert_eq!(line.len(), (length + 1).min(MAX_REQUEST_BYTES + 1));
        }
    }
}
