//! `share leave`: what others shared goes from this memory, and what this machine shared goes from the team. The first is done at once; the
//! second the daemon does, which tries until the server has it, and here it is waited for it a while.

use std::time::Duration;

use clap::Args;
use remembrancer_hooks::protocol::Request;
use remembrancer_processor::Deadline;
use remembrancer_schema::{Reader, ShareState};
use serde_json::Value;

use super::{LOOK, agree, begun};
use crate::cli::error::{CliError, Kind};
use crate::cli::output::say;
use crate::cli::progress::Progress;
use crate::cli::steer::counted;
use crate::cli::surroundings::Surroundings;
use crate::cli::{acts, ask, share};
use crate::doctor::share::is_put_out;
use crate::share::ShareSettings;

/// How long it is waited until the daemon has taken everything back.
const WAIT: Duration = Duration::from_secs(10);
/// What part of it passes before it is believed that the team does not let this login in: the store may know that of before, and the daemon
/// asks once more.
const BELIEVED: u32 = 5;

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing more goes out and nothing more is taken, but that what you forget goes on being told while the settings name the team. \
What this machine shared is taken back, and stays in its memory; what your other machines shared stays in the team until they leave it, too. \
The daemon takes it back, now or once it reaches the server: `remembrancer share status` says how much is left, and `[share]` has to stay in \
the settings until nothing is. Where the team does not let you in any more, nothing more can be taken back. `remembrancer share resume` goes \
back on it, and shares again what was taken back."
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
            "This leaves the team {team}: what others shared goes from this memory, and all that this machine shared is taken back there. It \
             stays in your memory on this machine. What your other machines shared stays in the team until they leave it, too."
        );
        agree(&what, "Leave it?", "nothing was left")?;
    }
    let mut done = acts::leave_sharing(surroundings)?;
    let daemon = ask::daemon_of_this_memory(surroundings)?;
    let left = if daemon {
        by_the_daemon(surroundings, arguments.json)?
    } else {
        Left::of(&ask::reader(surroundings)?)?
    };
    done["team"] = team.as_str().into();
    done["member"] = state.member_login.as_deref().into();
    done["daemon"] = daemon.into();
    left.tell(state.pushed, &mut done);
    ask::print("share-leave", &done, arguments.json, print);
    Ok(())
}

fn print(done: &Value) {
    for line in lines(done) {
        say!("{line}");
    }
}

/// What is said of it: what was done, what is still to be done, and what follows.
fn lines(done: &Value) -> Vec<String> {
    let team = done["team"].as_str().unwrap_or_default();
    let removed = counted(&done["removed"], "episode", "episodes");
    let left = format!("Left the team {team}: {removed} of others went from this memory");
    let withdrawn = &done["withdrawn"];
    let mut lines = Vec::new();
    if withdrawn.is_null() {
        lines.push(format!(
            "{left}. The team does not let this login in any more: nothing more can be taken back from here."
        ));
    } else if done["daemon"] == true {
        let withdrawn = counted(withdrawn, "of this machine was taken back", "of this machine were taken back");
        lines.push(format!("{left}, {withdrawn}."));
    } else {
        lines.push(format!("{left}."));
    }
    let further = &done["left_there"];
    let is_done = *further == 0;
    if !is_done && done["daemon"] == true {
        lines.push(format!(
            "The daemon takes back the other {further} as soon as it reaches the server (`remembrancer share status` says when): let `[share]` \
             stay in the settings until then."
        ));
    } else if !is_done {
        lines.push(format!(
            "Start the daemon once with these settings: it takes back {} of this machine, and `remembrancer share status` says 0 sent then.",
            counted(further, "episode", "episodes")
        ));
    }
    lines.push(format!(
        "`[share]` can be taken out of the settings {}, or another team be set (`remembrancer config edit`); start the daemon again after \
         that. `remembrancer share resume` shares with {team} again, what was taken back included.",
        if is_done { "now" } else { "then" }
    ));
    lines
}

/// What the team has of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Left {
    /// How many episodes are not known to be gone.
    episodes: u64,
    /// Whether it does not let this login in, as far as it last said.
    is_put_out: bool,
}

impl Left {
    /// As the store knows it.
    ///
    /// # Errors
    /// What the store says.
    fn of(reader: &Reader) -> Result<Self, CliError> {
        let state = reader.share_state()?.unwrap_or_default();
        Ok(Self {
            episodes: state.pushed,
            is_put_out: state.is_put_out,
        })
    }

    /// Adds to what is told, where there were so many `before`.
    fn tell(self, before: u64, done: &mut Value) {
        // One more may have gone out as it was left.
        let withdrawn = before.saturating_sub(self.episodes);
        let (withdrawn, left_there) = match self.episodes {
            0 => (Some(withdrawn), 0),
            _ if self.is_put_out => (None, 0),
            left => (Some(withdrawn), left),
        };
        done["withdrawn"] = withdrawn.into();
        done["left_there"] = left_there.into();
    }
}

