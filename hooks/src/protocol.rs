//! The wire between the daemon and whoever asks it. Lines come in, [`Request`]s and [`Reply`]s go out, and the other way round.
//!
//! One connection carries one request and one reply, each one line of JSON that ends with a newline and names the protocol's
//! version as `v`. Both sides pass over members that they don't know, so that a member can be added without a new version. The
//! whole schema, for programs in other languages, is in `hooks/PROTOCOL.md`, which a test reads.

use std::error::Error;
use std::fmt;

mod browsing;
mod limits;
mod reply;
mod request;

pub use browsing::{Narrowing, SearchMode, SearchRequest, SessionsRequest, TimelineRequest};
pub(crate) use limits::MAX_AGENT_BYTES;
pub use limits::{MAX_ID_BYTES, MAX_PATH_BYTES};
pub use reply::{Answer, RecallReply, Reply, Shown, Stage};
pub use request::{ExplainRequest, ForgetTarget, InstructionFile, PROBE_SESSION, RecallRequest, Request, Steering};

/// The version that this library speaks. Another version is refused, not guessed at.
pub const VERSION: u64 = 1;

/// The longest request with its newline, in bytes. A larger prompt is cut by the hook, so no prompt is refused for its length.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// The longest reply with its newline, in bytes: enough for `show` of a whole turn; a recall needs under 64 KiB.
pub const MAX_REPLY_BYTES: usize = 4 * 1024 * 1024;

/// Why a line is no request or no reply. The message is fit to be sent back, and holds none of the line's text but names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProtocolError {
    /// The line is longer than the bound.
    TooLong {
        /// The bound in bytes.
        max_bytes: usize,
    },
    /// The line is no JSON object, or a member that every line has is missing or of another type.
    Malformed {
        /// Where it stops to be one, counted from 1; 0 if unknown.
        column: usize,
    },
    /// The line is of another version.
    Version {
        /// The version that the line names.
        found: u64,
    },
    /// No such operation.
    UnknownOperation {
        /// The name, cut to 64 characters.
        op: String,
    },
    /// A member of this operation is longer than its bound.
    MemberTooLong {
        /// The operation.
        op: String,
        /// The member.
        member: &'static str,
        /// The bound in bytes.
        max_bytes: usize,
    },
    /// A member of this operation is missing or of another type.
    Invalid {
        /// The operation.
        op: String,
        /// Where it stops to fit, counted from 1; 0 if unknown.
        column: usize,
    },
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { max_bytes } => write!(formatter, "the line is longer than {max_bytes} bytes"),
            Self::Malformed { column: 0 } => formatter.write_str("this is no line of the protocol"),
            Self::Malformed { column } => write!(formatter, "this is no line of the protocol from column {column} on"),
            Self::Version { found } => write!(formatter, "protocol version {found} is not spoken here, only {VERSION}"),
            Self::UnknownOperation { op } => write!(formatter, "unknown operation {op:?}"),
            Self::MemberTooLong { op, member, max_bytes } => {
                write!(formatter, "{member:?} of operation {op:?} is longer than {max_bytes} bytes")
            }
            Self::Invalid { op, column: 0 } => write!(formatter, "a member of operation {op:?} is missing or wrong"),
            Self::Invalid { op, column } => {
                write!(
                    formatter,
                    "a member of operation {op:?} is missing or wrong, at column {column}"
                )
            }
        }
    }
}

impl Error for ProtocolError {}

impl ProtocolError {
    /// The error's name, under which it is counted.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "line-too-long",
            Self::Malformed { .. } => "malformed",
            Self::Version { .. } => "other-version",
            Self::UnknownOperation { .. } => "unknown-operation",
            Self::MemberTooLong { .. } => "member-too-long",
            Self::Invalid { .. } => "invalid-member",
        }
    }
}

/// Takes the newline off; fails on a line over the bound.
fn bounded_line(line: &[u8], max_bytes: usize) -> Result<&[u8], ProtocolError> {
    if line.len() > max_bytes {
        Err(ProtocolError::TooLong { max_bytes })
    } else {
        Ok(line.trim_ascii())
    }
}

fn check_version(found: u64) -> Result<(), ProtocolError> {
    if found == VERSION {
        Ok(())
    } else {
        Err(ProtocolError::Version { found })
    }
}

#[cfg(test)]
mod tests;
