//! Unix sockets, under names that another system could give to what it has.

use std::io::ErrorKind;
use std::path::Path;

pub(crate) use std::os::unix::net::UnixListener as HeldListener;
pub(crate) use tokio::net::{UnixListener as Listener, UnixStream as Stream};

/// The user id of the process at the other end.
pub(crate) fn peer(stream: &Stream) -> std::io::Result<u32> {
    Ok(stream.peer_cred()?.uid())
}

/// Whether anybody listens at `path`. Only a refusal says that nobody does: where the attempt fails for another reason, such as a queue
/// that is full or no descriptors left, somebody may.
pub(crate) fn is_answered(path: &Path) -> bool {
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound),
    }
}
