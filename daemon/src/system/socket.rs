//! Unix sockets, under names that another system could give to what it has.

use std::path::Path;

pub(crate) use std::os::unix::net::UnixListener as HeldListener;
pub(crate) use tokio::net::{UnixListener as Listener, UnixStream as Stream};

/// The user id of the process at the other end.
pub(crate) fn peer(stream: &Stream) -> std::io::Result<u32> {
    Ok(stream.peer_cred()?.uid())
}

/// Whether anybody listens at `path`.
pub(crate) fn is_answered(path: &Path) -> bool {
    std::os::unix::net::UnixStream::connect(path).is_ok()
}
