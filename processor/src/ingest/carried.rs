//! What a parser takes over from the records before a place: a record without a time of its own has that of the one before, and a
//! folder or session that was told once holds until another is. It is kept with every place from which a restart may read, so that
//! reading on there gives what reading at once would.
//!
//! As text it is JSON of a version of its own, bounded, and redacted as turns are. One that can't be read is none: the source is then
//! read from its beginning.

use std::sync::Arc;

use remembrancer_schema::UnixMillis;
use serde::{Deserialize, Serialize};

use super::assemble::kept_folder;
use super::problem::cleaned;
use super::redact::{redact, redact_folder};
use super::time;

/// The version of the text.
const VERSION: u32 = 1;
/// Longest text, in bytes: a folder of 4 KiB, twice that where it is all escapes, and the rest. The store takes no more.
const LONGEST: usize = 16 * 1024;
/// Sessions that are known to have a title of the user's: a source mostly holds one.
const MOST_TITLED: usize = 32;

/// What is taken over. Copied for every record, so that what seldom changes is shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    /// The time of the last record that had one.
    pub(crate) at: Option<UnixMillis>,
    /// While a copy of another session's history is read: the time of its last record.
    pub(crate) copied_until: Option<UnixMillis>,
    told: Arc<Told>,
}

/// What was told last. What is absent was never told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Told {
    session: Option<String>,
    cwd: Option<String>,
    git_branch: Option<String>,
    /// The agent's version; empty if unknown.
    version: String,
    /// Whether a subagent speaks.
    is_subagent: bool,
    /// Whether the source's own beginning was read.
    begun: bool,
    /// Sessions with a title of the user's, as hashes.
    titled: Vec<u64>,
}

#[derive(Deserialize)]
struct Read {
    v: u32,
    at: Option<i64>,
    copied_until: Option<i64>,
    told: Told,
}

#[derive(Serialize)]
struct Written<'a> {
    v: u32,
    at: Option<i64>,
    copied_until: Option<i64>,
    told: &'a Told,
}

impl Carried {
    /// What was written as text; none if that is damaged, or of a version that is not known.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let read: Read = serde_json::from_str(text).ok().filter(|read: &Read| read.v == VERSION)?;
        Some(Self {
            at: read.at.and_then(time::plausible),
            copied_until: read.copied_until.map(UnixMillis),
            told: Arc::new(read.told),
        })
    }

    /// As text; none if it would be too long.
    pub(crate) fn to_text(&self) -> Option<String> {
        let mut told = Told::clone(&self.told);
        told.cwd = told.cwd.map(|cwd| {
            kept_folder(&cwd)
                .map(|cwd| redact_folder(&cwd).into_owned())
                .unwrap_or_default()
        });
        told.git_branch = told.git_branch.map(|branch| redact(&branch).into_owned());
        let text = serde_json::to_string(&Written {
            v: VERSION,
            at: self.at.map(|at| at.0),
            copied_until: self.copied_until.map(|at| at.0),
            told: &told,
        });
        text.ok().filter(|text| text.len() <= LONGEST)
    }

    /// The session that was told last.
    pub(crate) fn session(&self) -> Option<&str> {
        self.told.session.as_deref()
    }

    /// The folder that was told last.
    pub(crate) fn cwd(&self) -> Option<&str> {
        self.told.cwd.as_deref()
    }

    /// The branch that was told last.
    pub(crate) fn git_branch(&self) -> Option<&str> {
        self.told.git_branch.as_deref()
    }

    /// The agent's version, as told last.
    pub(crate) fn version(&self) -> &str {
        &self.told.version
    }

    /// Whether it was told that a subagent speaks.
    pub(crate) fn is_subagent(&self) -> bool {
        self.told.is_subagent
    }

    /// Whether the source's own beginning was read.
    pub(crate) fn has_begun(&self) -> bool {
        self.told.begun
    }

    /// Whether the user gave the session of this hash a title.
    pub(crate) fn is_titled(&self, session: u64) -> bool {
        self.told.titled.contains(&session)
    }

    /// Takes a session, unless it is empty. Told again with nearly every record: only what is another costs a copy.
    pub(crate) fn tell_session(&mut self, session: &str) {
        if !session.is_empty() && self.session() != Some(session) {
            Arc::make_mut(&mut self.told).session = Some(session.to_owned());
        }
    }

    /// Takes a folder, unless it is empty.
    pub(crate) fn tell_cwd(&mut self, cwd: &str) {
        if !cwd.is_empty() && self.cwd() != Some(cwd) {
            Arc::make_mut(&mut self.told).cwd = Some(cwd.to_owned());
        }
    }

    /// Takes a branch, unless it is empty.
    pub(crate) fn tell_git_branch(&mut self, branch: &str) {
        if !branch.is_empty() && self.git_branch() != Some(branch) {
            Arc::make_mut(&mut self.told).git_branch = Some(branch.to_owned());
        }
    }

    /// Takes the agent's version, unless it is empty.
    pub(crate) fn tell_version(&mut self, version: &str) {
        if !version.is_empty() {
            let version = cleaned(version);
            if self.told.version != version {
                Arc::make_mut(&mut self.told).version = version;
            }
        }
    }

    /// Notes that from here on a subagent speaks.
    pub(crate) fn tell_subagent(&mut self) {
        if !self.told.is_subagent {
            Arc::make_mut(&mut self.told).is_subagent = true;
        }
    }

    /// Notes whether the source's own beginning was read.
    pub(crate) fn set_begun(&mut self, begun: bool) {
        if self.told.begun != begun {
            Arc::make_mut(&mut self.told).begun = begun;
        }
    }

    /// Notes that the user gave the session of this hash a title. Of very many the oldest is forgotten.
    pub(crate) fn tell_titled(&mut self, session: u64) {
        if !self.is_titled(session) {
            let titled = &mut Arc::make_mut(&mut self.told).titled;
            if titled.len() >= MOST_TITLED {
                titled.remove(0);
            }
            titled.push(session);
        }
    }
}

#[cfg(test)]
mod tests;
