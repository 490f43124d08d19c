//! `remembrancer doctor`: looks at everything, prints a line for each finding, and fails where anything does not work. With `--fix` it
//! mends first what it can, and looks then.

mod fix;
#[cfg(feature = "share")]
mod sharing;

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use remembrancer_hooks::places::Places;
use remembrancer_hooks::protocol::{Answer, Reply, Request};
use remembrancer_hooks::{Agent, Client};
use remembrancer_processor::Stopwatch;
use remembrancer_schema::{OpenError, Reader};
use serde_json::{Value, json};

use super::error::{CliError, Kind};
use super::install::{ask_manager, parse_agent, service_of_this_system};
use super::steer::counted;
use super::surroundings::{Surroundings, hook_beside};
use crate::causes::with_causes;
use crate::cli::output::{say, say_json};
use crate::doctor::agents::{Examined, Transcripts};
use crate::doctor::running::{Elsewhere, Running, Service};
use crate::doctor::{Check, Outcome, Repair, Verdict, mcp, obstacles, store};
use crate::exclusions::Exclusions;
use crate::install::ServerPlace;
use crate::roots::Roots;
use crate::scan;

/// How long the daemon's answer is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(super) struct DoctorArguments {
    /// This agent and no other; may be given several times. Without it, all that are on this machine.
    #[arg(long = "agent", value_name = "NAME", value_parser = parse_agent)]
    agents: Vec<Agent>,
    /// First mend what can be mended without asking you, the least repair first, and tell what was done.
    #[arg(long)]
    fix: bool,
    /// Say what `--fix` would do, and do nothing.
    #[arg(long, requires = "fix")]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Looks at everything.
pub(super) fn run(arguments: &DoctorArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let repairs = if arguments.fix {
        Some(fix::all(arguments, surroundings)?)
    } else {
        None
    };
    report(arguments, repairs.as_deref(), &examine(arguments, surroundings)?)
}

/// Settings that can't be read are the only finding: without them nothing else can be told.
pub(super) fn without_surroundings(arguments: &DoctorArguments, error: &CliError) -> Result<(), CliError> {
    let check = Check::failed("settings", error.message(), "correct them, and run this again");
    report(arguments, None, &[check])
}

/// `repairs` are none where nothing was looked at to be mended.
fn report(arguments: &DoctorArguments, repairs: Option<&[Repair]>, checks: &[Check]) -> Result<(), CliError> {
    let of = |verdict| checks.iter().filter(|check| check.verdict == verdict).count();
    let (failed, warnings) = (of(Verdict::Failed), of(Verdict::Warning));
    if arguments.json {
        let checks: Vec<Value> = checks.iter().map(Check::json).collect();
        let mut said = json!({"checks": checks, "failed": failed, "warnings": warnings});
        if arguments.fix {
            said["repairs"] = repairs.unwrap_or_default().iter().map(Repair::json).collect();
        }
        say_json("doctor", &said);
    } else {
        if let Some(repairs) = repairs {
            print_repairs(arguments, repairs);
        }
        checks.iter().for_each(print);
        say!(
            "{}, {}, {failed} failed",
            counted(&checks.len().into(), "check", "checks"),
            counted(&warnings.into(), "warning", "warnings")
        );
    }
    let is_mended = |repair: &Repair| repair.outcome != Outcome::Failed;
    if failed == 0 && repairs.unwrap_or_default().iter().all(is_mended) {
        return Ok(());
    }
    Err(CliError::new(Kind::Failed, "not everything works"))
}

fn print_repairs(arguments: &DoctorArguments, repairs: &[Repair]) {
    if repairs.is_empty() {
        say!("Nothing to mend.");
    }
    for repair in repairs {
        say!(
            "{:<8} {:<12} {}; {}",
            repair.outcome.as_str(),
            repair.subject,
            repair.found,
            repair.done
        );
    }
    if arguments.dry_run {
        say!("This was a dry run: nothing was changed.");
    }
}

fn print(check: &Check) {
    let (verdict, subject, found) = (check.verdict.as_str(), check.subject, &check.found);
    match &check.remedy {
        Some(remedy) => say!("{verdict:<8} {subject:<12} {found}; {remedy}"),
        None => say!("{verdict:<8} {subject:<12} {found}"),
    }
}

