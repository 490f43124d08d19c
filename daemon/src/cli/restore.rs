//! `remembrancer restore`: goes back to a copy of the memory. What is there is set aside, and what the user has decided since stays.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use remembrancer_schema::{Contents, SCHEMA_VERSION, is_same_file, newest_before_migration, newest_first};
use serde_json::{Value, json};

use super::ask;
use super::error::{CliError, Kind};
use super::steer::counted;
use super::surroundings::Surroundings;
use crate::causes::with_causes;
use crate::cli::output::{say, tell};
use crate::restoring;
use crate::single::Single;

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct WhichArguments {
    /// This copy.
    file: Option<PathBuf>,
    /// The newest backup that is whole, the daemon's daily ones among them.
    #[arg(long)]
    latest: bool,
    /// The copy that was made before a newer version migrated the memory, to go back to an older version with.
    #[arg(long)]
    pre_migration: bool,
}

#[derive(Debug, Args)]
pub(super) struct RestoreArguments {
    #[command(flatten)]
    which: WhichArguments,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &RestoreArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let single = Single::take(&surroundings.places.data_dir())?;
    let database = surroundings.places.database_file();
    single.part(&surroundings.places.data_dir(), &database)?;
    let (copy, contents) = chosen(&arguments.which, &database)?;
    if !arguments.yes {
        confirm(&database, &copy, &contents, arguments.json)?;
    }
    let done = restoring::restore_copy(&database, &copy, &contents)?;
    ask::empty_files(surroundings)?;
    drop(single);
    let mut report = json!({
        "restored": copy.display().to_string(),
        "episodes": contents.episodes,
        "set_aside": done.restored.set_aside.as_ref().map(|aside| aside.display().to_string()),
        "forgotten_again": done.forgotten,
        "decisions_known": done.restored.decisions_known,
    });
    report["newest"] = told_date(&contents).into();
    ask::print("restore", &report, arguments.json, |done| told(done, &contents));
    Ok(())
}

fn told(done: &Value, contents: &Contents) {
    say!(
        "Restored {}, {}.",
        done["restored"].as_str().unwrap_or_default(),
        held(contents)
    );
    if let Some(aside) = done["set_aside"].as_str() {
        say!("What was there before is {aside}; remove it when you miss nothing.");
    }
    if done["forgotten_again"] != 0 {
        let forgotten = counted(&done["forgotten_again"], "episode of it was", "episodes of it were");
        say!("{forgotten} forgotten since, and forgotten again.");
    }
    if done["decisions_known"] == false {
        say!(
            "The memory that was there can't be read and had no journal beside it: what you forgot, excluded or paused since the \
             copy was made is to be told again, before you start the daemon."
        );
    }
    say!("Start the daemon: it reads what the transcripts hold beyond that.");
}

/// The copy to go back to, and what it holds.
fn chosen(which: &WhichArguments, database: &Path) -> Result<(PathBuf, Contents), CliError> {
    let none = |message: &str, hint: &str| CliError::new(Kind::NotFound, message).with_hint(hint.to_owned());
    if let Some(file) = &which.file {
        let file = std::path::absolute(file)?;
        if is_same_file(&file, database) {
            let message = format!(
                "{} is the memory itself: there is nothing to go back to in it",
                file.display()
            );
            return Err(CliError::new(Kind::Usage, message).with_hint("name a copy, or `--latest` for the newest backup"));
        }
        return looked_through(&file).map(|contents| (file, contents));
    }
    if which.pre_migration {
        let copy = newest_before_migration(database)
            .map_err(|error| unlisted(&error))?
            .ok_or_else(|| {
                let message = format!(
                    "there is no copy beside {} of schema version {SCHEMA_VERSION} or older",
                    database.display()
                );
                none(&message, "`remembrancer restore --latest` takes the newest backup instead")
            })?;
        return looked_through(&copy).map(|contents| (copy, contents));
    }
    let mut problems = Vec::new();
    for copy in newest_first(database).map_err(|error| unlisted(&error))? {
        match restoring::usable(&copy) {
            Ok(contents) => return Ok((copy, contents)),
            // An older one in its place would not be the newest that is whole.
            Err(error) if error.is_for_now() => {
                let hint = "do it again once the copy can be read, or name another: `remembrancer restore FILE`";
                return Err(CliError::new(Kind::Store, with_causes(&error)).with_hint(hint));
            }
            Err(error) => problems.push(with_causes(&error)),
        }
    }
    let message = match problems.as_slice() {
        [] => "there is no backup".to_owned(),
        problems => format!("no backup can be used: {}", problems.join("; ")),
    };
    Err(none(&message, "`remembrancer restore FILE` takes a copy of yours"))
}

/// What can't be listed may hold the newest.
fn unlisted(error: &std::io::Error) -> CliError {
    let hint = "have the folder readable, or name a copy: `remembrancer restore FILE`";
    CliError::new(
        Kind::Store,
        format!("cannot tell which copies there are: {}", with_causes(error)),
    )
    .with_hint(hint)
}

fn looked_through(copy: &Path) -> Result<Contents, CliError> {
    restoring::usable(copy).map_err(|error| CliError::new(Kind::Store, with_causes(&error)))
}

fn confirm(database: &Path, copy: &Path, contents: &Contents, json: bool) -> Result<(), CliError> {
    if !json {
        match Contents::of(database) {
            Ok(present) => say!("The memory now:  {}", held(&present)),
            Err(error) => say!("The memory now:  {}", with_causes(&error)),
        }
        say!("The copy:        {}, {}", held(contents), copy.display());
        say!("The memory is set aside, not deleted. What you have forgotten, excluded or paused since stays so.");
    }
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(CliError::new(Kind::Usage, "nothing was changed, since there is nobody to ask").with_hint("add --yes"));
    }
    tell!("Restore? [y/N] ");
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        Err(CliError::new(Kind::Failed, "nothing was changed"))
    }
}

fn held(contents: &Contents) -> String {
    let episodes = counted(&contents.episodes.into(), "episode", "episodes");
    match told_date(contents) {
        Some(newest) => format!(
            "{episodes}, the newest of {newest} (schema version {})",
            contents.schema_version
        ),
        None => format!("{episodes} (schema version {})", contents.schema_version),
    }
}

fn told_date(contents: &Contents) -> Option<String> {
    contents.newest.map(crate::control::rfc3339)
}
