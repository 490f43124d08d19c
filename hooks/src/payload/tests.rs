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
        by_machine: false,
        prompt_id: Some("p1".into()),
        transcript: Some("/t/s1.jsonl".into()),
    };
    assert_eq!(parse(stdin.to_string().as_bytes()), Some(expected));
}

#[rstest]
#[case::a_number(r#","turn_id":7,"cwd":"/c""#, Some("7"), Some("/c"))]
#[case::an_object(r#","turn_id":{"a":1},"cwd":["/c"]"#, None, None)]
#[case::roots_of_another_kind(r#","workspace_roots":{"a":"/d"},"cwd":"/c""#, None, Some("/c"))]
fn a_member_of_another_type_costs_that_member(#[case] members: &str, #[case] id: Option<&str>, #[case] cwd: Option<&str>) {
    let stdin = format!(r#"{{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"why?"{members}}}"#);
    let payload = parse(stdin.as_bytes()).unwrap();
    assert_eq!(payload.prompt, "why?");
    assert_eq!((payload.prompt_id.as_deref(), payload.cwd.as_deref()), (id, cwd));
}

#[rstest]
#[case::a_prompt(r#""session_id":"s","hook_event_name":"UserPromptSubmit","prompt":["why?"]"#)]
#[case::an_event(r#""session_id":"s","hook_event_name":1,"prompt":"why?""#)]
#[case::a_session(r#""session_id":{},"hook_event_name":"UserPromptSubmit","prompt":"why?""#)]
#[case::a_subagent(r#""session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"why?","agent_id":{}"#)]
fn without_a_member_that_it_needs_it_is_nothing(#[case] members: &str) {
    assert_eq!(parse(format!("{{{members}}}").as_bytes()), None);
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

/// Whether the daemon is asked when a host that runs `agent`'s hook at `event` adds `rest` to the payload.
fn asks(agent: &str, event: &str, rest: &serde_json::Value) -> bool {
    let mut stdin = json!({"hook_event_name": event, "session_id": "s", "cwd": "/c", "transcript_path": "/t"});
    let rest = rest.as_object().cloned().unwrap_or_default();
    stdin.as_object_mut().unwrap().extend(rest);
    Payload::parse(stdin.to_string().as_bytes(), Agent::parse(agent).unwrap()).is_some_and(|payload| payload.asks())
}

#[rstest]
#[case::claude_code("claude-code", "UserPromptSubmit")]
#[case::codex("codex", "UserPromptSubmit")]
#[case::gemini_cli("gemini-cli", "BeforeAgent")]
#[case::qwen_code("qwen-code", "UserPromptSubmit")]
#[case::cursor("cursor", "beforeSubmitPrompt")]
#[case::opencode("opencode", "chat.message")]
fn tc_46_a_persons_prompt_is_asked_for_and_a_subagents_is_not(#[case] agent: &str, #[case] event: &str) {
    assert!(asks(agent, event, &json!({"prompt": "why?"})));
    assert!(asks(agent, event, &json!({"prompt": "/fix the login"})));
    assert!(asks(agent, event, &json!({"prompt": "what is a <task-notification>?"})));
    // A session that a person began with an agent of a kind.
    assert!(asks(agent, event, &json!({"prompt": "why?", "agent_type": "reviewer"})));
    assert!(!asks(
        agent,
        event,
        &json!({"prompt": "why?", "agent_type": "reviewer", "agent_id": "a1"})
    ));
    assert!(!asks(agent, event, &json!({})));
}

#[rstest]
#[case::claude_task(
    "claude-code",
    "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>"
)]
#[case::claude_shell("claude-code", "<bash-notification>\n<shell-id>1</shell-id>\n</bash-notification>")]
#[case::claude_agent("claude-code", "<agent-notification>\nAgent \"Explore\" completed.\n</agent-notification>")]
#[case::claude_teammate("claude-code", "<teammate-message teammate_id=\"lead\">go on</teammate-message>")]
#[case::claude_session(
    "claude-code",
    "Another Claude session sent a message:\n<cross-session-message from=\"a\">done</cross-session-message>"
)]
#[case::claude_session_bare("claude-code", "<cross-session-message from=\"a\">done</cross-session-message>")]
#[case::claude_reminder("claude-code", "<system-reminder>The date has changed.</system-reminder>")]
#[case::claude_shell_output(
    "claude-code",
    "<bash-input>ls</bash-input><bash-stdout>a.rs</bash-stdout><bash-stderr></bash-stderr>"
)]
#[case::claude_tick("claude-code", "<tick>10:00</tick>")]
#[case::claude_stop("claude-code", "Stop hook feedback:\nthe tests fail")]
#[case::claude_summary(
    "claude-code",
    "This session is being continued from a previous conversation that ran out of context."
)]
#[case::codex_environment("codex", "<environment_context>\n  <cwd>/c</cwd>\n</environment_context>")]
#[case::codex_subagent("codex", "<subagent_notification>\n{\"status\":\"completed\"}\n</subagent_notification>")]
#[case::codex_shell("codex", "<user_shell_command>\nls\n</user_shell_command>")]
#[case::codex_instructions("codex", "# AGENTS.md instructions for /c\n\n<INSTRUCTIONS>be kind</INSTRUCTIONS>")]
#[case::gemini_go_on("gemini-cli", "System: Please continue.")]
#[case::gemini_shell("gemini-cli", "I ran the following shell command:\n```sh\nls\n```")]
#[case::gemini_task("gemini-cli", "<task-notification>done</task-notification>")]
#[case::qwen_task("qwen-code", "<task-notification>done</task-notification>")]
#[case::qwen_own("qwen-code", "<qwen:user-prompt-submit-context>\nyesterday")]
#[case::cursor_task("cursor", "<task_notification>done</task_notification>")]
#[case::cursor_system("cursor", "<system_notification>\nThe task is done.\n</system_notification>")]
#[case::opencode_reminder("opencode", "<system-reminder>Plan mode is on.</system-reminder>")]
fn tc_46_machine_text_is_not_asked_for(#[case] agent: &str, #[case] prompt: &str) {
    let agent = Agent::parse(agent).unwrap();
    let (event, _) = agent
        .events()
        .find(|(event, _)| agent.act(event) == Some(Act::Recall))
        .unwrap();
    assert!(!asks(agent.id(), event, &json!({"prompt": prompt})));
    assert!(asks(agent.id(), event, &json!({"prompt": format!("why is there\n{prompt}")})));
}

