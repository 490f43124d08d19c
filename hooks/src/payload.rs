//! The host's JSON on stdin. Bytes come in, a [`Payload`] or nothing goes out.
//!
//! Hosts name the same things in few ways: a session is `session_id`, `conversation_id` or `sessionId`. Anything that is not an event
//! of a known session that its agent's table names (no JSON, another event, a subagent) is nothing, and never an error. An id of
//! unseemly length is cut to one that the daemon refuses, since it counts what it refuses. Invalid UTF-8 and unpaired surrogates cost their character, not the prompt.
//!
//! A subagent is told by `agent_id`. `agent_type` alone tells none: a session that a person began with an agent of a kind has it, too.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use serde_json::Value;

use crate::agent::{Act, Agent};
use crate::protocol::{MAX_ID_BYTES, MAX_PATH_BYTES};

/// More on stdin than this is no prompt that a person waits for; reading stops there.
pub(crate) const MAX_PAYLOAD_BYTES: u64 = 32 * 1024 * 1024;

/// A longer prompt is cut in its middle before it is sent. Embedding reads the head and the tail of a few hundred tokens, and even
/// if each byte needs six in JSON, the request stays under [`MAX_REQUEST_BYTES`](crate::protocol::MAX_REQUEST_BYTES).
pub(crate) const MAX_PROMPT_BYTES: usize = 128 * 1024;

/// Of a prompt that is cut, so much is the head; the rest is the tail.
const HEAD_BYTES: usize = 96 * 1024;

/// Stands between the head and the tail of a prompt that was cut.
const CUT_MARK: &str = "\n[…]\n";

/// An event, as the host tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payload {
    /// The event's name.
    pub(crate) event: String,
    /// What is to be done.
    pub(crate) act: Act,
    /// The host's id of the conversation.
    pub(crate) session: String,
    /// The host's working folder.
    pub(crate) cwd: Option<String>,
    /// What the user typed, cut to [`MAX_PROMPT_BYTES`]; empty at events without a prompt.
    pub(crate) prompt: String,
    /// Whether the prompt is no user's but the client's, or another agent's.
    pub(crate) by_machine: bool,
    /// The host's id of this prompt; the same again if the hook fires twice.
    pub(crate) prompt_id: Option<String>,
    /// The file to which the host appends this conversation.
    pub(crate) transcript: Option<String>,
}

#[derive(Deserialize)]
struct WirePayload {
    hook_event_name: Lossy,
    #[serde(default)]
    session_id: Option<Lossy>,
    #[serde(default)]
    conversation_id: Option<Lossy>,
    #[serde(default, rename = "sessionId")]
    session_id_in_camel_case: Option<Lossy>,
    #[serde(default)]
    prompt: Option<Lossy>,
    #[serde(default)]
    source: Option<Lossy>,
    #[serde(default)]
    workspace_roots: Option<Vec<Lossy>>,
    #[serde(default)]
    cwd: Option<Lossy>,
    #[serde(default)]
    prompt_id: Option<Lossy>,
    #[serde(default)]
    generation_id: Option<Lossy>,
    #[serde(default)]
    turn_id: Option<Lossy>,
    #[serde(default)]
    transcript_path: Option<Lossy>,
    #[serde(default)]
    agent_id: Option<Lossy>,
}

impl WirePayload {
    /// What can be read of it where a member has another type than it is known to have: a number for its digits, else nothing for it.
    fn by_member(json: &[u8]) -> Option<Self> {
        let members: serde_json::Map<String, Value> = serde_json::from_slice(json).ok()?;
        let lossy = |value: &Value| match value {
            Value::String(text) => Some(Lossy(text.clone())),
            Value::Number(number) => Some(Lossy(number.to_string())),
            _ => None,
        };
        let text = |name: &str| members.get(name).and_then(lossy);
        let string = |name: &str| members.get(name).filter(|value| value.is_string()).and_then(lossy);
        Some(Self {
            hook_event_name: string("hook_event_name")?,
            session_id: string("session_id"),
            conversation_id: string("conversation_id"),
            session_id_in_camel_case: string("sessionId"),
            prompt: string("prompt"),
            source: text("source"),
            workspace_roots: members
                .get("workspace_roots")
                .and_then(Value::as_array)
                .map(|roots| roots.iter().filter_map(lossy).collect()),
            cwd: text("cwd"),
            prompt_id: text("prompt_id"),
            generation_id: text("generation_id"),
            turn_id: text("turn_id"),
            transcript_path: text("transcript_path"),
            // Whatever it is, it tells a subagent.
            agent_id: members
                .get("agent_id")
                .filter(|id| !id.is_null())
                .map(|id| lossy(id).unwrap_or_else(|| Lossy(id.to_string()))),
        })
    }
}

