//! Faults in processes that live for a moment: the hook, and commands that run without a daemon.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::Value;

use super::case::{Case, Outcome};
use super::check::Home;
use super::control::Control;
use super::page::{Call, Class};
use crate::sandbox::{Sandbox, prompt_of_claude_code, run_fed};
use crate::transcript::topic;
use crate::wait::timed;

/// How long a busy machine may take to start a process and to notice its end, beyond what the hook takes.
const SCHEDULING: Duration = Duration::from_millis(150);
/// A command that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// Fires the hook, with the library of `control` in it where there is one. Gives what it did that it must not.
pub(super) fn hook_fault(sandbox: &Sandbox, control: Option<&Control>, session: &str, cwd: &str, prompt: &str) -> Option<String> {
    let mut command = sandbox.hook_command();
    if let Some(control) = control {
        control.surround(&mut command);
    }
    let (output, took) = run_fed(command, prompt_of_claude_code(session, cwd, prompt).as_bytes());
    if !output.status.success() || !output.stderr.is_empty() {
        return Some(format!("{} {:?}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    if !said.trim().is_empty() && serde_json::from_str::<Value>(&said).is_err() {
        return Some(format!("not one object: {} bytes", said.len()));
    }
    (took > sandbox.budget() + SCHEDULING).then(|| format!("late: {took:?}"))
}

/// The hook, fired with a fault in it beside a daemon without one.
pub struct Hooks<'a> {
    sandbox: &'a Sandbox,
    control: Control,
    shop: String,
    fired: u32,
}

impl<'a> Hooks<'a> {
    /// Hooks in the home of `sandbox`, in which a daemon runs; `None` as [`super::library`].
    pub fn new(sandbox: &'a Sandbox) -> Option<Self> {
        Some(Self {
            control: Control::new(&sandbox.home(), "hook-page")?,
            shop: sandbox.project("shop"),
            fired: 0,
            sandbox,
        })
    }

    /// The calls that one hook makes.
    pub fn record(&mut self) -> Vec<(Call, Class, u64)> {
        self.fire("recorded");
        self.fire("recorded");
        self.control.counts()
    }

    /// Meets one fault, of a session that has a recollection file.
    pub fn meet(&mut self, case: &Case) -> Outcome {
        self.fired += 1;
        let session = format!("hook-{}", self.fired);
        self.control.disarm();
        self.fire(&session);
        self.control.arm(&[case.rule]);
        let hook = self.fire(&session);
        let outcome = Outcome {
            fired: self.control.fired(0),
            hook,
            recovered: Some(Duration::ZERO),
            ..Outcome::default()
        };
        self.control.disarm();
        fs_err::remove_file(self.sandbox.places().backoff_file()).ok();
        outcome
    }

    fn fire(&self, session: &str) -> Option<String> {
        let prompt = topic(self.fired % 8).0;
        hook_fault(self.sandbox, Some(&self.control), session, &self.shop, &prompt)
    }
}

/// Commands without a daemon, in a home with a store.
pub struct Commands<'a> {
    sandbox: &'a Sandbox,
    control: Control,
    expected: Vec<String>,
    settings: PathBuf,
}

/// Each with the library in it: what reads, what writes, what edits the settings of another program.
const COMMANDS: [&[&str]; 8] = [
    &["status"],
    &["why"],
    &["recall", "why does the cache of case1 drop its last entry?"],
    &["exclude", "/nowhere/at/all"],
    &["include", "/nowhere/at/all"],
    &["install", "--agent", "claude-code", "--yes"],
    &["uninstall", "--agent", "claude-code", "--yes"],
    &["doctor"],
];

impl<'a> Commands<'a> {
    /// Commands in the home of `sandbox`, in which no daemon runs and whose transcripts hold `expected`; `None` as [`super::library`].
    ///
    /// # Panics
    /// Where the settings of another program can't be written.
    pub fn new(sandbox: &'a Sandbox, expected: Vec<String>) -> Option<Self> {
        let settings = sandbox.home().join(".claude/settings.json");
        fs_err::write(&settings, "{\n  // mine\n  \"model\": \"opus\"\n}\n").unwrap();
        Some(Self {
            control: Control::new(&sandbox.home(), "command-page")?,
            settings,
            expected,
            sandbox,
        })
    }

    /// How many commands there are.
    pub fn len(&self) -> usize {
        COMMANDS.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        COMMANDS.is_empty()
    }

    /// The calls that the command of this number makes.
    pub fn record(&mut self, number: usize) -> Vec<(Call, Class, u64)> {
        let before = self.control.counts();
        self.run(COMMANDS[number]);
        let after = self.control.counts();
        super::lane::difference(&before, &after)
    }

    /// Meets one fault in the command of this number.
    pub fn meet(&mut self, number: usize, case: &Case) -> Outcome {
        self.control.arm(&[case.rule]);
        let (output, took) = timed(|| self.run(COMMANDS[number]));
        let fired = self.control.fired(0);
        self.control.disarm();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut outcome = Outcome {
            fired,
            recovered: Some(Duration::ZERO),
            ..Outcome::default()
        };
        match output.status.code() {
            Some(0) => {}
            // Where standard error can't be written, the exit code has to do.
            Some(1..=5) if !said.trim().is_empty() || !output.stdout.is_empty() || case.rule.class == Some(Class::Log) => {
                outcome.ended = true;
            }
            code => outcome.crashed = Some(format!("{}: {code:?}, {said:?}", COMMANDS[number][0])),
        }
        if said.contains("panicked") {
            outcome.crashed = Some(format!("{}: {said}", COMMANDS[number][0]));
        }
        if took > PATIENCE {
            outcome.faults.push(format!("{} took {took:?}", COMMANDS[number][0]));
        }
        self.look(&mut outcome);
        outcome
    }

    fn look(&self, outcome: &mut Outcome) {
        let home = Home::look(self.sandbox, &self.expected);
        outcome.lost = home.lost;
        outcome.doubled = home.doubled;
        outcome.faults.extend(home.faults);
        let text = fs_err::read_to_string(&self.settings).unwrap_or_default();
        if !text.contains("\"opus\"") || !text.contains("// mine") {
            let settings = self.settings.display();
            outcome
                .faults
                .push(format!("{settings} lost what was the user's: {} bytes", text.len()));
        }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command: Command = self.sandbox.command(arguments);
        self.control.surround(&mut command);
        command.output().unwrap()
    }
}
