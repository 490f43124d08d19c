//! Transcripts whose parser is kept in memory, so that an appended line costs that line alone. A conversation in progress is
//! nearly always among the last few.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::Agent;

use crate::scan::{self, FileStat};
use crate::source_file::{ReadStep, SourceFile};

/// How often a file is looked at anew that was cut or written anew while it was read.
const ATTEMPTS: usize = 3;
/// How many are kept.
const MOST: usize = 32;

/// Open transcripts.
#[derive(Default)]
pub(super) struct OpenFiles {
    files: BTreeMap<PathBuf, SourceFile>,
    /// Their paths, the last read last.
    recent: VecDeque<PathBuf>,
}

impl OpenFiles {
    /// Takes one step in the file described by `stat`, begun by `open` unless it is open and still continues.
    ///
    /// # Errors
    /// The file system's error, and where the file is written anew again and again; it is closed then, and after a panic.
    pub(super) fn step(
        &mut self,
        agent: Agent,
        stat: &FileStat,
        mut open: impl FnMut(&FileStat) -> std::io::Result<SourceFile>,
    ) -> std::io::Result<ReadStep> {
        let mut stat = stat.clone();
        for _ in 0..ATTEMPTS {
            let mut file = match self.files.remove(&stat.path) {
                Some(file) if file.still_continues(&stat)? => file,
                _ => open(&stat)?,
            };
            if let Some(step) = file.step(agent, &stat)? {
                if file.grows() {
                    self.keep(stat.path.clone(), file);
                }
                return Ok(step);
            }
            stat = scan::look(&stat.path)?.ok_or(ErrorKind::NotFound)?;
        }
        Err(Error::new(ErrorKind::Interrupted, "it is written anew again and again"))
    }

    fn keep(&mut self, path: PathBuf, file: SourceFile) {
        self.recent.retain(|recent| *recent != path);
        self.recent.push_back(path.clone());
        self.files.insert(path, file);
        if self.recent.len() > MOST
            && let Some(oldest) = self.recent.pop_front()
        {
            self.files.remove(&oldest);
        }
    }

    /// Closes the file at `path`: its next step begins from what the store knows.
    pub(super) fn close(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// Closes all files.
    pub(super) fn close_all(&mut self) {
        self.files.clear();
        self.recent.clear();
    }

    /// How many are open.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }
}
