//! `share forget`: takes what this member shared back from the shared store, whichever of the member's machines it came from. An episode stays
//! on the machine where it was made; all others, those of the member too, lose their copies of it at their next look.

use std::collections::BTreeSet;

use clap::{ArgGroup, Args};
use remembrancer_schema::shared::WITHDRAW_ALL;
use remembrancer_schema::{ProjectToShare, Reader};
use serde_json::json;

use super::server::{Member, Network};
use super::{STEP, agree, in_steps};
use crate::cli::error::{CliError, Kind};
use crate::cli::output::say;
use crate::cli::progress::Progress;
use crate::cli::steer::counted;
use crate::cli::surroundings::Surroundings;
use crate::cli::{ask, share};
use crate::share::TeamKey;

/// What holds however it is named.
const NOTES: &str = "What is taken back stays on the machine where it was made; copies of it go, those on your other machines too. It comes into the shared \
store again where it changes there, or where all is looked at again (another list of projects, a server that was put back), and its project is still named by \
`share.projects`: take the project out there first, or pause sharing. `remembrancer forget` deletes here and \
there, for good. Backups of the server are not reached.";

#[derive(Debug, Args)]
#[command(after_help = NOTES, group = ArgGroup::new("which").required(true).args(["project", "all"]))]
#[group(skip)]
pub(super) struct ForgetArguments {
    /// What belongs to the projects of which a key is this, such as github.com/acme/app; `*` stands for anything, of projects here.
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
    let named = match &arguments.project {
        None => None,
        Some(project) => Some(Named::of(project, &ask::reader(surroundings)?)?),
    };
    let network = Network::start()?;
    let member = Member::connect(&network, settings, surroundings)?;
    let keys = match &named {
        // Without the key, too: what is shared can always be taken back.
        None => None,
        Some(named) => Some(named.keys(member.key(settings)?.as_ref())),
    };
    if !arguments.yes {
        let what = match &arguments.project {
            Some(project) => format!("what {} shared of {project}", member.hello.login),
            None => format!("all that {} shared", member.hello.login),
        };
        let what = format!(
            "This takes {what} back from the team {}, whichever machine it came from. Each episode stays on the machine where it was made; the \
             copies on your other machines go.",
            settings.team
        );
        agree(&what, "Take it back?", "nothing was taken back")?;
    }
    let withdrawn = take_back(&network, &member, keys.as_deref(), arguments.json)?;
    if let Some(named) = named.filter(|named| withdrawn == 0 && !named.is_here) {
        return Err(named.of_nothing(&member.hello.login, &settings.team));
    }
    let done = json!({"withdrawn": withdrawn, "team": settings.team, "member": member.hello.login, "project": arguments.project});
    ask::print("share-forget", &done, arguments.json, |done| {
        say!(
            "Taken back: {} of {}, from the team {}.",
            counted(&done["withdrawn"], "episode", "episodes"),
            member.hello.login,
            settings.team
        );
        if withdrawn > 0 {
            say!(
                "It stays where it was made; your other machines and those of others remove their copies when they look next. Backups of the \
                 server keep what they hold."
            );
        }
        say!(
            "It comes back where it changes, or all is looked at again (another list of projects, a server that was put back): to share nothing more \
             of it, take the project out of `share.projects`, and start the daemon again."
        );
    });
    Ok(())
}

/// Takes back what the member shared, of the projects with these keys or (`None`) all, from every machine; gives how many episodes that
/// were.
///
/// # Errors
/// What the server says, or that it says nothing: what was taken back by then stays so.
fn take_back(network: &Network, member: &Member, keys: Option<&[String]>, quiet: bool) -> Result<u64, CliError> {
    let _progress = Progress::waiting("Taking back", quiet);
    let machine = member.machine.as_slice();
    let client = &member.client;
    let step = || {
        network.ask(async {
            client
                .query_one(WITHDRAW_ALL, &[&member.hello.team, &machine, &keys, &STEP])
                .await?
                .try_get::<_, i64>(0)
        })
    };
    in_steps(step).map_err(|error| match error.hint() {
        Some(_) => error,
        None => error.with_hint("do it again: what was taken back by now stays so"),
    })
}

