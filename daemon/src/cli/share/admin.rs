//! What is for who runs the server: the shared store's schema, its teams, members and models. Each connects by the URL in a file,
//! does one thing, and says what it did.

use std::cell::Cell;
use std::path::PathBuf;

use clap::Args;
use remembrancer_processor::embed::Embed;
use remembrancer_schema::shared::{
    ADD_MEMBER, ADD_TEAM, LOOKS_AFTER, READ_VERSION, REGISTER_MODEL, REMOVE_MEMBER, REMOVE_TEAM, RESTORED, SHARED_MIGRATIONS,
    SHARED_VERSION, SharedMigration, TEAM_SIZE, WITHDRAW_MEMBER,
};
use tokio_postgres::{Client, Error};

use super::owner::AdminArguments;
use super::server::{NOT_THERE, Network, key_error, said};
use super::{STEP, agree, in_steps};
use crate::causes::with_causes;
use crate::cli::error::{CliError, Kind};
use crate::cli::output::{say, write_raw};
use crate::cli::surroundings::Surroundings;
use crate::config::{SHARE_NAMES, is_share_name};
use crate::embedder;
use crate::plural::counted;
use crate::share::{TeamKey, UNBOUNDED};

#[derive(Debug, Args)]
#[command(
    after_help = "It takes a login that may make roles in the database, and the extension pgvector 0.7 or later in PostgreSQL 15 or later. \
A shared store that is there is brought up to date, migration by migration, each whole or not at all; one of a newer version is left as it is."
)]
pub(in crate::cli) struct InitArguments {
    #[command(flatten)]
    admin: AdminArguments,
    /// Print the SQL for who runs it another way, and connect to nothing.
    #[arg(long, conflicts_with = "url_file")]
    print: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Of a sealed team the server holds texts that the team's key alone opens. It can't be searched by words there, and a team \
can't be sealed later. docs/share.md says what the server still sees."
)]
pub(in crate::cli) struct AddTeamArguments {
    /// What the team is called; members name it by `share.team`.
    name: String,
    /// Texts are encrypted with the team's key before they leave a machine.
    #[arg(long, requires = "key_file")]
    sealed: bool,
    /// The file of the team's key, which `share key` makes; it is not sent.
    #[arg(long, value_name = "FILE", requires = "sealed")]
    key_file: Option<PathBuf>,
    #[command(flatten)]
    admin: AdminArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The login has to be there: `CREATE ROLE ada LOGIN PASSWORD …` makes one. Of one that is in the team, --admin or its \
absence says whether it looks after the team; nobody gives that up for themselves without --yes."
)]
pub(in crate::cli) struct AddMemberArguments {
    /// The login of the database.
    login: String,
    /// The team.
    #[arg(long, value_name = "NAME")]
    team: String,
    /// Who may take members in and out, and see the team's audit.
    #[arg(long)]
    admin: bool,
    /// Also where you look after the team, and would not any more.
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    url: AdminArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "From then on the login reads nothing of the team. What the member's machines took before stays there: nobody can \
take back what was read. Of a sealed team, make a new team with a new key where that matters."
)]
pub(in crate::cli) struct RemoveMemberArguments {
    /// The login of the database.
    login: String,
    /// The team.
    #[arg(long, value_name = "NAME")]
    team: String,
    /// Keep what the member shared.
    #[arg(long)]
    keep: bool,
    /// Also where it is the login of the URL: yourself.
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    admin: AdminArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing of the team is left on the server but what stands in the audit. Its members' machines are refused from then on, and \
keep what they took: to have that go, too, take the members out first (`share remove-member`), and let their machines look once."
)]
pub(in crate::cli) struct RemoveTeamArguments {
    /// What the team is called.
    name: String,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    admin: AdminArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AddModelArguments {
    #[command(flatten)]
    admin: AdminArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A server that went back has again what was taken back since, and lacks what was shared and forgotten since. Each machine \
takes the copies of others out, tells what it shares and what was forgotten there, and takes everything again. Machines that notice by \
themselves do the same; this is for those that would not, since the server has come past where they were. To do it again changes nothing \
but that all is told once more."
)]
pub(in crate::cli) struct RestoredArguments {
    #[command(flatten)]
    admin: AdminArguments,
}

