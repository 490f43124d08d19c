//! Hooks fired whatever state the daemon is in, timed from start to exit as their host sees it. A hook must end with 0, write nothing
//! but one object that the host knows, and be gone by its deadline, allowing for what the machine takes to run any process at all.

use std::path::Path;
use std::time::Duration;

use remembrancer_hooks::clock::BUDGET;
use serde_json::{Value, json};

use super::check::{Broken, Violation};
use crate::sandbox::{prompt_of_claude_code, run_fed};
use crate::{Sandbox, timed};

/// What starting and ending a process may always take beyond the budget.
const LEAST_SLACK: Duration = Duration::from_millis(30);
/// A hook has two threads, a pipe and a socket to be scheduled for, where the process that is measured against has none.
const SLACK_PER_PROCESS: u32 = 3;

/// A hook that was fired.
#[derive(Debug, Clone)]
pub struct Fired {
    /// From its start to its exit.
    pub took: Duration,
    /// What a process that does nothing took before or after it, the longer.
    pub baseline: Duration,
    /// Whether it said anything.
    pub spoke: bool,
    /// The broken promises.
    pub violations: Vec<Violation>,
}

/// Fires a hook as Claude Code does.
///
/// # Panics
/// Where no process can be started.
pub fn fire(sandbox: &Sandbox, session: &str, cwd: &str, prompt: &str) -> Fired {
    let before = idle_process(sandbox);
    let payload = prompt_of_claude_code(session, cwd, prompt);
    let (output, took) = run_fed(sandbox.hook_command(), payload.as_bytes());
    let baseline = before.max(idle_process(sandbox));
    let mut violations = Vec::new();
    if !output.status.success() || !output.stderr.is_empty() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        violations.push(Violation::new(
            Broken::HookLoud,
            format!("ended with {}: {stderr}", output.status),
        ));
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    if !is_silent_or_one_object(&stdout) {
        violations.push(Violation::new(Broken::HookLoud, "wrote what is not the host's object"));
    }
    if took > BUDGET + LEAST_SLACK.max(baseline * SLACK_PER_PROCESS) {
        let detail = format!("took {took:?}, where a process that does nothing took {baseline:?}");
        violations.push(Violation::new(Broken::HookLate, detail));
    }
    Fired {
        took,
        baseline,
        spoke: !stdout.trim().is_empty(),
        violations,
    }
}

/// What a process takes that does nothing.
fn idle_process(sandbox: &Sandbox) -> Duration {
    timed(|| sandbox.command_of(Path::new("true")).status().unwrap()).1
}

fn is_silent_or_one_object(stdout: &str) -> bool {
    if stdout.trim().is_empty() {
        return true;
    }
    let Ok(object) = serde_json::from_str::<Value>(stdout) else {
        return false;
    };
    let context = &object["hookSpecificOutput"]["additionalContext"];
    let expected = json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": context}});
    context.is_string() && object == expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_and_one_object_are_all_that_a_host_takes() {
        let object = json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "x"}}).to_string();
        assert!(is_silent_or_one_object("") && is_silent_or_one_object(&object));
        for wrong in ["x", "{}", "null", &format!("{object}{object}"), &object.replace("\"x\"", "1")] {
            assert!(!is_silent_or_one_object(wrong), "{wrong}");
        }
    }
}
