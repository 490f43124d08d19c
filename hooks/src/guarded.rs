//! Word of guarded sessions that could not be left with a daemon. A guarded hook that finds none notes agent and session here, and nothing
//! else; the daemon keeps these sessions out at its next start, before it reads a transcript, and only then removes the notes.
//!
//! One line of JSON a session, each session once, in a file of the user's alone. A full file takes no more: who reads it is told so.

#![expect(
    clippy::disallowed_methods,
    reason = "the hook links no fs-err; its errors are never shown, so they need no path"
)]

use std::fs::{File, remove_file};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::places::create_private_folder;
use crate::protocol::{MAX_AGENT_BYTES, MAX_ID_BYTES};
use crate::system::{is_own_file, private_file, user_id};

/// The file takes no more beyond this: some ten thousand sessions between two starts of the daemon.
const MAX_FILE_BYTES: usize = 1024 * 1024;
/// The longest line of it: JSON writes a byte as six at most.
const LONGEST_LINE: usize = 6 * MAX_ID_BYTES + MAX_AGENT_BYTES + 64;

/// A session that is to be kept out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardedSession {
    /// The agent's id, such as `claude-code`.
    pub agent: String,
    /// The session's id, as the agent gives it.
    pub session: String,
}

impl GuardedSession {
    fn is_sound(&self) -> bool {
        let is_agent = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=MAX_AGENT_BYTES).contains(&self.agent.len())
            && self.agent.bytes().all(is_agent)
            && (1..=MAX_ID_BYTES).contains(&self.session.len())
    }
}

/// What was noted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The sessions, each once.
    pub sessions: Vec<GuardedSession>,
    /// Whether the file is full, so that others may not have found room in it.
    pub is_full: bool,
    /// Bytes that were read.
    length: usize,
}

/// Notes that a session is to be kept out, unless it is noted already.
///
/// # Errors
/// The file system's; `InvalidData` where what lies at `file` is not the user's own file, or an id is none; `StorageFull` where the
/// file takes no more.
pub fn leave(file: &Path, session: &GuardedSession) -> io::Result<()> {
    if !session.is_sound() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    if let Some(folder) = file.parent() {
        create_private_folder(folder)?;
    }
    let mut line = serde_json::to_string(session)?;
    line.push('\n');
    // The daemon may remove the file between its opening and the lock: then it is another one that is noted in.
    let mut opened = match locked(file) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => locked(file)?,
        opened => opened?,
    };
    let content = content_of(&mut opened)?;
    if content.lines().any(|noted| noted == line.trim_end()) {
        return Ok(());
    }
    if content.len() + line.len() > MAX_FILE_BYTES {
        return Err(io::ErrorKind::StorageFull.into());
    }
    // Not to be glued to what a kill left half written.
    if !content.is_empty() && !content.ends_with('\n') {
        line.insert(0, '\n');
    }
    opened.write_all(line.as_bytes())
}

/// What is noted in `file`; nothing where there is none. Lines that are none of ours are passed over.
///
/// # Errors
/// The file system's; `InvalidData` where what lies there is not the user's own file.
pub fn read(file: &Path) -> io::Result<Word> {
    let mut opened = match private_file().read(true).open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Word::default()),
        opened => opened?,
    };
    if !is_own_file(&opened, user_id())? {
        return Err(io::ErrorKind::InvalidData.into());
    }
    opened.lock()?;
    let content = content_of(&mut opened)?;
    let noted = content.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut sessions: Vec<GuardedSession> = noted.filter(GuardedSession::is_sound).collect();
    sessions.sort_by(|one, other| (&one.agent, &one.session).cmp(&(&other.agent, &other.session)));
    sessions.dedup();
    Ok(Word {
        sessions,
        is_full: content.len() + LONGEST_LINE > MAX_FILE_BYTES,
        length: content.len(),
    })
}

/// Removes what was read, unless more was noted since. Gives whether nothing is left.
///
/// # Errors
/// The file system's.
pub fn heard(file: &Path, word: &Word) -> io::Result<bool> {
    let opened = match locked(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        opened => opened?,
    };
    if opened.metadata()?.len() > word.length as u64 {
        return Ok(false);
    }
    remove_file(file)?;
    Ok(true)
}

