//! What a user would be shown: `cargo build --release && target/release/as-transcripts FOLDER`.
//!
//! Writes a judged set of conversations as transcripts into a home of its own, lets the real daemon read and embed them, asks
//! every question through the real hook, and then what should be answered by silence. See docs/quality.md.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints measurements")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Parser;
use remembrancer_processor::eval::dataset::Dataset;
use remembrancer_tests::conversations::{History, Play, Report, noise, write};
use remembrancer_tests::injected::Control;
use remembrancer_tests::{Sandbox, timed};
use serde_json::{Value, json};

/// The most that embedding a set may take.
const PATIENCE: Duration = Duration::from_hours(3);

/// Plays a judged set of conversations through daemon and hook, and scores what is shown.
#[derive(Debug, Parser)]
#[command(name = "as-transcripts")]
struct Arguments {
    /// A judged set of conversations, such as ../shared/eval/lme-oracle-dev.
    #[arg(value_name = "FOLDER")]
    set: PathBuf,
    /// Another such set, whose questions a set of one project can't answer.
    #[arg(long, value_name = "FOLDER")]
    others: Option<PathBuf>,
    /// Play a part of about so many turns.
    #[arg(long, value_name = "TURNS")]
    limit: Option<usize>,
    /// Which part, and in which order others are asked.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Ask every question now, and not at the time at which the set says that it was asked.
    #[arg(long)]
    now: bool,
    /// Settings for the daemon: a config.toml.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Write all figures, and what each question got, to a file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("as-transcripts: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut history = load(&arguments.set)?;
    if let Some(turns) = arguments.limit {
        history = history.limited(turns, arguments.seed);
    }
    let others = arguments.others.as_deref().map(load).transpose()?;
    let sandbox = sandbox()?;
    if let Some(config) = &arguments.config {
        sandbox.configure(&fs_err::read_to_string(config)?);
    }
    // Without the library (Linux alone has it) every question is asked now.
    let clock = if arguments.now {
        None
    } else {
        Control::new(&sandbox.root(), "clock")
    };
    let (store, report) = play(&sandbox, &history, others.as_ref(), clock.as_ref(), arguments.seed);
    println!("\n{report}");
    if let Some(file) = &arguments.json {
        let figures = json!({
            "set": history.name, "limit": arguments.limit, "seed": arguments.seed, "at_their_own_time": clock.is_some(),
            "store": store, "report": report.json(),
        });
        fs_err::write(file, serde_json::to_string_pretty(&figures)? + "\n")?;
    }
    Ok(())
}

fn load(folder: &Path) -> anyhow::Result<History> {
    History::of(&Dataset::load(folder)?)
}

/// A home with the binaries that were built beside this one.
fn sandbox() -> anyhow::Result<Sandbox> {
    let here = std::env::current_exe()?;
    let binary = |name: &str| {
        let path = here.with_file_name(name);
        ensure!(
            path.is_file(),
            "{} is missing: build the whole workspace first",
            path.display()
        );
        path.into_os_string()
            .into_string()
            .ok()
            .context("the program lies in a folder whose name is no text")
    };
    Ok(Sandbox::new(&binary("remembrancer")?, &binary("remembrancer-hook")?))
}

/// Returns what the store holds, and what the prompts got.
fn play(sandbox: &Sandbox, history: &History, others: Option<&History>, clock: Option<&Control>, seed: u64) -> (Value, Report) {
    let folders = write(sandbox, history);
    let variables = clock.map(Control::variables).into_iter().flatten().collect::<Vec<_>>();
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let daemon = sandbox.start_with(&variables);
    daemon.wait_for_model();
    let ((), took) = timed(|| daemon.embed_all_within(PATIENCE));
    let store = json!({
        "projects": folders.len(), "sessions": history.sessions.len(), "turns": history.turns(),
        "episodes": daemon.status()["episodes"], "embedded_in_s": took.as_secs(),
    });
    println!("{}: {store}", history.name);
    let mut play = Play::new(sandbox, &daemon, history, &folders, clock);
    let questions = history.questions.iter().map(|question| play.ask(question, &question.project));
    let mut report = Report {
        questions: questions.collect(),
        noise: Vec::new(),
    };
    println!("{} questions asked", report.questions.len());
    let projects = history.projects();
    for (kind, prompts) in noise() {
        let asked = prompts.iter().zip(projects.iter().cycle());
        let verdicts = asked.map(|(prompt, project)| play.ask(prompt, project)).collect();
        report.noise.push((kind, verdicts));
    }
    let strangers = history.strangers(others, seed).into_iter();
    let verdicts = strangers.map(|(question, project)| play.ask(question, project)).collect();
    report.noise.push(("another conversation's questions", verdicts));
    (store, report)
}