pub(super) fn init(arguments: &InitArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    if arguments.print {
        for migration in SHARED_MIGRATIONS {
            write_raw(format_args!("-- {}\n{}\n", title(migration), migration.sql.trim_end()));
        }
        return Ok(());
    }
    let network = Network::start()?;
    let client = arguments.admin.connect(&network, surroundings)?;
    let found = network.wait(version(&client))?;
    if found > SHARED_VERSION {
        let message =
            format!("the shared store is of version {found}, newer than this program's {SHARED_VERSION}; it is left as it is");
        return Err(CliError::new(Kind::Failed, message).with_hint("update this program"));
    }
    let due: Vec<&SharedMigration> = SHARED_MIGRATIONS
        .iter()
        .filter(|migration| migration.number > found)
        .collect();
    if !due.is_empty() {
        // One of a large shared store may take longer than anything else that is asked of it.
        network.ask(client.batch_execute(UNBOUNDED))?;
    }
    for migration in &due {
        // Each is one transaction by itself, and notes its number.
        let run = network.wait(client.batch_execute(migration.sql));
        run.map_err(|error| in_migration(migration, error))?;
        say!("Ran {}.", title(migration));
    }
    match (found, due.len()) {
        (_, 0) => say!("The shared store is up to date, in version {found}."),
        (0, _) => say!(
            "The shared store is there, in version {SHARED_VERSION}. Next: `remembrancer share add-model`, `remembrancer share add-team NAME`, \
             `remembrancer share add-member LOGIN --team NAME`."
        ),
        (found, ran) => say!(
            "The shared store went from version {found} to {SHARED_VERSION} by {}.",
            counted(ran as u64, "migration", "migrations")
        ),
    }
    Ok(())
}

fn title(migration: &SharedMigration) -> String {
    format!("migration {:04} ({})", migration.number, migration.name)
}

fn in_migration(migration: &SharedMigration, error: tokio_postgres::Error) -> CliError {
    let error = said(error);
    let told = CliError::new(
        error.kind(),
        format!("{} failed, and changed nothing: {}", title(migration), error.message()),
    );
    match error.hint() {
        Some(hint) => told.with_hint(hint),
        None => told,
    }
}

/// The SQLSTATE of who never was in the team, of whom nothing can be taken back.
const NEVER_THERE: &str = "RM006";
/// The SQLSTATE of a login to be added that the server does not have.
const NO_LOGIN: &str = "RM006";
/// The SQLSTATE of who does not look after a team.
const NOT_ALLOWED: &str = "RM007";

/// Whether the server says so by this SQLSTATE.
fn is(error: &Error, code: &str) -> bool {
    error.code().is_some_and(|told| told.code() == code)
}

/// SQLSTATEs of a database without a shared store: no such schema, no such table.
const NOTHING_THERE: [&str; 2] = ["3F000", "42P01"];

/// The version of the shared store; 0 where there is none.
async fn version(client: &Client) -> Result<i32, CliError> {
    match client.query_one(READ_VERSION, &[]).await {
        Ok(row) => row.try_get(0).map_err(said),
        Err(error) => {
            let code = error.code().map(|code| code.code().to_owned());
            if code.is_some_and(|code| NOTHING_THERE.contains(&code.as_str())) {
                return Ok(0);
            }
            Err(said(error))
        }
    }
}

pub(super) fn add_team(arguments: &AddTeamArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    if !is_share_name(&arguments.name) {
        let what = format!(
            "{:?} can't be the name of a team, since no settings could name it",
            arguments.name
        );
        return Err(CliError::new(Kind::Usage, what).with_hint(SHARE_NAMES));
    }
    let key = arguments.key_file.as_deref().map(TeamKey::read).transpose();
    let check = key.map_err(|error| key_error(&error))?.map(|key| key.check().to_vec());
    let network = Network::start()?;
    let client = arguments.admin.connect(&network, surroundings)?;
    network.ask(client.execute(ADD_TEAM, &[&arguments.name, &arguments.sealed, &check]))?;
    say!(
        "Made the team {}{}.",
        arguments.name,
        if arguments.sealed { ", sealed" } else { "" }
    );
    say!(
        "`remembrancer share add-member LOGIN --team {}` lets a login in.",
        arguments.name
    );
    Ok(())
}

