//! Plays the host: starts a registered command as the host does, with a probe on stdin, and judges what comes back. The command and
//! the probe come in; what happened goes out. The daemon answers a probe without leaving a trace of it.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use remembrancer_hooks::clock::BUDGET;
use remembrancer_hooks::protocol::PROBE_SESSION;
use remembrancer_hooks::recollection_file::{prompt_hash, prompt_hash_hex};
use remembrancer_hooks::{Agent, Firing};
use remembrancer_processor::Stopwatch;

use crate::clock;
use crate::install::{self, Registered};
use crate::system;

/// Far longer than any hook of ours runs: one that is still there then hangs.
const PATIENCE: Duration = Duration::from_secs(5);
/// A probe may meet a machine that is busy for a moment.
const ATTEMPTS: usize = 3;
/// The exit codes of a shell for a program that is not there, and for one that can't be run.
const NOT_FOUND: i32 = 127;
const NOT_EXECUTABLE: i32 = 126;

/// What became of a program that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ran {
    /// It ended with success, and wrote this to stdout.
    Wrote { stdout: String, took: Duration },
    /// There is no such program.
    NotThere,
    /// It may not be run.
    NotExecutable,
    /// It failed, or did not end.
    Failed(String),
}

/// What a host makes of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    /// The model sees the daemon's answer.
    Answer { took: Duration },
    /// The answer is no such answer, though its shape is right.
    Another,
    /// Nothing: the daemon was not found, or was too slow.
    Nothing { took: Duration },
    /// The host refuses it, or passes over it.
    Refused,
    /// The command does not run.
    Broken(Ran),
}

/// An id for a session that is a probe's, never the same again.
pub(super) fn probe_session() -> String {
    format!("{PROBE_SESSION}{}-{}", std::process::id(), clock::now().0)
}

/// What the program of an entry says of its version.
pub(super) fn version(entry: &Registered) -> Ran {
    run(started(&entry.asks_version, entry.shell), "")
}

/// Fires an entry as the host does, until the probe's answer comes back or the attempts are used up.
pub(super) fn fire(entry: &Registered, agent: Agent, cwd: &str) -> Heard {
    let mut heard = Heard::Nothing { took: Duration::ZERO };
    for _ in 0..ATTEMPTS {
        heard = fire_once(entry, agent, cwd);
        if !matches!(heard, Heard::Nothing { .. }) {
            break;
        }
    }
    heard
}

fn fire_once(entry: &Registered, agent: Agent, cwd: &str) -> Heard {
    let session = probe_session();
    let firing = Firing {
        event: &entry.event,
        session: &session,
        cwd,
        prompt: "is what remembrancer recalls seen by the model?",
    };
    let command = started(&entry.command, entry.shell);
    let told = if agent.tells_prompt(&entry.event) { firing.prompt } else { "" };
    let expected = prompt_hash_hex(&prompt_hash(&session, told));
    match run(command, &agent.payload(&firing)) {
        Ran::Wrote { stdout, took } if stdout.is_empty() => Heard::Nothing { took },
        Ran::Wrote { stdout, took } => match agent.context_in(&entry.event, &stdout) {
            Some(context) if context.contains(&expected) => Heard::Answer { took },
            Some(_) => Heard::Another,
            None => Heard::Refused,
        },
        other => Heard::Broken(other),
    }
}

/// A command as the host starts it: the program itself, or a line by its shell.
fn started(command: &install::Command, shell: &str) -> Command {
    let Some(arguments) = &command.arguments else {
        let mut started = Command::new(shell);
        started.args(["-c", &command.text]);
        return started;
    };
    let mut started = Command::new(&command.text);
    started.args(arguments);
    started
}

/// Runs a command to its end, with `stdin` on its stdin. Whoever is no child of a person's shell is not guarded.
pub(super) fn run(mut command: Command, stdin: &str) -> Ran {
    command
        .env_remove("REMEMBRANCER_GUARD")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    system::lead_a_group(&mut command);
    let mut watch = Stopwatch::start();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ran::NotThere,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Ran::NotExecutable,
        Err(error) => return Ran::Failed(error.to_string()),
    };
    if let Some(mut pipe) = child.stdin.take() {
        // A program that has no use for its stdin may have closed it.
        pipe.write_all(stdin.as_bytes()).ok();
    }
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()).ok());
    match receiver.recv_timeout(PATIENCE) {
        Ok(Ok(output)) => {
            watch.lap("run");
            ended(&output, watch.total())
        }
        Ok(Err(error)) => Ran::Failed(error.to_string()),
        Err(_) => {
            system::kill_group(id);
            Ran::Failed(format!("it did not end within {} s", PATIENCE.as_secs()))
        }
    }
}

fn ended(output: &Output, took: Duration) -> Ran {
    match output.status.code() {
        Some(0) => Ran::Wrote {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            took,
        },
        Some(NOT_FOUND) => Ran::NotThere,
        Some(NOT_EXECUTABLE) => Ran::NotExecutable,
        _ => Ran::Failed(format!("it ended with {}", output.status)),
    }
}

/// Whether an answer came within what a prompt waits for.
pub(super) fn is_in_time(took: Duration) -> bool {
    took <= BUDGET
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::silent("true", |heard| matches!(heard, Heard::Nothing { .. }))]
    #[case::text("echo remember", |heard| heard == Heard::Refused)]
    #[case::one_key_too_many(
        r#"echo '{"continue":true,"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"x"}}'"#,
        |heard| heard == Heard::Refused
    )]
    #[case::of_another(
        r#"echo '{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"x"}}'"#,
        |heard| heard == Heard::Another
    )]
    #[case::gone("/no/such/program", |heard| heard == Heard::Broken(Ran::NotThere))]
    #[case::no_program("/etc/passwd", |heard| heard == Heard::Broken(Ran::NotExecutable))]
    #[case::failing("exit 2", |heard| matches!(heard, Heard::Broken(Ran::Failed(_))))]
    fn what_a_host_makes_of_it(#[case] line: &str, #[case] expected: fn(Heard) -> bool) {
        let heard = fire(&Registered::of_line(line), Agent::CODEX, "/");
        assert!(expected(heard.clone()), "{heard:?}");
    }
}
