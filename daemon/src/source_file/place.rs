//! Where in its transcript a turn begins.
//!
//! The store keeps no places of turns: they are found by reading the file once more, as it was read for the store, until the turn
//! comes. A place that is told is therefore one of the file as it stands now. Nothing is written or kept.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use fs_err::File;
use remembrancer_processor::ingest::{Advance, Agent, ResumePoint, Shape, SourceInfo, SourceReader};
use remembrancer_schema::TurnUid;

use super::info;
use crate::{clock, scan};

/// Bytes of a file that are read for it: about a second's work. Of what begins further down only the file is told.
const MOST_BYTES: u64 = 64 << 20;
/// Bytes read in one step: as many are read again, line by line, once the turn has come.
const STEP_BYTES: usize = 256 << 10;

/// Where a turn begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TurnPlaceInFile {
    /// The number of the line, from 1.
    pub line: u64,
    /// Bytes before that line.
    pub offset: u64,
}

/// Where the turn begins in the transcript of `agent` at `path`; `None` where it is not found, or the transcript is not of lines.
///
/// # Errors
/// The file system's error.
pub(crate) fn place_of(agent: Agent, path: &Path, turn: TurnUid) -> std::io::Result<Option<TurnPlaceInFile>> {
    let Some(stat) = scan::stat(path).filter(|_| agent.shape(path) == Some(Shape::Lines)) else {
        return Ok(None);
    };
    let search = Search {
        info: info(agent, &stat),
        turn,
    };
    let mut file = File::open(path)?;
    match search.step_with_it(&mut file)? {
        None => Ok(None),
        Some(before) => search.line_with_it(&mut file, &before),
    }
}

/// What is looked for.
struct Search {
    info: SourceInfo,
    turn: TurnUid,
}

/// Where reading can begin again, and what the parser takes over there.
#[derive(Default)]
struct Before {
    point: ResumePoint,
    state: Option<String>,
}

impl Search {
    fn came(&self, advance: &Advance) -> bool {
        advance.turns.iter().any(|turn| turn.uid == self.turn)
    }

    fn reader(&self, before: &Before) -> SourceReader {
        let resumed = before
            .state
            .as_deref()
            .and_then(|state| SourceReader::resume(&self.info, before.point, state));
        let mut reader = resumed.unwrap_or_else(|| SourceReader::new(&self.info, before.point));
        // As it is read for the store: a turn is known by its time, and one that can't be is none.
        reader.by(clock::now());
        reader
    }

    /// Reads until the turn has come: where the step began that brought it.
    fn step_with_it(&self, file: &mut File) -> std::io::Result<Option<Before>> {
        let mut before = Before::default();
        let mut reader = self.reader(&before);
        let mut step = vec![0; STEP_BYTES];
        let mut left = MOST_BYTES;
        while left > 0 {
            let read = file.read(&mut step)?;
            if read == 0 {
                break;
            }
            left = left.saturating_sub(read as u64);
            reader.push(&step[..read]);
            let advance = reader.drain();
            if self.came(&advance) {
                return Ok(Some(before));
            }
            before = Before {
                point: advance.committed,
                state: advance.state,
            };
        }
        Ok(None)
    }

    /// Reads a line at a time from there until the turn comes.
    fn line_with_it(&self, file: &mut File, before: &Before) -> std::io::Result<Option<TurnPlaceInFile>> {
        let mut reader = self.reader(before);
        let mut offset = before.point.offset.0;
        file.seek(SeekFrom::Start(offset))?;
        let mut lines = BufReader::new(file.take(MOST_BYTES));
        let mut line = Vec::new();
        for number in before.point.line + 1.. {
            line.clear();
            if lines.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            reader.push(&line);
            if self.came(&reader.drain()) {
                return Ok(Some(TurnPlaceInFile { line: number, offset }));
            }
            offset += line.len() as u64;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