pub(super) fn add_member(arguments: &AddMemberArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let AddMemberArguments {
        login,
        team,
        admin,
        yes,
        url,
    } = arguments;
    let owner = url.read(surroundings)?;
    let is_oneself = owner.login() == login;
    let network = Network::start()?;
    let client = owner.connect(&network, surroundings)?;
    if is_oneself && !admin && !yes {
        let looks_after = network.ask(async { client.query_one(LOOKS_AFTER, &[team]).await?.try_get::<_, bool>(0) })?;
        if looks_after {
            return Err(no_admin_any_more(login, team));
        }
    }
    let is_no_login = Cell::new(false);
    let added = network.ask(async {
        let told = client.execute(ADD_MEMBER, &[team, login, admin]).await;
        told.inspect_err(|error| is_no_login.set(is(error, NO_LOGIN)))
    });
    added.map_err(|error| {
        if is_no_login.get() {
            error.of_kind(Kind::NotFound)
        } else {
            error
        }
    })?;
    let as_what = if *admin { "an admin" } else { "a member" };
    say!("{login} is {as_what} of the team {team}.");
    Ok(())
}

/// Who looks after a team seldom means to give that up.
fn no_admin_any_more(login: &str, team: &str) -> CliError {
    let what = format!(
        "{login} is the login of the URL: this makes yourself a plain member of the team {team}, and unless you own the shared store you \
         could let nobody in or out of it any more"
    );
    CliError::new(Kind::Usage, what).with_hint("add --admin to go on looking after it, or --yes if that is meant")
}

pub(super) fn remove_team(arguments: &RemoveTeamArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let name = &arguments.name;
    let network = Network::start()?;
    let client = arguments.admin.connect(&network, surroundings)?;
    // One that shares much takes longer than anything else that is asked.
    network.ask(client.batch_execute(UNBOUNDED))?;
    if !arguments.yes {
        // One that is not there is told of as it is deleted.
        let size = network.wait(size(&client, name)).map_err(said)?;
        let what = size.map(|(members, episodes)| {
            format!(
                "This deletes the team {name} from the server, with {} of its {} and all that is known there of what they forgot. Their \
                 machines keep what they took.",
                counted(episodes.unsigned_abs(), "episode", "episodes"),
                counted(members.unsigned_abs(), "member", "members")
            )
        });
        if let Some(what) = what {
            agree(&what, "Delete it?", "nothing was deleted")?;
        }
    }
    let episodes = network.wait(removed(&client, name)).map_err(said)?;
    say!(
        "The team {name} is gone, and {} with it.",
        counted(
            episodes.unsigned_abs(),
            "episode that was shared",
            "episodes that were shared"
        )
    );
    say!("Its members can take `[share]` out of their settings, or set another team. Backups of the server keep what they hold.");
    Ok(())
}

/// How many members the team has, and how many episodes are shared there.
async fn size(client: &Client, team: &str) -> Result<Option<(i64, i64)>, Error> {
    let row = client.query_opt(TEAM_SIZE, &[&team]).await?;
    row.map(|row| Ok((row.try_get("members")?, row.try_get("episodes")?)))
        .transpose()
}

/// Deletes the team; gives how many episodes went.
async fn removed(client: &Client, team: &str) -> Result<i64, Error> {
    client.query_one(REMOVE_TEAM, &[&team]).await?.try_get(0)
}

pub(super) fn remove_member(arguments: &RemoveMemberArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let RemoveMemberArguments {
        login,
        team,
        keep,
        yes,
        admin,
    } = arguments;
    let owner = admin.read(surroundings)?;
    let is_oneself = owner.login() == login;
    if is_oneself && !yes {
        return Err(oneself(login, team, *keep));
    }
    let network = Network::start()?;
    let client = owner.connect(&network, surroundings)?;
    let out_already = match network.wait(client.execute(REMOVE_MEMBER, &[team, login, keep])) {
        Ok(_) => None,
        // What was broken off is gone on with; who took oneself out looks after nothing any more.
        Err(error) if !keep && (is(&error, NOT_THERE) || is_oneself && is(&error, NOT_ALLOWED)) => {
            Some(not_removed(error, is_oneself))
        }
        Err(error) => return Err(not_removed(error, is_oneself)),
    };
    let withdrawn = if *keep {
        0
    } else {
        let was_never = Cell::new(false);
        let step = || {
            network.ask(async {
                let told = client.query_one(WITHDRAW_MEMBER, &[team, login, &STEP]).await;
                let of_nobody = |error: &Error| [NEVER_THERE, NOT_THERE, NOT_ALLOWED].iter().any(|code| is(error, code));
                let row = told.inspect_err(|error| was_never.set(of_nobody(error)))?;
                row.try_get::<_, i64>(0)
            })
        };
        match (in_steps(step), out_already) {
            // There was nothing to go on with.
            (Ok(0), Some(_)) => return Err(out_already_for_good(login, team)),
            (Err(_), Some(at_first)) if was_never.get() => return Err(at_first),
            (Ok(withdrawn), _) => withdrawn,
            (Err(error), Some(_)) => return Err(error),
            (Err(error), None) => {
                return Err(error.with_hint(format!(
                    "{login} is out of the team; do it again to take back the rest of what {login} shared"
                )));
            }
        }
    };
    say!("{login} is out of the team {team}, and reads nothing of it any more.");
    if *keep {
        say!("What {login} shared stays.");
    } else {
        say!("Taken back: {} of {login}.", counted(withdrawn, "episode", "episodes"));
    }
    Ok(())
}

