//! The journal: what the user decided, in a small file of its own beside the database, so that it outlives the database.
//!
//! In go choices, each synced to the disk before the database is changed by it; out come all of them in their order, to be
//! applied anew where a database lacks them (`write/replay.rs`). Uids, paths and names of sessions are kept here, never a text.
//!
//! The file is `<database>.journal`, 0600, one line a choice: sixteen hexadecimal digits of the SHA-256 of what follows, a blank,
//! and JSON. A line that does not agree with its sum is passed over and counted; a last line without its end was never
//! reported as done, and is cut off. What a newer version wrote is kept as it is.

mod line;

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::copy::with_suffix;
use crate::system;
use line::Line;
pub(crate) use line::{Choice, Number, sum};

/// Bytes below which a journal is never written anew: some thousand choices.
const SMALL: u64 = 256 << 10;
/// A journal is written anew once it is as many times as large as after the last time.
const GROWTH: u64 = 2;

/// The journal of one database, open for more.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// Tells this journal from another under the same name.
    id: String,
    /// The highest number given so far.
    last: Number,
    length: u64,
    length_when_compact: u64,
    /// Whether a part of a line that failed may stand behind `length`.
    is_torn: bool,
    /// Lines that were damaged when it was opened.
    damaged: u64,
}

/// Where a journal stood: see [`Journal::take_back`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(u64);

/// What a journal holds.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    id: Option<String>,
    lines: Vec<Line>,
    /// Lines that do not agree with their sums.
    damaged: u64,
    /// Whether the last line has no end.
    torn: bool,
    /// Bytes up to the end of the last line that has one.
    length: u64,
}

impl Journal {
    /// Where the journal of a database lies.
    pub(crate) fn path_of(database: &Path) -> PathBuf {
        with_suffix(database, ".journal")
    }

    /// Opens the journal of `database`, made if there is none under the name `new_id`, with what it holds. What a crash left half
    /// written at its end is cut off; what is damaged within it is logged by count, and gone once it is written anew.
    ///
    /// # Errors
    /// The file system's error.
    pub(crate) fn open(database: &Path, new_id: &str) -> io::Result<(Self, Vec<(Number, Choice)>)> {
        let path = Self::path_of(database);
        let contents = Contents::read(&path)?;
        let mut journal = Self {
            path,
            id: contents.id.clone().unwrap_or_else(|| new_id.to_owned()),
            last: contents.lines.iter().map(|line| line.number).max().unwrap_or_default(),
            length: contents.length,
            length_when_compact: contents.length,
            is_torn: false,
            damaged: contents.damaged,
        };
        if contents.torn || contents.damaged > 0 {
            tracing::warn!(
                damaged = contents.damaged,
                torn = contents.torn,
                "lines of the journal of your choices are damaged and were left out; the others hold"
            );
        }
        if contents.id.is_none() || contents.damaged > 0 {
            journal.write_anew(&contents)?;
        } else {
            system::tighten_file(&journal.path)?;
            if contents.torn {
                journal.cut(contents.length)?;
            }
        }
        let lines = contents.lines.into_iter();
        Ok((journal, lines.map(|line| (line.number, line.choice)).collect()))
    }

    /// How many lines are damaged of the journal of `database`.
    ///
    /// # Errors
    /// The file system's error.
    pub(crate) fn damaged_lines(database: &Path) -> io::Result<u64> {
        Ok(Contents::read(&Self::path_of(database))?.damaged)
    }

    /// How many lines were damaged when it was opened, and are gone.
    pub(crate) fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Where the journal is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// As what a database notes how far it has followed this journal: see [`Journal::number_in`].
    pub(crate) fn position(&self) -> String {
        format!("{}:{}", self.id, self.last)
    }

    /// How far a database has followed this journal by its note; nothing of it where the note is of another journal.
    pub(crate) fn number_in(&self, position: Option<&str>) -> Number {
        let of_this = |position: &str| position.strip_prefix(&self.id)?.strip_prefix(':')?.parse().ok();
        position.and_then(of_this).unwrap_or_default()
    }

    /// Gives no number up to `number` any more: a database has followed a line of that number which is gone.
    pub(crate) fn skip_to(&mut self, number: Number) {
        self.last = self.last.max(number);
    }

