//! `share forget`: takes what this member shared back from the shared store, on all of the member's machines. It stays in the
//! memory here; other members lose their copies of it at their next look.

use std::io::{BufRead, IsTerminal};

use clap::{ArgGroup, Args};
use remembrancer_schema::shared::WITHDRAW_ALL;
use serde_json::json;

use super::server::{Member, Network};
use super::{STEP, in_steps};
use crate::cli::error::{CliError, Kind};
use crate::cli::output::{say, tell};
use crate::cli::progress::Progress;
use crate::cli::steer::counted;
use crate::cli::surroundings::Surroundings;
use crate::cli::{ask, share};
use crate::share::TeamKey;

/// What holds however it is named.
const NOTES: &str = "What is taken back stays in your memory on this machine. It comes into the shared store again where it changes here, or \
where all is looked at again (another list of projects, a new model, a server that was put back), and its project is still named by \
`share.projects`: take the project out there first, or pause sharing. `remembrancer forget` deletes here and \
there, for good. Backups of the server are not reached.";

#[derive(Debug, Args)]
#[command(after_help = NOTES, group = ArgGroup::new("which").required(true).args(["project", "all"]))]
#[group(skip)]
pub(super) struct ForgetArguments {
    /// What belongs to the project with this key, such as github.com/acme/app or a first commit.
    #[arg(long, value_name = "KEY")]
    project: Option<String>,
    /// All that you shared with the team, from every machine of yours.
    #[arg(long)]
    all: bool,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &ForgetArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let settings = share::settings(&surroundings.config)?;
    let network = Network::start()?;
    let member = Member::connect(&network, settings, surroundings)?;
    let keys = match &arguments.project {
        // Without the key, too: what is shared can always be taken back.
        None => None,
        Some(project) => Some(keys_of(project, member.key(settings)?.as_ref())),
    };
    if !arguments.yes {
        confirm(arguments, &member.login, &settings.team)?;
    }
    let progress = Progress::waiting("Taking back", arguments.json);
    let machine = member.machine.as_slice();
    let client = &member.client;
    let step = || {
        network.ask(async {
            client
                .query_one(WITHDRAW_ALL, &[&member.team, &machine, &keys, &STEP])
                .await?
                .try_get::<_, i64>(0)
        })
    };
    let withdrawn = in_steps(step);
    drop(progress);
    let withdrawn = withdrawn.map_err(|error| match error.hint() {
        Some(_) => error,
        None => error.with_hint("do it again: what was taken back by now stays so"),
    })?;
    let done = json!({"withdrawn": withdrawn, "team": settings.team, "member": member.login, "project": arguments.project});
    ask::print("share-forget", &done, arguments.json, |done| {
        say!(
            "Taken back: {} of {}, from the team {}.",
            counted(&done["withdrawn"], "episode", "episodes"),
            member.login,
            settings.team
        );
        if withdrawn > 0 {
            say!("The others' machines remove their copies when they look next. Backups of the server keep what they hold.");
        } else if arguments.project.is_some() {
            say!("(A project's keys stand under `project_keys` in the lines of `remembrancer share export`.)");
        }
        say!(
            "It comes back where it changes here, or all is looked at again (another list of projects, another model): to share nothing more \
             of it, take the project out of `share.projects`, and start the daemon again."
        );
    });
    Ok(())
}

/// The keys by which the shared store may know a project: as it was typed, and with the kinds of keys that are sent. In a sealed
/// team it knows what stands for them.
fn keys_of(project: &str, key: Option<&TeamKey>) -> Vec<String> {
    let kinds = ["", "url:", "root:"].map(|kind| format!("{kind}{project}"));
    kinds
        .into_iter()
        .map(|name| match key {
            None => name,
            Some(key) => key.name(&name),
        })
        .collect()
}

fn confirm(arguments: &ForgetArguments, login: &str, team: &str) -> Result<(), CliError> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(
            CliError::new(Kind::Usage, "others lose what is taken back, and there is nobody to ask").with_hint("add --yes"),
        );
    }
    let what = match &arguments.project {
        Some(project) => format!("what {login} shared of {project}"),
        None => format!("all that {login} shared"),
    };
    say!("This takes {what} back from the team {team}, whichever machine it came from. It stays in your memory on this machine.");
    tell!("Take it back? [y/N] ");
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        Err(CliError::new(Kind::Failed, "nothing was taken back"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_named_with_and_without_the_kind_of_its_key() {
        let keys = keys_of("github.com/acme/app", None);
        assert!(keys.contains(&"url:github.com/acme/app".to_owned()) && keys.contains(&"github.com/acme/app".to_owned()));
        let folder = tempfile::tempdir().unwrap();
        let key = TeamKey::generate(&folder.path().join("team.key")).unwrap();
        let hidden = keys_of("github.com/acme/app", Some(&key));
        assert!(hidden.contains(&key.name("url:github.com/acme/app")));
        assert!(!hidden.iter().any(|name| name.contains("acme")));
    }
}
