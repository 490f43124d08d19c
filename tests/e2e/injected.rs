//! Calls of the daemon and the hook fail below them, by a library that has chosen calls fail (see `remembrancer_tests::injected`):
//! no space, a home that can't be written, permissions that are lost, watches and descriptors that run out, a slow disk, a clock that
//! is set back. Each is told, none is a crash or a storm, and once it is over nothing is missing.

mod conditions;
#[cfg(target_os = "linux")]
mod descriptors;
mod limits;
mod store;

use remembrancer_tests::injected::{Case, Class, Commands, Control, FOREVER, Hooks, Lane, Phase, Plan, Rule};
use remembrancer_tests::{DaemonProcess, Sandbox, Transcript, eventually, sandbox};
use rustix::io::Errno;

use crate::PATIENCE;

/// Words alone: these tests look at files, and a model costs a second of each start.
const WITHOUT_MODEL: &str = "[embedding]\nmodel_dir = \"/nowhere/at/all\"\n[transcripts]\nrescan = \"5s\"\n";

/// A home whose daemon has the library in it; `None`, with a printed reason, where the system has no such libraries.
fn controlled(sandbox: &Sandbox) -> Option<Control> {
    sandbox.configure(WITHOUT_MODEL);
    Control::new(&sandbox.home(), "control-page")
}

/// Starts the daemon with the library in it, and waits until it answers.
fn start<'a>(sandbox: &'a Sandbox, control: &Control) -> DaemonProcess<'a> {
    let variables = control.variables();
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    sandbox.start_with(&variables)
}

/// A daemon with the library in it that has read the four topics of a session; the session's transcript goes on.
fn four_read(sandbox: &Sandbox) -> Option<(Control, Transcript, DaemonProcess<'_>)> {
    let control = controlled(sandbox)?;
    let mut live = sandbox.transcript("live", "shop");
    live.topics(0..4);
    let daemon = start(sandbox, &control);
    daemon.flush();
    Some((control, live, daemon))
}

/// Waits until so many episodes are stored and no problem is told.
fn all_there(daemon: &DaemonProcess<'_>, episodes: usize) {
    eventually("all of it, and no problem", PATIENCE, || {
        let status = daemon.status();
        (status["episodes"] == episodes && status["problems"] == serde_json::json!([])).then_some(())
    });
}

/// The problems that the status tells.
fn problems(daemon: &DaemonProcess<'_>) -> String {
    daemon.status()["problems"].to_string()
}

/// Lines of the log that hold `part`.
fn told(daemon: &DaemonProcess<'_>, part: &str) -> usize {
    daemon.log().lines().filter(|line| line.contains(part)).count()
}

/// A part of the sweep that `inject` makes: one fault of each kind that can do most harm.
#[test]
fn the_daemon_gets_over_faults_of_every_kind() {
    use remembrancer_tests::injected::Call::{Lock, Open, Read, Write};
    let sandbox = sandbox!();
    let Some(mut lane) = Lane::new(&sandbox) else { return };
    let seen = lane.record(true);
    for (call, class) in [
        (Write, Class::Wal),
        (Read, Class::Transcript),
        (Open, Class::Transcript),
        (Lock, Class::Shm),
        (Write, Class::Recollection),
    ] {
        assert!(
            seen.iter().any(|(a, b, _)| (*a, *b) == (call, class)),
            "{call:?} of {class:?} is not seen: {seen:?}"
        );
    }
    let lasting = |call, class, error| Rule::fail(call, class, error);
    let rules = [
        lasting(Write, Class::Wal, Errno::IO),
        Rule::short(Write, Class::Wal),
        lasting(Read, Class::Transcript, Errno::IO).only(1),
        lasting(Open, Class::Transcript, Errno::MFILE),
        lasting(Write, Class::Recollection, Errno::DQUOT),
        lasting(Lock, Class::Shm, Errno::NOLCK).only(1),
    ];
    let mut findings = Vec::new();
    for rule in rules {
        let case = Case { phase: Phase::Run, rule };
        let outcome = lane.meet(&case);
        findings.extend(
            outcome
                .findings()
                .into_iter()
                .map(|finding| format!("{}: {finding}", case.name())),
        );
    }
    for rule in [
        lasting(Open, Class::Database, Errno::ACCESS),
        lasting(Write, Class::Wal, Errno::ROFS),
    ] {
        let case = Case {
            phase: Phase::Start,
            rule,
        };
        let outcome = lane.meet(&case);
        if outcome.fired > 0 && !outcome.ended && outcome.untold.is_some() {
            findings.push(format!("{}: neither ended by name nor told", case.name()));
        }
        findings.extend(
            outcome
                .findings()
                .into_iter()
                .map(|finding| format!("{}: {finding}", case.name())),
        );
    }
    lane.stop();
    assert_eq!(findings, Vec::<String>::new());
}

#[test]
fn the_hook_keeps_still_and_in_time_whatever_fails_in_it() {
    let sandbox = sandbox!();
    let Some(control) = controlled(&sandbox) else { return };
    sandbox.transcript("older", "shop").topics(0..8);
    let daemon = start(&sandbox, &control);
    daemon.flush();
    let mut hooks = Hooks::new(&sandbox).expect("invariant: the library is there");
    let plan = Plan::of(&hooks.record()).0;
    assert!(plan.len() > 10, "{plan:?}");
    let mut findings = Vec::new();
    for rule in plan.into_iter().filter(|rule| rule.times == FOREVER) {
        let case = Case {
            phase: Phase::Hook,
            rule,
        };
        let outcome = hooks.meet(&case);
        // Times are those of the sweep, which has the machine alone.
        let found = outcome.findings().into_iter().filter(|finding| !finding.contains("late"));
        findings.extend(found.map(|finding| format!("{}: {finding}", case.name())));
    }
    assert_eq!(findings, Vec::<String>::new());
}

#[test]
fn settings_of_others_survive_a_command_that_fails() {
    let sandbox = sandbox!();
    let Some(control) = controlled(&sandbox) else { return };
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = start(&sandbox, &control);
    daemon.flush();
    daemon.stop(rustix::process::Signal::TERM);
    let expected = sandbox.prompts();
    let mut commands = Commands::new(&sandbox, expected).expect("invariant: the library is there");
    let mut findings = Vec::new();
    for number in 0..commands.len() {
        let writes =
            |rule: &Rule| rule.times == FOREVER && matches!(rule.class, Some(Class::Settings | Class::Wal | Class::Other));
        for rule in Plan::of(&commands.record(number)).0.into_iter().filter(writes) {
            let case = Case {
                phase: Phase::Command,
                rule,
            };
            let outcome = commands.meet(number, &case);
            findings.extend(
                outcome
                    .findings()
                    .into_iter()
                    .map(|finding| format!("{}: {finding}", case.name())),
            );
        }
    }
    assert_eq!(findings, Vec::<String>::new());
}
