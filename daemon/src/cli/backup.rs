//! `remembrancer backup`: a whole copy of the memory, while the daemon works or without it.

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use remembrancer_hooks::protocol::Request;

use super::ask;
use super::error::{CliError, Kind};
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
    let done = match ask::data(surroundings, &request)? {
        Some(done) => done,
        None => backups::make(&surroundings.places.database_file(), file.as_deref(), &mut || {
            ControlFlow::Continue(())
        })?,
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
