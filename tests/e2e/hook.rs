//! The hook as a host runs it. That it exits with 0 and writes nothing to stderr is checked at every firing, see
//! `Sandbox::hook_with`.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

use remembrancer_hooks::clock::BUDGET;
use remembrancer_hooks::places::create_private_folder;
use remembrancer_tests::{HookOutput, Sandbox, eventually, sandbox, timed, topic, within};
use serde_json::json;

use crate::{LENIENCY, PATIENCE};

/// Without a daemon the hook is done in this time (DESIGN §8); so is a guarded one (TC-19).
const ABSENT: Duration = Duration::from_millis(20);

/// How late a busy machine may notice that a process has ended.
const SLACK: Duration = Duration::from_millis(120);

#[test]
fn tc_22_tc_46_two_firings_for_one_prompt_are_answered_once() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let shop = sandbox.project("shop");
    let mut attempt = 0;
    // The first firing may come too late on a busy machine; then another session tries.
    let (session, first) = eventually("an answer in time", PATIENCE, || {
        attempt += 1;
        let session = format!("asks-{attempt}");
        // `context` checks the exact keys of the object.
        let context = sandbox.hook(&session, &shop, &topic(1).0).context();
        (!context.is_empty()).then_some((session, context))
    });
    let file = sandbox.recollection_file(&session);
    assert_eq!(file.as_ref(), Some(&first), "the file says what the host was told");
    let second = sandbox.hook(&session, &shop, &topic(1).0);
    assert_eq!(second.stdout, "");
    assert_eq!(
        sandbox.recollection_file(&session),
        file,
        "the second firing leaves the file alone"
    );
    // Another prompt does not: its file says that there is nothing.
    assert_eq!(sandbox.hook(&session, &shop, "ok").stdout, "");
    let next = eventually("the next prompt's file", PATIENCE, || sandbox.recollection_file(&session));
    assert!(
        next.contains("Nothing to recall for this prompt (chatter)") && !next.contains("case1"),
        "{next}"
    );
}

#[test]
fn tc_46_a_payload_that_is_no_users_prompt_gets_nothing() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    let (shop, prompt) = (sandbox.project("shop"), topic(1).0);
    for (event, agent_id) in [("Stop", None), ("SubagentStop", None), ("UserPromptSubmit", Some("agent-7"))] {
        let mut payload = json!({"session_id": "s", "cwd": shop, "hook_event_name": event, "prompt": prompt});
        if let Some(id) = agent_id {
            payload["agent_id"] = id.into();
        }
        assert_eq!(sandbox.hook_with(payload.to_string().as_bytes(), &[]).stdout, "", "{event}");
    }
    assert_eq!(sandbox.recollection_file("s"), None);
}

#[test]
fn without_a_daemon_the_hook_is_done_at_once() {
    let sandbox = sandbox!(alone);
    let shop = sandbox.project("shop");
    let stale = sandbox.places().recollection_path("claude-code", "s-0");
    create_private_folder(stale.parent().unwrap()).unwrap();
    fs_err::write(&stale, "what an older prompt was told").unwrap();
    let median = median(20, |number| sandbox.hook(&format!("s-{number}"), &shop, &topic(number).0));
    eprintln!("the hook without a daemon: {median:?} at the median of 20");
    assert!(median <= ABSENT * LENIENCY, "{median:?}");
    assert!(!stale.exists(), "a stale file shown as fresh is worse than none");
}