/// Projects that a pattern names, as a command takes it.
struct Named {
    typed: String,
    /// Whether any of this memory is among them.
    is_here: bool,
    /// All that is asked for: what was typed, and the keys of those that are here.
    names: BTreeSet<String>,
}

impl Named {
    /// # Errors
    /// What the store says.
    fn of(typed: &str, reader: &Reader) -> Result<Self, CliError> {
        let projects = reader.share_projects(&[typed.to_owned()])?;
        Ok(Self::among(typed, projects))
    }

    /// `projects` say whether the pattern allows them.
    fn among(typed: &str, projects: Vec<ProjectToShare>) -> Self {
        let here: Vec<ProjectToShare> = projects.into_iter().filter(|project| project.allowed).collect();
        let mut names: BTreeSet<String> = here.iter().flat_map(|project| project.keys.iter().cloned()).collect();
        names.insert(typed.to_owned());
        names.retain(|name| !is_folder(name));
        Self {
            typed: typed.to_owned(),
            is_here: !here.is_empty(),
            names,
        }
    }

    /// The keys by which the shared store may know them: as they are, and with the kinds of keys that are sent. In a sealed team it knows
    /// what stands for them.
    fn keys(&self, key: Option<&TeamKey>) -> Vec<String> {
        let kinds = |name: &String| ["", "url:", "root:"].map(|kind| format!("{kind}{name}"));
        let names = self.names.iter().flat_map(kinds);
        names
            .map(|name| match key {
                None => name,
                Some(key) => key.name(&name),
            })
            .collect()
    }

    /// Nothing has this key, here or there.
    fn of_nothing(&self, login: &str, team: &str) -> CliError {
        let what = format!(
            "nothing was taken back: no project of this memory has the key {}, and {login} shares nothing of it with the team {team}",
            self.typed
        );
        CliError::new(Kind::NotFound, what).with_hint("`remembrancer share projects` lists the keys of projects here")
    }
}

/// Whether a key is a folder, which is never told to the server.
fn is_folder(key: &str) -> bool {
    let shown = ["url:", "root:", "git:", "cwd:"]
        .iter()
        .find_map(|kind| key.strip_prefix(kind));
    shown.unwrap_or(key).starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str, keys: &[&str], allowed: bool) -> ProjectToShare {
        ProjectToShare {
            name: name.to_owned(),
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            allowed,
            episodes: 3,
            pushed: 0,
            taken: 0,
        }
    }

    #[test]
    fn a_project_is_named_with_and_without_the_kind_of_its_key() {
        let named = Named::among("github.com/acme/app", Vec::new());
        let keys = named.keys(None);
        assert!(keys.contains(&"url:github.com/acme/app".to_owned()) && keys.contains(&"github.com/acme/app".to_owned()));
        let folder = tempfile::tempdir().unwrap();
        let key = TeamKey::generate(&folder.path().join("team.key")).unwrap();
        let hidden = named.keys(Some(&key));
        assert!(hidden.contains(&key.name("url:github.com/acme/app")));
        assert!(!hidden.iter().any(|name| name.contains("acme")));
    }

    #[test]
    fn a_pattern_names_the_projects_here_by_the_keys_that_are_told() {
        let projects = vec![
            project("app", &["github.com/acme/app", "1f0c9a", "/home/ada/app"], true),
            project("diary", &["github.com/ada/diary"], false),
        ];
        let named = Named::among("/home/ada/*", projects);
        let keys = named.keys(None);
        assert!(
            named.is_here && keys.contains(&"url:github.com/acme/app".to_owned()) && keys.contains(&"root:1f0c9a".to_owned())
        );
        assert!(!keys.iter().any(|key| key.contains("ada")), "{keys:?}");
    }

    #[test]
    fn a_key_of_nothing_is_told_with_where_the_right_ones_stand() {
        let named = Named::among("github.com/acme/wrong", vec![project("app", &["github.com/acme/app"], false)]);
        assert!(!named.is_here);
        let error = named.of_nothing("ada", "acme");
        assert_eq!(error.kind(), Kind::NotFound);
        assert!(
            error.message().contains("github.com/acme/wrong") && error.message().contains("nothing was taken back"),
            "{error}"
        );
        assert!(error.hint().unwrap().contains("share projects"));
    }
}
