//! `remembrancer try`: the newcomer's first minute. In a folder that is thrown away it starts the real daemon on your own
//! transcripts (or on samples), sends a prompt through the real hook, and shows what came of it.

mod child;
mod throwaway;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use remembrancer_processor::ingest::Agent;
use remembrancer_processor::{Deadline, Stopwatch};
use remembrancer_schema::{Reader, Scope};
use serde_json::{Value, json};

use super::error::{CliError, Kind};
use super::progress::Progress;
use super::samples;
use super::steer::counted;
use super::surroundings::Surroundings;
use super::why::print_candidates;
use crate::cli::output::say;
use crate::exclusions::Exclusions;
use crate::roots::{Root, Roots};
use crate::scan;
use child::Daemon;
use throwaway::Throwaway;

/// At most so many of the newest transcripts are read.
const NEWEST: usize = 120;
/// Reading and embedding may take so long; what is there by then is asked.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often the daemon is asked how far it is.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(super) struct TryArguments {
    /// A prompt to ask; one that fits what was read if not given.
    prompt: Option<String>,
    /// Use the samples even where there are transcripts of your own.
    #[arg(long)]
    samples: bool,
}

/// What is read, and what is asked.
struct Trial {
    roots: Roots,
    exclude: Vec<PathBuf>,
    own: bool,
}

pub(super) fn run(arguments: &TryArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let place = Throwaway::make()?;
    let trial = trial(arguments, surroundings, &place)?;
    place.write_config(&trial.roots, &trial.exclude, NEWEST)?;
    if trial.own {
        say!(
            "Reading the newest of your transcripts below {} (nothing there is changed).",
            names(&trial.roots)
        );
    } else {
        say!("Reading four sample sessions that come with the program.");
    }
    let daemon = Daemon::start(&place)?;
    let mut progress = Progress::told("Reading", false);
    let status = daemon.wait_until_read(PATIENCE, |status| progress.is_at(&waiting_for(status)))?;
    drop(progress);
    say!(
        "Read {} of {}, {} of them embedded, in {}.",
        counted(&status["episodes"], "episode", "episodes"),
        counted(&status["sessions"], "session", "sessions"),
        status["embedded"],
        place.path().display()
    );
    let (prompt, cwd) = question(arguments, &trial, &place)?;
    say!("\nPrompt: {prompt}\n");
    let answer = daemon.fire_hook(&prompt, &cwd)?;
    show_answer(&answer, &place)?;
    let why = daemon.why()?;
    say!("\nHow each was ranked (`remembrancer why`):");
    print_candidates(&json!(relevant(&why)));
    daemon.stop();
    say!("\nThe daemon is stopped and the folder is gone. The README says how to set it up for good.");
    Ok(())
}

fn trial(arguments: &TryArguments, surroundings: &Surroundings, place: &Throwaway) -> Result<Trial, CliError> {
    let roots = surroundings.roots();
    let exclude = exclusions(surroundings)?;
    if !arguments.samples && !scan::scan(&roots, &Exclusions::of_settings(&exclude)).files.is_empty() {
        return Ok(Trial {
            roots,
            exclude,
            own: true,
        });
    }
    let root = place.path().join("samples");
    samples::write(&root)?;
    Ok(Trial {
        roots: Roots::new(vec![Root {
            agent: Agent::CLAUDE_CODE,
            folder: root,
            flat: false,
        }]),
        exclude: Vec::new(),
        own: false,
    })
}

/// What the user keeps out, by the settings and by `exclude`: it stays out of a trial, too.
fn exclusions(surroundings: &Surroundings) -> Result<Vec<PathBuf>, CliError> {
    let mut exclude = surroundings.config.transcripts.exclude.clone();
    let database = surroundings.places.database_file();
    // A memory that can't be opened is not needed for a trial, and has a command of its own to say so.
    if let Some(reader) = database.exists().then(|| Reader::open(&database).ok()).flatten() {
        exclude.extend(reader.exclusions()?.into_iter().map(PathBuf::from));
    }
    Ok(exclude)
}

/// The folders that there are.
fn names(roots: &Roots) -> String {
    roots
        .folders()
        .filter(|root| root.exists())
        .map(|root| root.display().to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

/// What reading and embedding are at.
fn waiting_for(status: &Value) -> String {
    format!(
        "{} waiting, {}, {} embedded",
        counted(&status["ingest"]["transcripts_waiting"], "transcript", "transcripts"),
        counted(&status["episodes"], "episode", "episodes"),
        status["embedded"]
    )
}

/// The prompt and its working directory. For own transcripts without a given prompt: the beginning of the question of an
/// older episode, asked anew.
fn question(arguments: &TryArguments, trial: &Trial, place: &Throwaway) -> Result<(String, String), CliError> {
    let here = std::env::current_dir()?.display().to_string();
    match (&arguments.prompt, trial.own) {
        (Some(prompt), true) => Ok((prompt.clone(), here)),
        (Some(prompt), false) => Ok((prompt.clone(), samples::CWD.to_owned())),
        (None, false) => Ok((samples::PROMPT.to_owned(), samples::CWD.to_owned())),
        (None, true) => {
            let reader = Reader::open(&place.database())?;
            let mut texts = reader.texts(&reader.recently_accessed(Scope::All, 200)?)?;
            texts.sort_by_key(|text| text.created_at);
            let fit = texts
                .into_iter()
                .find(|text| text.part == 0 && (40..400).contains(&text.prompt.chars().count()));
            let Some(text) = fit else {
                return Err(
                    CliError::new(Kind::NotFound, "there is no question in your transcripts to ask again")
                        .with_hint("give a prompt: remembrancer try \"…\", or use --samples"),
                );
            };
            Ok((text.prompt, text.cwd.unwrap_or(here)))
        }
    }
}

fn show_answer(answer: &child::HookAnswer, place: &Throwaway) -> Result<(), CliError> {
    let millis = answer.took.as_secs_f64() * 1_000.0;
    let file = place.recollection_file();
    let text = fs_err::read_to_string(&file)?;
    if answer.stdout.is_empty() {
        say!("The hook said nothing, after {millis:.0} ms: a prompt without a fitting memory is left alone.");
    } else {
        say!("The hook answered in {millis:.0} ms (budget 240 ms). Your agent would see, beside the prompt:\n");
    }
    say!("{}", text.trim_end());
    Ok(())
}

/// What was shown, and the best three of what was not.
fn relevant(why: &Value) -> Vec<Value> {
    let mut others = 0;
    why["candidates"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|candidate| {
            others += usize::from(candidate["shown"].is_null());
            !candidate["shown"].is_null() || others <= 3
        })
        .cloned()
        .collect()
}

/// Waits `pause` between two looks at something that another process does.
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}

/// How long `work` took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let mut watch = Stopwatch::start();
    let result = work();
    watch.lap("work");
    (result, watch.total())
}

/// Looks again and again until `look` finds something, or until `patience` ends.
fn look_until<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Deadline::after(patience);
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if deadline.has_passed() {
            return None;
        }
        wait(LOOK);
    }
}
