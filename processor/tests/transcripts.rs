//! Every public transcript of `$REMEMBRANCER_SHARED/transcripts`, read whole and in cuts: nothing panics, every line that
//! gave nothing has a kind, and a restart finds the same turns. Prints totals. Skips with a reason where there are none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::{Advance, Agent, ResumePoint, SourceInfo, SourceReader, Turn, episodes};
use remembrancer_schema::UnixMillis;

/// The transcripts of Claude Code, or none with a printed reason.
fn transcripts() -> Vec<PathBuf> {
    let shared = std::env::var_os("REMEMBRANCER_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")),
        PathBuf::from,
    );
    let root = shared.join("transcripts/claude");
    let mut found = Vec::new();
    walk(&root, &mut found);
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
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
}

#[expect(clippy::print_stderr, reason = "a test says what it read, or why it skips")]
fn report(text: &str) {
    eprintln!("{text}");
}

fn info(path: &Path) -> SourceInfo {
    Agent::CLAUDE_CODE.source(path, UnixMillis(1_700_000_000_000), &|_| None)
}

/// The bytes of a transcript, with a newline at the end.
fn content(path: &Path) -> Vec<u8> {
    let mut content = fs_err::read(path).expect("a transcript");
    if content.last().is_some_and(|last| *last != b'\n') {
        content.push(b'\n');
    }
    content
}

fn read(info: &SourceInfo, from: ResumePoint, chunks: &[&[u8]]) -> Advance {
    let mut reader = SourceReader::new(info, from);
    for chunk in chunks {
        reader.push(chunk);
    }
    reader.drain()
}

#[test]
fn every_transcript_is_read() {
    let mut skipped: BTreeMap<String, u64> = BTreeMap::new();
    let mut rules: BTreeMap<String, u64> = BTreeMap::new();
    let (mut files, mut bytes, mut lines, mut records, mut turns, mut rows, mut long) = (0, 0, 0, 0, 0, 0, 0);
    let mut sessions: BTreeMap<String, u64> = BTreeMap::new();
    for path in transcripts() {
        let whole = content(&path);
        let advance = read(&info(&path), ResumePoint::default(), &[&whole]);
        assert_eq!(advance.skipped, advance.problems.len() as u64);
        assert_eq!(advance.read.offset.0, whole.len() as u64);
        let line_count = whole.split(|byte| *byte == b'\n').count() as u64 - 1;
        assert!(
            advance.records + advance.skipped >= line_count,
            "every line is a record or has a kind: {}",
            path.display()
        );
        for problem in &advance.problems {
            *skipped.entry(problem.kind.as_str().into_owned()).or_default() += 1;
        }
        for turn in &advance.turns {
            let made = episodes(turn);
            for episode in &made {
                *rules.entry(episode.importance_rule.clone()).or_default() += 1;
            }
            rows += made.len();
            long += usize::from(made.len() > 1);
            *sessions.entry(turn.session.clone()).or_default() += 1;
        }
        files += 1;
        bytes += whole.len();
        lines += line_count;
        records += advance.records;
        turns += advance.turns.len();
    }
    report(&format!(
        "{files} files, {bytes} bytes, {lines} lines, {records} records, {} sessions, {turns} turns ({long} cut), {rows} episodes\nskipped: {skipped:?}\nrules: {rules:?}",
        sessions.len(),
    ));
}

#[test]
fn cuts_of_every_transcript_give_the_same_turns() {
    for path in transcripts() {
        let content = content(&path);
        let info = info(&path);
        let whole = read(&info, ResumePoint::default(), &[&content]).turns;
        // Primes, so that cuts fall everywhere in lines and characters.
        for step in [7_919, 65_537, content.len() / 3 + 1] {
            let chunks: Vec<&[u8]> = content.chunks(step).collect();
            assert_eq!(
                read(&info, ResumePoint::default(), &chunks).turns,
                whole,
                "{} by {step}",
                path.display()
            );
            restart_at(&info, &content, step, &whole, &path);
        }
    }
}

/// Reads up to `at`, drops the reader, and reads the rest with a new one.
fn restart_at(info: &SourceInfo, content: &[u8], at: usize, whole: &[Turn], path: &Path) {
    let at = at.min(content.len());
    let first = read(info, ResumePoint::default(), &[&content[..at]]);
    let rest = read(info, first.committed, &[&content[first.committed.offset.0 as usize..]]);
    let mut turns: BTreeMap<u32, Turn> = BTreeMap::new();
    for turn in first.turns.into_iter().chain(rest.turns) {
        turns.insert(turn.ordinal, turn);
    }
    for (found, expected) in turns.into_values().zip(whole) {
        // A record without a time takes the time of the one before it, which a restart may not have read.
        let of = |turn: &Turn| {
            (
                turn.uid,
                turn.prompt.clone(),
                turn.answer(),
                turn.facets(),
                turn.session.clone(),
            )
        };
        assert_eq!(of(&found), of(expected), "{}", path.display());
    }
}
