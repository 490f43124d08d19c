//! One connection under one deadline. Places come in and a connection to our own user's daemon goes out; then bytes both ways.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::{ClientError, WaitingFor};
use crate::clock::Deadline;
use crate::places::{Places, verify_private_folder};
use crate::protocol::{MAX_REPLY_BYTES, ProtocolError};

const READ_BYTES: usize = 16 * 1024;

/// An open connection; dropped, it is closed.
pub(super) struct Connection {
    stream: UnixStream,
    deadline: Deadline,
}

impl Connection {
    /// Connects to the first candidate at which a process of our own user listens.
    pub(super) fn open(places: &Places, deadline: Deadline) -> Result<Self, ClientError> {
        let candidates = places.socket_candidates();
        for path in &candidates {
            if is_in_open_folder(path, places) {
                continue;
            }
            match connect_by(path, deadline) {
                Ok(stream) if is_ours(&stream, path, places.uid()) => return Ok(Self { stream, deadline }),
                Err(error) if is_timeout(&error) => return Err(timed_out(WaitingFor::Connection)),
                Ok(_) | Err(_) => {}
            }
        }
        Err(ClientError::NoDaemon { tried: candidates })
    }

    /// Writes the whole line.
    pub(super) fn send(&mut self, line: &[u8]) -> Result<(), ClientError> {
        let mut rest = line;
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if is_timeout(&error) => self.wait(PollFlags::OUT, WaitingFor::Delivery)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }

    /// Reads up to the first newline, which is left out of what is given back.
    pub(super) fn receive(&mut self) -> Result<Vec<u8>, ClientError> {
        let mut line = Vec::new();
        let mut buffer = [0; READ_BYTES];
        while line.len() <= MAX_REPLY_BYTES {
            let waiting_for = if line.is_empty() {
                WaitingFor::Reply
            } else {
                WaitingFor::RestOfReply
            };
            self.wait(PollFlags::IN, waiting_for)?;
            let count = match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(count) => count,
                Err(error) if is_timeout(&error) || error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(failed(error)),
            };
            let end = buffer[..count].iter().position(|&byte| byte == b'\n');
            line.extend_from_slice(&buffer[..end.unwrap_or(count)]);
            if end.is_some() {
                return Ok(line);
            }
        }
        let max_bytes = MAX_REPLY_BYTES;
        Err(ClientError::Protocol(ProtocolError::TooLong { max_bytes }))
    }

    /// Waits until the stream is ready. Polls, since a socket's own timeouts come up to two ticks of the kernel (8 ms) late.
    fn wait(&self, readiness: PollFlags, waiting_for: WaitingFor) -> Result<(), ClientError> {
        loop {
            let left = self.deadline.remaining();
            if left.is_zero() {
                return Err(timed_out(waiting_for));
            }
            let timeout = Timespec::try_from(left).map_err(|error| ClientError::Io(io::Error::other(error)))?;
            match poll(&mut [PollFd::new(&self.stream, readiness)], Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(ClientError::Io(error.into())),
            }
        }
    }
}

/// A short path lies where any user can make folders, so its folder must be proven to be ours.
fn is_in_open_folder(path: &Path, places: &Places) -> bool {
    let short = places.short_socket_dir();
    path.parent() == Some(short.as_path()) && verify_private_folder(&short, places.uid()).is_err()
}

/// The send timeout holds for connecting, too: a full queue of a listener that accepts nobody would otherwise hang for ever.
fn connect_by(path: &Path, deadline: Deadline) -> io::Result<UnixStream> {
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
    Ok(stream)
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

/// Asks the kernel who listens.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_ours(stream: &UnixStream, _path: &Path, uid: u32) -> bool {
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid.as_raw() == uid)
}

/// Where safe code can't ask the kernel who listens, the socket's file must be ours: nobody else can make such a file.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_ours(_stream: &UnixStream, path: &Path, uid: u32) -> bool {
    rustix::fs::lstat(path).is_ok_and(|status| status.st_uid == uid)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn timed_out(waiting_for: WaitingFor) -> ClientError {
    ClientError::TimedOut { waiting_for }
}

/// A peer that goes away in the middle has closed the connection, however the system calls it.
fn failed(error: io::Error) -> ClientError {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => ClientError::Closed,
        _ => ClientError::Io(error),
    }
}
