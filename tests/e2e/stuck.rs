//! Commands that meet a daemon that stands still, or one of another memory: each says so, gives up, and what it asked for is not done
//! behind its back.

use std::process::{Child, Output, Stdio};
use std::time::Duration;

use remembrancer_tests::{DaemonProcess, Sandbox, eventually, sandbox, timed};
use rustix::process::Signal;

use crate::{LENIENCY, PATIENCE};

/// How long a person waits for a word (five seconds), with what a start and an end take.
const A_WORD: Duration = Duration::from_secs(6);

fn stopped(sandbox: &Sandbox) -> DaemonProcess<'_> {
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.signal(Signal::STOP);
    eventually("the daemon to stand still", PATIENCE, || {
        let stat = fs_err::read_to_string(format!("/proc/{}/stat", daemon.pid())).unwrap();
        stat.rsplit_once(')').unwrap().1.trim_start().starts_with('T').then_some(())
    });
    daemon
}

fn begin(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    let mut command = sandbox.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_daemon_that_stands_still_is_told_and_does_nothing_afterwards() {
    let sandbox = sandbox!();
    let daemon = stopped(&sandbox);
    let (shop, copy) = (sandbox.project("shop"), sandbox.home().join("copy.db"));
    let commands = [
        vec!["pause"],
        vec!["forget", "--all", "--yes"],
        vec!["exclude", &shop],
        vec!["include", &shop],
        vec!["backup", copy.to_str().unwrap()],
        vec!["status", "--flush"],
    ];
    let (outputs, took) = timed(|| {
        let begun: Vec<Child> = commands.iter().map(|arguments| begin(&sandbox, arguments)).collect();
        begun
            .into_iter()
            .map(|child| child.wait_with_output().unwrap())
            .collect::<Vec<_>>()
    });
    assert!(took < A_WORD * LENIENCY, "{took:?}");
    for (arguments, output) in commands.iter().zip(&outputs) {
        let said = said(output);
        assert_eq!(output.status.code(), Some(5), "{arguments:?}: {said}");
        let names_it = said.contains("is it stopped, or very busy?") && said.contains(&daemon.pid().to_string());
        assert!(names_it, "{arguments:?}: {said}");
    }
    daemon.signal(Signal::CONT);
    daemon.flush();
    let status = daemon.status();
    assert_eq!(status["episodes"], 3);
    assert_eq!(
        (&status["paused"], &status["excluded"]),
        (&serde_json::Value::Null, &serde_json::json!([]))
    );
    assert!(!copy.exists());
}

#[test]
fn what_was_asked_of_a_daemon_that_stood_still_is_not_done_once_nobody_waits() {
    let sandbox = sandbox!();
    let daemon = stopped(&sandbox);
    // As a client that does not look first whether anybody lives.
    let mut connection = std::os::unix::net::UnixStream::connect(sandbox.places().socket_candidates().remove(0)).unwrap();
    std::io::Write::write_all(&mut connection, b"{\"v\":1,\"op\":\"forget\",\"target\":\"all\"}\n").unwrap();
    drop(connection);
    daemon.signal(Signal::CONT);
    eventually("the request that is dropped", PATIENCE, || {
        (daemon.status()["requests_refused"]["left"] == 1).then_some(())
    });
    assert_eq!(daemon.status()["episodes"], 3);
}

#[test]
fn a_daemon_of_another_memory_is_not_asked() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    let elsewhere = sandbox.home().join("elsewhere");
    for arguments in [
        vec!["forget", "--all", "--dry-run"],
        vec!["forget", "--all", "--yes"],
        vec!["pause"],
        vec!["status"],
    ] {
        let output = sandbox.command(&arguments).env("XDG_DATA_HOME", &elsewhere).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(5), "{arguments:?}: {said}");
        let own = elsewhere.join("remembrancer/memory.db");
        for part in [own.to_str().unwrap(), ".local/share/remembrancer/memory.db", "XDG_DATA_HOME"] {
            assert!(said.contains(part), "{arguments:?}: {part}: {said}");
        }
    }
    assert_eq!(daemon.status()["episodes"], 3);
    assert_eq!(daemon.status()["paused"], serde_json::Value::Null);
}
