//! What is odd in the records of Claude Code and in their shapes, by its number; and what the tests of its order and of its
//! words share: transcripts of our own, a record a call.

use remembrancer_processor::ingest::{Advance, Turn, episodes};
use rstest::rstest;
use serde_json::{Value, json};

use super::shared::{Sample, Transcripts, problems, prompts};

/// Public checkpoints of sessions.
pub(crate) const CHECKPOINTS: &str = "entireio__cli/checkpoints";
/// The session of our own records.
pub(crate) const SESSION: &str = "5e55-0001";

pub(crate) fn claude() -> Transcripts {
    Transcripts::of("claude-code", "claude")
}

/// Every transcript.
pub(crate) fn samples() -> Vec<Sample> {
    claude().samples(".jsonl")
}

/// What is read of these records, a line each.
pub(crate) fn read_records(records: &[Value]) -> Advance {
    let lines: String = records
        .iter()
        .flat_map(|record| [record.to_string(), "\n".to_owned()])
        .collect();
    claude().read_bytes(lines.as_bytes(), &format!(".claude/projects/-home-ada-shop/{SESSION}.jsonl"))
}

/// A record of a message, as of a second; its id is `<kind><second>`.
fn message(kind: &str, second: u8, content: Value) -> Value {
    let mut record = json!({"type": kind, "uuid": format!("{kind}{second}"), "sessionId": SESSION, "cwd": "/home/ada/shop",
        "timestamp": format!("2026-03-01T10:00:{second:02}.000Z"), "message": {"role": kind}});
    record["message"]["content"] = content;
    record
}

/// A person's words, or what stands in their place.
pub(crate) fn asked(second: u8, content: impl Into<Value>) -> Value {
    message("user", second, content.into())
}

/// A text of the agent.
pub(crate) fn said(second: u8, text: &str) -> Value {
    message("assistant", second, json!([{"type": "text", "text": text}]))
}

/// The run of a command, by the id `call<second>`.
pub(crate) fn ran(second: u8, command: &str) -> Value {
    let id = format!("call{second}");
    message(
        "assistant",
        second,
        json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]),
    )
}

/// The result of the call of second `of`; a failure if it is none of success.
pub(crate) fn result(second: u8, of: u8, failed: bool, content: Value) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": format!("call{of}"), "is_error": failed});
    block["content"] = content;
    message("user", second, Value::Array(vec![block]))
}

/// A record with other fields, or more of them.
pub(crate) fn with(mut record: Value, fields: Value) -> Value {
    let (Value::Object(record_fields), Value::Object(fields)) = (&mut record, fields) else {
        panic!("records and fields are objects")
    };
    record_fields.extend(fields);
    record
}

/// The agent's texts, turn by turn.
pub(crate) fn answers(advance: &Advance) -> Vec<String> {
    advance.turns.iter().map(Turn::answer).collect()
}

#[test]
fn every_kind_of_record_seen_is_known() {
    for sample in samples() {
        // Lines of other projects' own making: an object of no kind, and a kind that stands for one to come.
        let unknown = problems(&sample.read());
        let unknown = unknown
            .iter()
            .filter(|kind| kind.starts_with("unknown-record:") && *kind != "unknown-record:untyped");
        assert_eq!(unknown.count(), 0, "{}", sample.path.display());
    }
}

#[rstest]
#[case::project("-home-ada-shop/s.jsonl", true)]
#[case::project_of_a_name_that_was_set("shop-memory/s.jsonl", true)]
#[case::subagent_beside("-home-ada-shop/agent-0a1b2c3d.jsonl", true)]
#[case::subagent_below("-home-ada-shop/s/subagents/agent-1.jsonl", true)]
#[case::workflow("-home-ada-shop/s/subagents/workflows/wf_1/agent-1.jsonl", true)]
#[case::what_is_told_of_a_subagent("-home-ada-shop/s/subagents/agent-1.meta.json", false)]
#[case::spilled_result("-home-ada-shop/s/tool-results/call1.txt", false)]
#[case::spilled_lines("-home-ada-shop/s/tool-results/call1.jsonl", false)]
#[case::memory("-home-ada-shop/memory/MEMORY.md", false)]
fn only_transcripts_are_read(#[case] file: &str, #[case] expected: bool) {
    let path = std::path::Path::new("/home/ada/.claude/projects").join(file);
    assert_eq!(claude().agent.shape(&path).is_some(), expected);
}

