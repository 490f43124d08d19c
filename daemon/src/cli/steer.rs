//! `pause`, `resume`, `exclude`, `include`: what the user decides, through the daemon or, where none runs, in the store
//! itself.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::{SignedDuration, Span, SpanRelativeTo};
use remembrancer_hooks::protocol::Request;
use remembrancer_processor::ingest::redact_folder;
use remembrancer_schema::UnixMillis;
use serde_json::{Value, json};

use super::ask;
use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use crate::cli::output::{complain, say};
use crate::{clock, control, plural};

#[derive(Debug, Args)]
#[command(
    after_help = "Once it is paused nothing is stored, embedded or recalled. A pause puts off, it does not keep out: what is said \
meanwhile stands in the agents' transcripts, and is read when the pause ends. To keep it out, use `exclude`, <private> … </private>, or \
`forget --last` afterwards."
)]
pub(super) struct PauseArguments {
    /// For how long, such as 30m, 2h or 3d; without it, until `resume`.
    #[arg(long = "for", value_name = "DURATION", value_parser = for_how_long)]
    duration: Option<SignedDuration>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A time to rest. A day is one of 24 hours, and a month is of no length.
fn for_how_long(text: &str) -> Result<SignedDuration, String> {
    let span = text.trim().parse::<Span>().ok();
    let duration = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    duration.ok_or_else(|| "write minutes, hours, days or weeks, such as 30m, 2h, 3d or 1w".to_owned())
}

#[derive(Debug, Args)]
pub(super) struct PlainArguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "`exclude` hides: what is stored of the folder is in no recall any more and nothing more is stored, but its text stays \
in the database until `include` brings it back, since the transcripts may be gone by then. `forget --path` deletes it. What was written \
while it was excluded is read at `include`. A folder need not exist. `~`, relative paths and links are followed."
)]
pub(super) struct ExcludeArguments {
    /// A folder: sessions whose working directory is in or below it, or transcripts that lie there.
    #[arg(required_unless_present = "list")]
    path: Option<PathBuf>,
    /// List the folders that are kept out, by this command or by the settings.
    #[arg(long, conflicts_with = "path")]
    list: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "What was stored of it and hidden is recalled again, and what was written there meanwhile is read. What the settings \
keep out (`transcripts.exclude`) is let in there. `remembrancer exclude --list` tells of both."
)]
pub(super) struct IncludeArguments {
    /// The folder as it was given to `exclude`; it need not exist any more.
    path: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn pause(arguments: &PauseArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let until = arguments
        .duration
        .map(|duration| UnixMillis(clock::now().0.saturating_add(duration.as_millis() as i64)));
    control::pause_until(until, clock::now())?;
    let request = Request::Pause {
        until_ms: until.map(|until| until.0),
    };
    let done = match ask::data(surroundings, &request)? {
        Some(done) => done,
        None => control::pause(&mut ask::writer(surroundings)?.1, until, clock::now())?,
    };
    ask::print("pause", &done, arguments.json, |done| {
        let until = done["until"].as_str().unwrap_or("`remembrancer resume`");
        say!("Paused until {until}: nothing is read, embedded or recalled. What is written meanwhile is read afterwards.");
        if done["stored"] == false {
            complain!(
                "warning: it holds only while this daemon runs, since it can't be stored ({}); it is stored once there is room",
                done["problem"].as_str().unwrap_or("the disk is full")
            );
        }
    });
    Ok(())
}

pub(super) fn resume(arguments: &PlainArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let done = match ask::data(surroundings, &Request::Resume)? {
        Some(done) => done,
        None => control::resume(&mut ask::writer(surroundings)?.1)?,
    };
    ask::print("resume", &done, arguments.json, |_| say!("Remembering and recalling again."));
    Ok(())
}

pub(super) fn exclude(arguments: &ExcludeArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let Some(path) = &arguments.path else {
        return list_excluded(arguments.json, surroundings);
    };
    let path = surroundings.as_in_transcripts(path)?;
    refuse_secret_near_transcripts(&path, surroundings)?;
    if surroundings.home.starts_with(&path) {
        complain!(
            "warning: {path} holds your home folder: everything is kept out, what is stored is hidden, and nothing more is \
             remembered. `remembrancer include {path}` takes it back"
        );
    }
    if !Path::new(&path).exists() {
        complain!("warning: there is no {path} on this machine; it is excluded as it is written");
    }
    let done = if let Some(done) = ask::data(surroundings, &Request::Exclude { path: path.clone() })? {
        done
    } else {
        let (_single, mut writer) = ask::writer(surroundings)?;
        let done = control::exclude(&mut writer, &path, clock::now())?;
        ask::empty_files(surroundings)?;
        done
    };
    ask::print("exclude", &done, arguments.json, |done| {
        say!(
            "Excluded {path}: nothing there is read any more, and {} hidden. `remembrancer forget --path` deletes them for good.",
            counted(&done["hidden"], "episode that was stored is", "episodes that were stored are")
        );
    });
    Ok(())
}

/// `mute --list`, of folders. It reads the store, with a daemon or without.
fn list_excluded(json: bool, surroundings: &Surroundings) -> Result<(), CliError> {
    let by_settings = surroundings.config.transcripts.exclude.iter();
    let by_settings = by_settings.map(|path| json!({"path": redact_folder(&path.display().to_string()), "by": "settings"}));
    let decided = ask::reader(surroundings)?.exclusions()?.into_iter();
    let folders: Vec<Value> = decided
        .map(|path| json!({"path": path, "by": "exclude"}))
        .chain(by_settings)
        .collect();
    ask::print("exclude", &json!({ "folders": folders }), json, |told| {
        let folders = told["folders"].as_array().map(Vec::as_slice).unwrap_or_default();
        if folders.is_empty() {
            say!("Nothing is excluded.");
        }
        for folder in folders {
            let by = if folder["by"] == "settings" {
                "  (by the settings)"
            } else {
                ""
            };
            say!("  {}{by}", folder["path"].as_str().unwrap_or("-"));
        }
    });
    Ok(())
}

/// The memory knows working folders without the secrets in their names, and transcripts by their whole paths: one name can't keep
/// out both.
fn refuse_secret_near_transcripts(path: &str, surroundings: &Surroundings) -> Result<(), CliError> {
    let roots = surroundings.roots();
    let is_near = |root: &Path| root.starts_with(path) || Path::new(path).starts_with(root);
    if redact_folder(path) == path || !roots.folders().any(is_near) {
        return Ok(());
    }
    Err(CliError::new(
        Kind::Usage,
        format!("{path} holds what looks like a secret in its name, and transcripts lie there"),
    )
    .with_hint("name it under `transcripts.exclude` in the settings"))
}

pub(super) fn include(arguments: &IncludeArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let path = surroundings.as_in_transcripts(&arguments.path)?;
    let done = match ask::data(surroundings, &Request::Include { path: path.clone() })? {
        Some(done) => done,
        None => control::include(&mut ask::writer(surroundings)?.1, &path)?,
    };
    ask::print("include", &done, arguments.json, |done| {
        say!(
            "Included {path} again: {} back.",
            counted(&done["restored"], "episode is", "episodes are")
        );
    });
    Ok(())
}

/// "1 episode is", "2 episodes are".
pub(crate) fn counted(number: &Value, one: &str, many: &str) -> String {
    plural::counted(number.as_u64().unwrap_or_default(), one, many)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::minutes("30m", Some(1_800))]
    #[case::both("1h30m", Some(5_400))]
    #[case::days("3d", Some(259_200))]
    #[case::weeks("1w", Some(604_800))]
    #[case::years("100y", None)]
    #[case::no_unit("2", None)]
    fn a_pause_has_a_length(#[case] text: &str, #[case] seconds: Option<i64>) {
        let told = for_how_long(text);
        assert_eq!(told.as_ref().ok().map(SignedDuration::as_secs), seconds);
        assert!(!told.err().unwrap_or_default().contains("jiff"));
    }
}
