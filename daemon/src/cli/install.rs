//! `remembrancer install` and `uninstall`: what would be changed is shown as a diff, asked, and done. What can't be done for one
//! agent is said on a line, and the others are done.

mod service;

use std::fmt::Display;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

use clap::Args;
use remembrancer_hooks::Agent;
use similar::TextDiff;

pub(super) use service::{of_this_system as service_of_this_system, run as ask_manager, start_anew as start_service};

use super::error::{CliError, Kind};
use super::surroundings::{Surroundings, hook_beside};
use crate::cli::output::{complain, say, tell};
use crate::doctor::agents::switched_off;
use crate::install::{self, Change, Refusal, ServerPlace, Standing, StatusLine, Wanted};

/// The name of the service among those of the agents.
const SERVICE: &str = "Service";

/// Unchanged lines around a change in a diff.
const CONTEXT_LINES: usize = 3;

#[derive(Debug, Args)]
pub(super) struct InstallArguments {
    /// This agent and no other; may be given several times. Without it, all that are on this machine.
    #[arg(long = "agent", value_name = "NAME", value_parser = parse_agent)]
    agents: Vec<Agent>,
    /// The daemon as a service of yours, too: started now and at every login.
    #[arg(long)]
    service: bool,
    /// A line in the editor as well that shows what the memory did for the last prompt, where the host has one (Claude Code) and you
    /// have set none. `uninstall` takes it out with the hook.
    #[arg(long)]
    status_line: bool,
    /// The memory as tools as well: registers `remembrancer mcp` with the hosts whose settings for that are known. `uninstall --mcp`
    /// takes that out alone.
    #[arg(long)]
    mcp: bool,
    #[command(flatten)]
    consent: Consent,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Takes out of the agents' settings what `install` has put there, and nothing else. The memory and your settings stay."
)]
pub(super) struct UninstallArguments {
    /// Of this agent and no other; may be given several times. Without it, of all that have it.
    #[arg(long = "agent", value_name = "NAME", value_parser = parse_agent)]
    agents: Vec<Agent>,
    /// The service as well: it is stopped, and starts no more.
    #[arg(long)]
    service: bool,
    /// The MCP server alone: the hook and the status line stay.
    #[arg(long, conflicts_with = "service")]
    mcp: bool,
    #[command(flatten)]
    consent: Consent,
}

