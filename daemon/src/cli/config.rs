//! `remembrancer config`: what is set and by what, whether a settings file can be used, and the file in your editor. It works where the
//! settings can't be used, too: that is when it is needed.

mod edit;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use remembrancer_hooks::places::Places;
use serde_json::{Value, json};

use super::ask;
use super::error::{CliError, Kind};
use super::steer::counted;
use super::surroundings::{V2_SWITCH, Variable, home_and_places, variables};
use crate::cli::output::{say, say_json};
use crate::config::{self, Config, Origin, Setting};
use crate::files::read_text;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ConfigArguments {
    #[command(subcommand)]
    command: Option<ConfigCommand>,
    #[command(flatten)]
    show: JsonArguments,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Every setting with its value and where it comes from (this is what `config` alone does).
    Show(JsonArguments),
    /// Say whether a settings file can be used, and if not, its line and what would be right.
    Check(CheckArguments),
    /// Open the settings in your editor, and check them afterwards.
    Edit,
    /// Print where the settings file is, or would be.
    Path(JsonArguments),
}

#[derive(Debug, Default, Args)]
struct JsonArguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct CheckArguments {
    /// The file; without it, the one that is in use.
    file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The settings file and what it is read with.
struct Place {
    file: PathBuf,
    home: PathBuf,
    places: Places,
}

impl Place {
    fn parse(&self, text: &str) -> Result<Config, CliError> {
        Ok(Config::parse(&self.file, text, &self.home)?)
    }

    /// What stands in the file; `None` where there is none.
    fn read(&self) -> Result<Option<String>, CliError> {
        match read_text(&self.file) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CliError::new(
                Kind::Usage,
                format!("cannot read {}: {error}", self.file.display()),
            )),
        }
    }
}

/// `named` is the file of `--config`.
pub(super) fn run(arguments: &ConfigArguments, named: Option<PathBuf>) -> Result<(), CliError> {
    let (home, places) = home_and_places()?;
    let is_named = named.is_some();
    let file = named.map_or_else(|| Ok(places.config_file()), std::path::absolute)?;
    let place = Place { file, home, places };
    match &arguments.command {
        None => show(&place, is_named, arguments.show.json),
        Some(ConfigCommand::Show(JsonArguments { json })) => show(&place, is_named, *json),
        Some(ConfigCommand::Check(arguments)) => check(&place, is_named, arguments),
        Some(ConfigCommand::Edit) => edit::run(&place),
        Some(ConfigCommand::Path(JsonArguments { json })) => {
            let told = json!({"file": place.file, "exists": place.file.exists()});
            ask::print("config-path", &told, *json, |_| say!("{}", place.file.display()));
            Ok(())
        }
    }
}

fn missing(file: &Path) -> CliError {
    CliError::new(Kind::Usage, format!("there is no settings file {}", file.display()))
}

fn show(place: &Place, is_named: bool, json: bool) -> Result<(), CliError> {
    let text = place.read()?;
    if text.is_none() && is_named {
        return Err(missing(&place.file));
    }
    let text = text.unwrap_or_default();
    let variables = variables();
    let checked = place.parse(&text)?;
    let settings = in_force(config::settings(&text), checked, &variables);
    let told = json!({
        "file": place.file,
        "exists": place.file.exists(),
        "settings": settings.iter().map(|setting| setting_json(setting, &place.file)).collect::<Vec<_>>(),
        "environment": variables.iter().map(|variable| json!({
            "name": variable.name,
            "value": variable.value,
            "sets": variable.sets,
        })).collect::<Vec<_>>(),
    });
    ask::print("config", &told, json, |told| print(told, place));
    Ok(())
}

/// The settings with what a variable makes of them.
fn in_force(mut settings: Vec<Setting>, checked: Config, variables: &[Variable]) -> Vec<Setting> {
    let written = checked.recall.profile.name;
    let switch = variables.iter().find(|variable| variable.name == V2_SWITCH);
    let profile = checked
        .with_v2_switched_by(switch.map(|switch| switch.value.as_str()))
        .recall
        .profile
        .name;
    let setting = settings.iter_mut().find(|setting| setting.key == "fusion.profile");
    if let Some(setting) = setting.filter(|_| profile != written) {
        setting.value = profile.into();
        setting.origin = Origin::Variable(V2_SWITCH);
    }
    settings
}

fn setting_json(setting: &Setting, file: &Path) -> Value {
    let (origin, line) = match setting.origin {
        Origin::Default => ("default".to_owned(), None),
        Origin::Line(line) => (file.display().to_string(), Some(line)),
        Origin::Variable(name) => (name.to_owned(), None),
    };
    json!({
        "key": setting.key,
        "value": serde_json::to_value(&setting.value).unwrap_or_default(),
        "written": written(&setting.value),
        "origin": origin,
        "line": line,
    })
}

/// A value as it stands in a file.
fn written(value: &toml::Value) -> String {
    value.to_string().trim().to_owned()
}

fn print(told: &Value, place: &Place) {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    if told["exists"] == true {
        say!("settings: {}", place.file.display());
    } else {
        say!("settings: none at {}; all are at their defaults", place.file.display());
    }
    for setting in told["settings"].as_array().into_iter().flatten() {
        let origin = match setting["line"].as_u64() {
            Some(line) => format!("{}:{line}", text(setting, "origin")),
            None => text(setting, "origin"),
        };
        say!("{:<26} = {:<22} {origin}", text(setting, "key"), text(setting, "written"));
    }
    for variable in told["environment"].as_array().into_iter().flatten() {
        say!(
            "{}={} sets {}",
            text(variable, "name"),
            text(variable, "value"),
            text(variable, "sets")
        );
    }
}

fn check(place: &Place, is_named: bool, arguments: &CheckArguments) -> Result<(), CliError> {
    let place = match &arguments.file {
        None => place,
        Some(file) => &Place {
            file: std::path::absolute(file)?,
            home: place.home.clone(),
            places: place.places.clone(),
        },
    };
    let Some(text) = place.read()? else {
        if is_named || arguments.file.is_some() {
            return Err(missing(&place.file));
        }
        let told = json!({"file": place.file, "exists": false, "valid": true, "own_settings": 0, "warnings": [], "error": null});
        ask::print("config-check", &told, arguments.json, |_| {
            say!(
                "There is no settings file {}: all settings are at their defaults.",
                place.file.display()
            );
        });
        return Ok(());
    };
    let checked = place.parse(&text);
    let own = config::settings(&text)
        .iter()
        .filter(|setting| setting.origin != Origin::Default)
        .count();
    let warnings = checked.as_ref().map(Config::contradictions).unwrap_or_default();
    let told = json!({
        "file": place.file,
        "exists": true,
        "valid": checked.is_ok(),
        "own_settings": own,
        "warnings": warnings.iter().map(|(found, remedy)| json!({"found": found, "remedy": remedy})).collect::<Vec<_>>(),
        "error": checked.as_ref().err().map(CliError::message),
    });
    if arguments.json {
        say_json("config-check", &told);
    }
    checked?;
    if !arguments.json {
        let own = counted(&own.into(), "setting", "settings");
        say!("{} is valid: {own} of its own.", place.file.display());
        for (found, remedy) in warnings {
            say!("warning: {found}; {remedy}");
        }
    }
    Ok(())
}
