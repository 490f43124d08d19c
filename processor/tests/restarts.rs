//! A restart at any byte gives what reading at once gives, where records take over time, session, folder and branch from those before
//! them, and where one says something of the turn before and begins the next; with the state that is stored beside the position.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use remembrancer_processor::ingest::{Agent, ResumePoint, Shape, SourceInfo, SourceReader, Turn};
use remembrancer_schema::UnixMillis;
use rstest::rstest;
use serde_json::Value;

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
#[case::a_prompt_behind_a_call("cursor", "/h/projects/srv-shop/agent-transcripts/one.jsonl", &[
    r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>why?</user_query>"}]}}"#,
    r#"{"role":"assistant","message":{"content":[{"type":"text","text":"It rounds in the basket."}]}}"#,
    r#"{"role":"user","message":{"content":[{"type":"text","text":"and how?"},{"type":"tool_use","name":"Shell","input":{"command":"make"}}]}}"#,
    r#"{"role":"assistant","message":{"content":[{"type":"text","text":"It rounds up, and twice."}]}}"#,
    r#"{"role":"user","message":{"content":[{"type":"text","text":"and when?"}]}}"#,
], 3)]
#[case::a_prompt_behind_a_result("droid", "/f/sessions/-srv-shop/one.jsonl", &[
    r#"{"type":"session_start","id":"one","cwd":"/srv/shop"}"#,
    r#"{"type":"message","id":"1","message":{"role":"user","content":[{"type":"text","text":"why?"}]}}"#,
    r#"{"type":"message","id":"2","message":{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"Execute","input":{"command":"make"}}]}}"#,
    r#"{"type":"message","id":"3","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":"error: no rule"},{"type":"text","text":"stop, and how?"}]}}"#,
    r#"{"type":"message","id":"4","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done"},{"type":"text","text":"and when?"}]}}"#,
    r#"{"type":"message","id":"5","message":{"role":"assistant","content":[{"type":"text","text":"At noon, as it was."}]}}"#,
], 3)]
#[case::a_prompt_behind_a_call_without_a_turn("cursor", "/h/projects/srv-shop/agent-transcripts/one.jsonl", &[
    r#"{"role":"user","message":{"content":[{"type":"tool_use","name":"Shell","input":{"command":"make"}},{"type":"text","text":"and how?"}]}}"#,
    r#"{"role":"user","message":{"content":[{"type":"text","text":"and when?"}]}}"#,
], 3)]
#[case::prompts_behind_an_answer_of_an_earlier_turn("gemini-cli", "/g/tmp/shop/chats/session-1.jsonl", &[
    r#"{"sessionId":"one","startTime":"2026-03-01T10:00:00Z"}"#,
    r#"{"id":"1","type":"user","timestamp":"2026-03-01T10:00:01Z","content":"why?"}"#,
    r#"{"id":"2","type":"gemini","timestamp":"2026-03-01T09:00:00Z","content":"It was rounded before.","messages":[{"id":"3","type":"user","timestamp":"2026-03-01T10:00:02Z","content":"and how?"}]}"#,
    r#"{"id":"4","type":"gemini","timestamp":"2026-03-01T10:00:03Z","content":"It rounds up, and twice."}"#,
    r#"{"id":"5","type":"user","timestamp":"2026-03-01T10:00:04Z","content":"and when?"}"#,
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
    let step = if content.len() > 10_000 { 101 } else { 1 };
    let cuts = (0..=content.len()).step_by(step);
    let whole = check(&info, &content, cuts);
    assert_eq!(whole.len(), turns, "{whole:#?}");
}

/// A reader that begins where another left off.
fn resumed(info: &SourceInfo, from: ResumePoint, carried: Option<&str>) -> SourceReader {
    if let Some(carried) = carried {
        return SourceReader::resume(info, from, carried).expect("a state that was written is read");
    }
    assert_eq!(from, ResumePoint::default(), "what can't be carried is read from the start");
    from_start(info)
}

/// A restart at any of these places gives the turns that reading at once gives, which are returned.
fn check(info: &SourceInfo, content: &str, cuts: impl Iterator<Item = usize>) -> BTreeMap<u32, Turn> {
    let content = content.as_bytes();
    let (whole, end, state) = read(from_start(info), content);
    for cut in cuts {
        let (mut found, from, carried) = read(from_start(info), &content[..cut]);
        let rest = &content[from.offset.0 as usize..];
        let (again, again_end, again_state) = read(resumed(info, from, carried.as_deref()), rest);
        found.extend(again);
        assert_eq!(found, whole, "at {cut}, from {from:?} with {carried:?}");
        if !rest.is_empty() {
            // Begun later, it knows of no reason to hold back what lies before.
            assert!(
                again_end.offset >= end.offset,
                "at {cut}, from {from:?}: it ends at {again_end:?}, before {end:?}"
            );
            assert!(
                again_end != end || again_state == state,
                "at {cut}, from {from:?}: {again_state:?} is taken over, not {state:?}"
            );
            // Wherever it ended: who begins there, with what it took over, has the same turns again.
            let last = &content[again_end.offset.0 as usize..];
            let (once_more, ..) = read(resumed(info, again_end, again_state.as_deref()), last);
            found.extend(once_more);
            assert_eq!(found, whole, "at {cut}, and again from {again_end:?} with {again_state:?}");
        }
    }
    whole
}

/// The lines of every fixture that is read line by line, with what they are lines of.
fn fixtures() -> Vec<(SourceInfo, Vec<Value>)> {
    let mut fixtures = Vec::new();
    for agent in Agent::ALL.iter().copied() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/agents")
            .join(agent.id());
        for path in files_below(&folder)
            .iter()
            .filter(|path| agent.shape(path) == Some(Shape::Lines))
        {
            let text = fs_err::read_to_string(path).expect("a fixture");
            let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            if !lines.is_empty() {
                fixtures.push((agent.source(path, MODIFIED, &|_| None), lines));
            }
        }
    }
    fixtures
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    paths.into_iter().flat_map(below).collect()
}

/// A record that holds what two hold: of lists both, of all else the first.
fn joined(first: &Value, second: &Value) -> Value {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) => {
            let mut all = second.clone();
            for (key, value) in first {
                let value = second.get(key).map_or_else(|| value.clone(), |other| joined(value, other));
                all.insert(key.clone(), value);
            }
            Value::Object(all)
        }
        (Value::Array(first), Value::Array(second)) => first.iter().chain(second).cloned().collect(),
        _ => first.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_restart_between_any_records_gives_what_reading_at_once_gives(
        fixture in any::<Index>(),
        records in prop::collection::vec((any::<Index>(), prop::option::of(any::<Index>())), 2..9),
    ) {
        static FIXTURES: std::sync::LazyLock<Vec<(SourceInfo, Vec<Value>)>> = std::sync::LazyLock::new(fixtures);
        let (info, lines) = fixture.get(FIXTURES.as_slice());
        let record = |(one, other): &(Index, Option<Index>)| match other {
            Some(other) => joined(one.get(lines), other.get(lines)),
            None => one.get(lines).clone(),
        };
        let lines: Vec<String> = records.iter().map(|records| format!("{}\n", record(records))).collect();
        let ends = lines.iter().scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        });
        check(info, &lines.concat(), ends);
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