#[test]
fn a_subagents_file_is_of_its_parents_session_though_no_record_says_so() {
    let mut task = with(asked(1, "Look for the till."), json!({"isSidechain": true}));
    task.as_object_mut().expect("a record").remove("sessionId");
    let line = format!("{task}\n");
    for place in ["subagents/agent-1.jsonl", "subagents/workflows/wf_1/agent-1.jsonl"] {
        let advance = claude().read_bytes(line.as_bytes(), &format!(".claude/projects/-home-ada-shop/parent/{place}"));
        assert_eq!(advance.turns[0].session, "parent");
    }
    let journal = "{\"type\":\"started\",\"agentId\":\"1\"}\n{\"type\":\"result\",\"agentId\":\"1\",\"result\":\"Found.\"}\n";
    let place = ".claude/projects/-home-ada-shop/parent/subagents/workflows/wf_1/journal.jsonl";
    let advance = claude().read_bytes(journal.as_bytes(), place);
    assert_eq!(
        (advance.turns, advance.problems),
        (vec![], vec![]),
        "what it says stands in the agents' own files"
    );
}

#[test]
fn oddity_12_records_without_id_and_time_hold_nothing_and_are_no_problem() {
    let kinds = [
        "file-history-snapshot",
        "file-history-delta",
        "last-prompt",
        "agent-name",
        "mode",
        "permission-mode",
        "atis-latch",
        "bridge-session",
        "relocated",
        "worktree-state",
        "started",
        "result",
        "pr-link",
        "frame-link",
        "progress",
    ];
    let mut records: Vec<Value> = kinds.iter().map(|kind| json!({"type": kind, "content": "MACHINE"})).collect();
    records.extend([
        asked(1, "Why?"),
        json!({"type": "file-history-snapshot", "isSnapshotUpdate": true}),
        said(2, "It rounds."),
    ]);
    let advance = read_records(&records);
    assert_eq!(problems(&advance), [""; 0]);
    assert_eq!(
        (prompts(&advance.turns), answers(&advance)),
        (vec!["Why?"], vec!["It rounds.".to_owned()])
    );
}

#[rstest]
#[case::a_summary("d0608523-a955-427f-bdb4-4ea27ddc16b8.jsonl")]
#[case::summaries("d3d4e0f8-bcb2-4597-8d7e-3fbcb2d9402b.jsonl")]
fn oddity_13_a_file_without_messages_gives_no_episode_and_no_error(#[case] end: &str) {
    for advance in claude().read_all(end) {
        assert_eq!((advance.turns, advance.problems), (vec![], vec![]));
        assert!(advance.records > 0);
    }
}

#[test]
fn oddity_14_a_summary_at_the_head_is_no_title_of_this_session() {
    for end in [
        "/7de1dd02-d3f9-49aa-8911-7d5b98666a03.jsonl",
        "/d6a37ffc-384d-4d2a-832a-78cdd493af69.jsonl",
    ] {
        for advance in claude().read_all(end) {
            assert!(advance.sessions.iter().all(|session| session.title.is_none()), "{end}");
        }
    }
    let summary = |leaf: &str| json!({"type": "summary", "summary": "Rounding", "leafUuid": leaf});
    let title = |leaf: &str| {
        read_records(&[asked(1, "Why?"), said(2, "It rounds."), summary(leaf)]).sessions[0]
            .title
            .clone()
    };
    assert_eq!(title("assistant2").as_deref(), Some("Rounding"));
    assert_eq!(title("elsewhere"), None);
}

#[test]
fn oddity_15_new_kinds_are_counted_by_name_and_end_nothing() {
    let advance = read_records(&[
        asked(1, "Why?"),
        json!({"type": "brand-new", "text": "MACHINE"}),
        json!({"type": "system", "subtype": "brand_new", "content": "MACHINE"}),
        json!({"type": "attachment", "attachment": {"type": "brand_new", "content": "MACHINE"}}),
        json!({"type": "atis-latch", "atis": ""}),
        json!({"type": "tool_use", "name": "Bash"}),
        said(2, "It rounds."),
    ]);
    assert_eq!(
        problems(&advance),
        ["unknown-record:brand-new", "unknown-record:system/brand_new"]
    );
    assert_eq!(answers(&advance), ["It rounds."]);
}

#[test]
fn oddity_16_thinking_is_no_memory_with_text_or_without() {
    let thinking =
        json!([{"type": "thinking", "thinking": "MACHINE", "signature": "EqQB"}, {"type": "thinking", "thinking": ""}]);
    let thought = with(said(2, ""), json!({"message": {"role": "assistant", "content": thinking}}));
    let advance = read_records(&[asked(1, "Why?"), thought, said(3, "It rounds.")]);
    assert_eq!(answers(&advance), ["It rounds."]);
}