/// The members by which hosts name a session, in the order in which they are believed.
pub(crate) const SESSION_NAMES: [&str; 3] = ["session_id", "conversation_id", "sessionId"];

/// What a host wrote, without the byte order mark that some put before it.
pub(crate) fn without_mark(stdin: &[u8]) -> &[u8] {
    stdin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stdin)
}

impl Payload {
    /// Whether the daemon is to be asked what is remembered.
    pub(crate) fn asks(&self) -> bool {
        self.act != Act::Changed && !self.by_machine
    }

    /// Reads what `agent` wrote on stdin.
    pub(crate) fn parse(stdin: &[u8], agent: Agent) -> Option<Self> {
        let json = without_mark(stdin);
        let wire = serde_json::from_slice(json).ok().or_else(|| WirePayload::by_member(json))?;
        let from_subagent = wire.agent_id.is_some_and(|id| !id.0.is_empty());
        let sessions = [wire.session_id, wire.conversation_id, wire.session_id_in_camel_case];
        let session = sessions.into_iter().flatten().find(|session| !session.0.is_empty())?;
        let session = cut_id(session.0);
        if from_subagent {
            return None;
        }
        let event = wire.hook_event_name.0;
        let act = agent.act(&event)?;
        let source = wire.source.map(|source| source.0).unwrap_or_default();
        match act {
            Act::Recall if wire.prompt.is_none() => return None,
            Act::Start(sources) if !sources.is_empty() && !sources.contains(&source.as_str()) => return None,
            Act::Recall | Act::Start(_) | Act::Changed => {}
        }
        let prompt = wire.prompt.map(|prompt| prompt.0).unwrap_or_default();
        Some(Self {
            by_machine: agent.is_machine_text(&prompt),
            event,
            act,
            session,
            cwd: std::iter::once(wire.cwd)
                .chain(wire.workspace_roots.into_iter().flatten().map(Some))
                .find_map(|cwd| bounded(cwd, MAX_PATH_BYTES)),
            prompt: cut_middle(prompt),
            prompt_id: [wire.prompt_id, wire.generation_id, wire.turn_id]
                .into_iter()
                .find_map(|id| bounded(id, MAX_ID_BYTES)),
            transcript: bounded(wire.transcript_path, MAX_PATH_BYTES),
        })
    }
}

/// An id as it is sent: one that is too long stays too long, by as little as can be.
fn cut_id(mut id: String) -> String {
    if id.len() > MAX_ID_BYTES {
        id.truncate(id.ceil_char_boundary(MAX_ID_BYTES + 1));
    }
    id
}

fn bounded(text: Option<Lossy>, max_bytes: usize) -> Option<String> {
    text.map(|text| text.0).filter(|text| (1..=max_bytes).contains(&text.len()))
}

fn cut_middle(prompt: String) -> String {
    if prompt.len() <= MAX_PROMPT_BYTES {
        return prompt;
    }
    let head_end = prompt.floor_char_boundary(HEAD_BYTES);
    let tail_bytes = MAX_PROMPT_BYTES - HEAD_BYTES - CUT_MARK.len();
    let tail_start = prompt.ceil_char_boundary(prompt.len() - tail_bytes);
    [&prompt[..head_end], CUT_MARK, &prompt[tail_start..]].concat()
}

/// A JSON string of which what is not text became U+FFFD. `serde_json` gives an unpaired surrogate as the three bytes that a
/// general UTF-8 would have, none of which is UTF-8.
struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(LossyVisitor).map(Self)
    }
}

struct LossyVisitor;

impl Visitor<'_> for LossyVisitor {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<String, E> {
        Ok(match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => text.to_owned(),
            Cow::Owned(text) => text.replace("\u{fffd}\u{fffd}\u{fffd}", "\u{fffd}"),
        })
    }
}

#[cfg(test)]
mod tests;