#[rstest]
#[case::claude_startup("claude-code", "SessionStart", "startup", false)]
#[case::claude_compact("claude-code", "SessionStart", "compact", true)]
#[case::codex_clear("codex", "SessionStart", "clear", false)]
#[case::codex_resume("codex", "SessionStart", "resume", true)]
#[case::gemini_startup("gemini-cli", "SessionStart", "startup", false)]
#[case::gemini_resume("gemini-cli", "SessionStart", "resume", true)]
#[case::qwen_compact("qwen-code", "SessionStart", "compact", true)]
#[case::cursor("cursor", "sessionStart", "", true)]
#[case::copilot_new("copilot-cli", "SessionStart", "new", true)]
#[case::opencode("opencode", "session.compacted", "", true)]
#[case::claude_stop("claude-code", "Stop", "", false)]
#[case::codex_compacted("codex", "PostCompact", "", false)]
#[case::gemini_stop("gemini-cli", "AfterAgent", "", false)]
#[case::cursor_stop("cursor", "stop", "", false)]
#[case::copilot_stop("copilot-cli", "Stop", "", false)]
#[case::opencode_stop("opencode", "session.idle", "", false)]
#[case::copilot_prompt("copilot-cli", "UserPromptSubmit", "", false)]
fn what_is_asked_for_beside_prompts(#[case] agent: &str, #[case] event: &str, #[case] source: &str, #[case] expected: bool) {
    assert_eq!(asks(agent, event, &json!({"source": source, "prompt": "why?"})), expected);
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
fn an_unseemly_length_is_dropped_or_left_to_the_daemon_to_refuse() {
    let stdin = |session: &str, cwd: &str| {
        json!({"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": "x", "cwd": cwd})
            .to_string()
            .into_bytes()
    };
    assert_eq!(parse(&stdin("s", &"/d".repeat(9_000))).unwrap().cwd, None);
    for id in ["s", "é", "\u{1f600}"] {
        let sent = parse(&stdin(&id.repeat(9_000), "/d")).unwrap().session.len();
        assert!((MAX_ID_BYTES + 1..MAX_ID_BYTES + 5).contains(&sent), "{sent}");
        let longest = "s".repeat(MAX_ID_BYTES);
        assert_eq!(parse(&stdin(&longest, "/d")).unwrap().session, longest);
    }
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