#[test]
fn oddity_17_empty_texts_and_no_content_say_nothing() {
    for advance in claude().read_all("/05-a188c59540-0.full.jsonl") {
        let steps = advance.turns.iter().flat_map(|turn| &turn.steps);
        assert!(steps.clone().count() > 0 && !steps.clone().any(|step| step.text.contains("(no content)")));
    }
    let advance = read_records(&[asked(1, "Why?"), said(2, "(no content)"), said(3, ""), said(4, "It rounds.")]);
    assert_eq!(advance.turns[0].steps.len(), 1);
}

#[test]
fn oddity_18_a_message_without_a_reason_to_stop_is_read_like_any_other() {
    let unstopped = with(
        said(2, ""),
        json!({"message": {"stop_reason": null, "content": [{"type": "text", "text": "It rounds."}]}}),
    );
    assert_eq!(answers(&read_records(&[asked(1, "Why?"), unstopped])), ["It rounds."]);
    let mut unfinished = 0;
    for advance in claude().read_all("/2b-b8c088bdb4-0.full.jsonl") {
        unfinished += answers(&advance).iter().filter(|answer| answer.is_empty()).count();
    }
    assert!(unfinished <= 1, "{unfinished} turns without an answer");
}

#[rstest]
#[case::a_string(json!("Why?"))]
#[case::a_list(json!([{"type": "text", "text": "Why?"}]))]
#[case::a_picture_before_it(json!([{"type": "image", "source": {"type": "base64", "data": "QUJD"}}, {"type": "text", "text": "Why?"}]))]
fn oddity_19_a_prompt_is_a_string_or_a_list(#[case] content: Value) {
    assert_eq!(prompts(&read_records(&[asked(1, content)]).turns), ["Why?"]);
    for advance in claude().read_all("/images-in-user-messages.jsonl") {
        assert_eq!(advance.turns[0].prompt, "what's this an image of?");
    }
}

#[rstest]
#[case::a_string(json!("error: the till is shut"), &["error: the till is shut"])]
#[case::texts(json!([{"type": "text", "text": "error: the till is shut"}]), &["error: the till is shut"])]
#[case::a_picture(json!([{"type": "image", "source": {"data": "QUJD"}}, {"type": "text", "text": "error: the till is shut"}]), &["error: the till is shut"])]
#[case::references(json!([{"type": "tool_reference", "tool_name": "Read"}]), &[])]
#[case::empty(json!(""), &[])]
#[case::none(Value::Null, &[])]
fn oddity_20_a_result_is_a_string_a_list_or_nothing(#[case] content: Value, #[case] errors: &[&str]) {
    let advance = read_records(&[asked(1, "Why?"), ran(2, "make till"), result(3, 2, true, content)]);
    assert_eq!(advance.turns[0].facets().errors, errors);
    assert_eq!(problems(&advance), [""; 0]);
}

#[rstest]
#[case::an_object(json!({"stderr": "error: the till is shut"}))]
#[case::a_string(json!("Error: error: the till is shut"))]
#[case::a_list(json!([{"type": "text", "text": "error: the till is shut"}]))]
fn oddity_21_of_the_two_copies_of_a_result_one_is_read(#[case] copy: Value) {
    let mut failed = result(3, 2, true, json!("error: the till is shut"));
    failed["toolUseResult"] = copy;
    let advance = read_records(&[asked(1, "Why?"), ran(2, "make till"), failed]);
    assert_eq!(advance.turns[0].facets().errors, ["error: the till is shut"]);
}

#[test]
fn oddity_22_a_message_of_several_records_and_a_record_of_several_blocks_are_one_answer() {
    let text = json!({"type": "text", "text": "It rounds."});
    let call = json!({"type": "tool_use", "id": "call2", "name": "Bash", "input": {"command": "make till"}});
    let of = |id: &str, blocks: Value| {
        with(
            said(2, ""),
            json!({"uuid": id, "message": {"id": "msg_1", "content": blocks}}),
        )
    };
    let together = read_records(&[asked(1, "Why?"), of("a", json!([text, call]))]);
    let apart = read_records(&[asked(1, "Why?"), of("a", json!([text])), of("b", json!([call]))]);
    let again = read_records(&[
        asked(1, "Why?"),
        of("a", json!([text])),
        of("b", json!([call])),
        of("c", json!([text])),
        of("d", json!([call])),
    ]);
    assert_eq!(together.turns[0].facets().commands, ["make till"]);
    assert_eq!(apart.turns, together.turns);
    assert_eq!(again.turns, together.turns, "what was written again under another id");
}

