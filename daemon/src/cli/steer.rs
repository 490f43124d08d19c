//! `pause`, `resume`, `exclude`, `include`: what the user decides, through the daemon or, where none runs, in the store
//! itself.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::SignedDuration;
use remembrancer_hooks::protocol::Request;
use remembrancer_schema::UnixMillis;
use serde_json::Value;

use super::ask;
use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use crate::cli::output::say;
use crate::{clock, control, paths, recollection_files};

#[derive(Debug, Args)]
pub(super) struct PauseArguments {
    /// For how long, such as 30m or 2h; without it, until `resume`.
    #[arg(long = "for", value_name = "DURATION")]
    duration: Option<SignedDuration>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct PlainArguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct PathArguments {
    /// A folder: sessions whose working directory is in or below it, or transcripts that lie there.
    path: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn pause(arguments: &PauseArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let until = arguments.duration.map(pause_end).transpose()?;
    let request = Request::Pause {
        until_ms: until.map(|until| until.0),
    };
    let done = match ask::data(surroundings, &request)? {
        Some(done) => done,
        None => control::pause(&mut ask::writer(surroundings)?.1, until)?.0,
    };
    ask::print(&done, arguments.json, |done| {
        let until = done["until"].as_str().unwrap_or("`remembrancer resume`");
        say!("Paused until {until}: nothing is read, embedded or recalled. What is written meanwhile is read afterwards.");
    });
    Ok(())
}

/// The longest pause with an end; a longer one is meant to have none.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(10 * 365 * 24);

fn pause_end(duration: SignedDuration) -> Result<UnixMillis, CliError> {
    if duration < SignedDuration::from_secs(1) || duration > LONGEST_PAUSE {
        return Err(CliError::new(Kind::Usage, format!("a pause of {duration:#} makes no sense"))
            .with_hint("choose one second to ten years, or leave --for out: then it lasts until `remembrancer resume`"));
    }
    Ok(UnixMillis(clock::now().0 + duration.as_millis() as i64))
}

pub(super) fn resume(arguments: &PlainArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let done = match ask::data(surroundings, &Request::Resume)? {
        Some(done) => done,
        None => control::resume(&mut ask::writer(surroundings)?.1)?,
    };
    ask::print(&done, arguments.json, |_| say!("Remembering and recalling again."));
    Ok(())
}

pub(super) fn exclude(arguments: &PathArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let path = absolute(&arguments.path)?;
    let done = if let Some(done) = ask::data(surroundings, &Request::Exclude { path: path.clone() })? {
        done
    } else {
        let (_single, mut writer) = ask::writer(surroundings)?;
        let done = control::exclude(&mut writer, &path, clock::now())?;
        recollection_files::remove_all(&surroundings.places.recollections_dir())?;
        done
    };
    ask::print(&done, arguments.json, |done| {
        say!(
            "Excluded {path}: nothing there is read any more, and {} hidden. `remembrancer forget --path` deletes them for good.",
            counted(&done["hidden"], "episode that was stored is", "episodes that were stored are")
        );
    });
    Ok(())
}

pub(super) fn include(arguments: &PathArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let path = absolute(&arguments.path)?;
    let done = match ask::data(surroundings, &Request::Include { path: path.clone() })? {
        Some(done) => done,
        None => control::include(&mut ask::writer(surroundings)?.1, &path)?,
    };
    ask::print(&done, arguments.json, |done| {
        say!(
            "Included {path} again: {} back.",
            counted(&done["restored"], "episode is", "episodes are")
        );
    });
    Ok(())
}

/// "1 episode is", "2 episodes are".
pub(super) fn counted(number: &Value, one: &str, many: &str) -> String {
    let number = number.as_u64().unwrap_or_default();
    format!("{number} {}", if number == 1 { one } else { many })
}

/// `path` as the transcripts would have it.
pub(super) fn absolute(path: &Path) -> Result<String, CliError> {
    paths::resolved(path)?
        .into_os_string()
        .into_string()
        .map_err(|_| CliError::new(Kind::Usage, format!("{} is not UTF-8, as transcripts are", path.display())))
}
