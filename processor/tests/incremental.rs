//! Reading as a file grows: any split gives the same turns, and a restart from the committed place finds them again.

use std::collections::BTreeMap;

use proptest::prelude::*;
use remembrancer_processor::ingest::{Agent, Context, ResumePoint, SourceInfo, SourceReader, Turn};
use remembrancer_schema::UnixMillis;
use serde_json::{Value, json};

fn info() -> SourceInfo {
    SourceInfo {
        agent: Agent::CLAUDE_CODE,
        name: "stem".to_owned(),
        context: Context::default(),
        fallback_time: UnixMillis(1_700_000_000_000),
    }
}

/// Kinds of lines that a transcript is made of.
#[derive(Clone, Debug)]
enum LineKind {
    Prompt(u8),
    Says(u8),
    Calls(u8),
    Result { call: u8, failed: bool },
    SidePrompt(u8),
    SideSays(u8),
    Enqueue(u8),
    Remove,
    Dequeue,
    QueuedCommand(u8),
    Summary,
    Boundary,
    Meta,
    Title,
    Two(u8),
    Broken,
    Blank,
}

fn line_kind() -> impl Strategy<Value = LineKind> {
    prop_oneof![
        4 => any::<u8>().prop_map(LineKind::Prompt),
        8 => any::<u8>().prop_map(LineKind::Says),
        5 => (0..6_u8).prop_map(LineKind::Calls),
        5 => (0..6_u8, any::<bool>()).prop_map(|(call, failed)| LineKind::Result { call, failed }),
        2 => (0..3_u8).prop_map(LineKind::SidePrompt),
        3 => (0..3_u8).prop_map(LineKind::SideSays),
        2 => (0..4_u8).prop_map(LineKind::Enqueue),
        2 => Just(LineKind::Remove),
        1 => Just(LineKind::Dequeue),
        1 => (0..4_u8).prop_map(LineKind::QueuedCommand),
        1 => Just(LineKind::Summary),
        1 => Just(LineKind::Boundary),
        1 => Just(LineKind::Meta),
        1 => Just(LineKind::Title),
        2 => any::<u8>().prop_map(LineKind::Two),
        1 => Just(LineKind::Broken),
        1 => Just(LineKind::Blank),
    ]
}

fn record(number: usize, kind: &str, message: &Value) -> Value {
    json!({"type": kind, "uuid": format!("r{number}"), "sessionId": "s", "cwd": "/home/ada/shop",
        "timestamp": format!("2026-03-01T{:02}:{:02}:{:02}.000Z", number / 3600, number / 60 % 60, number % 60), "message": message})
}

fn prompt(number: usize, what: u8) -> Value {
    record(
        number,
        "user",
        &json!({"role": "user", "content": format!("question {what} about the shöp")}),
    )
}

fn says(number: usize, what: u8) -> Value {
    record(
        number,
        "assistant",
        &json!({"content": [{"type": "text", "text": format!("The answer number {what} is a finding of some length.")}]}),
    )
}

fn queue(number: usize, operation: &str, content: Option<String>) -> Value {
    let mut value = record(number, "queue-operation", &Value::Null);
    value["operation"] = json!(operation);
    if let Some(content) = content {
        value["content"] = json!(content);
    }
    value
}