/// What is left once the daemon has had [`WAIT`] to take it back.
///
/// # Errors
/// What the store or the daemon says.
fn by_the_daemon(surroundings: &Surroundings, quiet: bool) -> Result<Left, CliError> {
    let reader = ask::reader(surroundings)?;
    let mut left = {
        let _progress = Progress::waiting("Waiting for the daemon to take it back", quiet);
        wait_for_none(|| Left::of(&reader), WAIT)?
    };
    // The daemon knows it also where the store could not take it.
    if left.episodes > 0
        && !left.is_put_out
        && let Some(status) = ask::data(surroundings, &Request::Status)?
    {
        left.is_put_out = is_put_out(&status["sharing"]);
    }
    Ok(left)
}

/// Looks what is left, for as long as there is something that can be taken back and `wait` has not passed; gives what there is then.
fn wait_for_none(mut look: impl FnMut() -> Result<Left, CliError>, wait: Duration) -> Result<Left, CliError> {
    let (whole, believed) = (Deadline::after(wait), Deadline::after(wait / BELIEVED));
    loop {
        let left = look()?;
        if left.episodes == 0 || whole.has_passed() || (left.is_put_out && believed.has_passed()) {
            return Ok(left);
        }
        std::thread::sleep(LOOK);
    }
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

#[cfg(test)]
mod tests {
    use remembrancer_schema::{ProjectNames, ShareSetup, UnixMillis, Writer};
    use rstest::rstest;
    use serde_json::json;

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

    fn left(episodes: u64, is_put_out: bool) -> Left {
        Left { episodes, is_put_out }
    }

    #[test]
    fn a_look_ends_once_none_is_left_or_its_time_is_over() {
        let mut looks = [left(2, false), left(1, false), left(0, false), left(7, false)].into_iter();
        let waited = wait_for_none(|| Ok(looks.next().unwrap()), Duration::from_mins(1)).unwrap();
        assert_eq!(waited, left(0, false));
        assert_eq!(looks.next(), Some(left(7, false)));
        assert_eq!(wait_for_none(|| Ok(left(2, false)), Duration::ZERO).unwrap(), left(2, false));
        let away = || Err(CliError::new(Kind::Failed, "the store is away"));
        assert!(wait_for_none(away, Duration::from_mins(1)).is_err());
    }

    #[test]
    fn who_is_put_out_is_not_waited_for_to_the_end_and_who_was_let_in_again_is() {
        let mut looks = 0;
        let look = || {
            looks += 1;
            assert!(looks < 20, "it is waited on");
            Ok(left(3, true))
        };
        assert_eq!(wait_for_none(look, Duration::from_secs(5)).unwrap(), left(3, true));
        assert!(looks > 1, "it is believed at once");
        let mut looks = [left(3, true), left(3, false), left(0, false)].into_iter();
        let waited = wait_for_none(|| Ok(looks.next().unwrap()), Duration::from_mins(1)).unwrap();
        assert_eq!(waited, left(0, false));
    }

    #[test]
    fn what_is_left_is_what_was_sent_and_whether_anybody_may_take_it_back() {
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
        assert_eq!(Left::of(&reader).unwrap(), left(0, false));
        let mut page = reader.next_to_push(10, false).unwrap();
        writer.pushing(&mut page).unwrap();
        writer.leave_sharing().unwrap();
        assert_eq!(Left::of(&reader).unwrap(), left(1, false));
        writer.note_put_out(true).unwrap();
        assert_eq!(Left::of(&reader).unwrap(), left(1, true));
    }

    #[rstest]
    #[case::all(
        5,
        left(0, false),
        true,
        "3 episodes of others went from this memory, 5 of this machine were taken back.",
        "taken out of the settings now"
    )]
    #[case::one(
        1,
        left(0, false),
        true,
        "3 episodes of others went from this memory, 1 of this machine was taken back.",
        "taken out of the settings now"
    )]
    #[case::a_part(
        5,
        left(3, false),
        true,
        "2 of this machine were taken back.",
        "takes back the other 3 as soon as it reaches the server"
    )]
    #[case::one_more_went_out(
        2,
        left(3, false),
        true,
        "0 of this machine were taken back.",
        "takes back the other 3 as soon as"
    )]
    #[case::no_daemon(
        5,
        left(5, false),
        false,
        "3 episodes of others went from this memory.",
        "takes back 5 episodes of this machine"
    )]
    #[case::no_daemon_and_nothing(
        0,
        left(0, false),
        false,
        "3 episodes of others went from this memory.",
        "taken out of the settings now"
    )]
    #[case::put_out(
        5,
        left(5, true),
        true,
        "nothing more can be taken back from here.",
        "taken out of the settings now"
    )]
    #[case::put_out_without_a_daemon(
        5,
        left(5, true),
        false,
        "nothing more can be taken back from here.",
        "taken out of the settings now"
    )]
    fn what_was_done_is_told_with_what_is_to_be_done(
        #[case] before: u64,
        #[case] there: Left,
        #[case] daemon: bool,
        #[case] first: &str,
        #[case] then: &str,
    ) {
        let mut done = json!({"team": "acme", "removed": 3, "daemon": daemon});
        there.tell(before, &mut done);
        let lines = lines(&done);
        assert!(
            lines[0].starts_with("Left the team acme: ") && lines[0].ends_with(first),
            "{lines:?}"
        );
        assert!(lines[1].contains(then), "{lines:?}");
        let last = lines.last().unwrap();
        let when = if done["left_there"] == 0 {
            "settings now"
        } else {
            "settings then"
        };
        assert!(last.contains(when) && last.contains("share resume"), "{lines:?}");
    }
}
