//! What is for who runs the server: the shared store's schema, its teams, members and models. Each connects by the URL in a file,
//! does one thing, and says what it did.

use std::path::PathBuf;

use clap::Args;
use remembrancer_processor::embed::Embed;
use remembrancer_schema::shared::{
    ADD_MEMBER, ADD_TEAM, READ_VERSION, REGISTER_MODEL, REMOVE_MEMBER, SHARED_MIGRATIONS, SHARED_VERSION, SharedMigration,
    WITHDRAW_MEMBER,
};
use tokio_postgres::Client;

use super::server::{AdminArguments, Network, key_error, said};
use super::{STEP, in_steps};
use crate::causes::with_causes;
use crate::cli::error::{CliError, Kind};
use crate::cli::output::{say, write_raw};
use crate::cli::surroundings::Surroundings;
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
absence says whether it looks after the team."
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
    #[command(flatten)]
    admin: AdminArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AddModelArguments {
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

/// The SQLSTATE of what names somebody who is not in the team.
const NOT_THERE: &str = "RM006";

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
    let AddMemberArguments { login, team, admin, url } = arguments;
    let network = Network::start()?;
    let client = url.connect(&network, surroundings)?;
    network.ask(client.execute(ADD_MEMBER, &[team, login, admin]))?;
    let as_what = if *admin { "an admin" } else { "a member" };
    say!("{login} is {as_what} of the team {team}.");
    Ok(())
}

pub(super) fn remove_member(arguments: &RemoveMemberArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let RemoveMemberArguments {
        login,
        team,
        keep,
        admin,
    } = arguments;
    let network = Network::start()?;
    let client = admin.connect(&network, surroundings)?;
    let removed = network.wait(client.execute(REMOVE_MEMBER, &[team, login, keep]));
    let out_already = match removed {
        Ok(_) => None,
        // What was broken off is gone on with.
        Err(error) if !keep && error.code().is_some_and(|code| code.code() == NOT_THERE) => Some(said(error)),
        Err(error) => return Err(said(error)),
    };
    let withdrawn = if *keep {
        0
    } else {
        let step = || {
            network.ask(async {
                client
                    .query_one(WITHDRAW_MEMBER, &[team, login, &STEP])
                    .await?
                    .try_get::<_, i64>(0)
            })
        };
        in_steps(step).map_err(|error| match out_already {
            Some(_) => error,
            None => error.with_hint(format!(
                "{login} is out of the team; do it again to take back the rest of what {login} shared"
            )),
        })?
    };
    if let Some(error) = out_already
        && withdrawn == 0
    {
        return Err(error);
    }
    say!("{login} is out of the team {team}, and reads nothing of it any more.");
    if *keep {
        say!("What {login} shared stays.");
    } else {
        say!("Taken back: {} of {login}.", counted(withdrawn, "episode", "episodes"));
    }
    Ok(())
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
