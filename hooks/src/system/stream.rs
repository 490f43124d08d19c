//! A connection to a unix socket, of which every step waits no longer than the deadline.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::clock::Deadline;

/// A connection; dropped, it is closed. Reading and writing never wait: where they would, they fail as `WouldBlock`.
pub(crate) struct Stream(UnixStream);

/// What a connection is waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Readiness {
    /// That something can be read.
    Read,
    /// That something can be written.
    Write,
}

impl Stream {
    /// Connects to `path`. The send timeout holds for connecting, too: a full queue of a listener that accepts nobody would otherwise
    /// hang for ever.
    pub(crate) fn connect(path: &Path, deadline: Deadline) -> io::Result<Self> {
        let left = deadline.remaining();
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let address = SocketAddrUnix::new(path)?;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, close_on_exec(), None)?;
        set_socket_timeout(&socket, Timeout::Send, Some(left))?;
        connect(&socket, &address)?;
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(true)?;
        Ok(Self(stream))
    }

    /// Whether the user `uid` listens at the other end, by what the kernel says.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn is_with(&self, _path: &Path, uid: u32) -> bool {
        rustix::net::sockopt::socket_peercred(&self.0).is_ok_and(|peer| peer.uid.as_raw() == uid)
    }

    /// Whether the user `uid` listens at the other end. Where safe code can't ask the kernel, the socket's file must be that user's:
    /// nobody else can make such a file.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn is_with(&self, path: &Path, uid: u32) -> bool {
        rustix::fs::lstat(path).is_ok_and(|status| status.st_uid == uid)
    }

    /// Waits until the stream is ready; returns whether it is, and not the deadline has passed. Polls, since a socket's own timeouts
    /// come up to two ticks of the kernel (8 ms) late.
    pub(crate) fn wait(&self, readiness: Readiness, deadline: Deadline) -> io::Result<bool> {
        let flags = match readiness {
            Readiness::Read => PollFlags::IN,
            Readiness::Write => PollFlags::OUT,
        };
        loop {
            let left = deadline.remaining();
            if left.is_zero() {
                return Ok(false);
            }
            let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
            match poll(&mut [PollFd::new(&self.0, flags)], Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads what is there.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }

    /// Writes what is taken.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn close_on_exec() -> SocketFlags {
    SocketFlags::CLOEXEC
}

/// Elsewhere the flag does not exist; neither the hook nor the command line starts a process while it waits.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn close_on_exec() -> SocketFlags {
    SocketFlags::empty()
}
