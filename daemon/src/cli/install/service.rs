//! The daemon as a service: the command lines of the service manager are run where one answers, and printed where none does.

use std::process::{Command, Stdio};

use super::Planned;
use crate::cli::output::say;
use crate::cli::surroundings::Surroundings;
use crate::install::{CommandLine, Service};

/// The service as this system's manager has it.
pub(in crate::cli) fn of_this_system(surroundings: &Surroundings, program: &str) -> Service {
    let uid = surroundings.places.uid();
    if cfg!(target_os = "macos") {
        return Service::launchd(&surroundings.home, program, uid);
    }
    let config_home = surroundings.places.config_dir().with_file_name("");
    Service::systemd(&config_home, program, uid)
}

/// Whether the service may have namespaces of its own, which is tried; `None` where nothing asks for them, or no manager answers.
pub(super) fn has_namespaces(service: &Service) -> Option<bool> {
    let trial = service.has_namespaces.as_ref()?;
    run(&service.answers).ok()?;
    let tried = run(trial);
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
    let [program, arguments @ ..] = command.as_slice() else {
        return Ok(String::new());
    };
    let failed = |reason: &dyn std::fmt::Display| format!("`{}` failed: {reason}", command.join(" "));
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(&error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(failed(&said.lines().next().unwrap_or("it says nothing")))
}
