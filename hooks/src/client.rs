//! Asks the daemon. A [`Request`] and a deadline come in; a [`Reply`] goes out, or a [`ClientError`] that says what was missing.
//!
//! Every step (connecting, writing, reading) waits no longer than the deadline. The first candidate at which someone of our own
//! user listens is the daemon; nothing is ever sent to another user's process.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::clock::{Deadline, monotonic_ns};
use crate::places::Places;
use crate::protocol::{ProtocolError, Reply, Request};

mod connection;

use connection::Connection;

/// What a client was waiting for when its time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitingFor {
    /// That the connection is taken into the listener's queue.
    Connection,
    /// That the request is taken.
    Delivery,
    /// The reply's first byte.
    Reply,
    /// The rest of the reply.
    RestOfReply,
}

/// Why there is no reply.
#[derive(Debug)]
pub enum ClientError {
    /// Nobody of our own user listens at any of the candidates.
    NoDaemon {
        /// Where it was tried.
        tried: Vec<PathBuf>,
    },
    /// The deadline passed.
    TimedOut {
        /// What was missing then.
        waiting_for: WaitingFor,
    },
    /// The daemon closed the connection before the reply was whole.
    Closed,
    /// The request is too long to be sent, or the reply is no reply.
    Protocol(ProtocolError),
    /// The connection failed.
    Io(io::Error),
}

impl fmt::Display for ClientError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDaemon { tried } => {
                let paths: Vec<String> = tried.iter().map(|path| path.display().to_string()).collect();
                write!(formatter, "no daemon listens at {}", paths.join(", "))
            }
            Self::TimedOut { waiting_for } => {
                let missing = match waiting_for {
                    WaitingFor::Connection => "to take the connection",
                    WaitingFor::Delivery => "to take the request",
                    WaitingFor::Reply => "to answer",
                    WaitingFor::RestOfReply => "to finish its answer",
                };
                write!(formatter, "the daemon took too long {missing}")
            }
            Self::Closed => formatter.write_str("the daemon closed the connection without an answer"),
            Self::Protocol(_) => formatter.write_str("the daemon and this program do not understand each other"),
            Self::Io(_) => formatter.write_str("the connection to the daemon failed"),
        }
    }
}

impl Error for ClientError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Protocol(error) => Some(error),
            Self::Io(error) => Some(error),
            Self::NoDaemon { .. } | Self::TimedOut { .. } | Self::Closed => None,
        }
    }
}

/// A blocking client of the daemon. Each call is a connection of its own.
#[derive(Debug, Clone)]
pub struct Client {
    places: Places,
}

impl Client {
    /// A client that looks for the daemon at these places.
    pub fn new(places: Places) -> Self {
        Self { places }
    }

    /// Asks, and waits for the reply at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`ClientError::NoDaemon`] if nobody listens, [`ClientError::TimedOut`] if the reply did not come in time, and the others.
    pub fn call(&self, request: &Request, timeout: Duration) -> Result<Reply, ClientError> {
        self.call_until(request, Deadline::after(monotonic_ns(), timeout))
    }

    /// Asks, and waits for the reply until the deadline.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub fn call_until(&self, request: &Request, deadline: Deadline) -> Result<Reply, ClientError> {
        let line = request.to_line().map_err(ClientError::Protocol)?;
        let mut connection = Connection::open(&self.places, deadline)?;
        connection.send(&line)?;
        Reply::parse(&connection.receive()?).map_err(ClientError::Protocol)
    }

    /// Sends the request by the deadline and does not wait for the reply.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call), but for what could happen after sending.
    pub fn tell(&self, request: &Request, deadline: Deadline) -> Result<(), ClientError> {
        let line = request.to_line().map_err(ClientError::Protocol)?;
        Connection::open(&self.places, deadline)?.send(&line)
    }
}
