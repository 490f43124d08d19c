//! One line of the journal: a choice to text and back. In goes a number and a choice, out comes a line that knows whether it is whole.

use std::fmt::Write as _;

use std::io;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The version of these lines. A line of a newer one is kept and not followed.
const VERSION: u32 = 1;
/// Hexadecimal digits of the SHA-256 that lead a line: 64 bits find any damage that is no forgery.
const SUM_DIGITS: usize = 16;

/// The number of a line, ascending from 1 in each journal.
pub(crate) type Number = u64;

/// What the user decided. Times are in milliseconds since 1970, as [`crate::UnixMillis`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Choice {
    /// The first line: the journal's own name.
    Begin { journal: String },
    /// Turns were forgotten; hexadecimal uids.
    Forget { turns: Vec<String>, at: i64 },
    /// A folder is kept out.
    Exclude { path: String, at: i64 },
    /// A folder is let in again.
    Include { path: String },
    /// A session is kept out.
    ExcludeSession { agent: String, session: String },
    /// A session is let in again.
    IncludeSession { agent: String, session: String },
    /// Reading and recalling rest, until a moment or until resumed.
    Pause { until: Option<i64> },
    /// Reading and recalling go on.
    Resume,
    /// Something of ours stands in a file of a project.
    Instruct {
        path: String,
        line: Option<String>,
        folder: String,
        made: Option<String>,
        tracked: bool,
        at: i64,
    },
    /// It does no more.
    Uninstruct { path: String, line: Option<String> },
    /// A turn is never recalled; a hexadecimal uid.
    Mute { turn: String, at: i64 },
    /// It may be recalled again.
    Unmute { turn: String },
    /// A turn counts as important; a hexadecimal uid.
    Boost { turn: String, at: i64 },
    /// It counts as the rules say.
    Unboost { turn: String },
    /// What a newer version decided.
    #[serde(other)]
    Unknown,
}

/// A line that agrees with its sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: Number,
    pub(super) choice: Choice,
    /// As it stands in the file, with its end.
    pub(super) raw: String,
}

impl Line {
    /// The line of a choice.
    ///
    /// # Errors
    /// What JSON can't hold.
    pub(super) fn of(number: Number, choice: Choice) -> io::Result<Self> {
        let raw = write(number, &choice)?;
        Ok(Self { number, choice, raw })
    }

    /// What the choice is about: of several lines about one thing only the last holds.
    pub(super) fn subject(&self) -> Vec<&str> {
        match &self.choice {
            Choice::Begin { .. } => vec!["begin"],
            Choice::Forget { turns, .. } => std::iter::once("forget").chain(turns.iter().map(String::as_str)).collect(),
            Choice::Exclude { path, .. } | Choice::Include { path } => vec!["folder", path],
            Choice::ExcludeSession { agent, session } | Choice::IncludeSession { agent, session } => {
                vec!["session", agent, session]
            }
            Choice::Pause { .. } | Choice::Resume => vec!["pause"],
            Choice::Instruct { path, line, .. } | Choice::Uninstruct { path, line } => {
                vec!["instruct", path, line.as_deref().unwrap_or_default()]
            }
            Choice::Mute { turn, .. } | Choice::Unmute { turn } => vec!["mute", turn],
            Choice::Boost { turn, .. } | Choice::Unboost { turn } => vec!["boost", turn],
            Choice::Unknown => vec!["unknown", &self.raw],
        }
    }
}

/// What every line of every version has.
#[derive(Serialize, Deserialize)]
struct Envelope<C> {
    #[serde(rename = "v")]
    version: u32,
    #[serde(rename = "n")]
    number: Number,
    #[serde(flatten)]
    choice: C,
}

/// The first line of the journal `id`.
///
/// # Errors
/// None but what JSON can't hold, which no name is.
pub(super) fn begin(id: &str) -> io::Result<String> {
    write(0, &Choice::Begin { journal: id.to_owned() })
}

/// The line of a choice, with its end.
///
/// # Errors
/// What JSON can't hold.
pub(super) fn write(number: Number, choice: &Choice) -> io::Result<String> {
    let version = VERSION;
    let json = serde_json::to_string(&Envelope { version, number, choice })?;
    Ok(format!("{} {json}\n", sum(json.as_bytes())))
}

/// Reads a line without its end; `None` where it does not agree with its sum.
pub(super) fn read(text: &[u8]) -> Option<Line> {
    let text = std::str::from_utf8(text).ok()?;
    let (found, json) = text.split_once(' ')?;
    if found != sum(json.as_bytes()) {
        return None;
    }
    let version = serde_json::from_str::<Envelope<serde_json::Value>>(json).ok()?;
    let choice = if version.version > VERSION {
        Choice::Unknown
    } else {
        serde_json::from_str::<Envelope<Choice>>(json).ok()?.choice
    };
    Some(Line {
        number: version.number,
        choice,
        raw: format!("{text}\n"),
    })
}

/// What leads a line, here and in the file of facts.
pub(crate) fn sum(json: &[u8]) -> String {
    let sum = Sha256::digest(json);
    let mut digits = String::with_capacity(2 * sum.len());
    for byte in sum {
        // Writing to a string can't fail.
        write!(digits, "{byte:02x}").ok();
    }
    digits.truncate(SUM_DIGITS);
    digits
}
