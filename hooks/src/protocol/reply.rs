//! What is answered. A [`Reply`] comes in and a line goes out on the daemon's side; the reverse on the asking side.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MAX_REPLY_BYTES, ProtocolError, VERSION, bounded_line, check_version};

/// The reply to a request: a [`RecallReply`] to a `recall`, an [`Answer`] to anything else and to what was refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reply {
    /// The reply to a `recall`: it has a `context`.
    Recall(RecallReply),
    /// Any other reply: it has an `ok`.
    Answer(Answer),
}

/// What is remembered that fits a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallReply {
    /// The protocol's version.
    pub v: u64,
    /// The text to add to the prompt, in its fence; empty if nothing is shown.
    pub context: String,
    /// What the text holds, best first.
    #[serde(default)]
    pub shown: Vec<Shown>,
    /// Why nothing is shown.
    #[serde(default)]
    pub reason: Option<String>,
    /// Where the time went, in order.
    #[serde(default)]
    pub stages: Vec<Stage>,
}

/// One recollection of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// The episode's short id, as `show` takes it.
    pub id: String,
    /// Its fused score; comparable within one reply only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The name of its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Who shared it, as `show` tells it; `None` of what is this machine's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_by: Option<Value>,
}

/// One stage of a recall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// The stage's name, as `embed`.
    pub name: String,
    /// How long it took, in microseconds.
    pub micros: u64,
}

/// The reply to anything but a `recall`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The protocol's version.
    pub v: u64,
    /// Whether it was done.
    pub ok: bool,
    /// Why it was not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was asked for; its shape depends on the operation.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

#[derive(Deserialize)]
struct Envelope {
    v: u64,
}

impl RecallReply {
    /// The reply that shows nothing, for this reason.
    pub fn nothing(reason: impl Into<String>) -> Self {
        Self {
            v: VERSION,
            context: String::new(),
            shown: Vec::new(),
            reason: Some(reason.into()),
            stages: Vec::new(),
        }
    }
}

impl Answer {
    /// The answer that it was done, with what was asked for, or with [`Value::Null`].
    pub fn done(data: Value) -> Self {
        Self {
            v: VERSION,
            ok: true,
            error: None,
            data,
        }
    }

    /// The answer that it was not done, and why; a [`ProtocolError`]'s message is one.
    pub fn refused(error: impl Into<String>) -> Self {
        Self {
            v: VERSION,
            ok: false,
            error: Some(error.into()),
            data: Value::Null,
        }
    }
}

impl Reply {
    /// Reads one line, with or without its newline.
    ///
    /// # Errors
    ///
    /// A [`ProtocolError`] if the line is too long, no reply, or of another version.
    pub fn parse(line: &[u8]) -> Result<Self, ProtocolError> {
        let line = bounded_line(line, MAX_REPLY_BYTES)?;
        let malformed = |error: serde_json::Error| ProtocolError::Malformed { column: error.column() };
        let envelope: Envelope = serde_json::from_slice(line).map_err(malformed)?;
        check_version(envelope.v)?;
        serde_json::from_slice(line).map_err(malformed)
    }

    /// Writes one line with its newline.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::TooLong`] if the line is over [`MAX_REPLY_BYTES`].
    pub fn to_line(&self) -> Result<Vec<u8>, ProtocolError> {
        let mut line = serde_json::to_vec(self).map_err(|error| ProtocolError::Malformed { column: error.column() })?;
        line.push(b'\n');
        bounded_line(&line, MAX_REPLY_BYTES)?;
        Ok(line)
    }
}

impl From<RecallReply> for Reply {
    fn from(reply: RecallReply) -> Self {
        Self::Recall(reply)
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}
