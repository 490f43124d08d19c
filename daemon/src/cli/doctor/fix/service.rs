//! `doctor --fix` and the service: its files are written anew where they are wrong, and it is started where it does not run. What is
//! at work is not ended.

use super::super::super::error::CliError;
use super::super::super::install::{diff, service_of_this_system, start_service};
use super::super::super::surroundings::Surroundings;
use super::super::DoctorArguments;
use super::WAIT;
use crate::cli::output::tell;
use crate::doctor::Repair;
use crate::doctor::running::{Running, Service};
use crate::install;
use crate::single::{Holder, Single};

const SERVICE: &str = "service";

/// What is to be done of the service, where it is installed: about its files, and where it does not run.
pub(super) fn repairs(
    surroundings: &Surroundings,
    running: &Running,
    arguments: &DoctorArguments,
) -> Result<Vec<Repair>, CliError> {
    let program = std::env::current_exe()?;
    let Some(program) = program.to_str() else {
        return Ok(Vec::new());
    };
    let service = service_of_this_system(surroundings, program);
    let holder = Single::holder(&surroundings.places.data_dir());
    Ok(of_service(&service, running, &holder, arguments))
}

fn of_service(service: &install::Service, running: &Running, holder: &Holder, arguments: &DoctorArguments) -> Vec<Repair> {
    let faults = service.faults();
    let found = match (&running.service, running.ping.is_ok()) {
        _ if !service.is_installed() => return Vec::new(),
        _ if !faults.is_empty() => faults.join(", "),
        (Service::Stopped, false) => "the service does not run".to_owned(),
        (Service::Runs { .. }, true) if !running.is_ours() => "the service runs another version".to_owned(),
        (Service::Runs { .. }, false) => "the service runs, and nobody answers".to_owned(),
        (Service::NoManager, false) => {
            let commands = service.start.iter().map(|command| command.join(" ")).collect::<Vec<_>>();
            let remedy = format!(
                "no service manager of yours answers here; where one does: `{}`",
                commands.join("; ")
            );
            return vec![Repair::left(SERVICE, "the service does not run", remedy)];
        }
        _ => return Vec::new(),
    };
    // A daemon that is at work on its memory, as at its first start after an update, is not to be ended at it.
    if let (Holder::Process(pid), false) = (holder, running.ping.is_ok()) {
        let found = format!("{found}; a daemon that does not answer has the memory, process {pid}");
        return vec![Repair::left(SERVICE, found, WAIT)];
    }
    match service.install(None) {
        Ok(changes) if !faults.is_empty() => {
            for change in changes {
                if !arguments.json {
                    tell!("{}", diff(&change));
                }
                if !arguments.dry_run
                    && let Err(refusal) = change.apply()
                {
                    return vec![Repair::failed(SERVICE, found, refusal.to_string())];
                }
            }
        }
        // Edited by its user: started as it is, and left as it is.
        Err(refusal) if !faults.is_empty() => return vec![Repair::left(SERVICE, found, refusal.to_string())],
        // Started anew, it would be another version again: which one it is to be is its user's to decide.
        Ok(changes) if running.ping.is_ok() && !changes.is_empty() => return vec![another_version(found)],
        Err(_) if running.ping.is_ok() => return vec![another_version(found)],
        _ => {}
    }
    vec![started(service, found, arguments.dry_run)]
}

fn another_version(found: String) -> Repair {
    let remedy = "for this version, run `remembrancer install --service`; else use the one that the service starts";
    Repair::left(SERVICE, found, remedy)
}

fn started(service: &install::Service, found: String, dry_run: bool) -> Repair {
    if dry_run {
        return Repair::mended(
            SERVICE,
            found,
            "the files are written anew where they are wrong, and the service is started anew",
            true,
        );
    }
    match start_service(service) {
        Ok(None) => Repair::mended(SERVICE, found, "the service is started anew", false),
        Ok(Some(commands)) => Repair::mended(
            SERVICE,
            found,
            format!(
                "the files are right; no service manager of yours answers here, where one does: `{}`",
                commands.join("; ")
            ),
            false,
        ),
        Err(why) => Repair::failed(SERVICE, found, why),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use remembrancer_hooks::VERSION;
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::doctor::Outcome;
    use crate::doctor::running::Elsewhere;
    use crate::system;

    const ARGUMENTS: DoctorArguments = DoctorArguments {
        agents: Vec::new(),
        fix: true,
        dry_run: false,
        json: true,
    };

    /// A service whose start leaves a file, and that file.
    fn service(home: &TempDir, program: &str) -> (install::Service, PathBuf) {
        let mut service = install::Service::systemd(&home.path().join(".config"), program, system::user_id());
        let started = home.path().join("started");
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        service.answers = words(&["true"]);
        service.runs = words(&["true"]);
        service.restart = vec![words(&["touch", started.to_str().unwrap()])];
        service.start = service.restart.clone();
        (service, started)
    }

    fn installed(service: &install::Service) {
        for change in service.install(Some(true)).unwrap() {
            change.apply().unwrap();
        }
    }

    fn running(version: Option<&str>) -> Running {
        let answer = |version| (json!({"pid": 7, "version": version}), Duration::ZERO);
        Running {
            ping: version.map(answer).ok_or_else(|| "nobody answers".to_owned()),
            status: json!({}),
            uid: system::user_id(),
            without_variable: Elsewhere::Here,
            service: Service::Runs { lingers: None },
        }
    }

    fn outcomes(repairs: &[Repair]) -> Vec<Outcome> {
        repairs.iter().map(|repair| repair.outcome).collect()
    }

    #[test]
    fn a_daemon_that_is_at_work_on_its_memory_is_not_ended() {
        let home = tempfile::tempdir().unwrap();
        let (service, started) = service(&home, "/a/remembrancer");
        installed(&service);
        let of = |holder| of_service(&service, &running(None), &holder, &ARGUMENTS);
        let at_work = of(Holder::Process("7".to_owned()));
        assert_eq!(outcomes(&at_work), [Outcome::Left]);
        assert!(
            at_work[0].done.contains("wait") && !at_work[0].done.contains("kill"),
            "{at_work:?}"
        );
        assert!(!started.exists());
        assert_eq!(outcomes(&of(Holder::Nobody)), [Outcome::Mended]);
        assert!(started.exists());
    }

    #[test]
    fn a_unit_of_another_version_is_its_user_s_affair() {
        let home = tempfile::tempdir().unwrap();
        let theirs = home.path().join("remembrancer");
        fs_err::write(&theirs, "").unwrap();
        installed(&service(&home, theirs.to_str().unwrap()).0);
        let (ours, started) = service(&home, "/a/remembrancer");
        let holder = Holder::Process("7".to_owned());
        let of = |service: &install::Service, version| of_service(service, &running(Some(version)), &holder, &ARGUMENTS);
        assert_eq!(outcomes(&of(&ours, "0.0.1")), [Outcome::Left]);
        assert!(!started.exists());
        // The file that the unit names was replaced under a daemon that runs.
        let (same, _) = service(&home, theirs.to_str().unwrap());
        assert_eq!(outcomes(&of(&same, "0.0.1")), [Outcome::Mended]);
        assert!(started.exists());
        assert_eq!(outcomes(&of(&same, VERSION)), [] as [Outcome; 0]);
    }
}
