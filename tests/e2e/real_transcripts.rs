//! Real transcripts of other people, where the shared data is there: all are read by the real daemon, and nothing is read
//! twice. Prints what it found; their text is never printed.

use std::collections::BTreeMap;

use remembrancer_tests::{sandbox, shared};
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn every_public_transcript_is_read_once() {
    let Some(root) = shared("transcripts/claude") else { return };
    let sandbox = sandbox!();
    sandbox.configure(&format!(
        "[transcripts]\nfolders = {{ claude-code = [{:?}] }}\nusual_folders = false\n[backfill]\ncpu = \"100%\"\n",
        root.canonicalize().unwrap().display().to_string()
    ));
    let daemon = sandbox.start();
    daemon.flush();
    let first = daemon.status();
    eprintln!(
        "{} files, {} sessions, {} records, {} episodes; {} lines skipped: {:?}",
        first["transcripts"],
        first["sessions"],
        first["records"],
        first["episodes"],
        first["skipped_lines"],
        skipped(&first)
    );
    assert!(first["episodes"].as_u64() > Some(0));
    assert_eq!(first["problems"], serde_json::json!([]), "every file could be read");
    let by_kind: u64 = skipped(&first).values().sum();
    assert_eq!(first["skipped_lines"], by_kind, "every skipped line has a kind");

    daemon.flush();
    same(&first, &daemon.status());
    let log = daemon.log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
    let (status, _) = daemon.stop(Signal::TERM);
    assert!(status.success());
    let daemon = sandbox.start();
    daemon.flush();
    same(&first, &daemon.status());
    assert_eq!(daemon.status()["ingest"]["episodes_added"], 0);
}

fn skipped(status: &Value) -> BTreeMap<String, u64> {
    let mut kinds = BTreeMap::new();
    for problem in status["problems_by_file"].as_array().unwrap() {
        *kinds.entry(problem["kind"].as_str().unwrap().to_owned()).or_default() += problem["count"].as_u64().unwrap();
    }
    kinds
}

fn same(before: &Value, after: &Value) {
    for key in ["sessions", "episodes", "records", "skipped_lines", "transcripts"] {
        assert_eq!(before[key], after[key], "{key}");
    }
}
