//! One transcript being read: the file's position and the parser's state, kept in memory while the file is live, so that
//! an appended line costs that line alone. A restart begins again where the oldest open turn begins.

mod beside;
mod place;
mod seen;

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use fs_err::File;
use remembrancer_processor::ingest::{
    Advance, Agent, GrowingTurn, LineProblem, ProblemKind, ResumePoint, Shape, SourceInfo, SourceReader, Turn, episodes,
    plausible_time,
};
use remembrancer_schema::{ByteOffset, Layout, NewEpisode, ProblemCount, SourcePosition, SourceUpdate, UnixMillis, Unread};

use beside::beside;
pub(crate) use place::place_of;
use seen::Seen;

use crate::clock;
use crate::scan::{self, Continuity, FileStat, Fingerprints, KnownFile};

/// Bytes read in one step: bounds memory, and how long a live line waits behind a backfill.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

/// A first line that is longer is not read again where reading goes on further down.
const LONGEST_HEAD: u64 = 1 << 20;

/// A document that is larger is not read: it is held in memory as a whole.
const LARGEST_DOCUMENT: usize = 64 << 20;

/// The generation of a session that was emptied: what is read of sessions is of none.
const EMPTIED: u32 = 1;

/// A transcript being read.
pub(crate) struct SourceFile {
    shape: Shape,
    reader: SourceReader,
    /// The last turn that was read, which may still grow.
    growing: Option<GrowingTurn>,
    /// Where the next byte is read: the parser holds the half line before it.
    next: u64,
    generation: u32,
    inode: u64,
    /// The file up to `next`, half line included.
    position: Option<SourcePosition>,
    /// The ends of what was read.
    seen: Seen,
    /// Whether the file is another one than was read before under its name, which the store has not been told yet.
    replaces: bool,
    /// Whether what is read was counted before.
    counted: bool,
}

/// What one step brought.
pub(crate) struct ReadStep {
    /// What the parser made of the new bytes.
    pub advance: Advance,
    /// The episodes of each of its turns.
    pub episodes: Vec<Vec<NewEpisode>>,
    /// What to store about the file.
    pub source: SourceUpdate,
    /// How many bytes were read.
    pub bytes: usize,
    /// Whether the file is another one than was read before under its name.
    pub replaces: bool,
    /// Whether older generations of this file's turns go, now that all of it was read again.
    pub retire_older_generations: bool,
    /// Whether the file's end was reached.
    pub at_end: bool,
}

