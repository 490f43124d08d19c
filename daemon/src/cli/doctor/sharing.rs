//! A try of the shared store, for `doctor`: one connection, as the settings have it; and what the store here knows of it.

use remembrancer_schema::Reader;
use serde_json::Value;

use crate::cli::error::CliError;
use crate::cli::share::server::{Member, Network};
use crate::cli::share::status::{left_there, unmatched};
use crate::cli::surroundings::Surroundings;
use crate::control;
use crate::doctor::Check;
use crate::doctor::share::{Connected, Sharing, Trouble, without_settings};
use crate::share::ShareSettings;

/// What is found of the shared store that the settings name. `status` is what the daemon tells of sharing, `reader` the store, where it
/// can be read.
pub(super) fn checks(surroundings: &Surroundings, status: &Value, reader: Option<&Reader>) -> Vec<Check> {
    let status = match reader {
        Some(reader) if status.is_null() => control::share_status(reader).unwrap_or_default(),
        _ => status.clone(),
    };
    // A store that can't be read is told of elsewhere.
    let Some(settings) = &surroundings.config.share else {
        let left = reader.and_then(|reader| left_there(reader, &status).ok());
        return without_settings(&status, left.unwrap_or_default());
    };
    let unmatched = reader.and_then(|reader| unmatched(reader, &settings.projects).ok());
    let sharing = Sharing {
        team: settings.team.clone(),
        status,
        unmatched: unmatched.unwrap_or_default(),
        tried: tried(settings, surroundings).map_err(|error| trouble(&error)),
    };
    sharing.checks()
}

fn tried(settings: &ShareSettings, surroundings: &Surroundings) -> Result<Connected, CliError> {
    let network = Network::start()?;
    let member = Member::connect(&network, settings, surroundings)?;
    Ok(Connected {
        key: member.key(settings).map(drop).map_err(|error| trouble(&error)),
        version: member.hello.server_version,
        sealed: member.hello.is_sealed,
        login: member.hello.login,
    })
}

fn trouble(error: &CliError) -> Trouble {
    (error.message().to_owned(), error.hint().map(str::to_owned))
}
