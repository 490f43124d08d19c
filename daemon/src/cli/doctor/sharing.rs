//! A try of the shared store, for `doctor`: one connection, as the settings have it.

use serde_json::Value;

use crate::cli::error::CliError;
use crate::cli::share::server::{Member, Network};
use crate::cli::surroundings::Surroundings;
use crate::doctor::Check;
use crate::doctor::share::{Connected, Sharing, Trouble};
use crate::share::ShareSettings;

/// What is found of the shared store that the settings name; nothing where they name none. `status` is what the daemon tells of
/// sharing.
pub(super) fn checks(surroundings: &Surroundings, status: &Value) -> Vec<Check> {
    let Some(settings) = &surroundings.config.share else {
        return Vec::new();
    };
    let sharing = Sharing {
        team: settings.team.clone(),
        has_key: settings.key_file.is_some(),
        status: status.clone(),
        tried: tried(settings, surroundings).map_err(|error| trouble(&error)),
    };
    sharing.checks()
}

fn tried(settings: &ShareSettings, surroundings: &Surroundings) -> Result<Connected, CliError> {
    let network = Network::start()?;
    let member = Member::connect(&network, settings, surroundings)?;
    Ok(Connected {
        key: member.key(settings).map(drop).map_err(|error| trouble(&error)),
        version: member.version,
        sealed: member.sealed,
        login: member.login,
    })
}

fn trouble(error: &CliError) -> Trouble {
    (error.message().to_owned(), error.hint().map(str::to_owned))
}
