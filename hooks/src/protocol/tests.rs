//! Tests of the wire: what is written is read again, what is strange is refused with a clear word, and the documentation holds.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::clock::{BUDGET, Deadline};

fn recall() -> RecallRequest {
    RecallRequest {
        agent: "claude-code".into(),
        session: "s1".into(),
        cwd: Some("/src/app".into()),
        at_start: false,
        prompt: "why?".into(),
        deadline_ns: Some(7_000),
        prompt_id: None,
        transcript: None,
        all_projects: false,
    }
}

fn narrowing() -> Narrowing {
    Narrowing {
        project: Some("app".into()),
        agent: Some("codex".into()),
        since_ms: Some(-5),
        until_ms: Some(7),
    }
}

#[test]
fn a_search_without_more_is_a_hybrid_one_over_all() {
    let read = Request::parse(br#"{"v":1,"op":"search","query":"words"}"#);
    let expected = SearchRequest {
        query: "words".into(),
        ..SearchRequest::default()
    };
    assert_eq!(expected.mode, SearchMode::Hybrid);
    assert_eq!(read, Ok(Request::Search(expected)));
}

#[test]
fn a_recall_is_the_documented_line() {
    let line = Request::Recall(recall()).to_line().unwrap();
    assert_eq!(
        String::from_utf8(line).unwrap(),
        "{\"v\":1,\"op\":\"recall\",\"agent\":\"claude-code\",\"session\":\"s1\",\"cwd\":\"/src/app\",\"prompt\":\"why?\",\"deadline_ns\":7000}\n"
    );
}

#[rstest]
#[case::recall(Request::Recall(recall()))]
#[case::changed(Request::Changed { agent: "codex".into(), transcript: "/t/s.jsonl".into() })]
#[case::exclude_session(Request::ExcludeSession { agent: "codex".into(), session: "s".into() })]
#[case::backup(Request::Backup { path: None })]
#[case::mend(Request::Mend { dry_run: false })]
#[case::mend_in_words(Request::Mend { dry_run: true })]
#[case::backup_to_a_place(Request::Backup { path: Some("/b.db".into()) })]
#[case::status(Request::Status)]
#[case::flush(Request::Flush)]
#[case::why(Request::Why { session: None })]
#[case::why_session(Request::Why { session: Some("s".into()) })]
#[case::explain(Request::Explain(ExplainRequest { number: Some(3), session: Some("s".into()), ..ExplainRequest::default() }))]
#[case::explain_a_new_prompt(Request::Explain(ExplainRequest { prompt: Some("why?".into()), cwd: Some("/p".into()), agent: Some("codex".into()), all_projects: true, ..ExplainRequest::default() }))]
#[case::explain_what_was_shown(Request::Explain(ExplainRequest { shown: true, ..ExplainRequest::default() }))]
#[case::explanations(Request::Explanations { session: None, limit: Some(20) })]
#[case::last_answer(Request::LastAnswer { session: None })]
#[case::last_answer_of(Request::LastAnswer { session: Some("s".into()) })]
#[case::pause(Request::Pause { until_ms: Some(5) })]
#[case::resume(Request::Resume)]
#[case::pause_sharing(Request::PauseSharing)]
#[case::resume_sharing(Request::ResumeSharing)]
#[case::share_leave(Request::ShareLeave)]
#[case::exclude(Request::Exclude { path: "/p".into() })]
#[case::include(Request::Include { path: "/p".into() })]
#[case::forget(Request::Forget { target: ForgetTarget::Matching("words".into()) })]
#[case::forget_between(Request::Forget { target: ForgetTarget::AllOf(vec![ForgetTarget::After(-5), ForgetTarget::Before(7)]) })]
#[case::forget_all(Request::Forget { target: ForgetTarget::All })]
#[case::remember(Request::Remember { text: "amounts are cents".into(), project: Some("/p".into()) })]
#[case::remember_everywhere(Request::Remember { text: "amounts are cents".into(), project: None })]
#[case::mute(Request::Steer { how: Steering::Mute, ids: vec!["1f2e3d4c".into(), "5a6b".into()] })]
#[case::unboost(Request::Steer { how: Steering::Unboost, ids: vec!["1f2e3d4c".into()] })]
#[case::import(Request::Import { lines: vec!["{}".into()], dry_run: false })]
#[case::import_to_look(Request::Import { lines: Vec::new(), dry_run: true })]
#[case::show(Request::Show { id: "1f2e3d4c".into() })]
#[case::search(Request::Search(SearchRequest { query: "words".into(), ..SearchRequest::default() }))]
#[case::search_narrowed(Request::Search(SearchRequest { query: "words".into(), narrowing: narrowing(), mode: SearchMode::Semantic, limit: Some(7), offset: Some(14) }))]
#[case::sessions(Request::Sessions(SessionsRequest { narrowing: narrowing(), limit: Some(3), before: Some("5-7".into()) }))]
#[case::timeline(Request::Timeline(TimelineRequest::default()))]
#[case::timeline_around(Request::Timeline(TimelineRequest { around: Some("1f2e3d4c".into()), narrowing: narrowing(), ..TimelineRequest::default() }))]
#[case::session(Request::Session { id: "s".into(), after: None })]
#[case::session_goes_on(Request::Session { id: "s".into(), after: Some("5-7".into()) })]
#[case::ping(Request::Ping)]
fn every_operation_is_read_again(#[case] request: Request) {
    let line = request.to_line().unwrap();
    assert_eq!(Request::parse(&line), Ok(request));
    assert_eq!(line.iter().position(|&byte| byte == b'\n'), Some(line.len() - 1));
}

#[rstest]
#[case::session(json!({"op": "recall", "agent": "a", "session": "s".repeat(257), "prompt": "x"}), "session")]
#[case::agent(json!({"op": "recall", "agent": "a".repeat(65), "session": "s", "prompt": "x"}), "agent")]
#[case::folder(json!({"op": "recall", "agent": "a", "session": "s", "prompt": "x", "cwd": "d".repeat(4_097)}), "cwd")]
#[case::prompt_id(json!({"op": "recall", "agent": "a", "session": "s", "prompt": "x", "prompt_id": "p".repeat(257)}), "prompt_id")]
#[case::transcript(json!({"op": "changed", "agent": "a", "transcript": "t".repeat(4_097)}), "transcript")]
#[case::excluded(json!({"op": "exclude_session", "agent": "a", "session": "s".repeat(257)}), "session")]
#[case::why(json!({"op": "why", "session": "s".repeat(257)}), "session")]
#[case::explained(json!({"op": "explain", "id": "p".repeat(257)}), "id")]
#[case::explained_session(json!({"op": "explain", "session": "s".repeat(257)}), "session")]
#[case::explained_agent(json!({"op": "explain", "prompt": "x", "agent": "a".repeat(65)}), "agent")]
#[case::explained_folder(json!({"op": "explain", "prompt": "x", "cwd": "d".repeat(4_097)}), "cwd")]
#[case::listed(json!({"op": "explanations", "session": "s".repeat(257)}), "session")]
#[case::last_answer(json!({"op": "last_answer", "session": "s".repeat(257)}), "session")]
#[case::path(json!({"op": "exclude", "path": "p".repeat(4_097)}), "path")]
#[case::forgotten(json!({"op": "forget", "target": {"matching": "w".repeat(65_537)}}), "target")]
#[case::instructed(json!({"op": "instruct", "path": "/p", "folder": "f".repeat(4_097)}), "folder")]
#[case::line(json!({"op": "uninstruct", "path": "/p", "line": "l".repeat(65_537)}), "line")]
#[case::remembered(json!({"op": "remember", "text": "w".repeat(65_537)}), "text")]
#[case::of_a_folder(json!({"op": "remember", "text": "x", "project": "p".repeat(4_097)}), "project")]
#[case::muted(json!({"op": "steer", "how": "mute", "ids": ["1f2e", "i".repeat(257)]}), "ids")]
#[case::shown(json!({"op": "show", "id": "i".repeat(257)}), "id")]
#[case::sought(json!({"op": "search", "query": "w".repeat(65_537)}), "query")]
#[case::sought_in(json!({"op": "search", "query": "w", "project": "p".repeat(4_097)}), "project")]
#[case::listed(json!({"op": "sessions", "agent": "a".repeat(65)}), "agent")]
#[case::around(json!({"op": "timeline", "around": "i".repeat(257)}), "around")]
#[case::session_shown(json!({"op": "session", "id": "s", "after": "5".repeat(257)}), "after")]
fn tc_29_a_member_that_is_too_long_is_named(#[case] mut request: Value, #[case] expected: &str) {
    request["v"] = VERSION.into();
    let refused = Request::parse(request.to_string().as_bytes()).unwrap_err();
    assert!(
        matches!(refused, ProtocolError::MemberTooLong { member, .. } if member == expected),
        "{refused}"
    );
    assert_eq!(refused.name(), "member-too-long");
}

#[rstest]
#[case::no_json(b"hello", "this is no line of the protocol from column 1 on")]
#[case::no_object(b"[]", "this is no line of the protocol")]
#[case::no_version(br#"{"op":"ping"}"#, "this is no line of the protocol")]
#[case::no_operation(br#"{"v":1}"#, "this is no line of the protocol")]
#[case::another_version(br#"{"v":2,"op":"ping"}"#, "protocol version 2 is not spoken here, only 1")]
#[case::another_version_of_an_unknown_operation(br#"{"v":2,"op":"sing"}"#, "protocol version 2")]
#[case::unknown_operation(br#"{"v":1,"op":"sing"}"#, "unknown operation \"sing\"")]
#[case::missing_member(br#"{"v":1,"op":"show"}"#, "a member of operation \"show\" is missing or wrong")]
#[case::wrong_member(
    br#"{"v":1,"op":"recall","agent":"a","session":"s","prompt":7}"#,
    "a member of operation \"recall\""
)]
#[case::unknown_mode(
    br#"{"v":1,"op":"search","query":"w","mode":"psychic"}"#,
    "a member of operation \"search\""
)]
#[case::unknown_target(
    br#"{"v":1,"op":"forget","target":{"all_of":[{"session":"s"},{"mood":"fine"}]}}"#,
    "a member of operation \"forget\""
)]
fn a_strange_request_is_refused_clearly(#[case] line: &[u8], #[case] message: &str) {
    let error = Request::parse(line).unwrap_err().to_string();
    assert!(error.starts_with(message), "{error}");
}

