//! `share leave`: what others shared goes from this memory, and what this member shared goes from the team. The first is done here, the
//! second at the server: where that can't be reached, it says so, and is done again. It is over once the memory knows that nothing of it is
//! there any more.

use std::time::Duration;

use clap::Args;
use remembrancer_processor::Deadline;
use remembrancer_schema::{Reader, ShareState};
use serde_json::Value;

use super::forget::take_back;
use super::server::{Member, Network};
use super::{agree, begun};
use crate::cli::error::{CliError, Kind};
use crate::cli::output::say;
use crate::cli::progress::Progress;
use crate::cli::steer::counted;
use crate::cli::surroundings::Surroundings;
use crate::cli::{acts, ask, share};
use crate::share::ShareSettings;

/// How often is taken back once more what was on its way to the server as it was taken back at first.
const AGAIN: u32 = 3;
/// How long it is waited each time until the daemon has seen at the server what was taken back.
const WAIT: Duration = Duration::from_millis(2_500);
/// Between two looks at what it has seen.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing more goes out and nothing more is taken, but that what you forget goes on being told while the settings name the team. \
What you shared is taken back whichever machine of yours it came from, and stays in your memories; your other machines share with the team \
until they leave it, too. Where the server can't be reached, do it again later; where the team does not let you in any more, nothing more can be taken back. `remembrancer share resume` goes back on it; what was taken back then stays so as after `share forget`."
)]
pub(super) struct LeaveArguments {
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &LeaveArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let settings = share::settings(&surroundings.config)?;
    let state = begun(&ask::reader(surroundings)?, &surroundings.config)?;
    is_of(settings, &state)?;
    let team = &settings.team;
    if !arguments.yes {
        let what = format!(
            "This leaves the team {team}: what others shared goes from this memory, and all that you shared is taken back there, whichever \
             machine of yours it came from. It stays in your memory on this machine."
        );
        agree(&what, "Leave it?", "nothing was left")?;
    }
    let mut done = acts::leave_sharing(surroundings)?;
    let removed = done["removed"].as_u64().unwrap_or_default();
    let back = TakenBack::of(settings, surroundings, arguments.json).map_err(|error| half_done(&error, removed, team))?;
    let login = back.login.or(state.member_login);
    done["team"] = team.as_str().into();
    done["member"] = login.as_deref().into();
    done["withdrawn"] = back.withdrawn.into();
    done["left_there"] = back.left_there.into();
    ask::print("share-leave", &done, arguments.json, print);
    Ok(())
}

fn print(done: &Value) {
    let team = done["team"].as_str().unwrap_or_default();
    let removed = counted(&done["removed"], "episode", "episodes");
    if done["withdrawn"].is_null() {
        say!(
            "Left the team {team}: {removed} of others went from this memory. The team does not let this login in any more: nothing more can \
             be taken back from here."
        );
    } else {
        say!(
            "Left the team {team}: {removed} of others went from this memory, and {} of {} were taken back.",
            counted(&done["withdrawn"], "episode", "episodes"),
            done["member"].as_str().unwrap_or_default()
        );
    }
    if done["left_there"] != 0 {
        say!(
            "The daemon has not seen yet that {} there no more: before the settings are changed, wait until `remembrancer share status` says 0 \
             sent, or stop the daemon and run `remembrancer share leave` again.",
            counted(&done["left_there"], "episode is", "episodes are")
        );
    }
    say!(
        "`[share]` can be taken out of the settings {}, or another team be set (`remembrancer config edit`); start the daemon again then. \
         `remembrancer share resume` shares with {team} again.",
        if done["left_there"] == 0 { "now" } else { "then" }
    );
}

/// What came of it at the server.
struct TakenBack {
    /// Who one was there; none where the team does not let the login in.
    login: Option<String>,
    /// How many episodes were taken back; none likewise.
    withdrawn: Option<u64>,
    /// How many this memory does not know yet to be gone.
    left_there: u64,
}