#[test]
fn tc_19_a_guarded_hook_keeps_its_session_out() {
    let sandbox = sandbox!(alone);
    let mut child = sandbox.transcript("child", "shop");
    child.topics(0..2);
    sandbox.transcript("person", "shop").topics(5..7);
    let daemon = sandbox.start();
    daemon.flush();
    let shop = sandbox.project("shop");
    let payload =
        json!({"session_id": "child", "cwd": shop, "hook_event_name": "UserPromptSubmit", "prompt": topic(5).0}).to_string();
    let median = median(5, |_| sandbox.hook_with(payload.as_bytes(), &[("REMEMBRANCER_GUARD", "1")]));
    eprintln!("the guarded hook: {median:?} at the median of 5");
    assert!(median <= ABSENT * LENIENCY, "{median:?}");
    eventually("the child's episodes to be deleted", PATIENCE, || {
        (daemon.status()["episodes"] == 2).then_some(())
    });
    child.topics(2..4);
    daemon.flush();
    let reply = daemon.recall("asks", &shop, &topic(3).0);
    assert!(!reply.context.contains("case3"), "{reply:?}");
    assert_eq!(daemon.status()["episodes"], 2, "nothing of the child was added");
    let asked = daemon.recall("child", &shop, &topic(5).0);
    assert_eq!((asked.context.as_str(), asked.reason.as_deref()), ("", Some("excluded")));
    assert_eq!(daemon.why_within(Duration::ZERO, "child"), None, "not even that it asked");
}

#[test]
fn tc_19_a_session_that_was_guarded_while_no_daemon_ran_is_kept_out() {
    let sandbox = sandbox!(alone);
    sandbox.transcript("child", "shop").topics(0..2);
    sandbox.transcript("person", "shop").topics(5..7);
    let shop = sandbox.project("shop");
    let payload =
        json!({"session_id": "child", "cwd": shop, "hook_event_name": "UserPromptSubmit", "prompt": topic(5).0}).to_string();
    let guarded = sandbox.hook_with(payload.as_bytes(), &[("REMEMBRANCER_GUARD", "1")]);
    assert_eq!(guarded.stdout, "");
    assert!(sandbox.places().guarded_file().exists(), "there is nobody else to tell");
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(daemon.status()["episodes"], 2, "nothing of the child was read");
    assert!(!sandbox.places().guarded_file().exists(), "it is done");
    let asked = daemon.recall("child", &shop, &topic(5).0);
    assert_eq!((asked.context.as_str(), asked.reason.as_deref()), ("", Some("excluded")));
}

#[test]
fn tc_23_a_daemon_that_never_answers_costs_the_budget_once() {
    let sandbox = sandbox!(alone);
    let socket = sandbox.places().socket_candidates().remove(0);
    create_private_folder(socket.parent().unwrap()).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let shop = sandbox.project("shop");
    // The kernel accepts for it: connecting and writing succeed, and not one byte comes back.
    let first = sandbox.hook("s", &shop, &topic(0).0);
    let second = sandbox.hook("s", &shop, &topic(1).0);
    eprintln!("a silent daemon: {:?}, then {:?}", first.took, second.took);
    assert_eq!((first.stdout.as_str(), second.stdout.as_str()), ("", ""));
    assert!(first.took <= BUDGET + SLACK, "{:?}", first.took);
    assert!(
        second.took <= BUDGET / 2,
        "the miss keeps the next hooks silent: {:?}",
        second.took
    );
    drop(listener);

    // A daemon that starts ends the silence.
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.wait_for_model();
    let mut attempt = 0;
    eventually("an answer in time", PATIENCE, || {
        attempt += 1;
        (!sandbox
            .hook(&format!("later-{attempt}"), &shop, &topic(1).0)
            .context()
            .is_empty())
        .then_some(())
    });
}

#[test]
fn tc_29_bad_stdin_gets_nothing_and_touches_nothing() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    let before = files(&sandbox);
    let shop = sandbox.project("shop");
    let with = |session: &str, prompt: &str| {
        json!({"session_id": session, "cwd": shop, "hook_event_name": "UserPromptSubmit", "prompt": prompt}).to_string()
    };
    let too_long = "x".repeat(300);
    let cases = [
        String::new(),
        "not json".to_owned(),
        "[1, 2]".to_owned(),
        "{\"session_id\": 7, \"prompt\": null}".to_owned(),
        json!({"hook_event_name": "UserPromptSubmit", "prompt": "no session"}).to_string(),
        with("", "an empty id"),
        with(&too_long, "an id of unseemly length"),
        "\u{feff}".to_owned(),
        "{\"session_id\":\"s\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"cut in the mid".to_owned(),
    ];
    for case in &cases {
        assert_eq!(sandbox.hook_with(case.as_bytes(), &[]).stdout, "", "{case}");
    }
    assert_eq!(files(&sandbox), before);

    let hostile = ["../../x", "/etc/passwd", "a/b", "..", "a\u{0}b", "ünïcode", "-rf", "$(id)"];
    for session in hostile {
        assert_eq!(
            sandbox
                .hook_with(with(session, "is there anything about the importer?").as_bytes(), &[])
                .stdout,
            "",
            "{session}"
        );
        daemon.recall(session, &shop, "is there anything about the importer?");
    }
    let huge = with("huge", &"the importer of case1 is slow. ".repeat(40_000));
    assert_eq!(sandbox.hook_with(huge.as_bytes(), &[]).stdout, "");
    let folder = sandbox.places().recollections_dir();
    for new in files(&sandbox).difference(&before) {
        assert_eq!(new.parent(), Some(folder.as_path()), "{}", new.display());
        let name = new.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            name.starts_with("claude-code-") && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)),
            "{name}"
        );
    }
}

