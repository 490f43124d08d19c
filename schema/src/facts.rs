//! What the user said is to be remembered, in a small file of its own beside the database: no transcript holds it, so that nothing else
//! could bring it back where the database is lost. (The journal holds no text, and stays so; ADR 45.)
//!
//! In go facts, redacted, each synced to the disk before the database is changed by it; out come all of them, to be stored anew where
//! a database lacks them (`write/facts.rs`). What is forgotten leaves the file before the command answers, and its bytes the disk as far
//! as a file system lets a program see to that.
//!
//! The file is `<database>.facts`, 0600, a line a fact: sixteen hexadecimal digits of the SHA-256 of what follows, a blank, and JSON.
//! There is none while nothing was remembered. A line that does not agree with its sum is passed over and counted, and so is a last
//! line without its end, which was never reported as done. What a newer version wrote is kept as it is.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::copy::{PART, with_suffix};
use crate::ids::TurnUid;
use crate::journal::sum;
use crate::rows::{Fact, ProjectNames};
use crate::system;
use crate::units::UnixMillis;

/// What follows the database's name.
pub(crate) const SUFFIX: &str = ".facts";
/// The version of these lines. A line of a newer one is kept and not followed.
const VERSION: u32 = 1;

/// The file of one database.
#[derive(Debug)]
pub(crate) struct FactsFile {
    path: PathBuf,
}

/// How long a file was: see [`FactsFile::take_back`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(u64);

/// What becomes of a line when the file is written anew.
pub(crate) enum Change {
    /// It stays.
    Keep,
    /// Another takes its place.
    Replace(Fact),
    /// It goes.
    Remove,
}

/// A fact as a line holds it.
#[derive(Serialize, Deserialize)]
struct Told {
    #[serde(rename = "v")]
    version: u32,
    turn: String,
    at: i64,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    project: ProjectNames,
}

/// A line that agrees with its sum.
struct Line {
    /// As it stands in the file, with its end.
    raw: String,
    /// What it says; `None` where only a newer version knows.
    fact: Option<Fact>,
}

/// What the file holds.
#[derive(Default)]
struct Contents {
    lines: Vec<Line>,
    /// Lines that do not agree with their sums, or have no end.
    damaged: u64,
    /// Bytes up to the end of the last line that has one.
    length: u64,
}

impl FactsFile {
    /// Where the facts of a database lie.
    pub(crate) fn path_of(database: &Path) -> PathBuf {
        with_suffix(database, SUFFIX)
    }

