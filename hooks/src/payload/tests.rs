//! Tests of the payload: what a host may write, and what a broken one does.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;

fn parse(stdin: &[u8]) -> Option<Payload> {
    Payload::parse(stdin, Agent::CLAUDE_CODE)
}

fn prompt_of(stdin: &[u8]) -> Option<String> {
    parse(stdin).map(|payload| payload.prompt)
}

#[test]
fn a_whole_payload_is_read() {
    let stdin = json!({
        "session_id": "s1", "transcript_path": "/t/s1.jsonl", "cwd": "/src/app", "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "prompt": "why?", "effort": {"level": "high"},
    });
    let expected = Payload {
        event: "UserPromptSubmit".into(),
        act: Act::Recall,
        session: "s1".into(),
        cwd: Some("/src/app".into()),
        prompt: "why?".into(),
        prompt_id: Some("p1".into()),
        transcript: Some("/t/s1.jsonl".into()),
    };
    assert_eq!(parse(stdin.to_string().as_bytes()), Some(expected));
}

#[test]
fn a_codex_payload_is_read() {
    let stdin = br#"{"session_id":"s1","turn_id":"t","transcript_path":null,"cwd":"/c","hook_event_name":"UserPromptSubmit",
        "model":"m","permission_mode":"default","prompt":"hi"}"#;
    let payload = parse(stdin).unwrap();
    assert_eq!((payload.transcript, payload.cwd.as_deref()), (None, Some("/c")));
}

#[rstest]
#[case::gemini("gemini-cli", r#"{"session_id":"s","transcript_path":"/t","cwd":"/c","hook_event_name":"BeforeAgent","timestamp":"2026-03-01T10:00:00Z","prompt":"why?"}"#, Act::Recall, "why?")]
#[case::cursor("cursor", r#"{"conversation_id":"s","generation_id":"g","hook_event_name":"beforeSubmitPrompt","workspace_roots":["/c","/d"],"prompt":"why?","attachments":[]}"#, Act::Recall, "why?")]
#[case::copilot("copilot-cli", r#"{"hook_event_name":"SessionStart","sessionId":"s","timestamp":"2026-03-01T10:00:00Z","cwd":"/c","source":"new"}"#, Act::Start(&[]), "")]
#[case::qwen(
    "qwen-code",
    r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/c","prompt":"why?"}"#,
    Act::Recall,
    "why?"
)]
#[case::compacted("claude-code", r#"{"hook_event_name":"SessionStart","session_id":"s","cwd":"/c","source":"compact"}"#, Act::Start(&["compact", "resume"]), "")]
#[case::stopped(
    "claude-code",
    r#"{"hook_event_name":"Stop","session_id":"s","cwd":"/c","transcript_path":"/t","last_assistant_message":"x"}"#,
    Act::Changed,
    ""
)]
fn each_hosts_events_are_read(#[case] agent: &str, #[case] stdin: &str, #[case] act: Act, #[case] prompt: &str) {
    let payload = Payload::parse(stdin.as_bytes(), Agent::parse(agent).unwrap()).unwrap();
    assert_eq!(
        (payload.act, payload.prompt.as_str(), payload.session.as_str()),
        (act, prompt, "s")
    );
    assert_eq!(payload.cwd.as_deref(), Some("/c"));
}

#[rstest]
#[case::empty_folder(
    r#"{"session_id":"s","cwd":"","workspace_roots":["/c"],"hook_event_name":"beforeSubmitPrompt","prompt":"x"}"#
)]
#[case::no_roots(r#"{"session_id":"s","cwd":"/c","workspace_roots":null,"hook_event_name":"beforeSubmitPrompt","prompt":"x"}"#)]
#[case::named_twice(r#"{"conversation_id":"s","session_id":"s","cwd":"/c","hook_event_name":"beforeSubmitPrompt","prompt":"x"}"#)]
fn one_of_several_names_is_enough(#[case] stdin: &str) {
    let payload = Payload::parse(stdin.as_bytes(), Agent::parse("cursor").unwrap()).unwrap();
    assert_eq!((payload.session.as_str(), payload.cwd.as_deref()), ("s", Some("/c")));
}

