//! `share leave`: what others shared goes from this memory, and what this member shared goes from the team. The first is done here, the
//! second at the server: where that can't be reached, it says so, and is done again.

use clap::Args;
use remembrancer_schema::ShareState;

use super::forget::take_back;
use super::server::{Member, Network};
use super::{agree, begun};
use crate::cli::error::{CliError, Kind};
use crate::cli::output::say;
use crate::cli::steer::counted;
use crate::cli::surroundings::Surroundings;
use crate::cli::{acts, ask, share};
use crate::share::ShareSettings;

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing more goes out and nothing more is taken, but that what you forget goes on being told while the settings name the team. \
What you shared is taken back whichever machine of yours it came from, and stays in your memories; your other machines share with the team \
until they leave it, too. Where the server can't be reached, do it again later. `remembrancer share resume` goes back on it; what was taken back then stays so as after `share forget`."
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
    let (login, withdrawn) =
        taken_back(settings, surroundings, arguments.json).map_err(|error| half_done(&error, removed, team))?;
    done["team"] = team.as_str().into();
    done["member"] = login.as_str().into();
    done["withdrawn"] = withdrawn.into();
    ask::print("share-leave", &done, arguments.json, |done| {
        say!(
            "Left the team {team}: {} of others went from this memory, and {} of {login} were taken back.",
            counted(&done["removed"], "episode", "episodes"),
            counted(&done["withdrawn"], "episode", "episodes")
        );
        say!(
            "`[share]` can be taken out of the settings now, or another team be set (`remembrancer config edit`); start the daemon again then. \
             `remembrancer share resume` shares with {team} again."
        );
    });
    Ok(())
}

/// Who one was there, and how much was taken back.
fn taken_back(settings: &ShareSettings, surroundings: &Surroundings, quiet: bool) -> Result<(String, u64), CliError> {
    let network = Network::start()?;
    let member = Member::connect(&network, settings, surroundings)?;
    let withdrawn = take_back(&network, &member, None, quiet)?;
    Ok((member.login, withdrawn))
}

/// Refuses to leave one team here and another one there: the settings may name one that the daemon has not read yet.
fn is_of(settings: &ShareSettings, state: &ShareState) -> Result<(), CliError> {
    match state.team_key.rsplit_once('#') {
        Some((_, shares)) if shares != settings.team => Err(CliError::new(
            Kind::Usage,
            format!(
                "this memory shares with the team {shares} still, and the settings name {}",
                settings.team
            ),
        )
        .with_hint(format!(
            "start the daemon again, which reads the settings as it starts; to leave {shares}, set it again first"
        ))),
        _ => Ok(()),
    }
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
    use super::*;
    use crate::share::{Address, PasswordSource, Server, TlsChoice};

    fn settings(team: &str) -> ShareSettings {
        ShareSettings {
            server: Server::At(Address::parse("postgres://ada@db/memory").unwrap()),
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

    #[test]
    fn the_team_of_the_settings_is_left_and_no_other() {
        let state = ShareState {
            team_key: "db:5432/memory#acme".to_owned(),
            ..ShareState::default()
        };
        assert!(is_of(&settings("acme"), &state).is_ok());
        let error = is_of(&settings("other"), &state).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(
            error.message().contains("acme") && error.hint().unwrap().contains("set it again"),
            "{error}"
        );
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