impl SourceFile {
    /// Begins, or begins again, to read the file described by `stat`, of which `known` was read before.
    ///
    /// With `again`, all of it is read from its start though it continues what was read: what was passed over then (a
    /// folder that was excluded) may be wanted now.
    ///
    /// # Errors
    /// The file system's error.
    pub(crate) fn open(
        agent: Agent,
        shape: Shape,
        stat: &FileStat,
        known: Option<&KnownFile>,
        again: bool,
    ) -> std::io::Result<Self> {
        if shape != Shape::Lines && stat.size >= LARGEST_DOCUMENT as u64 {
            return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge));
        }
        if shape != Shape::Lines {
            return Ok(Self {
                shape,
                ..Self::from_start(agent, stat, 0)
            });
        }
        let Some(known) = known else {
            return Ok(Self::from_start(agent, stat, 0));
        };
        let mut file = File::open(&stat.path)?;
        match scan::continuity(&mut file, stat.size, &known.position)? {
            Continuity::Continues if again => Ok(Self {
                counted: true,
                ..Self::from_start(agent, stat, known.generation)
            }),
            Continuity::Continues => Self::resume(agent, stat, known, &mut file),
            Continuity::Rewritten => Ok(Self::from_start(agent, stat, known.generation + 1)),
            Continuity::Replaced => Ok(Self {
                replaces: true,
                ..Self::from_start(agent, stat, known.generation + 1)
            }),
        }
    }

    /// What a session in a database gives, of which `record` is its own row and `bytes` are all that was read.
    pub(crate) fn session(info: &SourceInfo, layout: Layout, stat: &FileStat, record: &[u8], bytes: usize) -> ReadStep {
        let mut session = Self {
            shape: Shape::Database(layout),
            next: record.len() as u64,
            ..Self::begin(info, stat, 0)
        };
        session.reader.by(clock::now());
        session.reader.document(record);
        session.taken(info.agent, stat, record, bytes, true)
    }

    /// What a session in a database gives whose content counts no more: what was read of it goes.
    pub(crate) fn emptied(info: &SourceInfo, layout: Layout, stat: &FileStat) -> ReadStep {
        let mut session = Self {
            shape: Shape::Database(layout),
            ..Self::begin(info, stat, EMPTIED)
        };
        session.taken(info.agent, stat, &[], 0, true)
    }

    fn from_start(agent: Agent, stat: &FileStat, generation: u32) -> Self {
        Self::begin(&info(agent, stat), stat, generation)
    }

    fn begin(info: &SourceInfo, stat: &FileStat, generation: u32) -> Self {
        let beginning = ResumePoint {
            offset: ByteOffset(0),
            line: 0,
            turn: 0,
        };
        Self {
            shape: Shape::Lines,
            reader: SourceReader::new(info, beginning),
            growing: None,
            next: 0,
            generation,
            inode: stat.inode,
            position: None,
            seen: Seen::nothing(),
            replaces: false,
            counted: false,
        }
    }

    /// Reads again from the oldest open turn to where reading ended, to bring the parser to its old state. What that
    /// gives is in the store already, and was counted then.
    fn resume(agent: Agent, stat: &FileStat, known: &KnownFile, file: &mut File) -> std::io::Result<Self> {
        let position = &known.position;
        let from = ResumePoint {
            offset: position.committed_offset,
            line: position.committed_line,
            turn: position.committed_turn,
        };
        let info = info(agent, stat);
        let mut reader = match &position.parser_state {
            Some(state) => {
                let Some(reader) = SourceReader::resume(&info, from, state) else {
                    tracing::warn!(
                        path = %stat.path.display(),
                        "what the parser takes over is not known here any more: the file is read from its start",
                    );
                    return Ok(Self {
                        counted: true,
                        ..Self::begin(&info, stat, known.generation)
                    });
                };
                reader
            }
            None => Self::reader_without_state(&info, from, file)?,
        };
        file.seek(SeekFrom::Start(position.committed_offset.0))?;
        let mut left = position.read_offset.0.saturating_sub(position.committed_offset.0);
        let mut buffer = vec![0; CHUNK_BYTES];
        while left > 0 {
            let wanted = buffer.len().min(left as usize);
            let read = file.read(&mut buffer[..wanted])?;
            if read == 0 {
                break;
            }
            reader.by(clock::now());
            reader.push(&buffer[..read]);
            left -= read as u64;
        }
        drop(reader.drain());
        let seen = Seen::up_to(file, position.read_offset.0)?;
        if !seen.is_at(position) {
            // Cut or written anew since it was looked at.
            return Ok(Self::begin(&info, stat, known.generation + 1));
        }
        Ok(Self {
            shape: Shape::Lines,
            reader,
            growing: None,
            next: position.read_offset.0,
            generation: known.generation,
            inode: stat.inode,
            position: Some(position.clone()),
            seen,
            replaces: false,
            counted: false,
        })
    }

    /// A reader from a place of which it is not known what the parser takes over there, as before this was stored.
    fn reader_without_state(info: &SourceInfo, from: ResumePoint, file: &mut File) -> std::io::Result<SourceReader> {
        let mut reader = SourceReader::new(info, from);
        if from.offset.0 > 0 {
            file.seek(SeekFrom::Start(0))?;
            let mut head = Vec::new();
            BufReader::new(file.by_ref().take(LONGEST_HEAD)).read_until(b'\n', &mut head)?;
            reader.head(&head);
        }
        Ok(reader)
    }

    /// Whether only what is new of the file is read next time: else there is no use in keeping this.
    pub(crate) fn grows(&self) -> bool {
        self.shape == Shape::Lines
    }

    /// Whether the file on disk still continues what this reader has read, the half line that the parser holds included:
    /// one that was cut off must not be joined with what was written in its place.
    ///
    /// # Errors
    /// The file system's error.
    pub(crate) fn still_continues(&self, stat: &FileStat) -> std::io::Result<bool> {
        if stat.inode != self.inode || stat.size < self.next {
            return Ok(false);
        }
        let Some(position) = &self.position else { return Ok(true) };
        let mut file = File::open(&stat.path)?;
        Ok(scan::continuity(&mut file, stat.size, position)? == Continuity::Continues)
    }

    /// Reads at most [`CHUNK_BYTES`] more; a document whole. `None` where the file does not continue what was read: it was cut or
    /// written anew since it was looked at.
    ///
    /// # Errors
    /// The file system's error; of a document, that it is too large.
    pub(crate) fn step(&mut self, agent: Agent, stat: &FileStat) -> std::io::Result<Option<ReadStep>> {
        let mut file = File::open(&stat.path)?;
        // What was read last is read again with what follows, so that both are of one file.
        let before = self.seen.tail().len();
        file.seek(SeekFrom::Start(self.next - before as u64))?;
        let most = match self.shape {
            Shape::Lines => CHUNK_BYTES,
            Shape::Document | Shape::Archive | Shape::Database(_) => LARGEST_DOCUMENT,
        };
        let mut read = Vec::with_capacity(before + most.min(stat.size.saturating_sub(self.next) as usize + 1));
        file.take((before + most) as u64).read_to_end(&mut read)?;
        let Some(bytes) = read.strip_prefix(self.seen.tail()) else {
            return Ok(None);
        };
        self.next += bytes.len() as u64;
        let at_end = bytes.len() < most;
        self.reader.by(clock::now());
        match self.shape {
            Shape::Lines => self.reader.push(bytes),
            Shape::Document if at_end => self.reader.document(bytes),
            Shape::Archive if at_end => self.reader.archive(bytes),
            Shape::Document | Shape::Archive | Shape::Database(_) => {
                return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge));
            }
        }
        Ok(Some(self.taken(agent, stat, bytes, bytes.len(), at_end)))
    }

    /// What came of `content`, which the reader was given, after `bytes` were read for it.
    fn taken(&mut self, agent: Agent, stat: &FileStat, content: &[u8], bytes: usize, at_end: bool) -> ReadStep {
        let advance = self.reader.drain();
        let (whole, read) = match self.shape {
            Shape::Lines => self.seen.took(content, advance.read.offset.0),
            // All of it.
            _ => (
                Fingerprints::at(content, advance.read.offset),
                Fingerprints::at(content, ByteOffset(self.next)),
            ),
        };
        let whole_lines = position(whole, &advance, advance.read.offset);
        self.position = Some(position(read, &advance, ByteOffset(self.next)));
        let whole_lines = SourcePosition {
            // Of the others nothing is read but all of it.
            parser_state: whole_lines.parser_state.filter(|_| self.shape == Shape::Lines),
            ..whole_lines
        };
        let source = self.update(agent, stat, whole_lines, &advance, at_end);
        ReadStep {
            episodes: self.cut(&advance.turns),
            advance,
            source,
            bytes,
            replaces: std::mem::take(&mut self.replaces),
            // Also where an earlier run began to read the rewritten file: the generation is all that has to be known.
            retire_older_generations: at_end && self.generation > 0,
            at_end,
        }
    }

    /// The episodes of each turn. The last is kept as far as it was cut, since the next bytes are likely to be its own.
    fn cut(&mut self, turns: &[Turn]) -> Vec<Vec<NewEpisode>> {
        let Some((last, done)) = turns.split_last() else {
            return Vec::new();
        };
        let mut growing = self.growing.take();
        let mut cut: Vec<_> = done
            .iter()
            .map(|turn| match growing.take_if(|growing| growing.is_of(turn)) {
                Some(growing) => growing.into_episodes(turn),
                None => episodes(turn),
            })
            .collect();
        let mut growing = growing
            .filter(|growing| growing.is_of(last))
            .unwrap_or_else(|| GrowingTurn::new(last));
        cut.push(growing.episodes(last));
        self.growing = Some(growing);
        cut
    }

    fn update(&self, agent: Agent, stat: &FileStat, position: SourcePosition, advance: &Advance, at_end: bool) -> SourceUpdate {
        SourceUpdate {
            agent: agent.id().to_owned(),
            path: stat.path.to_string_lossy().into_owned(),
            kind: match self.shape {
                Shape::Lines => "jsonl".to_owned(),
                Shape::Document => "document".to_owned(),
                Shape::Archive => "archive".to_owned(),
                Shape::Database(_) => "session".to_owned(),
            },
            device: stat.device,
            inode: stat.inode,
            // Only a file read to its end counts as read: an interrupted one is taken up again at the next scan.
            size: if at_end { stat.size } else { 0 },
            mtime: stat.mtime,
            position,
            generation: self.generation,
            whole: self.shape != Shape::Lines,
            records_delta: if self.counted { 0 } else { advance.records },
            skipped_delta: if self.counted { 0 } else { advance.skipped },
            problems: if self.counted {
                Vec::new()
            } else {
                counted(&advance.problems)
            },
        }
    }
}

