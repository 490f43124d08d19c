//! Sessions that were taken over from an agent's files into its database: they are the same there, turn by turn.

use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::{Agent, LineProblem, Piece, ResumePoint, SourceInfo, SourceReader, Turn};
use remembrancer_schema::UnixMillis;
use rstest::rstest;
use serde_json::{Value, json};

const MODIFIED: UnixMillis = UnixMillis(1_772_358_000_000);

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents").join(path)
}

/// A file, or the names in a folder, a line each.
fn beside(path: &Path) -> Option<Vec<u8>> {
    if !path.is_dir() {
        return fs_err::read(path).ok();
    }
    let names = fs_err::read_dir(path)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Some(names.collect::<Vec<_>>().join("\n").into_bytes())
}

fn turns(info: &SourceInfo, content: &[u8]) -> (Vec<Turn>, Vec<LineProblem>) {
    let mut reader = SourceReader::new(info, ResumePoint::default());
    reader.document(content);
    let advance = reader.drain();
    assert!(!advance.turns.is_empty());
    (advance.turns, advance.problems)
}

/// A file's content without the keys that stand in columns.
fn without(keys: &[&str], content: &[u8]) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(content).expect("a fixture's file");
    let object = value.as_object_mut().expect("a fixture's object");
    object.retain(|key, _| !keys.contains(&key.as_str()));
    value.to_string().into_bytes()
}

#[rstest]
#[case::a_session("ses_0000000001")]
#[case::a_subagents("ses_0000000002")]
fn a_session_of_opencode_is_the_same_in_the_database(#[case] id: &str) {
    let agent = Agent::parse("opencode").unwrap();
    let path = fixture("opencode/.local/share/opencode/storage/session/shop").join(format!("{id}.json"));
    let (content, before) = (fs_err::read(&path).unwrap(), agent.source(&path, MODIFIED, &beside));
    let row = |piece: &Piece| Piece {
        name: piece.name.clone(),
        content: without(&["id", "sessionID"], &piece.content),
        parts: piece
            .parts
            .iter()
            .map(|part| without(&["id", "sessionID", "messageID"], part))
            .collect(),
    };
    let after = agent.session(id, MODIFIED, before.context.pieces.iter().map(row).collect());
    let expected = turns(&before, &content);
    assert_eq!(turns(&after, &content), expected);
}

#[test]
fn a_session_of_goose_is_the_same_in_the_database() {
    let agent = Agent::parse("goose").unwrap();
    let path = fixture("goose/.local/share/goose/sessions/20260301_100000.jsonl");
    let content = fs_err::read_to_string(&path).unwrap();
    let expected = turns(&agent.source(&path, MODIFIED, &beside), content.as_bytes());
    let messages = content.lines().skip(1).map(|line| Piece {
        content: line.as_bytes().to_vec(),
        ..Piece::default()
    });
    let session = agent.session("20260301_100000", MODIFIED, messages.collect());
    let record = json!({"working_dir": "/home/ada/shop", "description": "Rounding", "session_type": "user"});
    assert_eq!(turns(&session, record.to_string().as_bytes()), expected);
}

#[test]
fn a_torn_row_costs_itself_alone() {
    let agent = Agent::parse("opencode").unwrap();
    let message = |name: &str, content: &str| Piece {
        name: name.to_owned(),
        content: content.as_bytes().to_vec(),
        parts: Vec::new(),
    };
    let pieces = vec![
        message(
            "m1",
            r#"{"type":"user","data":{"text":"Why is it torn?","time":{"created":1772445601000}}}"#,
        ),
        message("m2", r#"{"type":"assistant","data":{"content":[{"ty}"#),
        message("m3", r#"{"type":"hologram","data":{"time":{"created":1772445603000}}}"#),
        message(
            "m4",
            r#"{"type":"assistant","data":{"content":[{"type":"text","text":"The disk was full."}]}}"#,
        ),
    ];
    let mut reader = SourceReader::new(&agent.session("ses_1", MODIFIED, pieces), ResumePoint::default());
    reader.document(br#"{"id":"ses_1","directory":"/srv/shop","time":{"created":1772445600000}}"#);
    let advance = reader.drain();
    assert_eq!(advance.turns[0].answer(), "The disk was full.");
    let problems: Vec<_> = advance
        .problems
        .iter()
        .map(|problem| problem.kind.as_str().into_owned())
        .collect();
    assert_eq!(problems, ["malformed-json", "unknown-record:message/hologram"]);
}
