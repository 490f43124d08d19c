//! A restart at any byte gives what reading at once gives, where records take over time, session, folder and branch from those before
//! them; with the state that is stored beside the position.

use std::collections::BTreeMap;
use std::path::Path;

use remembrancer_processor::ingest::{Agent, ResumePoint, SourceInfo, SourceReader, Turn};
use remembrancer_schema::UnixMillis;
use rstest::rstest;

/// When the file was last written, which is no record's time.
const MODIFIED: UnixMillis = UnixMillis(1_700_000_000_000);

fn info(agent: &str, path: &str) -> SourceInfo {
    Agent::parse(agent)
        .expect("an agent")
        .source(Path::new(path), MODIFIED, &|_| None)
}

/// The last state of each turn, what a restart takes over, and from where.
fn read(mut reader: SourceReader, content: &[u8]) -> (BTreeMap<u32, Turn>, ResumePoint, Option<String>) {
    reader.push(content);
    let advance = reader.drain();
    let turns = advance.turns.into_iter().map(|turn| (turn.ordinal, turn)).collect();
    (turns, advance.committed, advance.state)
}

fn from_start(info: &SourceInfo) -> SourceReader {
    SourceReader::new(info, ResumePoint::default())
}

#[rstest]
#[case::a_time_and_a_folder("codex", "/c/sessions/rollout-2026-03-01T10-00-00-one.jsonl", &[
    r#"{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"one","cwd":"/srv/shop","git":{"branch":"main"}}}"#,
    r#"{"timestamp":"2026-03-01T10:00:01Z","type":"turn_context","payload":{"cwd":"/srv/till"}}"#,
    r#"{"type":"message","role":"user","content":"why does it round twice?"}"#,
    r#"{"type":"message","role":"assistant","content":"It rounds in the basket."}"#,
    r#"{"type":"message","role":"user","content":"and the till?"}"#,
], 2)]
#[case::a_copied_history("codex", "/c/sessions/rollout-2026-03-01T10-00-00-two.jsonl", &[
    r#"{"timestamp":"2026-03-01T10:00:00.000Z","type":"session_meta","payload":{"id":"two","cwd":"/srv/shop"}}"#,
    r#"{"timestamp":"2026-03-01T10:00:00.100Z","type":"session_meta","payload":{"id":"one","cwd":"/srv/old"}}"#,
    r#"{"timestamp":"2026-03-01T10:00:00.200Z","type":"message","role":"user","content":"COPIED"}"#,
    r#"{"type":"message","role":"user","content":"COPIED, too"}"#,
    r#"{"timestamp":"2026-03-01T10:05:00.000Z","type":"event_msg","payload":{"type":"token_count"}}"#,
    r#"{"type":"message","role":"user","content":"why does it round twice?"}"#,
], 1)]
#[case::several_turns_of_one_record("gemini-cli", "/g/tmp/shop/chats/session-1.jsonl", &[
    r#"{"sessionId":"one","startTime":"2026-03-01T10:00:00Z"}"#,
    r#"{"messages":[{"id":"1","type":"user","timestamp":"2026-03-01T10:00:01Z","content":"why?"},{"id":"2","type":"user","content":"and how?"}]}"#,
    r#"{"id":"3","type":"gemini","content":"It rounds twice."}"#,
    r#"{"id":"4","type":"user","content":"and the till?","sessionId":"two"}"#,
    r#"{"id":"5","type":"user","content":"and the basket?"}"#,
], 4)]
#[case::a_folder_that_changes("copilot-cli", "/c/session-state/one/events.jsonl", &[
    r#"{"type":"session.start","timestamp":"2026-03-01T10:00:00Z","data":{"sessionId":"one","context":{"cwd":"/srv/shop"}}}"#,
    r#"{"type":"user.message","id":"1","data":{"content":"why does it round twice?"}}"#,
    r#"{"type":"session.context_changed","data":{"cwd":"/srv/till","branch":"till"}}"#,
    r#"{"type":"user.message","id":"2","data":{"content":"and the till?"}}"#,
    r#"{"type":"user.message","id":"3","timestamp":"2026-03-01T10:01:00Z","data":{"content":"and the basket?"}}"#,
], 3)]
#[case::a_subagent_before_any_turn("copilot-cli", "/c/session-state/one/events.jsonl", &[
    r#"{"type":"tool.execution_start","agentId":"a","data":{"toolCallId":"c1","toolName":"task","arguments":{"prompt":"count"}}}"#,
    r#"{"type":"subagent.started","agentId":"a","data":{"toolCallId":"c1"}}"#,
    r#"{"type":"user.message","id":"1","agentId":"a","data":{"content":"count the tests"}}"#,
    r#"{"type":"assistant.message","agentId":"a","data":{"content":"There are nine of them."}}"#,
    r#"{"type":"user.message","id":"2","data":{"content":"why does it round twice?"}}"#,
], 2)]
#[case::a_folder_found_in_a_call("cursor", "/h/projects/srv-shop/agent-transcripts/one.jsonl", &[
    r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>why?</user_query>"}]}}"#,
    r#"{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"path":"/srv/shop/a.rs"}}]}}"#,
    r#"{"role":"user","message":{"content":[{"type":"text","text":"and how?"}]}}"#,
    r#"{"role":"user","message":{"content":[{"type":"text","text":"and when?"}]}}"#,
], 3)]
#[case::records_without_times("claude-code", "/p/one.jsonl", &[
    r#"{"type":"user","uuid":"1","timestamp":"2026-03-01T10:00:00Z","message":{"content":"why does it round twice?"}}"#,
    r#"{"type":"user","uuid":"2","message":{"content":"and the till?"}}"#,
    r#"{"type":"user","uuid":"3","message":{"content":"and the basket?"}}"#,
], 3)]
#[case::a_side_thread_that_begins_again("claude-code", "/p/one.jsonl", &[
    r#"{"type":"assistant","uuid":"0","isSidechain":true,"agentId":"a","message":{"content":"lost"}}"#,
    r#"{"type":"user","uuid":"1","parentUuid":"0","isSidechain":true,"message":{"content":"count the tests"}}"#,
    r#"{"type":"assistant","uuid":"2","parentUuid":"1","isSidechain":true,"message":{"content":"Nine of them."}}"#,
    r#"{"type":"user","uuid":"3","parentUuid":"2","isSidechain":true,"message":{"content":"count the files"}}"#,
    r#"{"type":"assistant","uuid":"4","parentUuid":"2","isSidechain":true,"message":{"content":"Ten of them."}}"#,
], 2)]
#[case::a_session_that_changes("qwen-code", "/q/projects/shop/chats/one.jsonl", &[
    r#"{"type":"user","uuid":"1","sessionId":"one","cwd":"/srv/shop","gitBranch":"main","timestamp":"2026-03-01T10:00:00Z","message":{"parts":[{"text":"why?"}]}}"#,
    r#"{"type":"user","uuid":"2","sessionId":"two","message":{"parts":[{"text":"and how?"}]}}"#,
    r#"{"type":"user","uuid":"3","message":{"parts":[{"text":"and when?"}]}}"#,
], 3)]
#[case::a_session_id_without_bounds("pi", "/p/sessions/x_one.jsonl", &[
    r#"{"type":"session","id":"one","cwd":"/srv/shop","timestamp":"2026-03-01T10:00:00Z"}"#,
    r#"{"type":"message","id":"1","message":{"role":"user","content":"why does it round twice?"}}"#,
    concat!(r#"{"type":"session","id":""#, "LONG", r#""}"#),
    r#"{"type":"message","id":"2","message":{"role":"user","content":"and the till?"}}"#,
], 2)]
fn a_restart_at_any_byte_gives_what_reading_at_once_gives(
    #[case] agent: &str,
    #[case] path: &str,
    #[case] lines: &[&str],
    #[case] turns: usize,
) {
    let info = info(agent, path);
    // A name that is longer than a state may be.
    let content = (lines.join("\n") + "\n").replace("LONG", &"x".repeat(20_000));
    let (whole, end, state) = read(from_start(&info), content.as_bytes());
    assert_eq!(whole.len(), turns, "{whole:#?}");
    let step = if content.len() > 10_000 { 101 } else { 1 };
    for cut in (0..=content.len()).step_by(step) {
        let (mut found, from, carried) = read(from_start(&info), &content.as_bytes()[..cut]);
        let reader = if let Some(carried) = &carried {
            SourceReader::resume(&info, from, carried).expect("a state that was written is read")
        } else {
            assert_eq!(from, ResumePoint::default(), "what can't be carried is read from the start");
            from_start(&info)
        };
        let rest = &content.as_bytes()[from.offset.0 as usize..];
        let (again, again_end, again_state) = read(reader, rest);
        found.extend(again);
        assert_eq!(found, whole, "at {cut}, from {from:?} with {carried:?}");
        if !rest.is_empty() {
            assert_eq!((again_end, &again_state), (end, &state), "at {cut}, from {from:?}");
        }
    }
}

#[test]
fn a_title_of_the_user_stays_after_a_restart() {
    let info = info("claude-code", "/p/one.jsonl");
    let given = "{\"type\":\"custom-title\",\"customTitle\":\"Rounding\",\"sessionId\":\"one\"}\n";
    let made_up = b"{\"type\":\"ai-title\",\"aiTitle\":\"A talk about cents\",\"sessionId\":\"one\"}\n";
    let (_, from, state) = read(from_start(&info), given.as_bytes());
    assert_eq!(from.offset.0 as usize, given.len());
    let mut reader = SourceReader::resume(&info, from, &state.expect("a state")).expect("is read");
    reader.push(made_up);
    assert_eq!(reader.drain().sessions, []);
}