/// What to know the file by once it was read up to `read_to`.
fn position(prints: Fingerprints, advance: &Advance, read_to: ByteOffset) -> SourcePosition {
    SourcePosition {
        read_offset: read_to,
        read_line: advance.read.line,
        committed_offset: advance.committed.offset,
        committed_line: advance.committed.line,
        committed_turn: advance.committed.turn,
        parser_state: advance.state.clone(),
        prefix_hash: prints.prefix_hash,
        prefix_len: prints.prefix_length,
        tail_hash: prints.tail_hash,
        tail_len: prints.tail_length,
    }
}

fn info(agent: Agent, stat: &FileStat) -> SourceInfo {
    agent.source(&stat.path, time_of(stat), &beside)
}

/// When what `stat` describes was written last, as far as that can be: a file that was copied or unpacked may be of any time.
pub(crate) fn time_of(stat: &FileStat) -> UnixMillis {
    let now = clock::now();
    plausible_time(stat.mtime, now).unwrap_or(now)
}

fn counted(problems: &[LineProblem]) -> Vec<ProblemCount> {
    let mut counts: Vec<ProblemCount> = Vec::new();
    for problem in problems {
        let kind = problem.kind.as_str().into_owned();
        let at = counts.iter().position(|count| count.kind == kind).unwrap_or_else(|| {
            counts.push(ProblemCount {
                kind,
                count: 0,
                first_line: problem.line,
                first_offset: problem.offset,
                unread: matches!(problem.kind, ProblemKind::UnknownRecord(_)).then(Unread::default),
            });
            counts.len() - 1
        });
        counts[at].count += 1;
        if let Some(unread) = &mut counts[at].unread {
            unread.bytes += problem.bytes;
            unread.version.clone_from(&problem.version);
        }
    }
    counts
}

#[cfg(test)]
mod tests;
