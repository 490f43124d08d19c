//! TC-08: hundreds of sessions with thousands of subagents' files appear at once, and the daemon is killed while it reads them.

use remembrancer_tests::{eventually, sandbox, topic};
use rustix::process::Signal;
use serde_json::json;

use crate::PATIENCE;

/// Sessions, and subagents of each: 4,701 files of subagents in all.
const SESSIONS: u32 = 351;
const SUBAGENTS: u32 = 4_701;

/// One turn of a subagent, in a file of its own: with an id of its own, and with its parent's session id.
fn subagent(number: u32, session: &str, cwd: &str) -> String {
    let (prompt, answer) = topic(SESSIONS + number);
    let record = |kind: &str, of: u32, message: serde_json::Value| {
        json!({
            "type": kind, "uuid": format!("sub-{number}-{of}"), "parentUuid": null, "timestamp": format!("2026-08-02T10:00:0{of}.000Z"),
            "sessionId": session, "agentId": format!("a{number}"), "cwd": cwd, "isSidechain": true, "userType": "external",
            "version": "2.1.200", "message": message,
        })
    };
    let said = json!({"id": format!("msg-{number}"), "role": "assistant", "content": [{"type": "text", "text": answer}]});
    let lines = [
        record("user", 1, json!({"role": "user", "content": prompt})),
        record("assistant", 2, said),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

#[test]
fn tc_08_thousands_of_subagents_files_at_once_are_each_read_once() {
    let sandbox = sandbox!();
    let cwd = sandbox.project("shop");
    for session in 0..SESSIONS {
        let name = format!("session-{session}");
        let mut transcript = sandbox.transcript(&name, "shop");
        transcript.topics(session..session + 1);
        let folder = transcript.path().with_extension("").join("subagents");
        fs_err::create_dir_all(&folder).unwrap();
        for number in (session..SUBAGENTS).step_by(SESSIONS as usize) {
            fs_err::write(folder.join(format!("agent-a{number}.jsonl")), subagent(number, &name, &cwd)).unwrap();
        }
    }
    let daemon = sandbox.start();
    let idle = daemon.status()["daemon"]["memory"]["resident_bytes"].as_u64();
    eventually("a part of them", PATIENCE, || {
        (daemon.status()["episodes"].as_u64() > Some(500)).then_some(())
    });
    daemon.stop(Signal::KILL);
    let daemon = sandbox.start();
    daemon.flush();
    let status = daemon.status();
    assert_eq!(status["episodes"], SESSIONS + SUBAGENTS, "{}", status["problems"]);
    assert_eq!(
        (&status["sessions"], &status["problems"]),
        (&SESSIONS.into(), &json!([])),
        "each belongs to its parent's session"
    );
    let mut prompts = sandbox.prompts();
    prompts.dedup();
    assert_eq!(prompts.len() as u32, SESSIONS + SUBAGENTS, "none is there twice");
    if let (Some(idle), Some(now)) = (idle, status["daemon"]["memory"]["resident_bytes"].as_u64()) {
        assert!(now < idle + (256 << 20), "{idle} bytes resident became {now}");
    }
}