impl TakenBack {
    /// Takes back all, and sees to it that the memory knows.
    ///
    /// # Errors
    /// What keeps it from being taken back; what the store says.
    fn of(settings: &ShareSettings, surroundings: &Surroundings, quiet: bool) -> Result<Self, CliError> {
        let network = Network::start()?;
        let Some(member) = Member::connect_if_let_in(&network, settings, surroundings)? else {
            return Ok(Self {
                login: None,
                withdrawn: None,
                left_there: known_gone(surroundings, quiet, true, || Ok(()))?,
            });
        };
        let mut withdrawn = take_back(&network, &member, None, quiet)?;
        let left_there = known_gone(surroundings, quiet, false, || {
            withdrawn += take_back(&network, &member, None, quiet)?;
            Ok(())
        })?;
        Ok(Self {
            login: Some(member.hello.login),
            withdrawn: Some(withdrawn),
            left_there,
        })
    }
}

/// Has the memory know that nothing of it is at the server any more: without a daemon it is written there, and a daemon sees it at the server,
/// or (`is_put_out`) that the team does not let it in. `again` takes back what came there meanwhile. Gives how many episodes are not known
/// to be gone.
///
/// # Errors
/// Those of `again`; what the store says.
fn known_gone(
    surroundings: &Surroundings,
    quiet: bool,
    is_put_out: bool,
    again: impl FnMut() -> Result<(), CliError>,
) -> Result<u64, CliError> {
    if !ask::daemon_of_this_memory(surroundings)? {
        match note(surroundings) {
            // One started meanwhile, and sees it by itself.
            Err(error) if error.kind() == Kind::Daemon => {}
            noted => return noted.map(|()| 0),
        }
    }
    let reader = ask::reader(surroundings)?;
    let look = || {
        let _progress = Progress::waiting("Waiting for the daemon to see it", quiet);
        wait_for_none(|| not_gone(&reader, is_put_out), WAIT)
    };
    until_none(look, again)
}

/// Writes into the store that nothing of it is at the server.
fn note(surroundings: &Surroundings) -> Result<(), CliError> {
    let (_single, mut writer) = ask::writer(surroundings)?;
    Ok(writer.all_taken_back()?)
}

/// How many episodes the store does not know to be gone; none where it knows (`is_put_out`) that the team does not let it in.
fn not_gone(reader: &Reader, is_put_out: bool) -> Result<u64, CliError> {
    let state = reader.share_state()?.unwrap_or_default();
    Ok(if is_put_out && state.is_put_out { 0 } else { state.pushed })
}

/// Looks how many are `left`, for as long as there are some and `wait` has not passed; gives how many there are then.
fn wait_for_none(mut left: impl FnMut() -> Result<u64, CliError>, wait: Duration) -> Result<u64, CliError> {
    let deadline = Deadline::after(wait);
    loop {
        match left()? {
            0 => return Ok(0),
            left if deadline.has_passed() => return Ok(left),
            _ => std::thread::sleep(LOOK),
        }
    }
}

/// Does it `again` until none is left, [`AGAIN`] times at most; gives how many are left then.
fn until_none(
    mut left: impl FnMut() -> Result<u64, CliError>,
    mut again: impl FnMut() -> Result<(), CliError>,
) -> Result<u64, CliError> {
    for _ in 0..AGAIN {
        if left()? == 0 {
            return Ok(0);
        }
        again()?;
    }
    left()
}

/// Refuses to leave one team here and another one there: the settings may name one that the daemon has not read yet, or the same at another
/// server.
fn is_of(settings: &ShareSettings, state: &ShareState) -> Result<(), CliError> {
    let named = settings.team_key().map_err(|why| CliError::new(Kind::Usage, why))?;
    if named == state.team_key {
        return Ok(());
    }
    let shares = &state.team_key;
    Err(CliError::new(
        Kind::Usage,
        format!("this memory shares with the team at {shares} still, and the settings name {named}"),
    )
    .with_hint(format!(
        "start the daemon again, which reads the settings as it starts; to leave {shares}, set it again first"
    )))
}