/// Whether what is planned is to be done.
#[derive(Debug, Args)]
pub(super) struct Consent {
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Show what would be changed, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn parse_agent(id: &str) -> Result<Agent, String> {
    Agent::parse(id).ok_or_else(|| {
        let known: Vec<&str> = Agent::ALL.iter().map(|agent| agent.id()).collect();
        format!("known are {}", known.join(", "))
    })
}

pub(super) fn install(arguments: &InstallArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let program = std::env::current_exe()?;
    let hook = hook_beside(&program)?;
    let agents = chosen(&arguments.agents, surroundings);
    if agents.is_empty() && !arguments.service {
        return Err(CliError::new(
            Kind::NotFound,
            "none of the coding agents that are known has a folder in your home",
        )
        .with_hint("start yours once, then run this again"));
    }
    let server = utf8(&program)?;
    let line = install::status_line_command(server);
    let mut plan = Plan::default();
    for agent in agents {
        let name = agent.registration().name;
        let folder = surroundings.settings_folder(agent.registration());
        if folder.is_dir() {
            let wanted = Wanted {
                hook: utf8(&hook)?,
                status_line: wants_line(arguments, &folder, agent).then_some(line.as_str()),
            };
            let planned = install::install(&folder, agent, wanted, surroundings.places.uid());
            let place = server_place(agent, &folder, surroundings);
            let planned = if wants_server(arguments, &place) {
                planned.and_then(|planned| place.install(server, planned))
            } else {
                planned
            };
            plan.add_all(name, planned);
        } else {
            plan.refuse(
                name,
                format_args!("there is no folder {}; start it once, then run this again", folder.display()),
            );
        }
    }
    let service = service(arguments.service, surroundings, &program)?;
    let trial = Trial::of(&arguments.consent);
    let files = service.as_ref().map(|service| trial.plan(service, &mut plan));
    if !plan.is_agreed_to(&arguments.consent)? {
        return plan.outcome();
    }
    let changed = plan.apply();
    let files = service
        .as_ref()
        .zip(files)
        .map(|(service, files)| trial.plan_late(service, files, &mut plan));
    if let (Some(service), Some(files)) = (service, files)
        && let Err(failure) = service::take_up(&service, files)
    {
        plan.refuse(SERVICE, failure);
    }
    for registration in Agent::ALL.iter().map(|agent| agent.registration()) {
        if let Some(remark) = registration.remark.filter(|_| changed.contains(&registration.name)) {
            say!("{}: {remark}.", registration.name);
        }
    }
    for agent in chosen(&arguments.agents, surroundings) {
        for (found, remedy) in switched_off(agent, &surroundings.settings_folder(agent.registration())) {
            complain!("warning: {found}; {remedy}");
        }
    }
    tell_of_variables(surroundings);
    plan.outcome()
}

/// Whether the status line of `agent` is to be ours: it is already, or that is asked for and the user has none. Says why not.
fn wants_line(arguments: &InstallArguments, folder: &Path, agent: Agent) -> bool {
    let name = agent.registration().name;
    match install::status_line(folder, agent) {
        Some(Ok(StatusLine::Ours(_))) => true,
        Some(Ok(StatusLine::Absent)) => arguments.status_line,
        Some(Ok(StatusLine::Theirs)) if arguments.status_line => {
            say!(
                "{name}: you have a status line of your own, which stays. For ours in it, have it run `remembrancer statusline`."
            );
            false
        }
        None if arguments.status_line => {
            say!("{name}: it has no status line that a command may fill.");
            false
        }
        // What is wrong with the settings is told by what is planned for the hook.
        _ => false,
    }
}

fn server_place<'a>(agent: Agent, folder: &'a Path, surroundings: &'a Surroundings) -> ServerPlace<'a> {
    ServerPlace {
        agent,
        home: &surroundings.home,
        folder,
        uid: surroundings.places.uid(),
    }
}

/// Whether the MCP server of a host is to be ours: it is already, or that is asked for and the user has none under our name. Says why
/// not.
fn wants_server(arguments: &InstallArguments, place: &ServerPlace<'_>) -> bool {
    let name = place.agent.registration().name;
    match place.standing() {
        Some(Ok(Standing::Ours(_))) => true,
        // What is wrong with the settings is told where it is asked for.
        Some(Ok(Standing::Absent) | Err(_)) => arguments.mcp,
        Some(Ok(Standing::Theirs)) if arguments.mcp => {
            say!("{name}: you have an MCP server of your own called remembrancer, which stays.");
            false
        }
        None if arguments.mcp => {
            say!("{name}: where it has MCP servers differs from version to version; docs/mcp.md says how to add ours by hand.");
            false
        }
        _ => false,
    }
}

/// When it is tried whether the service may have namespaces, which runs a service that does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trial {
    /// Before the changes are shown: its user has agreed.
    Now,
    /// Once its user agrees.
    Later,
    /// Not at all.
    Never,
}

impl Trial {
    fn of(consent: &Consent) -> Self {
        match consent {
            Consent { dry_run: true, .. } => Self::Never,
            Consent { yes: true, .. } => Self::Now,
            Consent { .. } => Self::Later,
        }
    }

    /// Plans what is known before the changes are shown.
    fn plan(self, service: &install::Service, plan: &mut Plan) -> Planned {
        let known = if self == Self::Now {
            service::has_namespaces(service)
        } else {
            None
        };
        let planned = plan.add_all(SERVICE, service.install(known));
        if service.has_namespaces.is_some() && matches!(planned, Planned::New | Planned::Changed) {
            let when = match self {
                Self::Now => return planned,
                Self::Later => "it is tried once you agree",
                Self::Never => "it is not tried in a dry run",
            };
            say!("{SERVICE}: where services of yours may have namespaces, a drop-in for them is written as well; {when}.");
        }
        planned
    }