/// What keeps a login from being taken out. A plain member, who may not take itself out, can leave.
fn not_removed(error: Error, is_oneself: bool) -> CliError {
    let is_plain = is_oneself && is(&error, NOT_ALLOWED);
    let told = said(error);
    if is_plain { told.with_hint(TO_LEAVE) } else { told }
}

/// What a plain member does instead.
const TO_LEAVE: &str = "`remembrancer share leave` takes back what this machine shared, and shares no more; to be taken out of the team, ask \
who looks after it";

/// Somebody who is out of the team, and of whom nothing is there.
fn out_already_for_good(login: &str, team: &str) -> CliError {
    CliError::new(
        Kind::NotFound,
        format!("the login {login} is not in the team {team} any more, and shares nothing there"),
    )
    .with_hint("there is nothing to take back; `remembrancer share add-member` lets the login in again")
}

/// Who takes itself out is seldom meant.
fn oneself(login: &str, team: &str, keep: bool) -> CliError {
    let then = if keep { "" } else { ", and takes back all that you shared" };
    let what = format!(
        "{login} is the login of the URL: this takes yourself out of the team {team}{then}, and unless you own the shared store you could let \
         nobody in or out of it any more"
    );
    CliError::new(Kind::Usage, what)
        .with_hint("add --yes if that is meant; `remembrancer share leave` leaves a team and stays its member")
}

pub(super) fn add_model(arguments: &AddModelArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let config = &surroundings.config;
    let model = embedder::load(config.model_dir.as_deref(), config.device)
        .map_err(|error| CliError::new(Kind::Failed, format!("the model can't be loaded: {}", with_causes(&error))))?;
    let (name, dimension) = (model.model_id(), model.dimension() as i32);
    let network = Network::start()?;
    let client = arguments.admin.connect(&network, surroundings)?;
    network.ask(client.execute(REGISTER_MODEL, &[&name, &dimension]))?;
    say!("The shared store holds vectors of {name}, of {dimension} numbers each.");
    Ok(())
}

pub(super) fn restored(arguments: &RestoredArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let network = Network::start()?;
    let client = arguments.admin.connect(&network, surroundings)?;
    network.ask(client.execute(RESTORED, &[]))?;
    say!("Noted: at its next look each machine of each team tells all that it shares, and takes everything again.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_oneself_out_is_told_what_that_does() {
        let error = oneself("ada", "acme", false);
        assert_eq!(error.kind(), Kind::Usage);
        assert!(
            error.message().contains("yourself out of the team acme, and takes back all"),
            "{error}"
        );
        assert!(
            error
                .message()
                .contains("unless you own the shared store you could let nobody in or out"),
            "the owner needs to be in no team: {error}"
        );
        assert!(error.hint().unwrap().contains("--yes"));
        assert!(!oneself("ada", "acme", true).message().contains("takes back"));
    }

    #[test]
    fn who_would_not_look_after_a_team_any_more_is_told_so() {
        let error = no_admin_any_more("ada", "acme");
        assert_eq!(error.kind(), Kind::Usage);
        assert!(
            error.message().contains("yourself a plain member of the team acme") && error.message().contains("unless you own"),
            "{error}"
        );
        let hint = error.hint().unwrap();
        assert!(hint.contains("--admin") && hint.contains("--yes"), "{hint}");
    }
}