    /// The file of `database`, whether it is there or not.
    pub(crate) fn of(database: &Path) -> Self {
        Self {
            path: Self::path_of(database),
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All facts, in the order in which they were told. What is damaged is logged by count.
    ///
    /// # Errors
    /// The file system's error; a file that is not there holds nothing.
    pub(crate) fn read(&self) -> io::Result<Vec<Fact>> {
        let contents = self.contents()?;
        if contents.damaged > 0 {
            tracing::warn!(
                damaged = contents.damaged,
                "lines of the file of what you had remembered are damaged and were left out; the others hold"
            );
        }
        Ok(contents.lines.into_iter().filter_map(|line| line.fact).collect())
    }

    /// Adds facts, and returns once the disk has them, with how long the file was before.
    ///
    /// # Errors
    /// The file system's error; nothing was added then.
    pub(crate) fn add(&self, facts: &[Fact]) -> io::Result<Mark> {
        let before = self.contents()?.length;
        if facts.is_empty() {
            return Ok(Mark(before));
        }
        let mut text = String::new();
        for fact in facts {
            text.push_str(&write(fact)?);
        }
        let is_new = !self.path.try_exists()?;
        let added = self.write_at(before, text.as_bytes()).and_then(|()| {
            if is_new {
                system::sync_folder_of(&self.path)?;
            }
            Ok(())
        });
        if let Err(error) = added {
            // The first error is what counts: what stays of it has no end, or is what the next opening stores.
            drop(self.take_back(Mark(before)));
            return Err(error);
        }
        Ok(Mark(before))
    }

    /// Takes back what was added since `mark`, since the database refused it.
    ///
    /// # Errors
    /// The file system's error; the next opening then stores what was refused.
    pub(crate) fn take_back(&self, mark: Mark) -> io::Result<()> {
        let file = fs_err::OpenOptions::new().write(true).open(&self.path)?;
        file.set_len(mark.0)?;
        file.sync_all()
    }

    /// Takes the facts of these turns out.
    ///
    /// # Errors
    /// The file system's error.
    pub(crate) fn remove(&self, turns: &[TurnUid]) -> io::Result<()> {
        self.change(|fact| {
            if turns.contains(&fact.turn_uid) {
                Change::Remove
            } else {
                Change::Keep
            }
        })
    }

    /// Writes the file anew where `change` makes something else of a line, and overwrites what it was.
    ///
    /// # Errors
    /// The file system's error; the file is as it was then, or whole and new.
    pub(crate) fn change(&self, change: impl Fn(&Fact) -> Change) -> io::Result<()> {
        let contents = self.contents()?;
        // Of what can't be read nobody knows that it is not what is to go.
        let (mut text, mut changed) = (String::new(), contents.damaged > 0);
        for line in contents.lines {
            match line.fact.as_ref().map_or(Change::Keep, &change) {
                Change::Keep => text.push_str(&line.raw),
                Change::Replace(fact) => {
                    text.push_str(&write(&fact)?);
                    changed = true;
                }
                Change::Remove => changed = true,
            }
        }
        if changed { self.write_anew(&text) } else { Ok(()) }
    }

    /// Writes behind the last whole line, over what a crash left of another.
    fn write_at(&self, length: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = system::private_file()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.path)?;
        system::tighten_file(&self.path)?;
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn write_anew(&self, text: &str) -> io::Result<()> {
        let old = fs_err::OpenOptions::new().write(true).open(&self.path)?;
        if text.is_empty() {
            fs_err::remove_file(&self.path)?;
        } else if let Err(error) = self.put_in_place(text) {
            // The first error is what counts; what stays of it goes at the next opening.
            drop(self.remove_part());
            return Err(error);
        }
        system::sync_folder_of(&self.path)?;
        overwrite(old)
    }

    fn put_in_place(&self, text: &str) -> io::Result<()> {
        let temporary = self.part();
        let mut file = system::private_file()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs_err::rename(&temporary, &self.path)
    }

    fn part(&self) -> PathBuf {
        with_suffix(&self.path, PART)
    }

    /// Removes what a crash left of a file that was written anew.
    ///
    /// # Errors
    /// The file system's error.
    pub(crate) fn remove_part(&self) -> io::Result<()> {
        match fs_err::remove_file(self.part()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn contents(&self) -> io::Result<Contents> {
        match fs_err::read(&self.path) {
            Ok(bytes) => Ok(Contents::parse(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Contents::default()),
            Err(error) => Err(error),
        }
    }
}

/// Writes zeros over a file that has no name any more. One that still has a name is somebody's copy, and is left alone.
fn overwrite(mut file: fs_err::File) -> io::Result<()> {
    let metadata = file.metadata()?;
    if system::names(&metadata) > 0 {
        return Ok(());
    }
    let mut left = metadata.len();
    let zeros = [0_u8; 8 << 10];
    while left > 0 {
        let part = left.min(zeros.len() as u64);
        file.write_all(&zeros[..part as usize])?;
        left -= part;
    }
    file.sync_all()
}

impl Contents {
    fn parse(bytes: &[u8]) -> Self {
        let mut contents = Self::default();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(text) = piece.strip_suffix(b"\n") else {
                contents.damaged += 1;
                break;
            };
            contents.length += piece.len() as u64;
            match read(text) {
                Some(line) => contents.lines.push(line),
                None => contents.damaged += 1,
            }
        }
        contents
    }
}

/// The line of a fact, with its end.
fn write(fact: &Fact) -> io::Result<String> {
    let json = serde_json::to_string(&Told {
        version: VERSION,
        turn: fact.turn_uid.to_string(),
        at: fact.at.0,
        text: fact.text.clone(),
        cwd: fact.cwd.clone(),
        project: fact.project.clone(),
    })?;
    Ok(format!("{} {json}\n", sum(json.as_bytes())))
}

/// Reads a line without its end; `None` where it does not agree with its sum, or says nothing that any version says.
fn read(text: &[u8]) -> Option<Line> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u32,
    }
    let text = std::str::from_utf8(text).ok()?;
    let (found, json) = text.split_once(' ')?;
    if found != sum(json.as_bytes()) {
        return None;
    }
    let version = serde_json::from_str::<Versioned>(json).ok()?.v;
    let fact = if version > VERSION {
        None
    } else {
        let told: Told = serde_json::from_str(json).ok()?;
        let turn_uid: TurnUid = told.turn.parse().ok()?;
        Some(Fact {
            turn_uid,
            at: UnixMillis(told.at),
            text: told.text,
            cwd: told.cwd,
            project: told.project,
        })
    };
    Some(Line {
        raw: format!("{text}\n"),
        fact,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn fact(number: u8, text: &str) -> Fact {
        Fact {
            turn_uid: TurnUid([number; 16]),
            at: UnixMillis(i64::from(number)),
            text: text.to_owned(),
            cwd: None,
            project: ProjectNames::everywhere(),
        }
    }

    fn file() -> (tempfile::TempDir, FactsFile) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = FactsFile::of(&folder.path().join("memory.db"));
        (folder, file)
    }

    fn texts(file: &FactsFile) -> Vec<String> {
        file.read().expect("reads").into_iter().map(|fact| fact.text).collect()
    }

    #[test]
    fn what_is_added_is_read_again_and_is_the_users_alone() {
        let (_folder, file) = file();
        assert_eq!(texts(&file), [""; 0]);
        file.add(&[]).expect("adds nothing");
        assert!(!file.path().exists(), "no file for who remembers nothing");
        let facts = [fact(1, "one\nline\u{2028}"), fact(2, "two")];
        file.add(&facts[..1]).expect("adds");
        file.add(&facts[1..]).expect("adds");
        assert_eq!(file.read().expect("reads"), facts);
        assert_eq!(
            fs_err::metadata(file.path()).expect("is there").permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn what_was_refused_is_taken_back() {
        let (_folder, file) = file();
        file.add(&[fact(1, "one")]).expect("adds");
        let mark = file.add(&[fact(2, "two")]).expect("adds");
        file.take_back(mark).expect("takes back");
        assert_eq!(texts(&file), ["one"]);
    }

    #[test]
    fn a_line_without_its_end_is_written_over_and_a_damaged_one_is_passed_over() {
        let (_folder, file) = file();
        file.add(&[fact(1, "one"), fact(2, "two")]).expect("adds");
        let mut bytes = fs_err::read(file.path()).expect("reads");
        bytes[30] ^= 1;
        bytes.extend_from_slice(b"0123456789abcdef {\"v\":1,\"turn\"");
        fs_err::write(file.path(), bytes).expect("writes");
        assert_eq!(texts(&file), ["two"]);
        file.add(&[fact(3, "three")]).expect("adds");
        assert_eq!(texts(&file), ["two", "three"]);
    }

    #[test]
    fn what_a_newer_version_wrote_is_kept() {
        let (_folder, file) = file();
        let json = r#"{"v":2,"anything":true}"#;
        let newer = format!("{} {json}\n", sum(json.as_bytes()));
        fs_err::write(file.path(), &newer).expect("writes");
        file.add(&[fact(1, "one"), fact(2, "two")]).expect("adds");
        file.change(|fact| if fact.text == "one" { Change::Remove } else { Change::Keep })
            .expect("changes");
        assert_eq!(texts(&file), ["two"]);
        assert!(fs_err::read_to_string(file.path()).expect("reads").starts_with(&newer));
    }

    #[test]
    fn what_goes_leaves_no_byte_where_it_was() {
        let (folder, file) = file();
        file.add(&[fact(1, "zxqwvut of the till"), fact(2, "two")]).expect("adds");
        // A second name keeps the old file in sight; it is somebody's own copy, and not written to.
        let kept = folder.path().join("kept");
        fs_err::hard_link(file.path(), &kept).expect("links");
        let open = fs_err::File::open(file.path()).expect("opens");
        file.change(|fact| if fact.text == "two" { Change::Keep } else { Change::Remove })
            .expect("changes");
        assert!(fs_err::read_to_string(&kept).expect("reads").contains("zxqwvut"));
        drop(open);
        let mut open = fs_err::File::open(file.path()).expect("opens");
        file.change(|_| Change::Remove).expect("changes");
        assert!(!file.path().exists(), "nothing is left to tell");
        let mut left = Vec::new();
        io::Read::read_to_end(&mut open, &mut left).expect("reads");
        assert!(!left.is_empty() && left.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn what_is_replaced_stands_in_its_place() {
        let (_folder, file) = file();
        file.add(&[fact(1, "one"), fact(2, "two")]).expect("adds");
        let change = |told: &Fact| match told.text.as_str() {
            "one" => Change::Replace(fact(1, "eins")),
            _ => Change::Keep,
        };
        file.change(change).expect("changes");
        assert_eq!(texts(&file), ["eins", "two"]);
    }
}