    /// Makes the changes that were not known before its user agreed.
    fn plan_late(self, service: &install::Service, files: Planned, plan: &mut Plan) -> Planned {
        if self != Self::Later || !matches!(files, Planned::New | Planned::Changed) {
            return files;
        }
        let Some(known) = service::has_namespaces(service) else {
            return files;
        };
        match service.install(Some(known)) {
            Ok(changes) => {
                for change in changes {
                    tell!("{}", diff(&change));
                    plan.add(SERVICE, Ok::<_, Refusal>(Some(change)));
                }
                plan.apply();
            }
            Err(refusal) => plan.refuse(SERVICE, refusal),
        }
        files
    }
}

/// What the service would not find by itself.
fn tell_of_variables(surroundings: &Surroundings) {
    let roots = surroundings.roots_by_variables();
    if roots.is_empty() {
        return;
    }
    say!(
        "Only a variable of this shell names these folders of transcripts. So that the daemon finds them from everywhere, add them to"
    );
    say!("`[transcripts] folders` in {}:", surroundings.places.config_file().display());
    for root in roots {
        say!("    {} = [{:?}]", root.agent.id(), root.folder);
    }
}

pub(super) fn uninstall(arguments: &UninstallArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let mut plan = Plan::default();
    for agent in chosen(&arguments.agents, surroundings) {
        let folder = surroundings.settings_folder(agent.registration());
        let hook = if arguments.mcp {
            Vec::new()
        } else {
            install::uninstall(&folder, agent, surroundings.places.uid())
        };
        let planned = server_place(agent, &folder, surroundings).uninstall(hook);
        if planned.is_empty() {
            plan.add(agent.registration().name, Ok::<_, Refusal>(None));
        }
        for change in planned {
            plan.add(agent.registration().name, change.map(Some));
        }
    }
    let service = service(arguments.service, surroundings, &std::env::current_exe()?)?;
    let files = service.as_ref().map(|service| plan.add_all(SERVICE, service.uninstall()));
    if !plan.is_agreed_to(&arguments.consent)? {
        return plan.outcome();
    }
    let service = service.filter(|_| files == Some(Planned::Changed));
    let stopped = service.as_ref().map_or(Ok(()), service::stop);
    plan.apply();
    let forgotten = service.as_ref().map_or(Ok(()), service::forget);
    for failure in [stopped, forgotten].into_iter().filter_map(Result::err) {
        plan.refuse(SERVICE, failure);
    }
    plan.outcome()
}

/// The agents that are asked for, or those whose folders are there.
fn chosen(agents: &[Agent], surroundings: &Surroundings) -> Vec<Agent> {
    let asked_for = |agent: &Agent| match agents {
        [] => surroundings.settings_folder(agent.registration()).is_dir(),
        named => named.contains(agent),
    };
    Agent::ALL.iter().copied().filter(asked_for).collect()
}

fn service(is_wanted: bool, surroundings: &Surroundings, program: &Path) -> Result<Option<install::Service>, CliError> {
    if !is_wanted {
        return Ok(None);
    }
    Ok(Some(service::of_this_system(surroundings, utf8(program)?)))
}

fn utf8(path: &Path) -> Result<&str, CliError> {
    path.to_str()
        .ok_or_else(|| CliError::new(Kind::Failed, format!("{} is not UTF-8, as settings are", path.display())))
}

/// What is to be done, and how much was refused.
#[derive(Default)]
pub(super) struct Plan {
    changes: Vec<(&'static str, Change)>,
    refused: usize,
}

/// What came of planning the change of a file, or of several that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Planned {
    /// It was not there.
    New,
    /// It is another, or goes.
    Changed,
    /// It stays: all is as it should be.
    Unchanged,
    /// It stays, and should not.
    Refused,
}

impl Plan {
    pub(super) fn add(&mut self, name: &'static str, planned: Result<Option<Change>, impl Display>) -> Planned {
        match planned {
            Ok(Some(change)) => {
                let planned = if change.before().is_none() {
                    Planned::New
                } else {
                    Planned::Changed
                };
                self.changes.push((name, change));
                planned
            }
            Ok(None) => {
                say!("{name}: nothing to do.");
                Planned::Unchanged
            }
            Err(refusal) => {
                self.refuse(name, refusal);
                Planned::Refused
            }
        }
    }