#[rstest]
#[case::empty(b"")]
#[case::blank(b"  \n")]
#[case::not_json(b"hello")]
#[case::cut_short(br#"{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"wh"#)]
#[case::array(b"[1]")]
#[case::no_session(br#"{"hook_event_name":"UserPromptSubmit","prompt":"x"}"#)]
#[case::empty_session(br#"{"session_id":"","hook_event_name":"UserPromptSubmit","prompt":"x"}"#)]
#[case::session_of_another_type(br#"{"session_id":7,"hook_event_name":"UserPromptSubmit","prompt":"x"}"#)]
#[case::no_prompt(br#"{"session_id":"s1","hook_event_name":"UserPromptSubmit"}"#)]
#[case::no_event(br#"{"session_id":"s1","prompt":"x"}"#)]
#[case::tc_46_another_event(br#"{"session_id":"s1","hook_event_name":"SubagentStop","prompt":"x"}"#)]
#[case::a_new_session(br#"{"session_id":"s1","hook_event_name":"SessionStart","source":"startup"}"#)]
#[case::another_hosts_event(br#"{"session_id":"s1","hook_event_name":"BeforeAgent","prompt":"x"}"#)]
#[case::tc_46_a_subagent(br#"{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"x","agent_id":"a1"}"#)]
fn tc_29_anything_else_is_nothing(#[case] stdin: &[u8]) {
    assert_eq!(parse(stdin), None);
}

#[rstest]
#[case::byte_order_mark(
    b"\xef\xbb\xbf{\"session_id\":\"s\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"x\"}\r\n",
    "x"
)]
#[case::invalid_utf8(
    b"{\"session_id\":\"s\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"a\xffb\"}",
    "a\u{fffd}b"
)]
#[case::lone_surrogate(
    br#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"a\ud83db"}"#,
    "a\u{fffd}b"
)]
#[case::surrogate_pair(
    br#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"\ud83d\ude00"}"#,
    "\u{1f600}"
)]
#[case::empty_prompt(br#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":""}"#, "")]
#[case::empty_agent_id(
    br#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x","agent_id":""}"#,
    "x"
)]
fn odd_bytes_cost_at_most_their_character(#[case] stdin: &[u8], #[case] prompt: &str) {
    assert_eq!(prompt_of(stdin).as_deref(), Some(prompt));
}

#[test]
fn an_unseemly_length_is_dropped_where_it_can_be() {
    let stdin = |session: &str, cwd: &str| {
        json!({"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": "x", "cwd": cwd})
            .to_string()
            .into_bytes()
    };
    assert_eq!(parse(&stdin("s", &"/d".repeat(9_000))).unwrap().cwd, None);
    assert_eq!(parse(&stdin(&"s".repeat(9_000), "/d")), None);
}

#[rstest]
#[case::ascii("x")]
#[case::wide("é")]
#[case::wider("\u{1f600}")]
fn tc_29_a_long_prompt_keeps_its_head_and_tail(#[case] filler: &str) {
    let prompt = format!("first{}last", filler.repeat(1_000_000));
    let stdin = json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": prompt}).to_string();
    let cut = prompt_of(stdin.as_bytes()).unwrap();
    assert!(cut.len() <= MAX_PROMPT_BYTES && cut.len() > MAX_PROMPT_BYTES - 16);
    assert!(cut.starts_with("first") && cut.contains(CUT_MARK) && cut.ends_with("last"));
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(stdin in proptest::collection::vec(any::<u8>(), 0..400)) {
        parse(&stdin);
    }

    #[test]
    fn any_bytes_within_the_prompt_are_read_without_a_panic(inside in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut stdin = br#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":""#.to_vec();
        stdin.extend(inside);
        stdin.extend(br#""}"#);
        parse(&stdin);
    }

    #[test]
    fn any_text_comes_through_unchanged(session in "[ -~]{1,60}", prompt in any::<String>()) {
        let stdin = json!({"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": prompt}).to_string();
        let payload = parse(stdin.as_bytes()).unwrap();
        prop_assert_eq!((payload.session, payload.prompt), (session, prompt));
    }
}
