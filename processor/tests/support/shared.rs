//! The public transcripts of `$REMEMBRANCER_SHARED/transcripts/<agent>`, for the tests that read them: none, with a printed
//! reason, where there are none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::{Advance, Agent, ResumePoint, Shape, SourceReader, Turn};
use remembrancer_schema::UnixMillis;

/// When transcripts were last written, where nothing in them tells.
const MODIFIED: UnixMillis = UnixMillis(1_772_358_000_000);

/// The files below an agent's folder whose paths end so.
pub(crate) fn transcripts(folder: &str, ends: &str) -> Vec<PathBuf> {
    let shared = std::env::var_os("REMEMBRANCER_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")),
        PathBuf::from,
    );
    let root = shared.join("transcripts").join(folder);
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.retain(|path| path.to_string_lossy().ends_with(ends));
    found.sort();
    if found.is_empty() {
        report(&format!("skipped: no transcripts under {}", root.display()));
    }
    found
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

/// A file, or the names in a folder, a line each.
pub(crate) fn beside(path: &Path) -> Option<Vec<u8>> {
    if !path.is_dir() {
        return fs_err::read(path).ok();
    }
    let names = fs_err::read_dir(path)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Some(names.collect::<Vec<_>>().join("\n").into_bytes())
}

/// What an agent's parser makes of a transcript that lies at `path`; lines give the same in any pieces.
pub(crate) fn read(agent: &str, shape: Shape, path: &Path, content: &[u8], beside: &dyn Fn(&Path) -> Option<Vec<u8>>) -> Advance {
    let info = Agent::parse(agent).expect("an agent").source(path, MODIFIED, beside);
    let read = |chunks: &[&[u8]]| {
        let mut reader = SourceReader::new(&info, ResumePoint::default());
        for chunk in chunks {
            match shape {
                Shape::Lines => reader.push(chunk),
                Shape::Document | Shape::Database(_) => reader.document(chunk),
                Shape::Archive => reader.archive(chunk),
            }
        }
        reader.drain()
    };
    let advance = read(&[content]);
    if shape == Shape::Lines {
        let cut: Vec<&[u8]> = content.chunks(997).collect();
        assert_eq!(read(&cut).turns, advance.turns, "{}", path.display());
    }
    assert_eq!(advance.skipped, advance.problems.len() as u64);
    advance
}

/// Prints what was read, and gives all turns.
pub(crate) fn turns(agent: &str, advances: Vec<Advance>) -> Vec<Turn> {
    let mut problems: BTreeMap<String, u32> = BTreeMap::new();
    for problem in advances.iter().flat_map(|advance| &advance.problems) {
        *problems.entry(problem.kind.as_str().into_owned()).or_default() += 1;
    }
    let (sources, records) = (advances.len(), advances.iter().map(|advance| advance.records).sum::<u64>());
    let turns: Vec<Turn> = advances.into_iter().flat_map(|advance| advance.turns).collect();
    let sessions: BTreeSet<&str> = turns.iter().map(|turn| turn.session.as_str()).collect();
    report(&format!(
        "{agent}: {sources} sources, {records} records, {} sessions, {} turns, problems {problems:?}",
        sessions.len(),
        turns.len()
    ));
    turns
}

#[expect(clippy::print_stderr, reason = "a test says what it read, or why it skips")]
fn report(text: &str) {
    eprintln!("{text}");
}
