//! What is private here, on plain values, for the fuzz targets: nothing that runs uses it.

use crate::agent::Agent;
use crate::output;
use crate::payload::{self, Payload};
use crate::protocol;

/// The longest id that is taken, in bytes.
pub const MAX_ID_BYTES: usize = protocol::MAX_ID_BYTES;
/// The longest path that is taken, in bytes.
pub const MAX_PATH_BYTES: usize = protocol::MAX_PATH_BYTES;
/// The longest prompt that is sent, in bytes.
pub const MAX_PROMPT_BYTES: usize = payload::MAX_PROMPT_BYTES;

/// What was understood of a host's stdin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// The event's name.
    pub event: String,
    /// The host's id of the conversation.
    pub session: String,
    /// The working folder.
    pub cwd: Option<String>,
    /// What was typed.
    pub prompt: String,
    /// The host's id of the prompt.
    pub prompt_id: Option<String>,
    /// The conversation's transcript.
    pub transcript: Option<String>,
    /// Whether the daemon is asked.
    pub asks: bool,
}

/// Reads what `agent` wrote on stdin; `None` where there is nothing to do.
pub fn heard(stdin: &[u8], agent: Agent) -> Option<Heard> {
    let payload = Payload::parse(stdin, agent)?;
    let asks = payload.asks();
    Some(Heard {
        event: payload.event,
        session: payload.session,
        cwd: payload.cwd,
        prompt: payload.prompt,
        prompt_id: payload.prompt_id,
        transcript: payload.transcript,
        asks,
    })
}

/// What the hook prints to add `context` at an event of `agent`.
pub fn printed(agent: Agent, event: &str, context: &str) -> Option<String> {
    output::render(agent, event, context)
}
