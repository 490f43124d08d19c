//! Sessions that are not where the daemon is: in shells of cron and ssh without their variables, in a dev container, with an agent
//! whose folder only their own shell names.

use remembrancer_tests::{HookOutput, Sandbox, Transcript, eventually, sandbox, skip, topic};
use serde_json::json;

use crate::PATIENCE;

/// Fires the hook with these variables, until the answer comes in time.
fn recalled(sandbox: &Sandbox, variables: &[(&str, &str)]) -> String {
    let mut attempt = 0;
    eventually("an answer in time", PATIENCE, || {
        attempt += 1;
        let context = fired(sandbox, variables, &format!("asks-{attempt}")).context();
        (!context.is_empty()).then_some(context)
    })
}

fn fired(sandbox: &Sandbox, variables: &[(&str, &str)], session: &str) -> HookOutput {
    let payload = json!({
        "session_id": session,
        "cwd": sandbox.project("shop"),
        "hook_event_name": "UserPromptSubmit",
        "prompt": topic(1).0,
    });
    sandbox.hook_with(payload.to_string().as_bytes(), variables)
}

#[test]
fn a_daemon_without_a_runtime_folder_is_found_from_every_shell() {
    let sandbox = sandbox!();
    if sandbox.has_real_runtime_folder() {
        return skip("this user has a runtime folder, in which the daemon would listen");
    }
    sandbox.transcript("older", "shop").topics(0..3);
    // As cron starts it; a path below a file can't be made.
    let file = sandbox.home().join("file");
    fs_err::write(&file, "").unwrap();
    let none = file.join("run").display().to_string();
    let daemon = sandbox.start_with(&[("XDG_RUNTIME_DIR", &none)]);
    daemon.flush();
    daemon.wait_for_model();
    let socket = sandbox.places().data_dir().join("run/remembrancer.sock");
    assert_eq!(daemon.status()["daemon"]["socket"], json!(socket));
    let usual = sandbox.home().join("run").display().to_string();
    for runtime_folder in [none.as_str(), usual.as_str(), "relative"] {
        assert!(recalled(&sandbox, &[("XDG_RUNTIME_DIR", runtime_folder)]).contains("case1"));
    }
}

#[test]
fn a_container_reaches_the_daemon_by_its_socket_alone() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.wait_for_model();
    let home = sandbox.home().join("in-container");
    fs_err::create_dir(&home).unwrap();
    let mounted = home.join("remembrancer.sock");
    fs_err::os::unix::fs::symlink(&sandbox.places().socket_candidates()[0], &mounted).unwrap();
    let (home, mounted) = (home.display().to_string(), mounted.display().to_string());
    let inside = [
        ("HOME", home.as_str()),
        ("XDG_RUNTIME_DIR", ""),
        ("REMEMBRANCER_SOCKET", mounted.as_str()),
    ];
    assert!(recalled(&sandbox, &inside).contains("case1"));
    drop(daemon);
    assert_eq!(fired(&sandbox, &inside, "without").stdout, "", "and nowhere else");
}

#[test]
fn a_transcript_in_a_folder_that_nobody_reads_is_told_and_not_read() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    let root = sandbox.home().join("claude-of-work/projects");
    let mut transcript = Transcript::new(&root, "s", &sandbox.project("shop"));
    transcript.topics(0..1);
    let path = transcript.path().display().to_string();
    let payload = json!({"session_id": "s", "transcript_path": path, "cwd": sandbox.project("shop"), "hook_event_name": "Stop"});
    sandbox.hook_with(payload.to_string().as_bytes(), &[]);
    let problem = eventually("the notice", PATIENCE, || {
        daemon.status()["problems"][0].as_str().map(str::to_owned)
    });
    assert!(
        problem.starts_with(&path) && problem.contains("[transcripts] folders"),
        "{problem}"
    );
    daemon.flush();
    assert_eq!(daemon.status()["episodes"], 0);
    drop(daemon);

    sandbox.configure(&format!("[transcripts]\nfolders = {{ claude-code = [{root:?}] }}\n"));
    let daemon = sandbox.start();
    sandbox.hook_with(payload.to_string().as_bytes(), &[]);
    daemon.flush();
    assert_eq!(daemon.status()["episodes"], 1);
    assert_eq!(daemon.status()["problems"], json!([]));
}
