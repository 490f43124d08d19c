//! The daemon as a service: the command lines of the service manager are run where one answers, and printed where none does.

use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::Planned;
use crate::cli::output::say;
use crate::cli::surroundings::Surroundings;
use crate::install::{CommandLine, Service};
use crate::system;

/// The service as this system's manager has it.
pub(in crate::cli) fn of_this_system(surroundings: &Surroundings, program: &str) -> Service {
    let uid = surroundings.places.uid();
    if cfg!(target_os = "macos") {
        return Service::launchd(&surroundings.home, program, uid);
    }
    let config_home = surroundings.places.config_dir().with_file_name("");
    Service::systemd(&config_home, program, uid).sharing(surroundings.config.share.is_some())
}

/// How long the trial of namespaces may take: it starts a shell that does nothing.
const TRIAL_PATIENCE: Duration = Duration::from_secs(5);

/// Whether the service may have namespaces of its own, which is tried by running nothing as a service; `None` where nothing asks for
/// them, no manager answers, or the trial does not end. To be called with its user's consent.
pub(super) fn has_namespaces(service: &Service) -> Option<bool> {
    let trial = service.has_namespaces.as_ref()?;
    run(&service.answers).ok()?;
    let Some(tried) = run_within(trial, TRIAL_PATIENCE) else {
        say!(
            "Whether a service of yours may have namespaces of its own is not known: `{}` did not end within {} s.",
            trial.join(" "),
            TRIAL_PATIENCE.as_secs()
        );
        return None;
    };
    if let Err(refusal) = &tried {
        say!("This system gives a service of yours no namespaces of its own, so the service does without what needs them:");
        say!("    {refusal}");
    }
    Some(tried.is_ok())
}

/// Has the service started, where it is not what runs already.
pub(super) fn take_up(service: &Service, files: Planned) -> Result<(), String> {
    let commands = match files {
        Planned::Refused => return Ok(()),
        Planned::Unchanged if run(&service.runs).is_ok() => return Ok(()),
        Planned::New | Planned::Unchanged => &service.start,
        Planned::Changed => &service.restart,
    };
    if run(&service.answers).is_err() {
        say!("No service manager of yours answers here. Where one does, start the service by");
        for command in commands {
            say!("    {}", command.join(" "));
        }
        return Ok(());
    }
    run_all(commands)?;
    say!("The service runs, and is started at every login.");
    Ok(())
}

/// Has the service started anew, whether it runs or not. Where no manager answers, gives the command lines for it.
pub(in crate::cli) fn start_anew(service: &Service) -> Result<Option<Vec<String>>, String> {
    let runs = run(&service.runs).is_ok();
    let commands = if runs { &service.restart } else { &service.start };
    if run(&service.answers).is_err() {
        return Ok(Some(commands.iter().map(|command| command.join(" ")).collect()));
    }
    run_all(commands).map(|()| None)
}

/// Has the service stopped, where a manager answers.
pub(super) fn stop(service: &Service) -> Result<(), String> {
    if run(&service.answers).is_err() {
        return Ok(());
    }
    run_all(&service.stop)
}

/// Has the manager forget the files that are gone.
pub(super) fn forget(service: &Service) -> Result<(), String> {
    if run(&service.answers).is_err() {
        return Ok(());
    }
    run_all(&service.forget)
}

fn run_all(commands: &[CommandLine]) -> Result<(), String> {
    commands.iter().try_for_each(|command| run(command).map(drop))
}

/// Runs a command to its end; what it writes, or its own words, where it fails.
pub(in crate::cli) fn run(command: &CommandLine) -> Result<String, String> {
    prepared(command).map_or(Ok(String::new()), |mut prepared| ended(command, prepared.output()))
}

/// As [`run`]; `None` where it does not end within `patience`, and is ended with all that it started.
fn run_within(command: &CommandLine, patience: Duration) -> Option<Result<String, String>> {
    let Some(mut prepared) = prepared(command) else {
        return Some(Ok(String::new()));
    };
    system::lead_a_group(&mut prepared);
    let child = match prepared.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => return Some(ended(command, Err(error))),
    };
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()).ok());
    let Ok(output) = receiver.recv_timeout(patience) else {
        system::kill_group(id);
        return None;
    };
    Some(ended(command, output))
}

fn prepared(command: &CommandLine) -> Option<Command> {
    let [program, arguments @ ..] = command.as_slice() else {
        return None;
    };
    let mut prepared = Command::new(program);
    prepared.args(arguments).stdin(Stdio::null());
    Some(prepared)
}

fn ended(command: &CommandLine, output: std::io::Result<Output>) -> Result<String, String> {
    let failed = |reason: &dyn std::fmt::Display| format!("`{}` failed: {reason}", command.join(" "));
    let output = output.map_err(|error| failed(&error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(failed(&said.lines().next().unwrap_or("it says nothing")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> CommandLine {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn what_does_not_end_is_ended() {
        let hangs = line(&["sh", "-c", "sleep 60 & wait"]);
        assert_eq!(run_within(&hangs, Duration::from_millis(50)), None);
        let patience = Duration::from_mins(1);
        assert_eq!(run_within(&line(&["echo", "x"]), patience), Some(Ok("x\n".to_owned())));
        let failed = run_within(&line(&["sh", "-c", "echo no >&2; exit 1"]), patience)
            .unwrap()
            .unwrap_err();
        assert!(failed.ends_with("failed: no"), "{failed}");
        assert!(matches!(run_within(&line(&["/no/such/program"]), patience), Some(Err(_))));
    }

    #[test]
    fn a_trial_is_run_where_a_manager_answers() {
        let mut service = Service::systemd(std::path::Path::new("/nowhere"), "/a/remembrancer", 0);
        service.answers = line(&["true"]);
        for (trial, expected) in [("true", true), ("false", false)] {
            service.has_namespaces = Some(line(&[trial]));
            assert_eq!(has_namespaces(&service), Some(expected));
        }
        service.answers = line(&["false"]);
        assert_eq!(has_namespaces(&service), None);
    }
}
