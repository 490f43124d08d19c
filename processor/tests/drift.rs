//! Formats drift: a record of a kind that nobody knows is counted with its bytes and with the version of the agent, as its transcript
//! tells it.

use std::path::Path;

use remembrancer_processor::ingest::{Agent, LineProblem, ProblemKind, ResumePoint, SourceReader};
use remembrancer_schema::UnixMillis;
use rstest::rstest;

/// The problems of a transcript, pushed in two pieces.
fn problems(agent: &str, text: &str) -> Vec<LineProblem> {
    let agent = Agent::parse(agent).expect("an agent");
    let info = agent.source(Path::new("/home/ada/s.jsonl"), UnixMillis(0), &|_| None);
    let mut reader = SourceReader::new(&info, ResumePoint::default());
    let (first, second) = text.split_at(text.len() / 2);
    reader.push(first.as_bytes());
    reader.push(second.as_bytes());
    reader.drain().problems
}

#[rstest]
#[case::claude_code("claude-code", "", r#"{"type":"new-kind","version":"2.4.1"}"#, "2.4.1")]
#[case::codex(
    "codex",
    r#"{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/a","cli_version":"0.150.0"}}"#,
    r#"{"timestamp":"2026-03-01T10:00:01Z","type":"new-kind","payload":{}}"#,
    "0.150.0"
)]
#[case::copilot_cli(
    "copilot-cli",
    r#"{"type":"session.start","data":{"sessionId":"s","copilotVersion":"1.1.0"}}"#,
    r#"{"type":"new-kind","data":{}}"#,
    "1.1.0"
)]
#[case::qwen_code("qwen-code", "", r#"{"type":"new-kind","version":"0.30.0"}"#, "0.30.0")]
#[case::no_version("kimi", "", r#"{"type":"new-kind"}"#, "")]
#[case::a_version_that_is_none("claude-code", "", r#"{"type":"new-kind","version":"2 <b>"}"#, "2__b_")]
fn an_unknown_kind_is_told_with_its_bytes_and_version(
    #[case] agent: &str,
    #[case] before: &str,
    #[case] unknown: &str,
    #[case] version: &str,
) {
    let found = problems(agent, format!("{before}\n{unknown}\n").trim_start());
    let [problem] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(problem.kind, ProblemKind::unknown_record("new-kind"));
    assert_eq!((problem.bytes, problem.version.as_str()), (unknown.len() as u64, version));
}

#[test]
fn records_on_one_line_share_its_bytes() {
    let line = r#"{"type":"one"}{"type":"two"}"#;
    let found = problems("claude-code", &format!("{line}\n"));
    let bytes: Vec<u64> = found.iter().map(|problem| problem.bytes).collect();
    assert_eq!(bytes, [line.len() as u64 / 2; 2]);
}
