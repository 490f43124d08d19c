//! The line that an editor shows below its prompt: what the memory did for the last one. The host's JSON on stdin comes in, if any; one
//! quiet line goes to stdout, and the exit code is 0.
//!
//! The course is the hook's: a worker does all that can hang, and main waits for it no longer than the deadline. What is not known is an
//! empty line. Nothing is ever written to stderr, nothing here fails, and no word of a memory is shown.

use std::io::{IsTerminal, Read};
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;

use crate::client::{Client, ClientError};
use crate::clock::{Deadline, EXIT_MARGIN, process_started_ns};
use crate::environment::Environment;
use crate::hook::{END_OF_PROCESS, print_by, worked_out_in};
use crate::payload::{SESSION_NAMES, without_mark};
use crate::places::Places;
use crate::protocol::{MAX_ID_BYTES, Reply, Request};

/// From the process's start to its last word: hosts run the command at every change of what they show, and one that is slow is cut off,
/// or shows late.
pub const STATUS_LINE_BUDGET: Duration = Duration::from_millis(50);
/// Hosts write a few kilobytes.
const MAX_STDIN_BYTES: u64 = 1024 * 1024;
/// What the line begins with.
const LABEL: &str = "memory:";

/// The whole of `remembrancer statusline`: always [`ExitCode::SUCCESS`], since a host shows nothing else.
pub fn run_status_line() -> ExitCode {
    let started_ns = process_started_ns();
    let deadline = Deadline::after(started_ns, STATUS_LINE_BUDGET.saturating_sub(EXIT_MARGIN));
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let line = catch_unwind(|| line_by(deadline)).ok().flatten().unwrap_or_default();
    std::panic::set_hook(hook);
    let by = Deadline::after(started_ns, STATUS_LINE_BUDGET.saturating_sub(END_OF_PROCESS));
    print_by(std::io::stdout(), line + "\n", by);
    ExitCode::SUCCESS
}

/// Lets a worker find the line, and leaves it behind when it is late.
fn line_by(deadline: Deadline) -> Option<String> {
    let find = move || Environment::from_process().map(|environment| status_line(&read_stdin(), &environment, deadline));
    worked_out_in("status-line", deadline.remaining(), find)
}

/// Reads what the host wrote; nothing where a person runs the command.
fn read_stdin() -> Vec<u8> {
    let mut bytes = Vec::new();
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        stdin.lock().take(MAX_STDIN_BYTES).read_to_end(&mut bytes).ok();
    }
    bytes
}

/// The line for the session that `stdin` names, or for whichever asked last where it names none; empty where nothing is known.
///
/// Where nobody listens it is "memory: off". It has no control characters, and at most some forty characters.
pub fn status_line(stdin: &[u8], environment: &Environment, deadline: Deadline) -> String {
    if environment.guard {
        return String::new();
    }
    let request = Request::LastAnswer { session: session(stdin) };
    match Client::new(Places::new(environment)).call_until(&request, deadline) {
        Ok(Reply::Answer(answer)) if answer.ok => told(&answer.data),
        Err(ClientError::NoDaemon { .. }) => format!("{LABEL} off"),
        _ => String::new(),
    }
}

/// The session that a host names on stdin, by the names that hosts give it.
fn session(stdin: &[u8]) -> Option<String> {
    let told: Value = serde_json::from_slice(without_mark(stdin)).ok()?;
    let mut named = SESSION_NAMES.into_iter().filter_map(|name| told[name].as_str());
    named.find(|id| (1..=MAX_ID_BYTES).contains(&id.len())).map(str::to_owned)
}

/// What the daemon's answer comes to in a line.
fn told(data: &Value) -> String {
    if data["paused"] == true {
        return format!("{LABEL} paused");
    }
    let state = data["state"]
        .as_str()
        .filter(|state| matches!(*state, "degraded" | "stalled"));
    if data["answered"] != true {
        return state.map(|state| format!("{LABEL} {state}")).unwrap_or_default();
    }
    let is_name = |reason: &&str| reason.len() <= 20 && reason.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let failure = data["reason"].as_str().filter(|_| data["failed"] == true).filter(is_name);
    let lacked_something = data["degradations"].as_array().is_some_and(|names| !names.is_empty());
    let did = match (failure, data["shown"].as_u64().unwrap_or_default()) {
        (Some(failure), _) => failure.replace('-', " "),
        (None, 0) => "nothing to add".to_owned(),
        (None, shown) => format!("{shown} shown"),
    };
    let took = data["millis"].as_f64().map(|millis| format!("{:.0} ms", millis.max(1.0)));
    let state = state.or((failure.is_some() || lacked_something).then_some("degraded"));
    let parts = [Some(did), took, state.map(str::to_owned)];
    format!("{LABEL} {}", parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn answer(shown: u64, reason: Option<&str>, degradations: &[&str], state: &str) -> Value {
        json!({
            "answered": true, "shown": shown, "millis": 13.7, "reason": reason, "failed": reason == Some("out-of-time"), "degradations": degradations,
            "paused": false, "state": state,
        })
    }

    #[rstest]
    #[case::shown(answer(2, None, &[], "well"), "memory: 2 shown · 14 ms")]
    #[case::nothing(answer(0, Some("chatter"), &[], "behind"), "memory: nothing to add · 14 ms")]
    #[case::without_something(answer(1, None, &["no-model"], "well"), "memory: 1 shown · 14 ms · degraded")]
    #[case::late(answer(0, Some("out-of-time"), &[], "well"), "memory: out of time · 14 ms · degraded")]
    #[case::stalled(answer(1, None, &[], "stalled"), "memory: 1 shown · 14 ms · stalled")]
    #[case::paused(json!({"answered": true, "shown": 2, "paused": true}), "memory: paused")]
    #[case::nothing_known(json!({"answered": false, "shown": null, "paused": false, "state": "well"}), "")]
    #[case::nothing_known_but_that(json!({"answered": false, "paused": false, "state": "degraded"}), "memory: degraded")]
    #[case::of_another_version(json!({"mood": "fine"}), "")]
    #[case::hostile(json!({"answered": true, "failed": true, "reason": "\u{1b}[31m", "state": "\u{7}", "paused": false}), "memory: nothing to add")]
    fn one_quiet_line(#[case] data: Value, #[case] expected: &str) {
        assert_eq!(told(&data), expected);
    }

    #[rstest]
    #[case::claude_code(r#"{"hook_event_name":"Status","session_id":"a","cwd":"/x"}"#, Some("a"))]
    #[case::in_camel_case(r#"{"sessionId":"b"}"#, Some("b"))]
    #[case::none("{}", None)]
    #[case::empty("", None)]
    #[case::no_object("[1]", None)]
    #[case::no_text(r#"{"session_id":7}"#, None)]
    fn the_session_that_a_host_names(#[case] stdin: &str, #[case] expected: Option<&str>) {
        assert_eq!(session(stdin.as_bytes()).as_deref(), expected);
    }
}
