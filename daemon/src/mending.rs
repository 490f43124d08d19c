//! What of the memory is to be mended while it stays in its place: the log folded in, the full-text index and the codes made anew, texts
//! queued for their vectors. A reader's findings come in, repairs go out; the daemon does it at a request, `doctor --fix` where none runs.

use std::path::{Path, PathBuf};

use remembrancer_schema::{Damage, DerivedFaults, QueryError, Reader, Writer};

use crate::causes::with_causes;
use crate::doctor::Repair;
use crate::plural::counted;

const MEMORY: &str = "memory";

/// The log of a daemon that works is folded in by itself; above this, in bytes, it is not, which is far more than the 16 MB after which
/// it is (`schema/src/open.rs`).
pub(crate) const MOST_LOG: u64 = 64 * 1024 * 1024;

/// What was found in the memory.
#[derive(Debug)]
pub(crate) struct Findings {
    log_bytes: u64,
    damage: Option<(Damage, String)>,
    derived: DerivedFaults,
    /// Why the codes or the index can't even be read.
    unreadable: Option<String>,
}

/// What is to be mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Log,
    Index,
    Vectors,
}

impl Findings {
    /// Looks through all of it.
    ///
    /// # Errors
    /// [`QueryError::Interrupted`] at the reader's deadline; what keeps the file from being read, but for damage.
    pub(crate) fn of(reader: &Reader) -> Result<Self, QueryError> {
        let mut findings = Self {
            log_bytes: log_bytes(reader.path()),
            damage: reader.damage()?,
            derived: DerivedFaults::default(),
            unreadable: None,
        };
        if findings.damage().is_none() {
            match reader.derived_faults() {
                Ok(derived) => findings.derived = derived,
                Err(error @ QueryError::Interrupted { .. }) => return Err(error),
                Err(error) => findings.unreadable = Some(with_causes(&error)),
            }
        }
        Ok(findings)
    }

    /// What damage there is that can't be mended in place.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.damage
            .as_ref()
            .filter(|(damage, _)| *damage == Damage::Database)
            .map(|(_, found)| found.as_str())
    }

    /// What does not agree with the episodes that it is made from, a sentence each.
    pub(crate) fn of_derived(&self) -> Vec<String> {
        let steps = self.steps(u64::MAX).into_iter();
        steps
            .filter(|(step, ..)| *step != Step::Log)
            .map(|(_, found, _)| found)
            .collect()
    }

    /// What would be done; `most_log` is the size above which the log is folded in.
    pub(crate) fn planned(&self, most_log: u64) -> Vec<Repair> {
        let steps = self.steps(most_log).into_iter();
        steps
            .map(|(_, found, done)| Repair::mended(MEMORY, found, done, true))
            .collect()
    }

    /// Mends it, the least first.
    ///
    /// # Errors
    /// What SQLite reports; what was mended until then stays so.
    pub(crate) fn mend(&self, writer: &mut Writer, most_log: u64) -> Result<Vec<Repair>, QueryError> {
        let mut repairs = Vec::new();
        for (step, found, done) in self.steps(most_log) {
            match step {
                Step::Index => writer.rebuild_index()?,
                Step::Vectors => drop(writer.mend_vectors()?),
                Step::Log => {
                    if !writer.checkpoint()? {
                        let why = "another program reads it; it is folded in when that has ended";
                        repairs.push(Repair::failed(MEMORY, found, why));
                        continue;
                    }
                }
            }
            repairs.push(Repair::mended(MEMORY, found, done, false));
        }
        Ok(repairs)
    }

    fn steps(&self, most_log: u64) -> Vec<(Step, String, &'static str)> {
        if self.damage().is_some() {
            return Vec::new();
        }
        let mut steps = Vec::new();
        if self.log_bytes > most_log {
            let found = format!(
                "its log holds {:.1} MB that may not be in the database yet",
                self.log_bytes as f64 / 1e6
            );
            steps.push((Step::Log, found, "folded in"));
        }
        let DerivedFaults {
            unindexed,
            vectors,
            codes,
        } = self.derived;
        let index = match &self.damage {
            Some((_, damage)) => Some(format!("the full-text index is damaged: {damage}")),
            None if unindexed > 0 => Some(format!(
                "the full-text index and the episodes differ in {}",
                counted(unindexed, "row", "rows")
            )),
            None => None,
        };
        steps.extend(index.map(|found| (Step::Index, found, "made anew from the stored texts")));
        let requeued = "vectors that are none are taken away, and the daemon embeds their texts again; codes are made anew";
        let wrong = match &self.unreadable {
            Some(problem) => Some(problem.clone()),
            None if vectors + codes > 0 => Some(format!(
                "{} none, {} not agree with theirs",
                counted(vectors, "vector is", "vectors are"),
                counted(codes, "code does", "codes do")
            )),
            None => None,
        };
        steps.extend(wrong.map(|found| (Step::Vectors, found, requeued)));
        steps
    }
}

/// What can't be mended while the daemon has the database.
pub(crate) fn of_next_start(damage: &str) -> Repair {
    let remedy = "start the daemon again, which sets the file aside and makes it anew from what can be read";
    Repair::left(MEMORY, format!("the database is damaged: {damage}"), remedy)
}

fn log_bytes(database: &Path) -> u64 {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    fs_err::metadata(PathBuf::from(log)).map_or(0, |metadata| metadata.len())
}
