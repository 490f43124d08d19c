use remembrancer_schema::Facets;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::ingest::conversation::Conversation;
use crate::ingest::{Agent, ResumePoint};

/// What a turn has touched after a call with these arguments and its result, and what else is known of it.
fn touched(calls: &[(&str, Value, bool, &str)]) -> (Facets, bool, bool) {
    let info = Agent::CLAUDE_CODE.source("/t/s.jsonl".as_ref(), UnixMillis(0), &|_| None);
    let mut conversation = Conversation::new(&info, ResumePoint::default());
    conversation.cwd("/home/ada/shop");
    conversation.prompt("p", "why does it round twice?");
    for (number, (tool, arguments, failed, content)) in calls.iter().enumerate() {
        let (id, arguments) = (number.to_string(), arguments.to_string());
        let given: Given<'_> = serde_json::from_str(&arguments).unwrap();
        given.read(|arguments| conversation.call(&id, tool, arguments));
        conversation.result(&id, *failed, content);
    }
    let (turns, _) = conversation.assembler().take();
    let turn = turns.first().unwrap();
    (turn.facets(), turn.committed, turn.error_fixed)
}

#[rstest]
#[case::read("read_file", json!({"absolute_path": "/home/ada/shop/a.rs"}), &["a.rs"], &[])]
#[case::camel("write", json!({"filePath": "/home/ada/shop/b.rs", "content": "x"}), &["b.rs"], &[])]
#[case::shell("run_shell_command", json!({"command": "cargo test --all"}), &[], &["cargo test --all"])]
#[case::shell_words("shell", json!({"command": ["bash", "-lc", "cargo test"], "workdir": "/x"}), &[], &["cargo test"])]
#[case::cmd("exec_command", json!({"cmd": "npm run build"}), &[], &["npm run build"])]
#[case::patch("apply_patch", json!({"input": "*** Begin Patch\n*** Update File: src/c.rs\n@@\n-a\n+b\n*** Add File: d.rs\n"}), &["src/c.rs", "d.rs"], &[])]
#[case::patch_by_shell("shell", json!({"command": ["apply_patch", "*** Begin Patch\n*** Delete File: e.rs\n"]}), &["e.rs"], &[])]
#[case::json_in_a_string("shell", json!(r#"{"command": "cargo test"}"#), &[], &["cargo test"])]
#[case::bare_text("apply_patch", json!("*** Begin Patch\n*** Update File: src/f.rs\n"), &["src/f.rs"], &[])]
#[case::patch_text("patch", json!({"patchText": "*** Begin Patch\n*** Update File: f.rs\n"}), &["f.rs"], &[])]
#[case::editor("text_editor", json!({"command": "str_replace", "path": "/home/ada/shop/g.rs"}), &["g.rs"], &[])]
#[case::editor_views("text_editor", json!({"command": "view", "path": "/home/ada/shop/h.rs"}), &["h.rs"], &[])]
#[case::nothing("think", json!({"thought": "hm"}), &[], &[])]
#[case::odd("shell", json!([1, 2]), &[], &[])]
#[case::ours("shell", json!({"command": "remembrancer recall x"}), &[], &[])]
#[case::our_server("mcp__remembrancer__show", json!({"path": "/a"}), &[], &[])]
#[case::our_server_by_its_name("CallMcpTool", json!({"server": "remembrancer", "toolName": "show", "path": "/a"}), &[], &[])]
#[case::our_server_as_of_cline("search", json!({"serverName": "remembrancer", "file": "/a"}), &[], &[])]
fn what_a_call_names_is_kept(#[case] tool: &str, #[case] arguments: Value, #[case] files: &[&str], #[case] commands: &[&str]) {
    let (facets, ..) = touched(&[(tool, arguments, false, "")]);
    let mut found = facets.files.clone();
    found.sort_unstable();
    let mut expected = files.to_vec();
    expected.sort_unstable();
    assert_eq!(
        (found, facets.commands),
        (
            expected.iter().map(ToString::to_string).collect(),
            commands.iter().map(ToString::to_string).collect()
        )
    );
}

#[rstest]
#[case::editor("edit", json!({"path": "a.rs"}), true)]
#[case::patch("apply_patch", json!({"input": "*** Begin Patch\n*** Update File: a.rs\n"}), true)]
#[case::reader("read_file", json!({"path": "a.rs"}), false)]
#[case::keys("write_stdin", json!({"session_id": 1, "chars": "y"}), false)]
#[case::tasks("todo_write", json!({"todos": [{"content": "Round once"}]}), false)]
#[case::elsewhere("create_issue", json!({"title": "Rounds twice"}), false)]
fn what_names_no_file_changes_none(#[case] tool: &str, #[case] arguments: Value, #[case] mends: bool) {
    let test = || json!({"command": "cargo test"});
    let (.., fixed) = touched(&[
        ("shell", test(), true, "error[E0308]: mismatched types"),
        (tool, arguments, false, ""),
        ("shell", test(), false, "ok"),
    ]);
    assert_eq!(fixed, mends);
}

#[test]
fn an_error_is_kept_and_its_mending_seen() {
    let test = || json!({"command": "cargo test"});
    let edit = ("edit", json!({"path": "a.rs"}), false, "");
    let (facets, committed, fixed) = touched(&[
        ("shell", test(), true, "error[E0308]: mismatched types"),
        edit,
        ("shell", test(), false, "ok"),
        (
            "shell",
            json!({"command": "git commit -m 'round once'"}),
            false,
            "1 file changed",
        ),
    ]);
    assert_eq!(facets.errors, ["error[E0308]: mismatched types"]);
    assert!(committed && fixed);
}
