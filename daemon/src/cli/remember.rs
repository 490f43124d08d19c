//! `remembrancer remember`: what the user says is to be remembered, through the daemon or, where none runs, in the store itself.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use super::{acts, ask};
use crate::cli::output::say;
use crate::control;

/// Bytes that are read from standard input: more than a fact may have.
const MOST_BYTES: u64 = 64 * 1_024;

#[derive(Debug, Args)]
#[command(
    after_help = "Say one fact a time, as you would tell a colleague: at most 2,000 characters. It is recalled like any other memory, where it \
fits a prompt, and counts as important. To say the same twice of one project is to say it once. `remembrancer forget ID` takes it out."
)]
pub(super) struct RememberArguments {
    /// What is to be remembered; `-` reads it from standard input.
    fact: String,
    /// The project that it is about, by its name or a folder; that of the current folder if not given.
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "everywhere")]
    project: Option<PathBuf>,
    /// It holds in all projects.
    #[arg(long)]
    everywhere: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &RememberArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let text = match arguments.fact.as_str() {
        "-" => from_stdin()?,
        text => text.to_owned(),
    };
    let project = match &arguments.project {
        _ if arguments.everywhere => None,
        Some(project) => Some(folder_of(project, surroundings)?),
        None => Some(surroundings.as_in_transcripts(&std::env::current_dir()?)?),
    };
    let done = acts::remember(surroundings, &text, project.as_deref())?;
    ask::print("remember", &done, arguments.json, |done| {
        let place = match done["project"].as_str() {
            Some(project) => format!("in {project}"),
            None => "in all projects".to_owned(),
        };
        let id = done["id"].as_str().unwrap_or_default();
        if done["new"] == true {
            say!("Remembered {place}, as {id}.");
        } else {
            say!("That was remembered {place} before, as {id}.");
        }
        if done["redacted"] == true {
            say!("What looks like a secret was taken out of it.");
        }
    });
    Ok(())
}

/// A folder that is there, else that of a project of this name: a fact of a folder that is not there would be recalled nowhere.
fn folder_of(project: &Path, surroundings: &Surroundings) -> Result<String, CliError> {
    let folder = surroundings.as_in_transcripts(project)?;
    if Path::new(&folder).is_dir() {
        return Ok(folder);
    }
    if let Some(name) = project.to_str()
        && let Some(root) = control::root_of(&ask::reader(surroundings)?, name)?
    {
        return Ok(root);
    }
    let message = format!("no project is named {}, and there is no such folder", project.display());
    Err(CliError::new(Kind::NotFound, message)
        .with_hint("`remembrancer stats` names the projects; --everywhere is for all of them"))
}

fn from_stdin() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(CliError::new(
            Kind::Usage,
            "what stands on standard input is too long for a fact",
        ));
    }
    String::from_utf8(bytes).map_err(|_| CliError::new(Kind::Usage, "what stands on standard input is not UTF-8"))
}
