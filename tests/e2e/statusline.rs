//! `statusline`: one quiet line for an editor, in its time and without an error, whatever the daemon does.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use remembrancer_tests::{Sandbox, eventually, sandbox, timed};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::PATIENCE;
use crate::install::{Installed, said};

const PROMPT: &str = "Why does the invoice exporter drop the last row of the table?";
const ANSWER: &str = "The loop of the exporter stopped one row early. It runs to the end now, and a test with one row holds it.";

/// What the host writes on stdin.
fn stdin_of(session: &str) -> String {
    json!({
        "hook_event_name": "Status", "session_id": session, "cwd": "/x", "model": {"id": "m", "display_name": "M"},
        "workspace": {"current_dir": "/x", "project_dir": "/x"}, "version": "2.1.300",
    })
    .to_string()
}

/// Runs a command with this text on stdin, to its end.
fn fed(mut command: Command, stdin: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may not read it at all.
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).ok();
    child.wait_with_output().unwrap()
}

/// The line, which nothing may stand beside.
fn line(sandbox: &Sandbox, arguments: &[&str], stdin: &str) -> String {
    let output = fed(sandbox.command(arguments), stdin);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches('\n').count(), 1, "{text:?}");
    text.trim_end_matches('\n').to_owned()
}

/// Waits until the line is one that begins like this. On a busy machine it may come too late, and is empty then.
fn told(sandbox: &Sandbox, arguments: &[&str], stdin: &str, begin: &str) -> String {
    eventually(begin, PATIENCE, || {
        Some(line(sandbox, arguments, stdin)).filter(|line| line.starts_with(begin))
    })
}

#[test]
fn it_tells_what_the_memory_did_for_the_last_prompt() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").turn(PROMPT, ANSWER);
    let asks = stdin_of("asks");
    let of = |begin: &str| told(&sandbox, &["statusline"], &asks, begin);
    assert_eq!(of("memory: off"), "memory: off");
    // Settings that nothing else would run with.
    sandbox.configure("nonsense = [");
    assert_eq!(of("memory: off"), "memory: off");
    sandbox.configure("");

    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    assert_eq!(line(&sandbox, &["statusline"], &asks), "", "nothing is known");
    let shop = sandbox.project("shop");
    let reply = daemon.recall(
        "asks",
        &shop,
        "The invoice exporter drops the last row of its table again, why?",
    );
    assert_eq!(reply.shown.len(), 1, "{reply:?}");
    let shown = of("memory: 1 shown · ");
    assert!(shown.ends_with(" ms"), "{shown}");
    assert_eq!(line(&sandbox, &["statusline"], &stdin_of("another")), "", "it asked nothing");
    told(&sandbox, &["statusline"], "", "memory: 1 shown");
    told(&sandbox, &["statusline", "--nonsense"], "no JSON", "memory: 1 shown");
    daemon.recall("asks", &shop, "thanks");
    of("memory: nothing to add");
    sandbox.run(&["pause"]);
    assert_eq!(of("memory: paused"), "memory: paused");
    let (status, _) = daemon.stop(Signal::TERM);
    assert!(status.success());
    assert_eq!(of("memory: off"), "memory: off");
}

#[test]
fn it_does_not_wait_for_a_host_that_keeps_its_end_open() {
    let sandbox = sandbox!();
    let mut child = sandbox
        .command(&["statusline"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let kept_open = child.stdin.take();
    let (output, took) = timed(|| child.wait_with_output().unwrap());
    drop(kept_open);
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "\n");
    eprintln!("the line came after {took:?}");
    assert!(took < Duration::from_secs(2), "{took:?}, on however busy a machine");
}

#[test]
fn install_sets_it_where_none_is_and_uninstall_takes_it_out() {
    let sandbox = sandbox!();
    let installed = Installed::new(&sandbox, "my programs");
    let file = sandbox.home().join(".claude/settings.json");
    fs_err::create_dir_all(file.parent().unwrap()).unwrap();
    let before = "{\n  // mine\n  \"model\": \"opus\"\n}\n";
    fs_err::write(&file, before).unwrap();
    let install = ["install", "--agent", "claude-code", "--status-line", "--yes"];
    let output = installed.run(&install);
    assert!(output.status.success(), "{}", said(&output));
    let text = fs_err::read_to_string(&file).unwrap();
    let settings: Value = serde_json::from_str(&text.replace("// mine", "")).unwrap();
    assert_eq!(settings["statusLine"]["type"], "command");
    // As the host runs it.
    let mut host = installed.command(&[]);
    let shell = settings["statusLine"]["command"].as_str().unwrap();
    eventually("the line that the host shows", PATIENCE, || {
        let mut command = Command::new("sh");
        command.args(["-c", shell]);
        for (name, value) in host.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        (fed(command, &stdin_of("s")).stdout == b"memory: off\n").then_some(())
    });
    assert!(said(&host.args(["doctor"]).output().unwrap()).contains("the status line runs "));
    let again = installed.run(&install);
    assert!(said(&again).contains("nothing to do"), "{}", said(&again));
    let output = installed.run(&["uninstall", "--agent", "claude-code", "--yes"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(fs_err::read_to_string(&file).unwrap(), before);

    let own = "{\"statusLine\": {\"type\": \"command\", \"command\": \"date\"}}";
    fs_err::write(&file, own).unwrap();
    let output = installed.run(&install);
    assert!(
        said(&output).contains("a status line of your own, which stays"),
        "{}",
        said(&output)
    );
    assert!(fs_err::read_to_string(&file).unwrap().contains("\"command\": \"date\""));
    installed.run(&["uninstall", "--agent", "claude-code", "--yes"]);
    assert_eq!(fs_err::read_to_string(&file).unwrap(), own);
}