    /// The changes of files that belong together. Those of which some were there already count as changed.
    fn add_all(&mut self, name: &'static str, planned: Result<Vec<Change>, Refusal>) -> Planned {
        let changes = match planned {
            Ok(changes) if !changes.is_empty() => changes,
            Ok(_) => return self.add(name, Ok::<_, Refusal>(None)),
            Err(refusal) => return self.add(name, Err(refusal)),
        };
        let each: Vec<Planned> = changes
            .into_iter()
            .map(|change| self.add(name, Ok::<_, Refusal>(Some(change))))
            .collect();
        if each.contains(&Planned::Changed) {
            Planned::Changed
        } else {
            Planned::New
        }
    }

    pub(super) fn refuse(&mut self, name: &str, reason: impl Display) {
        self.refused += 1;
        complain!("{name}: {reason}");
    }

    /// Shows the changes, and asks. Returns whether they are to be made.
    pub(super) fn is_agreed_to(&self, consent: &Consent) -> Result<bool, CliError> {
        for (name, change) in &self.changes {
            say!("{name}:");
            tell!("{}", diff(change));
        }
        if consent.dry_run {
            say!("This was a dry run: nothing was changed.");
            return Ok(false);
        }
        if self.changes.is_empty() || consent.yes {
            return Ok(true);
        }
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            return Err(CliError::new(Kind::Usage, "nothing was changed, since there is nobody to ask").with_hint("add --yes"));
        }
        tell!("Make these changes? [y/N] ");
        let mut answer = String::new();
        stdin.lock().read_line(&mut answer)?;
        if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            Ok(true)
        } else {
            Err(CliError::new(Kind::Failed, "nothing was changed"))
        }
    }

    /// Makes the changes. Returns for whom.
    pub(super) fn apply(&mut self) -> Vec<&'static str> {
        let mut changed = Vec::new();
        for (name, change) in std::mem::take(&mut self.changes) {
            let path = change.path().display();
            match change.apply() {
                Ok(()) => {
                    changed.push(name);
                    let done = if change.after().is_some() { "wrote" } else { "removed" };
                    say!("{name}: {done} {path}.");
                }
                Err(refusal) => self.refuse(name, refusal),
            }
        }
        changed
    }

    pub(super) fn outcome(&self) -> Result<(), CliError> {
        if self.refused == 0 {
            return Ok(());
        }
        Err(CliError::new(Kind::Failed, "not all was done; see above"))
    }
}

pub(super) fn diff(change: &Change) -> String {
    let path = change.path().display().to_string();
    let named = |text: Option<&str>| text.map_or_else(|| "/dev/null".to_owned(), |_| path.clone());
    TextDiff::from_lines(change.before().unwrap_or_default(), change.after().unwrap_or_default())
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .header(&named(change.before()), &named(change.after()))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_run_as_a_service_before_its_user_agrees() {
        let home = tempfile::tempdir().unwrap();
        let marker = home.path().join("tried");
        let uid = crate::system::user_id();
        let mut service = install::Service::systemd(&home.path().join(".config"), "/a/remembrancer", uid);
        service.answers = vec!["true".to_owned()];
        service.has_namespaces = Some(vec!["touch".to_owned(), marker.to_str().unwrap().to_owned()]);
        let files = |trial: Trial, plan: &mut Plan| (trial.plan(&service, plan), plan.changes.len());
        for (yes, dry_run) in [(false, true), (true, true), (false, false)] {
            let trial = Trial::of(&Consent { yes, dry_run });
            assert_eq!(files(trial, &mut Plan::default()), (Planned::New, 2));
            assert!(!marker.exists(), "yes {yes}, dry run {dry_run}");
        }
        let mut plan = Plan::default();
        Trial::Later.plan(&service, &mut plan);
        plan.apply();
        assert_eq!(Trial::Later.plan_late(&service, Planned::New, &mut plan), Planned::New);
        assert!(
            marker.exists() && service.install(Some(true)).unwrap().is_empty(),
            "all is written"
        );
        let again = tempfile::tempdir().unwrap();
        let mut service = install::Service::systemd(again.path(), "/a/remembrancer", uid);
        service.answers = vec!["true".to_owned()];
        service.has_namespaces = Some(vec!["true".to_owned()]);
        let mut plan = Plan::default();
        let trial = Trial::of(&Consent {
            yes: true,
            dry_run: false,
        });
        assert_eq!((trial.plan(&service, &mut plan), plan.changes.len()), (Planned::New, 3));
    }
}
