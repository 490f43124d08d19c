//! `remembrancer export`: all that is stored of the chosen episodes, as JSON lines or Markdown. It reads the database itself,
//! whether a daemon runs or not, some episodes at a time, so that a large memory needs no more room than a small one.

mod form;

use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use remembrancer_processor::ingest::redact_stored;
use remembrancer_schema::{EpisodeId, ForgetTarget, Reader};

use super::ask;
use super::error::{CliError, Kind};
use super::progress::Progress;
use super::selection::Selection;
use super::steer::counted;
use super::surroundings::Surroundings;
use crate::cli::output::complain;
use crate::{clock, control, system};

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
#[derive(Debug, Default, Clone, Copy)]
struct Written {
    episodes: u64,
    excluded: u64,
}

/// Why an export ended early.
enum Failed {
    Read(CliError),
    Write(std::io::Error),
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
        None => to_stdout(&reader, &ids, arguments)?,
        Some(file) => {
            let written = to_file(file, &reader, &ids, arguments)?;
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

fn to_stdout(reader: &Reader, ids: &[EpisodeId], arguments: &ExportArguments) -> Result<Written, CliError> {
    match write_all(BufWriter::new(std::io::stdout().lock()), reader, ids, arguments) {
        Ok((written, _)) => Ok(written),
        // Who reads it has read enough.
        Err(Failed::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(Written::default()),
        Err(Failed::Write(error)) => Err(CliError::new(
            Kind::Failed,
            format!("cannot write to standard output: {error}"),
        )),
        Err(Failed::Read(error)) => Err(error),
    }
}

/// Writes a new file; one that is there is replaced only where that was asked for, and only once the new one is whole.
fn to_file(file: &Path, reader: &Reader, ids: &[EpisodeId], arguments: &ExportArguments) -> Result<Written, CliError> {
    // A device, a pipe or a link is not replaced by a file, whatever is asked.
    if arguments.force && fs_err::symlink_metadata(file).is_ok_and(|there| !there.is_file()) {
        return Err(CliError::new(
            Kind::Usage,
            format!("{} is there and is no file, so it is not replaced", file.display()),
        )
        .with_hint("name another place, or write to standard output and say there where it goes"));
    }
    let temporary = arguments.force.then(|| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        file.with_file_name(format!(".{name}.{}.part", std::process::id()))
    });
    let path = temporary.as_deref().unwrap_or(file);
    let opened = match system::opening(0o600).write(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(CliError::new(Kind::Usage, format!("{} is there already", path.display()))
                .with_hint("name another file, or replace this one by --force"));
        }
        opened => opened?,
    };
    let done = write_all(BufWriter::new(opened), reader, ids, arguments).and_then(|(written, buffered)| {
        let file_written = buffered.into_inner().map_err(|error| Failed::Write(error.into_error()))?;
        file_written.sync_all().map_err(Failed::Write)?;
        if temporary.is_some() {
            fs_err::rename(path, file).map_err(Failed::Write)?;
        }
        Ok(written)
    });
    done.map_err(|failed| {
        // What is not whole is of no use; the first error is what counts.
        drop(fs_err::remove_file(path));
        match failed {
            Failed::Write(error) => CliError::new(Kind::Failed, format!("cannot write {}: {error}", file.display())),
            Failed::Read(error) => error,
        }
    })
}

/// Writes the episodes, and gives the writer back, flushed.
fn write_all<W: Write>(
    mut out: W,
    reader: &Reader,
    ids: &[EpisodeId],
    arguments: &ExportArguments,
) -> Result<(Written, W), Failed> {
    let mut written = Written::default();
    let mut progress = progress(arguments, ids.len());
    for (number, step) in ids.chunks(STEP).enumerate() {
        progress.at((number * STEP) as u64, ids.len() as u64);
        for mut episode in reader.stored(step).map_err(|error| Failed::Read(error.into()))? {
            // A row may be older than today's rules.
            redact_stored(&mut episode);
            if episode.hidden && !arguments.with_excluded {
                written.excluded += 1;
                continue;
            }
            let text = match arguments.format {
                Format::Jsonl => form::json_line(&episode),
                Format::Markdown => form::markdown(&episode),
            };
            out.write_all(text.as_bytes()).map_err(Failed::Write)?;
            written.episodes += 1;
        }
    }
    out.flush().map_err(Failed::Write)?;
    Ok((written, out))
}