/// What is done where the server could not be asked, and what is not.
fn half_done(error: &CliError, removed: u64, team: &str) -> CliError {
    let removed = counted(&removed.into(), "episode", "episodes");
    let what = format!(
        "this memory shares no more with the team {team}, and {removed} of others went from it; what you shared there could not be taken \
         back, or not all: {}",
        error.message()
    );
    let before = error.hint().map(|hint| format!("{hint}; then ")).unwrap_or_default();
    CliError::new(error.kind(), what).with_hint(format!(
        "{before}run `remembrancer share leave` again, before the settings name another team"
    ))
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::{ProjectNames, ShareSetup, UnixMillis, Writer};
    use rstest::rstest;

    use super::*;
    use crate::share::{Address, PasswordSource, Server, TlsChoice};

    fn settings(url: &str, team: &str) -> ShareSettings {
        ShareSettings {
            server: Server::At(Address::parse(url).unwrap()),
            password: PasswordSource::None,
            team: team.to_owned(),
            projects: Vec::new(),
            machine: None,
            tls: TlsChoice::Verify,
            ca_file: None,
            key_file: None,
            pull: true,
            remote: false,
        }
    }

    #[rstest]
    #[case::it("postgres://ada@db/memory", "acme", true)]
    #[case::by_another_login("postgres://bob@DB:5432/memory", "acme", true)]
    #[case::another_team("postgres://ada@db/memory", "other", false)]
    #[case::another_server("postgres://ada@elsewhere/memory", "acme", false)]
    #[case::another_port("postgres://ada@db:5433/memory", "acme", false)]
    #[case::another_database("postgres://ada@db/other", "acme", false)]
    fn the_team_of_the_settings_is_left_and_no_other(#[case] url: &str, #[case] team: &str, #[case] expected: bool) {
        let state = ShareState {
            team_key: "db:5432/memory#acme".to_owned(),
            ..ShareState::default()
        };
        match is_of(&settings(url, team), &state) {
            Ok(()) => assert!(expected),
            Err(error) => {
                assert!(!expected, "{error}");
                assert_eq!(error.kind(), Kind::Usage);
                assert!(
                    error.message().contains("db:5432/memory#acme") && error.hint().unwrap().contains("set it again"),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn a_look_ends_once_none_is_left_or_its_time_is_over() {
        let mut left = [2, 1, 0, 7].into_iter();
        assert_eq!(wait_for_none(|| Ok(left.next().unwrap()), Duration::from_mins(1)).unwrap(), 0);
        assert_eq!(left.next(), Some(7));
        assert_eq!(wait_for_none(|| Ok(2), Duration::ZERO).unwrap(), 2);
    }

    #[test]
    fn what_came_meanwhile_is_taken_back_again_and_not_for_ever() {
        let mut left = [4, 1, 0].into_iter();
        let mut times = 0;
        let mut again = || {
            times += 1;
            Ok(())
        };
        assert_eq!(until_none(|| Ok(left.next().unwrap()), &mut again).unwrap(), 0);
        assert_eq!(until_none(|| Ok(5), &mut again).unwrap(), 5);
        assert_eq!(times, 2 + AGAIN);
        let away = || Err(CliError::new(Kind::Failed, "the server is away"));
        assert!(until_none(|| Ok(1), away).is_err());
    }

    #[test]
    fn who_is_put_out_waits_for_that_to_be_known_alone() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("memory.db");
        let mut writer = Writer::open(&database).unwrap();
        let setup = ShareSetup {
            team_key: "db:5432/memory#acme".to_owned(),
            allowed: vec!["*".to_owned()],
        };
        writer.set_sharing(Some(&setup), [1; 16]).unwrap();
        let app = ProjectNames {
            keys: vec!["url:example.org/app".to_owned()],
            name: "app".to_owned(),
            root: None,
        };
        writer
            .remember("ports below 1024 are not ours", None, &app, UnixMillis(1))
            .unwrap();
        let reader = Reader::open(&database).unwrap();
        let mut page = reader.next_to_push(10, false).unwrap();
        writer.pushing(&mut page).unwrap();
        assert_eq!(not_gone(&reader, true).unwrap(), 1);
        writer.note_put_out(true).unwrap();
        assert_eq!(not_gone(&reader, true).unwrap(), 0);
        assert_eq!(not_gone(&reader, false).unwrap(), 1, "it was let in again");
        writer.all_taken_back().unwrap();
        assert_eq!(not_gone(&reader, false).unwrap(), 0);
    }

    #[test]
    fn what_is_not_done_is_told_with_what_is() {
        let away = CliError::new(Kind::Failed, "the server is away").with_hint("see that it runs");
        let error = half_done(&away, 7, "acme");
        assert!(
            error.message().contains("7 episodes of others went") && error.message().contains("the server is away"),
            "{error}"
        );
        assert!(
            error
                .hint()
                .unwrap()
                .starts_with("see that it runs; then run `remembrancer share leave` again"),
            "{error}"
        );
        assert_eq!(error.kind(), Kind::Failed);
    }
}