#[test]
fn a_host_that_holds_stdin_open_is_not_waited_for() {
    let sandbox = sandbox!(alone);
    let _daemon = sandbox.start();
    let ((stdout, status), took) = timed(|| {
        let mut child = sandbox.hook_command().spawn().unwrap();
        // Taken out of the child, or waiting would close it.
        let stdin = child.stdin.take();
        let mut stdout = String::new();
        child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let status = child.wait().unwrap();
        drop(stdin);
        (stdout, status)
    });
    eprintln!("stdin held open: {took:?}");
    assert_eq!((stdout.as_str(), status.code()), ("", Some(0)));
    assert!(took <= BUDGET + SLACK, "{took:?}");
}

/// The median time of `firings` of a hook that has nothing to say.
fn median(firings: u32, fire: impl Fn(u32) -> HookOutput) -> Duration {
    let mut times: Vec<Duration> = (0..firings)
        .map(|number| {
            let output = fire(number);
            assert_eq!(output.stdout, "");
            output.took
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Every file of the home but the database's own.
fn files(sandbox: &Sandbox) -> BTreeSet<PathBuf> {
    let data = sandbox.places().data_dir();
    let entries = walkdir::WalkDir::new(sandbox.home()).into_iter().flatten();
    entries
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.is_file() && !path.starts_with(&data))
        .collect()
}

#[test]
fn a_session_that_goes_on_after_a_compaction_is_reminded() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..6);
    let mut session = sandbox.transcript("s", "shop");
    session.turn(&topic(1).0, "I look into it.");
    let daemon = sandbox.start();
    daemon.flush();
    daemon.embed_all();
    let shop = sandbox.project("shop");
    let starts = |session: &str, source: &str| {
        let payload = json!({"session_id": session, "cwd": shop, "hook_event_name": "SessionStart", "source": source});
        sandbox.hook_with(payload.to_string().as_bytes(), &[])
    };
    let reminded = starts("s", "compact");
    assert!(reminded.context().contains("case1"), "{reminded:?}");
    assert!(reminded.stdout.contains(r#""hookEventName":"SessionStart""#));
    assert_eq!(starts("s", "startup").stdout, "", "a new session waits for its prompt");
}

/// The writing end of a pipe that is full and that nobody reads, and the reading end, which keeps it open.
fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while std::io::Write::write(&mut writer, &[b'x'; 512]).is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

#[test]
fn a_host_that_does_not_read_is_not_waited_for() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let shop = sandbox.project("shop");
    let payload = json!({"session_id": "s", "cwd": shop, "hook_event_name": "UserPromptSubmit", "prompt": topic(1).0});
    let (_reader, writer) = full_pipe();
    let mut child = sandbox.hook_command().stdout(writer).spawn().unwrap();
    let (status, took) = timed(|| {
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.to_string().as_bytes()).unwrap();
        within(PATIENCE, || child.try_wait().unwrap())
    });
    child.kill().ok();
    child.wait().unwrap();
    assert!(status.is_some_and(|status| status.success()), "{status:?} after {took:?}");
    assert!(took < (BUDGET + SLACK) * LENIENCY, "{took:?}");
}