/// One line as written, with its newline.
fn line(number: usize, kind: &LineKind) -> String {
    let commands = [
        "cargo test",
        "cargo build",
        "git commit -m x",
        "ls",
        "remembrancer status",
        "make all",
    ];
    let value = match kind {
        LineKind::Prompt(what) => prompt(number, *what),
        LineKind::Says(what) => says(number, *what),
        LineKind::Calls(call) => record(
            number,
            "assistant",
            &json!({"content": [
            {"type": "tool_use", "id": format!("t{call}"), "name": if call % 2 == 0 { "Bash" } else { "Edit" },
                "input": {"command": commands[usize::from(*call)], "file_path": format!("/home/ada/shop/{call}.rs")}}]}),
        ),
        LineKind::Result { call, failed } => record(
            number,
            "user",
            &json!({"content": [
            {"type": "tool_result", "tool_use_id": format!("t{call}"), "is_error": failed, "content": format!("error: number {call}")}]}),
        ),
        LineKind::SidePrompt(thread) => {
            let mut value = prompt(number, *thread);
            value["isSidechain"] = json!(true);
            value["agentId"] = json!(format!("agent{thread}"));
            value
        }
        LineKind::SideSays(thread) => {
            let mut value = says(number, *thread);
            value["isSidechain"] = json!(true);
            value["agentId"] = json!(format!("agent{thread}"));
            value
        }
        LineKind::Enqueue(what) => queue(number, "enqueue", Some(format!("queued question {what}"))),
        LineKind::Remove => queue(number, "remove", None),
        LineKind::Dequeue => queue(number, "dequeue", None),
        LineKind::QueuedCommand(what) => {
            let mut value = record(number, "attachment", &Value::Null);
            value["attachment"] =
                json!({"type": "queued_command", "commandMode": "prompt", "prompt": format!("queued question {what}")});
            value
        }
        LineKind::Summary => {
            let mut value = prompt(number, 0);
            value["isCompactSummary"] = json!(true);
            value
        }
        LineKind::Boundary => {
            let mut value = record(number, "system", &Value::Null);
            value["subtype"] = json!("compact_boundary");
            value
        }
        LineKind::Meta => {
            let mut value = prompt(number, 9);
            value["isMeta"] = json!(true);
            value
        }
        LineKind::Title => json!({"type": "ai-title", "aiTitle": format!("Title {number}"), "sessionId": "s"}),
        LineKind::Two(what) => return format!("{}{}\n", says(number, *what), prompt(number + 500, *what)),
        LineKind::Broken => return "{\"type\":\"user\",\"message\":{\"content\":\"lost\n".to_owned(),
        LineKind::Blank => return "\r\n".to_owned(),
    };
    format!("{value}\n")
}

fn transcript(kinds: &[LineKind]) -> Vec<u8> {
    kinds
        .iter()
        .enumerate()
        .map(|(number, kind)| line(number, kind))
        .collect::<String>()
        .into_bytes()
}

/// The last state of each turn, by ordinal, after pushing `chunks` and draining after each.
fn read(from: ResumePoint, chunks: &[&[u8]]) -> (BTreeMap<u32, Turn>, ResumePoint) {
    let mut reader = SourceReader::new(&info(), from);
    let mut turns = BTreeMap::new();
    let mut committed = from;
    for chunk in chunks {
        reader.push(chunk);
        let advance = reader.drain();
        turns.extend(advance.turns.into_iter().map(|turn| (turn.ordinal, turn)));
        committed = advance.committed;
    }
    (turns, committed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same_turns(kinds in prop::collection::vec(line_kind(), 1..40), size in 1_usize..900) {
        let content = transcript(&kinds);
        let whole = read(ResumePoint::default(), &[&content]);
        let chunks: Vec<&[u8]> = content.chunks(size).collect();
        prop_assert_eq!(read(ResumePoint::default(), &chunks), whole);
    }

    #[test]
    fn a_restart_finds_the_same_turns(kinds in prop::collection::vec(line_kind(), 1..40), cut in any::<prop::sample::Index>()) {
        let content = transcript(&kinds);
        let (whole, end) = read(ResumePoint::default(), &[&content]);
        let cut = cut.index(content.len() + 1);
        let (mut turns, committed) = read(ResumePoint::default(), &[&content[..cut]]);
        let (rest, again) = read(committed, &[&content[committed.offset.0 as usize..]]);
        turns.extend(rest);
        prop_assert_eq!(turns, whole);
        prop_assert_eq!(again, end);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..2_000), cut in 0_usize..2_000) {
        let mut reader = SourceReader::new(&info(), ResumePoint::default());
        let (head, tail) = bytes.split_at(cut.min(bytes.len()));
        reader.push(head);
        reader.push(tail);
        let advance = reader.drain();
        prop_assert_eq!(advance.skipped as usize, advance.problems.len());
    }

    #[test]
    fn any_damage_to_a_transcript_is_read(kinds in prop::collection::vec(line_kind(), 1..12), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20)) {
        let mut content = transcript(&kinds);
        for (place, byte) in damage {
            let at = place.index(content.len());
            content[at] = byte;
        }
        let mut reader = SourceReader::new(&info(), ResumePoint::default());
        reader.push(&content);
        for turn in reader.drain().turns {
            let _rows = remembrancer_processor::ingest::episodes(&turn);
        }
    }
}
