//! `remembrancer backup`: a whole copy of the memory, while the daemon works or without it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use remembrancer_hooks::protocol::Request;
use serde_json::Value;

use super::ask;
use super::error::{CliError, Kind};
use super::progress::Progress;
use super::steer::counted;
use super::surroundings::Surroundings;
use crate::backups;
use crate::cli::output::say;

#[derive(Debug, Args)]
pub(super) struct BackupArguments {
    /// Where to, for you alone to read; without it, a file named after the time in `backups` beside the memory.
    /// An older backup may be there, nothing else.
    file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &BackupArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let file = arguments.file.as_ref().map(std::path::absolute).transpose()?;
    let named = file.as_deref().map(|file| {
        file.to_str()
            .map(str::to_owned)
            .ok_or_else(|| CliError::new(Kind::Usage, format!("{} is not UTF-8", file.display())))
    });
    let request = Request::Backup {
        path: named.transpose()?,
    };
    let progress = Progress::waiting("Copying the memory", arguments.json);
    let done = ask::data(surroundings, &request)?;
    drop(progress);
    let done = match done {
        Some(done) => done,
        None => without_daemon(file.as_deref(), arguments.json, surroundings)?,
    };
    ask::print("backup", &done, arguments.json, |done| {
        say!(
            "Backed up {} to {} ({:.1} MB), looked through and whole.",
            counted(&done["episodes"], "episode", "episodes"),
            done["path"].as_str().unwrap_or_default(),
            done["bytes"].as_u64().unwrap_or_default() as f64 / 1e6
        );
        say!("`remembrancer restore FILE` goes back to it.");
    });
    Ok(())
}

fn without_daemon(file: Option<&Path>, json: bool, surroundings: &Surroundings) -> Result<Value, CliError> {
    let mut progress = Progress::counted("Copying the memory", 0, json);
    let made = backups::make(&surroundings.places.database_file(), file, &mut |copied| {
        progress.at(copied.done, copied.all);
        ControlFlow::Continue(())
    });
    Ok(made?)
}