#[test]
fn a_history_that_is_written_again_under_new_ids_is_read_once() {
    for end in ["/general-tool-calls.jsonl", "/images-in-user-messages.jsonl"] {
        for advance in claude().read_all(end) {
            let asked = prompts(&advance.turns);
            let mut times: Vec<_> = advance.turns.iter().map(|turn| (turn.started_at, &turn.prompt)).collect();
            times.sort();
            times.dedup();
            assert_eq!(times.len(), asked.len(), "{end}: {asked:?}");
            assert!(advance.turns.iter().all(|turn| !turn.prompt.is_empty()), "{end}: {asked:?}");
        }
    }
    let turn = |prefix: &str, parent: Value, at: u8, prompt: &str, answer: &str| {
        let (ask, say) = (format!("{prefix}u{at}"), format!("{prefix}a{at}"));
        let content = json!([{"type": "text", "text": answer}]);
        [
            with(asked(at, prompt), json!({"uuid": ask, "parentUuid": parent})),
            with(
                said(at + 1, ""),
                json!({"uuid": say, "parentUuid": ask, "message": {"id": format!("msg_{at}"), "content": content}}),
            ),
        ]
    };
    let first = turn("", Value::Null, 1, "Why?", "It rounds.");
    let second = turn("", json!("a1"), 5, "And there?", "There, too.");
    let copies = [
        turn("x", Value::Null, 1, "Why?", "It rounds."),
        turn("x", json!("xa1"), 5, "And there?", "There, too."),
    ];
    let third = turn("", json!("xa5"), 9, "Since when?", "Since May.");
    let records = [[first, second].concat(), copies.concat(), third.to_vec()].concat();
    let advance = read_records(&records);
    assert_eq!(prompts(&advance.turns), ["Why?", "And there?", "Since when?"]);
    assert_eq!(answers(&advance), ["It rounds.", "There, too.", "Since May."]);
}

#[test]
fn oddity_23_results_belong_to_calls_by_id_whatever_their_order() {
    let advance = read_records(&[
        asked(1, "Why?"),
        ran(2, "cargo test"),
        ran(3, "git commit -m till"),
        result(4, 3, false, json!("[main 1a2b3c4] till")),
        json!({"type": "progress", "uuid": "p", "data": {"type": "bash_progress", "output": "MACHINE"}}),
        result(5, 2, true, json!("error: the till is shut")),
    ]);
    let turn = &advance.turns[0];
    assert!(turn.committed);
    assert_eq!(turn.facets().errors, ["error: the till is shut"]);
}

#[rstest]
#[case::outside_of_git(json!({"gitBranch": ""}), None)]
#[case::absent(json!({}), None)]
#[case::detached(json!({"gitBranch": "HEAD"}), Some("HEAD"))]
#[case::a_branch(json!({"gitBranch": "till"}), Some("till"))]
fn oddity_24_a_branch_that_is_empty_is_none(#[case] fields: Value, #[case] expected: Option<&str>) {
    assert_eq!(
        read_records(&[with(asked(1, "Why?"), fields)]).turns[0].git_branch.as_deref(),
        expected
    );
    for turn in claude()
        .read_all("/d6a37ffc-384d-4d2a-832a-78cdd493af69.jsonl")
        .iter()
        .flat_map(|advance| &advance.turns)
    {
        assert_eq!(turn.git_branch, None);
    }
}

#[rstest]
#[case::spaces("/Users/ada/My Documents/The Shop - Till")]
#[case::windows(r"C:\code\shop")]
#[case::windows_in_an_editor(r"c:\code\shop")]
fn oddity_25_a_folder_is_kept_as_it_stands(#[case] folder: &str) {
    let advance = read_records(&[with(asked(1, "Why?"), json!({"cwd": folder}))]);
    assert_eq!(advance.turns[0].cwd.as_deref(), Some(folder));
    for turn in claude()
        .read_all("/462ed189-a6a6-46ec-b100-ff1c3dcf390a.jsonl")
        .iter()
        .flat_map(|advance| &advance.turns)
    {
        assert_eq!(turn.cwd.as_deref(), Some("/Users/pretor/Documents/PAI - TPOS"));
    }
}

/// The rows that an advance becomes.
pub(crate) fn rows(advance: &Advance) -> usize {
    advance.turns.iter().map(|turn| episodes(turn).len()).sum()
}
