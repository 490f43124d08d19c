//! `remembrancer export`: all that is stored of the chosen episodes, as JSON lines or Markdown. It reads the database itself,
//! whether a daemon runs or not, some episodes at a time, so that a large memory needs no more room than a small one.

pub(super) mod destination;
pub(super) mod form;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use remembrancer_processor::ingest::redact_stored;
use remembrancer_schema::{EpisodeId, ForgetTarget, Reader};

use super::ask;
use super::error::CliError;
use super::progress::Progress;
use super::selection::Selection;
use super::steer::counted;
use super::surroundings::Surroundings;
use crate::cli::output::complain;
use crate::{clock, control};
use destination::Failed;

/// Episodes read at a time.
const STEP: usize = 256;

/// What holds of all exports.
const NOTES: &str = "Several of --session, --project, --path, --matching, --after, --before and --last hold together; without any of them, \
all is written, oldest first. Whole turns are written. The file can be read by you alone (mode 0600). Every member is explained in \
docs/export.md.";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// One JSON object an episode and line.
    Jsonl,
    /// To be read by people.
    Markdown,
}

#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct ExportArguments {
    /// Where to; `-`, and without it, standard output.
    file: Option<PathBuf>,
    /// In which form.
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    #[command(flatten)]
    selection: Selection,
    /// What `exclude` hides as well.
    #[arg(long)]
    with_excluded: bool,
    /// Replace the file if there is one (and only a file).
    #[arg(long, short)]
    force: bool,
}

impl ExportArguments {
    /// The file, unless it is standard output.
    fn named(&self) -> Option<&Path> {
        self.file.as_deref().filter(|file| *file != Path::new("-"))
    }
}

/// What an export came to.
#[derive(Debug, Default)]
struct Written {
    episodes: u64,
    excluded: u64,
}

pub(super) fn run(arguments: &ExportArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let reader = ask::reader(surroundings)?;
    let target = match arguments.selection.target(surroundings, clock::now())? {
        Some(target) => control::forget_target(&reader, target)?,
        None => ForgetTarget::All,
    };
    let mut episodes = reader.turns_of(&target)?;
    episodes.sort_unstable_by_key(|episode| (episode.created_at, episode.turn_uid, episode.part));
    let ids: Vec<EpisodeId> = episodes.into_iter().map(|episode| episode.id).collect();
    let written = match arguments.named() {
        None => destination::to_stdout(|out| write_all(out, &reader, &ids, arguments))?.unwrap_or_default(),
        Some(file) => {
            let written = destination::to_file(file, arguments.force, |out| write_all(out, &reader, &ids, arguments))?;
            complain!(
                "Wrote {} to {}.",
                counted(&written.episodes.into(), "episode", "episodes"),
                file.display()
            );
            written
        }
    };
    if ids.is_empty() {
        complain!("Nothing that is remembered is selected: there is nothing to write.");
    }
    if written.excluded > 0 {
        complain!(
            "Left out: {} hidden by `exclude`; with --with-excluded they are written, too.",
            counted(&written.excluded.into(), "episode that is", "episodes that are")
        );
    }
    Ok(())
}

/// Nothing is told where the episodes themselves go to the terminal on which it would be.
fn progress(arguments: &ExportArguments, episodes: usize) -> Progress {
    let is_seen = arguments.named().is_none() && std::io::stdout().is_terminal();
    Progress::counted("Writing episodes", episodes as u64, is_seen)
}

/// Writes the episodes.
fn write_all(out: &mut dyn Write, reader: &Reader, ids: &[EpisodeId], arguments: &ExportArguments) -> Result<Written, Failed> {
    let mut written = Written::default();
    let mut progress = progress(arguments, ids.len());
    for (number, step) in ids.chunks(STEP).enumerate() {
        progress.at((number * STEP) as u64, ids.len() as u64);
        let shared_by = control::shared_by(reader, step).map_err(|error| Failed::Read(error.into()))?;
        for mut episode in reader.stored(step).map_err(|error| Failed::Read(error.into()))? {
            // A row may be older than today's rules.
            redact_stored(&mut episode);
            if episode.hidden && !arguments.with_excluded {
                written.excluded += 1;
                continue;
            }
            let text = match arguments.format {
                Format::Jsonl => form::json_line(&episode, shared_by.get(&episode.text.id)),
                Format::Markdown => form::markdown(&episode),
            };
            out.write_all(text.as_bytes()).map_err(Failed::Write)?;
            written.episodes += 1;
        }
    }
    Ok(written)
}
