//! What is read of a document, of a transcript after a restart, and of what lies beside a transcript.

use std::path::Path;

use remembrancer_processor::ingest::Agent;
use remembrancer_schema::UnixMillis;
use rstest::rstest;

use super::beside::LARGEST_BESIDE;
use super::*;

/// A file of `size` bytes, none of which takes room.
fn sized(path: &Path, size: u64) {
    File::create(path).unwrap().set_len(size).unwrap();
}

#[rstest]
#[case::line_by_line(Shape::Lines, LARGEST_DOCUMENT as u64, true)]
#[case::small_enough(Shape::Document, LARGEST_DOCUMENT as u64 - 1, true)]
#[case::too_large(Shape::Document, LARGEST_DOCUMENT as u64, false)]
#[case::packed(Shape::Archive, LARGEST_DOCUMENT as u64, false)]
fn a_document_that_is_too_large_is_not_even_opened(#[case] shape: Shape, #[case] size: u64, #[case] expected: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    sized(&path, size);
    let stat = scan::stat(&path).unwrap();
    let opened = SourceFile::open(Agent::CLAUDE_CODE, shape, &stat, None, false);
    let refused = opened.err().map(|error| error.kind());
    assert_eq!(refused, (!expected).then_some(std::io::ErrorKind::FileTooLarge));
}

#[test]
fn only_small_files_and_folders_are_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs_err::write(at("small"), "text").unwrap();
    sized(&at("large"), LARGEST_BESIDE + 1);
    // To read a pipe would be to wait for whoever writes into it.
    let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
    assert!(made.success());
    assert_eq!(beside(&at("small")).as_deref(), Some(&b"text"[..]));
    assert_eq!(
        [beside(&at("large")), beside(&at("pipe")), beside(&at("none"))],
        [None, None, None]
    );
    let names = String::from_utf8(beside(folder.path()).unwrap()).unwrap();
    assert_eq!(names.lines().count(), 3);
}

/// What a session of Codex says once, and an answer to end with.
const BEGINNING: &str = concat!(
    r#"{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"one","cwd":"/srv/shop"}}"#,
    "\n",
    r#"{"timestamp":"2026-03-01T10:00:01Z","type":"turn_context","payload":{"cwd":"/srv/till"}}"#,
    "\n",
);
/// A prompt that says neither its time nor its folder.
const BARE: &str = r#"{"type":"message","role":"user","content":"why does the till round twice?"}"#;

/// Reads `BEGINNING`, then, after a restart with this state of the parser in the place of the stored one, `BARE`.
fn after_restart(state: impl Fn(Option<String>) -> Option<String>) -> ReadStep {
    let agent = Agent::parse("codex").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout-2026-03-01T10-00-00-one.jsonl");
    fs_err::write(&path, BEGINNING).unwrap();
    let stat = scan::stat(&path).unwrap();
    let first = SourceFile::open(agent, Shape::Lines, &stat, None, false)
        .unwrap()
        .step(agent, &stat)
        .unwrap()
        .unwrap();
    let mut known = KnownFile {
        stat,
        position: first.source.position,
        generation: 0,
        missing: false,
    };
    known.position.parser_state = state(known.position.parser_state);
    fs_err::write(&path, format!("{BEGINNING}{BARE}\n")).unwrap();
    let stat = scan::stat(&path).unwrap();
    let mut file = SourceFile::open(agent, Shape::Lines, &stat, Some(&known), false).unwrap();
    file.step(agent, &stat).unwrap().unwrap()
}

/// Turns of Claude Code, a line each.
fn prompts(numbers: std::ops::Range<u32>) -> String {
    let line = |number| {
        format!(
            r#"{{"type":"user","uuid":"u{number}","sessionId":"s","timestamp":"2026-03-01T10:{number:02}:00Z","message":{{"role":"user","content":"why does case {number} fail, {}?"}}}}"#,
            "and what of it ".repeat(40)
        )
    };
    numbers.map(|number| line(number) + "\n").collect()
}

#[test]
fn tc_11_a_file_that_is_cut_and_grows_while_it_is_read_is_told() {
    let agent = Agent::CLAUDE_CODE;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs_err::write(&path, prompts(0..6)).unwrap();
    let stat = scan::stat(&path).unwrap();
    let mut file = SourceFile::open(agent, Shape::Lines, &stat, None, false).unwrap();
    let step = file.step(agent, &stat).unwrap().unwrap();
    // Between the look at the file and the reading, turns are taken back, and others written, past the old size.
    let known = KnownFile::from(&step.source);
    fs_err::write(&path, format!("{}{}", prompts(0..3), prompts(10..20))).unwrap();
    assert!(file.step(agent, &stat).unwrap().is_none());
    let now = scan::stat(&path).unwrap();
    assert!(!file.still_continues(&now).unwrap());
    let mut again = SourceFile::open(agent, Shape::Lines, &now, Some(&known), false).unwrap();
    let step = again.step(agent, &now).unwrap().unwrap();
    assert_eq!((step.source.generation, step.advance.turns.len()), (1, 13));
    assert!(step.retire_older_generations);
}

#[test]
fn a_restart_goes_on_with_the_time_and_folder_told_before() {
    let told = UnixMillis(1_772_359_201_000);
    let step = after_restart(|state| state);
    let turn = &step.advance.turns[0];
    assert_eq!((turn.started_at, turn.cwd.as_deref()), (told, Some("/srv/till")));
    assert_eq!(step.source.records_delta, 1, "what was read before is not read again");
    // One that can't be read, as a newer version's: all is read again, and nothing is counted twice.
    for damaged in ["", "{\"v\":99}", "\u{0}"] {
        let step = after_restart(|_| Some(damaged.to_owned()));
        let turn = &step.advance.turns[0];
        assert_eq!(
            (turn.started_at, turn.cwd.as_deref()),
            (told, Some("/srv/till")),
            "{damaged:?}"
        );
        assert_eq!((turn.ordinal, step.source.records_delta), (0, 0), "{damaged:?}");
    }
    // One of an older version's store: by what the first line says.
    let step = after_restart(|_| None);
    let turn = &step.advance.turns[0];
    assert_eq!((turn.session.as_str(), turn.cwd.as_deref()), ("one", Some("/srv/shop")));
}
