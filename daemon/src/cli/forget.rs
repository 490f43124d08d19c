//! `remembrancer forget`: deletes for good. What is forgotten never comes back from a transcript that still holds it.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use remembrancer_hooks::protocol::{ForgetTarget, Request};

use super::ask;
use super::error::{CliError, Kind};
use super::steer::counted;
use super::surroundings::Surroundings;
use crate::cli::output::{say, tell};
use crate::{clock, control};

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct WhatArguments {
    /// The turn of the episode with this id.
    id: Option<String>,
    /// Everything of the session with this id.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Everything of the project with this name or root folder.
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Everything that happened in or below this folder.
    #[arg(long, value_name = "FOLDER")]
    path: Option<PathBuf>,
    /// Everything that holds all these words.
    #[arg(long, value_name = "WORDS")]
    matching: Option<String>,
    /// Everything.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Args)]
pub(super) struct ForgetArguments {
    #[command(flatten)]
    what: WhatArguments,
    /// Do not ask. (For a single id nobody is asked.)
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &ForgetArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let target = target(&arguments.what, surroundings)?;
    if !arguments.yes && !matches!(target, ForgetTarget::Episode(_)) {
        confirm(&target, surroundings)?;
    }
    let done = if let Some(done) = ask::data(surroundings, &Request::Forget { target: target.clone() })? {
        done
    } else {
        let (_single, mut writer) = ask::writer(surroundings)?;
        let target = control::forget_target(&ask::reader(surroundings)?, target)?;
        let done = control::forget(&mut writer, &target, clock::now())?;
        ask::empty_files(surroundings)?;
        done
    };
    ask::print(&done, arguments.json, |done| {
        say!("Forgotten: {}, for good.", counted(&done["forgotten"], "episode", "episodes"));
        if done["set_aside_removed"].as_u64() > Some(0) {
            say!(
                "Removed as well, since it may stand there: {} that had been set aside.",
                counted(&done["set_aside_removed"], "damaged database", "damaged databases")
            );
        }
    });
    Ok(())
}

fn target(what: &WhatArguments, surroundings: &Surroundings) -> Result<ForgetTarget, CliError> {
    let WhatArguments {
        id,
        session,
        project,
        path,
        matching,
        all: _,
    } = what;
    let named = [
        id.clone().map(ForgetTarget::Episode),
        session.clone().map(ForgetTarget::Session),
        project.clone().map(ForgetTarget::Project),
        path.as_deref()
            .map(|path| surroundings.as_in_transcripts(path))
            .transpose()?
            .map(ForgetTarget::Path),
        matching.clone().map(ForgetTarget::Matching),
    ];
    Ok(named.into_iter().flatten().next().unwrap_or(ForgetTarget::All))
}

fn confirm(target: &ForgetTarget, surroundings: &Surroundings) -> Result<(), CliError> {
    let reader = ask::reader(surroundings)?;
    let found = reader.episodes_of(&control::forget_target(&reader, target.clone())?)?.len();
    drop(reader);
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(CliError::new(Kind::Usage, "this can't be undone, and there is nobody to ask").with_hint("add --yes"));
    }
    tell!(
        "This deletes {}, and can't be undone. Forget? [y/N] ",
        counted(&found.into(), "episode", "episodes")
    );
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    if answer.trim().eq_ignore_ascii_case("y") || answer.trim().eq_ignore_ascii_case("yes") {
        Ok(())
    } else {
        Err(CliError::new(Kind::Failed, "nothing was forgotten"))
    }
}
