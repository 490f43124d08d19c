//! Public transcripts of one agent below `$REMEMBRANCER_SHARED/transcripts`, read as the daemon would read them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::{Advance, Agent, ResumePoint, Shape, SourceReader};
use remembrancer_schema::UnixMillis;

/// When the files were last written, as far as the tests care.
pub(crate) const MODIFIED: UnixMillis = UnixMillis(1_772_358_000_000);

/// The files of an agent's folder, or none with a printed reason.
pub(crate) fn files(folder: &str) -> Vec<PathBuf> {
    let shared = std::env::var_os("REMEMBRANCER_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")),
        PathBuf::from,
    );
    let root = shared.join("transcripts").join(folder);
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.sort();
    if found.is_empty() {
        report(&format!("skipped: no transcripts under {}", root.display()));
    }
    found
}

/// The one file whose path ends so, or none with a printed reason.
pub(crate) fn file(folder: &str, end: &str) -> Option<PathBuf> {
    files(folder).into_iter().find(|path| path.ends_with(end))
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            walk(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[expect(clippy::print_stderr, reason = "a test says what it read, or why it skips")]
fn report(text: &str) {
    eprintln!("{text}");
}

pub(crate) fn agent(id: &str) -> Agent {
    Agent::parse(id).expect("an agent of the table")
}

/// Reads a file whole.
pub(crate) fn read(id: &str, path: &Path) -> Advance {
    read_bytes(id, path, &fs_err::read(path).expect("a transcript"))
}

/// Reads bytes as if they were a file's; a last line without its newline gets it.
pub(crate) fn read_bytes(id: &str, path: &Path, bytes: &[u8]) -> Advance {
    let agent = agent(id);
    let info = agent.source(path, MODIFIED, &|path| fs_err::read(path).ok());
    let mut reader = SourceReader::new(&info, ResumePoint::default());
    if agent.shape(path) == Some(Shape::Document) {
        reader.document(bytes);
    } else {
        reader.push(bytes);
        if !bytes.ends_with(b"\n") {
            reader.push(b"\n");
        }
    }
    reader.drain()
}

/// Reads every file of an agent that `is_transcript`, prints totals, and gives the number of turns; none where there are no
/// files.
pub(crate) fn read_all(id: &str, folder: &str, is_transcript: fn(&Path) -> bool) -> Option<usize> {
    let paths: Vec<PathBuf> = files(folder).into_iter().filter(|path| is_transcript(path)).collect();
    let mut problems: BTreeMap<String, u64> = BTreeMap::new();
    let mut sessions = BTreeSet::new();
    let (mut turns, mut records) = (0, 0);
    for path in &paths {
        let advance = read(id, path);
        for problem in &advance.problems {
            *problems.entry(problem.kind.as_str().into_owned()).or_default() += 1;
        }
        sessions.extend(advance.turns.iter().map(|turn| turn.session.clone()));
        turns += advance.turns.len();
        records += advance.records;
    }
    problems.remove("blank-line");
    let read = paths.len();
    report(&format!(
        "{id}: {read} files, {records} records, {} sessions, {turns} turns\nproblems: {problems:?}",
        sessions.len()
    ));
    (!paths.is_empty()).then_some(turns)
}