/// The file, for reading and for appending, made where there is none, and nobody else's until it is closed.
fn locked(file: &Path) -> io::Result<File> {
    let opened = private_file().read(true).append(true).create(true).open(file)?;
    opened.lock()?;
    // At its place may lie a link, or another name of a file that is dear to somebody.
    if is_own_file(&opened, user_id())? {
        Ok(opened)
    } else {
        Err(io::ErrorKind::InvalidData.into())
    }
}

fn content_of(opened: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    opened.take(2 * MAX_FILE_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use rstest::rstest;
    use tempfile::TempDir;

    use super::*;

    fn place() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("remembrancer/guarded-sessions");
        (folder, file)
    }

    fn session(id: &str) -> GuardedSession {
        GuardedSession {
            agent: "claude-code".to_owned(),
            session: id.to_owned(),
        }
    }

    #[test]
    fn what_was_noted_is_told_once_each_and_goes_when_it_was_heard() {
        let (_folder, file) = place();
        assert_eq!(read(&file).unwrap(), Word::default());
        for id in ["s2", "s1", "s2"] {
            leave(&file, &session(id)).unwrap();
        }
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let word = read(&file).unwrap();
        assert_eq!(word.sessions, [session("s1"), session("s2")]);
        assert!(!word.is_full);
        leave(&file, &session("s3")).unwrap();
        assert!(!heard(&file, &word).unwrap(), "more came meanwhile");
        let word = read(&file).unwrap();
        assert_eq!(word.sessions.len(), 3, "and nothing was lost");
        assert!(heard(&file, &word).unwrap() && !file.exists());
    }

    #[test]
    fn it_is_bounded_and_says_so() {
        let (_folder, file) = place();
        let long = |number: usize| session(&format!("{number:0>200}"));
        let refused = (0..).find_map(|number| leave(&file, &long(number)).err()).unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
        assert!(std::fs::metadata(&file).unwrap().len() <= MAX_FILE_BYTES as u64);
        let word = read(&file).unwrap();
        assert!(word.is_full && word.sessions.len() > 1_000);
    }

    #[rstest]
    #[case::no_session("claude-code", "")]
    #[case::no_agent("", "s1")]
    #[case::no_agents_name("claude code\n", "s1")]
    #[case::a_path("../agent", "s1")]
    fn what_is_no_id_is_not_noted(#[case] agent: &str, #[case] id: &str) {
        let (_folder, file) = place();
        let unsound = GuardedSession {
            agent: agent.to_owned(),
            session: id.to_owned(),
        };
        assert!(leave(&file, &unsound).is_err() && !file.exists());
        assert!(leave(&file, &session(&"x".repeat(MAX_ID_BYTES + 1))).is_err());
    }

    #[test]
    fn what_is_half_written_or_foreign_is_passed_over() {
        let (_folder, file) = place();
        leave(&file, &session("s1")).unwrap();
        let half = "{\"agent\":\"claude-code\",\"sess";
        let mut content = std::fs::read(&file).unwrap();
        content.extend_from_slice(format!("not json\n{{\"agent\":\"A B\",\"session\":\"x\"}}\n{half}").as_bytes());
        std::fs::write(&file, content).unwrap();
        leave(&file, &session("a \"quoted\"\nname")).unwrap();
        assert_eq!(read(&file).unwrap().sessions, [session("a \"quoted\"\nname"), session("s1")]);
    }

    #[test]
    fn tc_29_nothing_is_noted_in_a_file_of_others() {
        let symlink: fn(&Path, &Path) -> std::io::Result<()> = |from, to| std::os::unix::fs::symlink(from, to);
        let hard_link: fn(&Path, &Path) -> std::io::Result<()> = |from, to| std::fs::hard_link(from, to);
        for make in [symlink, hard_link] {
            let (folder, file) = place();
            let victim = folder.path().join("victim");
            std::fs::create_dir(file.parent().unwrap()).unwrap();
            std::fs::write(&victim, "a year's work").unwrap();
            make(&victim, &file).unwrap();
            assert!(leave(&file, &session("s1")).is_err() && read(&file).is_err());
            assert_eq!(std::fs::read_to_string(&victim).unwrap(), "a year's work");
            std::fs::remove_file(&file).unwrap();
        }
    }
}
