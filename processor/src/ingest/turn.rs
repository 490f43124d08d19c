//! A turn: a prompt and all that the agent did until the next one, in the shape that every agent's parser gives.

use std::hash::{DefaultHasher, Hash, Hasher};

use remembrancer_schema::{Facets, Origin, TurnUid, UnixMillis};
use sha2::{Digest, Sha256};

use super::agent::Agent;

/// A prompt and what came of it, as read so far. Cleaned, and redacted but for the session and the folder, which are
/// names of things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Equal in every copy of the transcript.
    pub uid: TurnUid,
    /// Whose transcript it is.
    pub agent: Agent,
    /// The session id as the agent writes it; the file's stem where it writes none.
    pub session: String,
    /// A person's turn, or a subagent's.
    pub origin: Origin,
    /// 0-based ordinal in its source.
    pub ordinal: u32,
    /// When the prompt came.
    pub started_at: UnixMillis,
    /// Working folder.
    pub cwd: Option<String>,
    /// Git branch.
    pub git_branch: Option<String>,
    /// What was asked, redacted; empty where the transcript begins in the middle of a turn.
    pub prompt: String,
    /// What the agent said and did, in order.
    pub steps: Vec<Step>,
    /// The host's summary of an earlier conversation, kept only while the turn has nothing else.
    pub carried_summary: Option<String>,
    /// Whether a commit was made.
    pub committed: bool,
    /// Whether a command that failed succeeded after a change.
    pub error_fixed: bool,
}

/// One text of the agent, and what it did before the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it was said.
    pub at: UnixMillis,
    /// Without announcements, redacted; empty if nothing was said before the first act.
    pub text: String,
    /// What was touched after it was said. Redacted, each value cut to its cap.
    pub facets: Facets,
}

impl Turn {
    /// All texts of the agent, with a blank line between.
    pub fn answer(&self) -> String {
        let texts: Vec<&str> = self
            .steps
            .iter()
            .map(|step| step.text.as_str())
            .filter(|text| !text.is_empty())
            .collect();
        texts.join("\n\n")
    }

    /// All that was touched, in order, each once.
    pub fn facets(&self) -> Facets {
        let mut all = Facets::default();
        for step in &self.steps {
            for (to, from) in [
                (&mut all.files, &step.facets.files),
                (&mut all.commands, &step.facets.commands),
                (&mut all.errors, &step.facets.errors),
                (&mut all.tools, &step.facets.tools),
            ] {
                for value in from {
                    push_new(to, value.clone());
                }
            }
        }
        all
    }
}

/// What names a turn whatever file it stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TurnName<'a> {
    /// The id of its first record, and that record's timestamp as written.
    Record {
        /// The record's id.
        id: &'a str,
        /// The timestamp as written; empty if there is none.
        written: &'a str,
    },
    /// Where records have no ids.
    Place {
        /// The source's file stem.
        source: &'a str,
        /// The turn's ordinal in it.
        ordinal: u32,
        /// The prompt as it stands in the transcript.
        raw_prompt: &'a str,
    },
}

impl TurnName<'_> {
    /// The first 16 bytes of SHA-256 over the agent and the parts of the name, with NUL bytes between.
    pub(crate) fn uid(self, agent: Agent) -> TurnUid {
        let mut hash = Sha256::new().chain_update(agent.id()).chain_update([0]);
        match self {
            Self::Record { id, written } => {
                hash.update(id);
                hash.update([0]);
                hash.update(written);
            }
            Self::Place {
                source,
                ordinal,
                raw_prompt,
            } => {
                hash.update(source);
                hash.update([0]);
                hash.update(ordinal.to_le_bytes());
                hash.update([0]);
                hash.update(raw_prompt);
            }
        }
        let mut uid = [0; 16];
        uid.copy_from_slice(&hash.finalize()[..16]);
        TurnUid(uid)
    }
}

/// Appends a value unless the list holds it already.
pub(crate) fn push_new(list: &mut Vec<String>, value: String) {
    if !value.is_empty() && !list.contains(&value) {
        list.push(value);
    }
}

/// A short stand-in for a record id.
pub(crate) fn short_hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_depend_on_id_and_time_and_on_nothing_else() {
        let uid = |id, written| TurnName::Record { id, written }.uid(Agent::CLAUDE_CODE);
        assert_eq!(uid("u1", "2026-01-01T00:00:00Z"), uid("u1", "2026-01-01T00:00:00Z"));
        assert_ne!(uid("u1", "2026-01-01T00:00:00Z"), uid("u1", "2026-01-01T00:00:01Z"));
        assert_ne!(uid("u1", ""), uid("u2", ""));
        // SHA-256 of "claude-code\0u1\02026-01-01T00:00:00Z": this rule can't change, or every memory is doubled.
        assert_eq!(uid("u1", "2026-01-01T00:00:00Z").to_string(), UID_OF_U1);
    }

    const UID_OF_U1: &str = "dd981fd483991a253da799b4124f09eb";
}
