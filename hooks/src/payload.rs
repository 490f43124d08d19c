//! The host's JSON on stdin. Bytes come in, a [`Payload`] or nothing goes out.
//!
//! Claude Code and Codex write the same keys. Anything that is not a user's prompt of a known session (no JSON, another event, a
//! subagent, an id of unseemly length) is nothing, and never an error. Invalid UTF-8 and unpaired surrogates cost their character,
//! not the prompt.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

/// The event of a submitted prompt, as the hosts name it.
pub(crate) const PROMPT_EVENT: &str = "UserPromptSubmit";

/// More on stdin than this is no prompt that a person waits for; reading stops there.
pub(crate) const MAX_PAYLOAD_BYTES: u64 = 32 * 1024 * 1024;

/// A longer prompt is cut in its middle before it is sent. Embedding reads the head and the tail of a few hundred tokens, and even
/// if each byte needs six in JSON, the request stays under [`MAX_REQUEST_BYTES`](crate::protocol::MAX_REQUEST_BYTES).
pub(crate) const MAX_PROMPT_BYTES: usize = 128 * 1024;

/// Of a prompt that is cut, so much is the head; the rest is the tail.
const HEAD_BYTES: usize = 96 * 1024;

/// Stands between the head and the tail of a prompt that was cut.
const CUT_MARK: &str = "\n[…]\n";

/// Known session ids are UUIDs of 36 bytes.
const MAX_ID_BYTES: usize = 256;

/// `PATH_MAX` of Linux; a longer path opens nowhere.
const MAX_PATH_BYTES: usize = 4_096;

/// A user's prompt, as the host tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payload {
    /// The host's id of the conversation.
    pub(crate) session: String,
    /// The host's working folder.
    pub(crate) cwd: Option<String>,
    /// What the user typed, cut to [`MAX_PROMPT_BYTES`].
    pub(crate) prompt: String,
    /// The host's id of this prompt; the same again if the hook fires twice.
    pub(crate) prompt_id: Option<String>,
    /// The file to which the host appends this conversation.
    pub(crate) transcript: Option<String>,
}

#[derive(Deserialize)]
struct WirePayload {
    hook_event_name: Lossy,
    session_id: Lossy,
    prompt: Lossy,
    #[serde(default)]
    cwd: Option<Lossy>,
    #[serde(default)]
    prompt_id: Option<Lossy>,
    #[serde(default)]
    transcript_path: Option<Lossy>,
    #[serde(default)]
    agent_id: Option<Lossy>,
}

impl Payload {
    /// Reads what a host wrote on stdin.
    pub(crate) fn parse(stdin: &[u8]) -> Option<Self> {
        let json = stdin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stdin);
        let wire: WirePayload = serde_json::from_slice(json).ok()?;
        let from_subagent = wire.agent_id.is_some_and(|id| !id.0.is_empty());
        let session = wire.session_id.0;
        if wire.hook_event_name.0 != PROMPT_EVENT || from_subagent || !(1..=MAX_ID_BYTES).contains(&session.len()) {
            return None;
        }
        Some(Self {
            session,
            cwd: bounded(wire.cwd, MAX_PATH_BYTES),
            prompt: cut_middle(wire.prompt.0),
            prompt_id: bounded(wire.prompt_id, MAX_ID_BYTES),
            transcript: bounded(wire.transcript_path, MAX_PATH_BYTES),
        })
    }
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