    /// Adds choices, and returns once the disk has them, with where the journal stood before.
    ///
    /// # Errors
    /// The file system's error; nothing was added then.
    pub(crate) fn append(&mut self, choices: &[Choice]) -> io::Result<Mark> {
        if choices.is_empty() {
            return Ok(Mark(self.length));
        }
        self.cut_what_is_torn()?;
        if self.length > SMALL && self.length > self.length_when_compact * GROWTH {
            self.write_anew(&Contents::read(&self.path)?)?;
        }
        let before = Mark(self.length);
        let mut text = String::new();
        for choice in choices {
            self.last += 1;
            text.push_str(&line::write(self.last, choice)?);
        }
        if let Err(error) = self.add(text.as_bytes()) {
            // The first error is what counts. A part of a line that stays is cut off before the next, or at the next opening.
            self.is_torn = true;
            drop(self.cut(before.0));
            return Err(error);
        }
        Ok(before)
    }

    /// Takes back what was added since `mark`, since the database refused it.
    ///
    /// # Errors
    /// The file system's error; the next opening then does what was refused.
    pub(crate) fn take_back(&mut self, mark: Mark) -> io::Result<()> {
        if mark.0 == self.length { Ok(()) } else { self.cut(mark.0) }
    }

    /// Writes the journal anew where `change` makes others of its choices, each under the number that it had.
    ///
    /// # Errors
    /// The file system's error; the journal is as it was then.
    pub(crate) fn change(&mut self, change: impl Fn(&Choice) -> Option<Choice>) -> io::Result<()> {
        self.cut_what_is_torn()?;
        let mut contents = Contents::read(&self.path)?;
        let mut changed = false;
        for line in &mut contents.lines {
            if let Some(choice) = change(&line.choice) {
                *line = Line::of(line.number, choice)?;
                changed = true;
            }
        }
        if changed { self.write_anew(&contents) } else { Ok(()) }
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut file = fs_err::OpenOptions::new().append(true).open(&self.path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Before the file is read again: what failed may stand in it whole, and was refused.
    fn cut_what_is_torn(&mut self) -> io::Result<()> {
        if self.is_torn { self.cut(self.length) } else { Ok(()) }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let file = fs_err::OpenOptions::new().write(true).open(&self.path)?;
        file.set_len(length)?;
        file.sync_all()?;
        self.length = length;
        self.is_torn = false;
        Ok(())
    }

    /// Writes the journal anew with what is still true of `contents`: of choices about one thing the last, whatever it says.
    fn write_anew(&mut self, contents: &Contents) -> io::Result<()> {
        let mut text = line::begin(&self.id)?;
        for line in contents.latest() {
            text.push_str(&line.raw);
        }
        let temporary = with_suffix(&self.path, ".part");
        let mut file = system::private_file()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs_err::rename(&temporary, &self.path)?;
        system::sync_folder_of(&self.path)?;
        self.length = text.len() as u64;
        self.length_when_compact = self.length;
        self.is_torn = false;
        Ok(())
    }
}

impl Contents {
    /// Reads a journal; one that is not there holds nothing.
    fn read(path: &Path) -> io::Result<Self> {
        match fs_err::read(path) {
            Ok(bytes) => Ok(Self::parse(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    fn parse(bytes: &[u8]) -> Self {
        let mut contents = Self::default();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(text) = piece.strip_suffix(b"\n") else {
                contents.torn = true;
                break;
            };
            contents.length += piece.len() as u64;
            match line::read(text) {
                Some(line) => match line.choice {
                    Choice::Begin { journal } => contents.id = Some(journal),
                    _ => contents.lines.push(line),
                },
                None => contents.damaged += 1,
            }
        }
        contents
    }

    /// The last line about each thing, in the order of the lines. What nobody knows here is about a thing of its own.
    fn latest(&self) -> Vec<&Line> {
        let mut told = HashSet::new();
        let mut latest: Vec<&Line> = self.lines.iter().rev().filter(|line| told.insert(line.subject())).collect();
        latest.reverse();
        latest
    }
}

#[cfg(test)]
mod tests;
