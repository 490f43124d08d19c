//! `remembrancer share`: how sharing is, what may be shared, its pause and its end, what is taken back, an export of the shared store; and
//! for who runs the server its schema, teams, members and models. What needs the server has a connection of its own, for as long as the
//! command runs.

mod admin;
mod export;
mod forget;
mod leave;
mod owner;
mod projects;
pub(super) mod server;
pub(super) mod status;

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use remembrancer_hooks::protocol::Request;
use remembrancer_processor::Deadline;
use remembrancer_schema::{Reader, ShareState};
use serde_json::Value;

use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use super::{acts, ask};
use crate::cli::output::{say, tell};
use crate::config::Config;
use crate::share::{ShareSettings, TeamKey};

/// What holds of all of them.
const NOTES: &str = "The shared store is a PostgreSQL database that you name by `share.url` in the settings; docs/share.md tells how it is \
set up, what leaves this machine and what never does. `init`, `add-team`, `remove-team`, `add-member`, `remove-member`, `add-model` and \
`restored` are for who runs the server: they read its URL from a file of yours alone (mode 0600), by --url-file or by \
REMEMBRANCER_SHARE_ADMIN_URL_FILE.";

#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct ShareArguments {
    #[command(subcommand)]
    command: ShareCommand,
}

#[derive(Debug, Subcommand)]
enum ShareCommand {
    /// Say how sharing is: connected or not, what waits, how far behind it is.
    Status(PlainArguments),
    /// List the projects of this memory, by which keys a pattern may name them, and which are shared.
    Projects(PlainArguments),
    /// Send and take nothing for now; what is forgotten goes from the shared store all the same.
    Pause(PlainArguments),
    /// Share again, also after `share leave`.
    Resume(PlainArguments),
    /// Take what you shared back from the shared store; it stays on the machine where it was made.
    Forget(forget::ForgetArguments),
    /// Share no more with the team: what others shared goes from this memory, and what this machine shared is taken back.
    Leave(leave::LeaveArguments),
    /// Write what stands in the shared store into a file, as JSON lines.
    Export(export::ExportArguments),
    /// Make a new team key in a new file.
    Key(KeyArguments),
    /// Make the schema in the database, or bring it up to date.
    Init(admin::InitArguments),
    /// Make a team.
    AddTeam(admin::AddTeamArguments),
    /// Delete a team, with all that it shares.
    RemoveTeam(admin::RemoveTeamArguments),
    /// Let a login of the database into a team.
    AddMember(admin::AddMemberArguments),
    /// Take a member out of a team.
    RemoveMember(admin::RemoveMemberArguments),
    /// Let the shared store hold vectors of this machine's embedding model.
    AddModel(admin::AddModelArguments),
    /// Say that the server was put back from a backup: all machines tell and take everything again.
    Restored(admin::RestoredArguments),
}

#[derive(Debug, Args)]
struct PlainArguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct KeyArguments {
    /// Where to; the file is yours alone (mode 0600), and none may be there.
    file: PathBuf,
}

pub(super) fn run(arguments: &ShareArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    match &arguments.command {
        ShareCommand::Status(arguments) => status::run(arguments.json, surroundings),
        ShareCommand::Projects(arguments) => projects::run(arguments.json, surroundings),
        ShareCommand::Pause(arguments) => pause(true, arguments.json, surroundings),
        ShareCommand::Resume(arguments) => pause(false, arguments.json, surroundings),
        ShareCommand::Forget(arguments) => forget::run(arguments, surroundings),
        ShareCommand::Leave(arguments) => leave::run(arguments, surroundings),
        ShareCommand::Export(arguments) => export::run(arguments, surroundings),
        ShareCommand::Key(arguments) => key(arguments),
        ShareCommand::Init(arguments) => admin::init(arguments, surroundings),
        ShareCommand::AddTeam(arguments) => admin::add_team(arguments, surroundings),
        ShareCommand::RemoveTeam(arguments) => admin::remove_team(arguments, surroundings),
        ShareCommand::AddMember(arguments) => admin::add_member(arguments, surroundings),
        ShareCommand::RemoveMember(arguments) => admin::remove_member(arguments, surroundings),
        ShareCommand::AddModel(arguments) => admin::add_model(arguments, surroundings),
        ShareCommand::Restored(arguments) => admin::restored(arguments, surroundings),
    }
}

/// Episodes that the server takes back at a time: one transaction of it holds nobody up for long, and none runs out of its time.
const STEP: i32 = 1_000;

/// Has the server take back a step at a time until nothing is left; gives how many there were.
///
/// # Errors
/// Those of a step; the steps before it are done.
fn in_steps(mut step: impl FnMut() -> Result<i64, CliError>) -> Result<u64, CliError> {
    let mut all = 0;
    loop {
        match step()? {
            ..=0 => return Ok(all),
            taken => all += taken.unsigned_abs(),
        }
    }
}