#[test]
fn unknown_members_are_passed_over() {
    let line = br#"{"v":1,"op":"recall","agent":"a","session":"s","prompt":"p","mood":{"x":[1]},"deadline_ns":null}"#;
    let Request::Recall(request) = Request::parse(line).unwrap() else {
        panic!("no recall")
    };
    assert_eq!((request.cwd, request.deadline_ns), (None, None));
    assert_eq!(Request::parse(br#"{"v":1,"op":"ping","mood":"fine"}"#), Ok(Request::Ping));
}

#[test]
fn lines_over_the_bound_are_refused() {
    let long = vec![b' '; MAX_REQUEST_BYTES + 1];
    assert_eq!(
        Request::parse(&long),
        Err(ProtocolError::TooLong {
            max_bytes: MAX_REQUEST_BYTES
        })
    );
    let request = Request::Show {
        id: "x".repeat(MAX_REQUEST_BYTES),
    };
    assert_eq!(
        request.to_line(),
        Err(ProtocolError::TooLong {
            max_bytes: MAX_REQUEST_BYTES
        })
    );
    let reply = Reply::from(Answer::done(Value::String("x".repeat(MAX_REPLY_BYTES))));
    assert_eq!(
        reply.to_line(),
        Err(ProtocolError::TooLong {
            max_bytes: MAX_REPLY_BYTES
        })
    );
}

#[rstest]
#[case::as_it_travelled(Some(5_000), 5_000)]
#[case::passed_already(Some(3), 3)]
#[case::too_far(Some(u64::MAX), 1_000 + BUDGET.as_nanos() as u64)]
#[case::none(None, 1_000 + BUDGET.as_nanos() as u64)]
fn a_deadline_is_never_later_than_the_budget(#[case] deadline_ns: Option<u64>, #[case] expected_ns: u64) {
    let request = RecallRequest { deadline_ns, ..recall() };
    assert_eq!(request.deadline(1_000), Deadline::at(expected_ns));
}

#[test]
fn replies_are_the_documented_lines() {
    let nothing = Reply::from(RecallReply::nothing("topic gate"));
    assert_eq!(
        String::from_utf8(nothing.to_line().unwrap()).unwrap(),
        "{\"v\":1,\"context\":\"\",\"shown\":[],\"reason\":\"topic gate\",\"stages\":[]}\n"
    );
    let refused = Reply::from(Answer::refused(ProtocolError::Version { found: 9 }.to_string()));
    assert_eq!(
        String::from_utf8(refused.to_line().unwrap()).unwrap(),
        "{\"v\":1,\"ok\":false,\"error\":\"protocol version 9 is not spoken here, only 1\"}\n"
    );
}

#[test]
fn replies_are_read_again() {
    let recall = RecallReply {
        v: VERSION,
        context: "<remembrancer-recollections …>\n".into(),
        shown: vec![Shown {
            id: "1f2e3d4c".into(),
            score: Some(0.5),
            project: Some("app".into()),
            shared_by: Some(json!({"member": "bob", "machine": "den", "own": false})),
        }],
        reason: None,
        stages: vec![Stage {
            name: "embed".into(),
            micros: 6_800,
        }],
    };
    for reply in [
        Reply::from(recall),
        Answer::done(json!({"episodes": 3})).into(),
        Answer::refused("no").into(),
    ] {
        assert_eq!(Reply::parse(&reply.to_line().unwrap()), Ok(reply));
    }
}

#[rstest]
#[case::empty(b"")]
#[case::garbage(b"HTTP/1.1 400 Bad Request\r\n")]
#[case::neither_context_nor_ok(br#"{"v":1}"#)]
#[case::another_version(br#"{"v":2,"context":"x"}"#)]
fn a_strange_reply_is_an_error(#[case] line: &[u8]) {
    Reply::parse(line).unwrap_err();
}

/// Every block of `PROTOCOL.md` marked `json request` or `json reply` is one that this library reads.
#[test]
fn the_examples_of_the_documentation_are_read() {
    let documentation = include_str!("../../PROTOCOL.md");
    let mut read = 0;
    for block in documentation.split("```json ").skip(1) {
        let (kind, rest) = block.split_once('\n').unwrap();
        for line in rest.split("```").next().unwrap().lines() {
            match kind {
                "request" => drop(Request::parse(line.as_bytes()).unwrap_or_else(|error| panic!("{line}: {error}"))),
                "reply" => drop(Reply::parse(line.as_bytes()).unwrap_or_else(|error| panic!("{line}: {error}"))),
                other => panic!("unknown kind {other}"),
            }
            read += 1;
        }
    }
    assert!(read >= 15, "only {read} examples");
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(line in proptest::collection::vec(any::<u8>(), 0..300)) {
        Request::parse(&line).ok();
        Reply::parse(&line).ok();
    }

    #[test]
    fn any_recall_is_read_again(
        session in any::<String>(), cwd in any::<Option<String>>(), prompt in any::<String>(),
        deadline_ns in any::<Option<u64>>(), transcript in any::<Option<String>>(),
    ) {
        let request = Request::Recall(RecallRequest { session, cwd, prompt, deadline_ns, transcript, ..recall() });
        prop_assert_eq!(Request::parse(&request.to_line().unwrap()), Ok(request));
    }
}
