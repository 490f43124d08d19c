//! A store of synthetic episodes, written by the store's own write path in large transactions, with vectors. Made once a
//! folder: a store that is complete is found again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use remembrancer_schema::{EmbeddedEpisode, IngestBatch, ProjectId, Reader, SourcePosition, SourceUpdate, UnixMillis, Writer};

use super::{MODEL, SESSION, Synthetic, Vectors, created_at};
use crate::corpus::Numbers;
use crate::timed;

/// Projects; the first is the largest, with about a quarter of all episodes.
pub const PROJECTS: usize = 20;
/// Turns in a transaction.
const BATCH: u64 = 1_000;

/// A store of synthetic episodes.
#[derive(Debug)]
pub struct Store {
    /// The database.
    pub path: PathBuf,
    /// The projects, largest first.
    pub projects: Vec<ProjectId>,
    /// What writing it took; `None` where it was there.
    pub written: Option<Written>,
}

/// Which stores a bench runs on; part of its arguments.
#[derive(Debug, clap::Args)]
pub struct Stores {
    /// How many episodes the stores have.
    #[arg(default_values_t = [1_000, 10_000])]
    sizes: Vec<u64>,
    /// Where the stores are kept; without, they are made in a temporary folder.
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl Stores {
    /// Calls `bench` with the number of episodes and the store of each size.
    ///
    /// # Panics
    /// Where a store can't be made.
    pub fn each(&self, mut bench: impl FnMut(u64, &Store)) {
        let temporary = tempfile::tempdir().unwrap();
        let folder = self.folder.as_deref().unwrap_or(temporary.path());
        for &size in &self.sizes {
            bench(size, &Store::of(folder, size));
        }
    }
}

/// What writing a store took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Written {
    /// Episodes and their index rows.
    pub ingest: Duration,
    /// Vectors.
    pub embeddings: Duration,
    /// The longest write-ahead log seen after a transaction, in bytes.
    pub largest_log: u64,
}

impl Store {
    /// The store of `episodes` episodes below `folder`, made if it is not there.
    ///
    /// # Panics
    /// Where it can't be written or read.
    pub fn of(folder: &Path, episodes: u64) -> Self {
        let folder = folder.join(format!("synthetic-{episodes}"));
        let path = folder.join("memory.db");
        let complete = folder.join("complete");
        let written = (!complete.exists()).then(|| {
            if folder.exists() {
                fs_err::remove_dir_all(&folder).unwrap();
            }
            let written = write(&path, episodes);
            fs_err::write(&complete, "").unwrap();
            written
        });
        let reader = Reader::open(&path).unwrap();
        let projects = (0..PROJECTS)
            .map(|number| {
                let key = project_key(number);
                reader.project_by_key(&key).unwrap().unwrap()
            })
            .collect();
        Self { path, projects, written }
    }
}

fn write(path: &Path, episodes: u64) -> Written {
    let synthetic = Synthetic::new();
    let mut writer = Writer::open(path).unwrap();
    let vectors = Vectors::new(&synthetic);
    writer.set_embedding_model(&MODEL, vectors.dimension()).unwrap();
    let projects: Vec<ProjectId> = (0..PROJECTS)
        .map(|number| {
            let name = format!("project-{number}");
            writer
                .resolve_project(&[project_key(number)], &name, None, UnixMillis(0))
                .unwrap()
        })
        .collect();
    let reader = Reader::open(path).unwrap();
    let mut written = Written::default();
    for first in (0..episodes).step_by(BATCH as usize) {
        let batch = batch(&synthetic, &projects, first, (first + BATCH).min(episodes));
        let ((), took) = timed(|| drop(writer.ingest(&batch).unwrap()));
        written.ingest += took;
        written.largest_log = written.largest_log.max(log_bytes(path));
        let rows: Vec<EmbeddedEpisode> = reader
            .embedding_backlog(&MODEL, BATCH as usize)
            .unwrap()
            .into_iter()
            .map(|row| EmbeddedEpisode {
                id: row.id,
                content_hash: row.content_hash,
                // Ids count from 1, and turns were stored in order.
                vector: vectors.of(row.id.0 as u64 - 1),
            })
            .collect();
        let ((), took) = timed(|| drop(writer.store_embeddings(&MODEL, &rows).unwrap()));
        written.embeddings += took;
        written.largest_log = written.largest_log.max(log_bytes(path));
    }
    drop(reader);
    writer.close().unwrap();
    written
}

/// The turns from `first` up to `end`, as if read from one file.
fn batch(synthetic: &Synthetic, projects: &[ProjectId], first: u64, end: u64) -> IngestBatch {
    let turn = |number| {
        let project = project_of(number);
        synthetic.turn(number, projects[project], &cwd(project))
    };
    IngestBatch {
        now: created_at(end),
        source: SourceUpdate {
            agent: "claude-code".to_owned(),
            path: format!("/home/dev/transcripts/{first}.jsonl"),
            kind: "jsonl".to_owned(),
            device: 1,
            inode: first,
            size: 0,
            mtime: created_at(end),
            position: SourcePosition::default(),
            generation: 0,
            whole: false,
            records_delta: 2 * (end - first),
            skipped_delta: 0,
            problems: Vec::new(),
        },
        sessions: Vec::new(),
        turns: (first..end).map(turn).collect(),
        retire_older_generations: false,
    }
}

/// The project of a turn's session: the n-th project has a share of 1/n.
fn project_of(number: u64) -> usize {
    let shares: Vec<usize> = (1..=PROJECTS).map(|place| 1_000 / place).collect();
    let mut left = Numbers::new(number / SESSION).below(shares.iter().sum());
    shares
        .iter()
        .position(|share| {
            let here = left < *share;
            left = left.saturating_sub(*share);
            here
        })
        .unwrap_or_default()
}

/// The working folder of a project; the daemon need not find it.
pub fn cwd(project: usize) -> String {
    format!("/home/dev/project-{project}")
}

fn project_key(project: usize) -> String {
    format!("cwd:{}", cwd(project))
}

fn log_bytes(database: &Path) -> u64 {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    fs_err::metadata(PathBuf::from(log)).map_or(0, |metadata| metadata.len())
}