fn examine(arguments: &DoctorArguments, surroundings: &Surroundings) -> Result<Vec<Check>, CliError> {
    let places = &surroundings.places;
    let mut checks = vec![Check::ok("settings", settings(places))];
    let contradictions = surroundings.config.contradictions().into_iter();
    checks.extend(contradictions.map(|(found, remedy)| Check::warning("settings", found, remedy)));
    let running = running(surroundings);
    checks.extend(running.checks());
    checks.extend(obstacles::obstacles(places, running.ping.is_ok()));
    let reader = Reader::open(&places.database_file());
    checks.extend(memory(surroundings, &running, reader.as_ref()));
    #[cfg(feature = "share")]
    checks.extend(sharing::checks(
        surroundings,
        &running.status["sharing"],
        reader.as_ref().ok(),
    ));
    let hook = hook_beside(&std::env::current_exe()?)?;
    let cwd = std::env::current_dir()?.display().to_string();
    let reader = reader.ok();
    let known = reader.as_ref().and_then(|reader| reader.sources().ok()).unwrap_or_default();
    let known = known.into_iter().map(|source| PathBuf::from(source.path)).collect();
    let mut exclude = surroundings.config.transcripts.exclude.clone();
    // A memory that can't be read is told above, and keeps nothing else from being looked at.
    let stored = reader.and_then(|reader| reader.exclusions().ok()).unwrap_or_default();
    exclude.extend(stored.into_iter().map(PathBuf::from));
    let exclusions = Exclusions::of_settings(&exclude);
    let chosen = chosen(arguments, surroundings);
    if chosen.is_empty() {
        let found = "none of the coding agents that are known has a folder in your home";
        checks.push(Check::warning("agents", found, "start yours once"));
    }
    for agent in chosen {
        let examined = Examined {
            agent,
            folder: surroundings.settings_folder(agent.registration()),
            hook: &hook,
            answers_probes: running.is_ours(),
            cwd: &cwd,
        };
        checks.extend(examined.hook());
        checks.extend(mcp::check(&ServerPlace {
            agent,
            home: &surroundings.home,
            folder: &examined.folder,
            uid: places.uid(),
        }));
        checks.extend(examined.transcripts(&transcripts(agent, surroundings, &exclusions, &known)));
    }
    Ok(checks)
}

fn settings(places: &Places) -> String {
    let file = places.config_file();
    if file.exists() {
        format!("{} is valid", file.display())
    } else {
        "all at their defaults".to_owned()
    }
}

/// The agents that are asked for, or those whose folders are there.
fn chosen(arguments: &DoctorArguments, surroundings: &Surroundings) -> Vec<Agent> {
    let asked_for = |agent: &Agent| match arguments.agents.as_slice() {
        [] => surroundings.settings_folder(agent.registration()).is_dir(),
        named => named.contains(agent),
    };
    Agent::ALL.iter().copied().filter(asked_for).collect()
}

fn running(surroundings: &Surroundings) -> Running {
    let places = &surroundings.places;
    let mut watch = Stopwatch::start();
    let ping = ask(places, &Request::Ping);
    watch.lap("ping");
    let without_variable = match places.without_explicit_socket() {
        None => Elsewhere::Here,
        Some(places) => {
            let pid = ask(&places, &Request::Ping).ok().and_then(|answer| answer["pid"].as_u64());
            pid.map_or(Elsewhere::Nobody, Elsewhere::Process)
        }
    };
    Running {
        status: ask(places, &Request::Status).unwrap_or_default(),
        ping: ping.map(|answer| (answer, watch.total())),
        uid: places.uid(),
        without_variable,
        service: service(surroundings),
    }
}

fn ask(places: &Places, request: &Request) -> Result<Value, String> {
    match Client::new(places.clone()).call(request, PATIENCE) {
        Ok(Reply::Answer(Answer { ok: true, data, .. })) => Ok(data),
        Ok(Reply::Answer(Answer { error, .. })) => Err(error.unwrap_or_default()),
        Ok(Reply::Recall(_)) => Err("the daemon answered something else".to_owned()),
        Err(error) => Err(with_causes(&error)),
    }
}

fn service(surroundings: &Surroundings) -> Service {
    let service = service_of_this_system(surroundings, "remembrancer");
    if ask_manager(&service.answers).is_err() {
        return Service::NoManager;
    }
    if ask_manager(&service.runs).is_err() {
        return Service::Stopped;
    }
    let linger = service.lingers.as_ref().and_then(|question| ask_manager(question).ok());
    Service::Runs {
        lingers: linger.map(|said| said.trim() == "yes"),
    }
}

/// All that is found of the memory.
fn memory(surroundings: &Surroundings, running: &Running, reader: Result<&Reader, &OpenError>) -> Vec<Check> {
    let places = &surroundings.places;
    let reader = match reader {
        Ok(reader) => reader,
        Err(error) => {
            let mut checks = vec![store::unopened(error)];
            checks.extend(store::folders(places));
            return checks;
        }
    };
    let mut checks = store::database(reader);
    checks.extend(store::folders(places));
    checks.extend(store::watches(&surroundings.roots()));
    if running.is_ours() {
        checks.extend(store::gives_back(reader, &Client::new(places.clone())));
    }
    checks
}

fn transcripts(agent: Agent, surroundings: &Surroundings, exclusions: &Exclusions, known: &HashSet<PathBuf>) -> Transcripts {
    let all = surroundings.roots();
    let roots = Roots::new(all.iter().filter(|root| root.agent.id() == agent.id()).cloned().collect());
    let found = scan::scan(&roots, exclusions);
    let wanted = surroundings.config.transcripts.newest.unwrap_or(usize::MAX);
    let files = found.files.iter().filter(|file| known.contains(&file.path)).count();
    // A database is read where a session of it is.
    let is_read = |database: &PathBuf| known.iter().any(|path| path != database && path.starts_with(database));
    let databases = found.databases.iter().filter(|(database, _)| is_read(database)).count();
    Transcripts {
        folders: roots.folders().filter(|folder| folder.exists()).map(PathBuf::from).collect(),
        read: files + databases,
        found: found.files.len().min(wanted) + found.databases.len(),
        problems: found.problems.into_iter().map(|problem| problem.message).collect(),
    }
}