/// The settings of the shared store.
///
/// # Errors
/// Where there are none.
fn settings(config: &Config) -> Result<&ShareSettings, CliError> {
    config.share.as_ref().ok_or_else(|| {
        CliError::new(Kind::Usage, "this memory is not shared: the settings name no shared store")
            .with_hint("set `share.url` and `share.team` (`remembrancer config edit`); docs/share.md tells how")
    })
}

/// How far sharing has come here.
///
/// # Errors
/// Where it has not begun: the settings name no shared store, or no daemon has read them yet. What the store says.
fn begun(reader: &Reader, config: &Config) -> Result<ShareState, CliError> {
    if let Some(state) = reader.share_state()? {
        return Ok(state);
    }
    settings(config)?;
    Err(CliError::new(
        Kind::Usage,
        "the settings name a shared store, and sharing has not begun here",
    )
    .with_hint("start the daemon again, which reads the settings as it starts"))
}

/// The same of a request that was refused with `error`: where sharing has not begun, that is what is said of it.
fn unless_begun(error: CliError, surroundings: &Surroundings) -> CliError {
    let reader = ask::reader(surroundings).ok();
    reader
        .and_then(|reader| begun(&reader, &surroundings.config).err())
        .unwrap_or(error)
}

/// Has whoever types this agree to `what`, which is told first.
///
/// # Errors
/// Where nobody can be asked; where they do not agree, as [`Kind::Failed`] with `refused`.
fn agree(what: &str, question: &str, refused: &str) -> Result<(), CliError> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(
            CliError::new(Kind::Usage, format!("{what} Nothing was done, since there is nobody to ask")).with_hint("add --yes"),
        );
    }
    say!("{what}");
    tell!("{question} [y/N] ");
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        Err(CliError::new(Kind::Failed, refused))
    }
}

fn pause(paused: bool, json: bool, surroundings: &Surroundings) -> Result<(), CliError> {
    let done = acts::pause_sharing(surroundings, paused).map_err(|error| unless_begun(error, surroundings))?;
    let command = if paused { "share-pause" } else { "share-resume" };
    let is_told = !paused && !json;
    let (sharing, daemon) = if is_told {
        going_on(surroundings)?
    } else {
        (Value::Null, false)
    };
    ask::print(command, &done, json, |_| {
        if paused {
            say!(
                "Sharing is paused until `remembrancer share resume`: nothing is sent or taken. What you forget or keep out goes from the \
                 shared store all the same."
            );
        } else {
            say!("{}", status::resumed(&sharing, daemon));
        }
    });
    Ok(())
}

/// How long it is waited until a daemon that was told to go on has called the server: a handshake or two, as a rule.
const CALL: Duration = Duration::from_secs(2);
/// Between two looks at how far the daemon is.
const LOOK: Duration = Duration::from_millis(100);

/// How sharing is once it goes on, and whether a daemon says so; that is given [`CALL`] to reach the server.
///
/// # Errors
/// What the daemon says.
fn going_on(surroundings: &Surroundings) -> Result<(Value, bool), CliError> {
    let deadline = Deadline::after(CALL);
    loop {
        let Some(mut status) = ask::data(surroundings, &Request::Status)? else {
            return Ok((Value::Null, false));
        };
        let sharing = status["sharing"].take();
        if sharing["connection"]["connected_since"].is_string() || deadline.has_passed() {
            return Ok((sharing, true));
        }
        std::thread::sleep(LOOK);
    }
}

fn key(arguments: &KeyArguments) -> Result<(), CliError> {
    let file = std::path::absolute(&arguments.file)?;
    TeamKey::generate(&file).map_err(|error| server::key_error(&error))?;
    say!("Made a team key in {}.", file.display());
    say!(
        "Give the file to each member by a way that the server can't read, and name it by `share.key_file`. Keep a copy where it can't get \
         lost: nothing else opens what was sealed with it."
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use remembrancer_schema::Writer;

    use super::*;

    #[test]
    fn where_sharing_has_not_begun_what_is_missing_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("memory.db");
        let _writer = Writer::open(&database).unwrap();
        let reader = Reader::open(&database).unwrap();
        let told = |settings: &str| {
            let config = Config::parse(Path::new("config.toml"), settings, Path::new("/home/ada")).unwrap();
            let error = begun(&reader, &config).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage, "{error}");
            error.hint().unwrap().to_owned()
        };
        assert!(told("").contains("share.url"));
        assert!(told("[share]\nurl = \"postgres://ada@db/memory\"\nteam = \"acme\"\n").contains("start the daemon"));
    }

    #[test]
    fn steps_go_on_until_nothing_is_left() {
        let mut steps = [1_000, 1_000, 7, 0, 9].into_iter();
        assert_eq!(in_steps(|| Ok(steps.next().unwrap())).unwrap(), 2_007);
        assert_eq!(steps.next(), Some(9));
        let failed = || Err(CliError::new(Kind::Failed, "the server is away"));
        assert!(in_steps(failed).is_err());
    }
}
