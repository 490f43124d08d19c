//! TC-14: rollouts of Codex that are packed, moved to the archive, or both there for a moment.

use remembrancer_tests::sandbox;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::json;

const NAME: &str = "rollout-2026-03-01T10-00-00-019ca000-0000-7000-8000-00000000000a.jsonl";

/// A rollout with a second `session_meta`, as each resume writes one, and its prompts in both shapes.
fn rollout(cwd: &str) -> String {
    let line = |second: u32, kind: &str, payload: serde_json::Value| {
        format!(
            "{}\n",
            json!({"timestamp": format!("2026-03-01T10:00:{second:02}.000Z"), "type": kind, "payload": payload})
        )
    };
    let meta = |second| {
        line(
            second,
            "session_meta",
            json!({"id": "019ca000-0000-7000-8000-00000000000a", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.140.0"}),
        )
    };
    let asked = |second, text: &str| {
        let item = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
        line(second, "response_item", item) + &line(second, "event_msg", json!({"type": "user_message", "message": text}))
    };
    let said = |second, text: &str| {
        let item = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
        line(second, "response_item", item)
    };
    [
        meta(0),
        asked(1, "Why does the till round twice?"),
        said(2, "The price was rounded before the tax; it is rounded once now."),
        meta(3),
        asked(4, "And the receipt, does it add up?"),
        said(5, "It does: the receipt sums the rounded lines."),
    ]
    .concat()
}

#[test]
fn tc_14_a_rollout_that_is_packed_and_archived_is_remembered_once() {
    let sandbox = sandbox!();
    let content = rollout(&sandbox.project("till"));
    let packed = compress_to_vec(content.as_bytes(), CompressionLevel::Fastest);
    let codex = sandbox.home().join(".codex");
    let (sessions, archived) = (codex.join("sessions/2026/03/01"), codex.join("archived_sessions"));
    for folder in [&sessions, &archived] {
        fs_err::create_dir_all(folder).unwrap();
    }
    let daemon = sandbox.start();
    let expected = ["And the receipt, does it add up?", "Why does the till round twice?"];
    fs_err::write(sessions.join(NAME), &content).unwrap();
    daemon.flush();
    assert_eq!(sandbox.prompts(), expected);
    // Packed beside itself, then alone, then in the archive, packed and plain.
    fs_err::write(sessions.join(format!("{NAME}.zst")), &packed).unwrap();
    daemon.flush();
    assert_eq!(sandbox.prompts(), expected);
    fs_err::remove_file(sessions.join(NAME)).unwrap();
    daemon.flush();
    assert_eq!(sandbox.prompts(), expected);
    fs_err::rename(sessions.join(format!("{NAME}.zst")), archived.join(format!("{NAME}.zst"))).unwrap();
    fs_err::write(archived.join(NAME), &content).unwrap();
    daemon.flush();
    assert_eq!(sandbox.prompts(), expected);
    let found = daemon.recall("asks", &sandbox.project("till"), "why did the till round twice");
    assert!(found.context.contains("rounded once now"), "{found:?}");
}

#[test]
fn tc_14_an_archive_of_an_unknown_kind_is_told() {
    let sandbox = sandbox!();
    let sessions = sandbox.home().join(".codex/sessions/2026/03/01");
    fs_err::create_dir_all(&sessions).unwrap();
    for name in ["a", "b"] {
        fs_err::write(sessions.join(format!("rollout-{name}.jsonl.lz4")), "packed").unwrap();
    }
    fs_err::write(sessions.join("notes.md"), "no transcript").unwrap();
    let daemon = sandbox.start();
    daemon.flush();
    let not_read = &daemon.status()["files_not_read"];
    assert_eq!(
        (&not_read[0]["suffix"], &not_read[0]["count"]),
        (&".jsonl.lz4".into(), &2.into()),
        "{not_read}"
    );
    assert!(not_read[1].is_null(), "{not_read}");
    let said = String::from_utf8(sandbox.run(&["status"]).stdout).unwrap();
    assert!(
        said.contains("not read:   2 files that end in .jsonl.lz4, such as "),
        "{said}"
    );
}
