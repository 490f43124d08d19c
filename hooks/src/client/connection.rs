//! One connection under one deadline. Places come in and a connection to our own user's daemon goes out; then bytes both ways.

use std::io;
use std::path::Path;

use super::{ClientError, WaitingFor};
use crate::clock::Deadline;
use crate::places::{Places, verify_private_folder};
use crate::protocol::{MAX_REPLY_BYTES, ProtocolError};
use crate::system::stream::{Readiness, Stream};

const READ_BYTES: usize = 16 * 1024;

/// An open connection; dropped, it is closed.
pub(super) struct Connection {
    stream: Stream,
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
            match Stream::connect(path, deadline) {
                Ok(stream) if stream.is_with(path, places.uid()) => return Ok(Self { stream, deadline }),
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
                Err(error) if is_timeout(&error) => self.wait(Readiness::Write, WaitingFor::Delivery)?,
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
            self.wait(Readiness::Read, waiting_for)?;
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

    fn wait(&self, readiness: Readiness, waiting_for: WaitingFor) -> Result<(), ClientError> {
        match self.stream.wait(readiness, self.deadline) {
            Ok(true) => Ok(()),
            Ok(false) => Err(timed_out(waiting_for)),
            Err(error) => Err(ClientError::Io(error)),
        }
    }
}

/// A short path lies where any user can make folders, so its folder must be proven to be ours.
fn is_in_open_folder(path: &Path, places: &Places) -> bool {
    let short = places.short_socket_dir();
    path.parent() == Some(short.as_path()) && verify_private_folder(&short, places.uid()).is_err()
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
