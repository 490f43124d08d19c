//! Unix sockets, under names that another system could give to what it has.

use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub(crate) use std::os::unix::net::UnixListener as HeldListener;
pub(crate) use tokio::net::{UnixListener as Listener, UnixStream as Stream};

/// The user id of the process at the other end.
pub(crate) fn peer(stream: &Stream) -> std::io::Result<u32> {
    Ok(stream.peer_cred()?.uid())
}

/// Whether the process at the other end has closed the connection, and not only said that it sends nothing more.
pub(crate) fn has_left(connection: impl AsFd) -> bool {
    let mut looked_at = [PollFd::new(&connection, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut looked_at, Some(&now)).is_ok_and(|changed| changed > 0) && looked_at[0].revents().contains(PollFlags::HUP)
}

/// Whether anybody listens at `path`. Only a refusal says that nobody does: where the attempt fails for another reason, such as a queue
/// that is full or no descriptors left, somebody may.
pub(crate) fn is_answered(path: &Path) -> bool {
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn who_has_left_is_told_from_who_says_nothing_more() {
        let (ours, other) = UnixStream::pair().unwrap();
        assert!(!has_left(&ours));
        other.shutdown(Shutdown::Write).unwrap();
        assert!(!has_left(&ours), "it may wait for the answer");
        drop(other);
        assert!(has_left(&ours));
    }
}
