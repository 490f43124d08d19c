//! `remembrancer import`: reads what `export` wrote as JSON lines. The file is read here, some lines at a time, so that a large one needs
//! no more room than a small one and a daemon need not see it; how far it is shows in bytes. Each handful is stored in one transaction, by the daemon or, where
//! none runs, in the store itself. Killed in the middle, it goes on when it is done again: what is stored by then is known.

mod lines;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use remembrancer_hooks::protocol::Request;
use remembrancer_schema::Writer;
use serde_json::{Value, json};

use super::ask;
use super::error::{CliError, Kind};
use super::progress::Progress;
use super::steer::counted;
use super::surroundings::Surroundings;
use crate::cli::output::{complain, say};
use crate::single::Single;
use crate::{clock, control, plural};
use lines::{Handful, Handfuls};

/// What is under way, as the bar says it.
const IMPORTING: &str = "Importing";
/// Lines that are named with what is wrong with them; the rest is counted.
const TOLD: usize = 20;

#[derive(Debug, Args)]
#[command(
    after_help = "What is here already stays as it is; what you forgot here stays forgotten, and what is excluded here stays out. What others \
shared (`shared_by`) is left out: it comes by the shared store. Texts are redacted again, and embedded anew. A line that can't be read is \
named and left out. To import the same file twice changes nothing. Every member is explained in docs/export.md."
)]
pub(super) struct ImportArguments {
    /// What `export` wrote as JSON lines; `-` for standard input.
    file: PathBuf,
    /// Store nothing; say what would become of the lines.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Who stores.
enum Store {
    Daemon,
    Own(Box<(Single, Writer)>),
}

/// What an import came to.
#[derive(Default)]
struct Told {
    counts: Vec<(&'static str, u64)>,
    bad: u64,
    problems: Vec<Value>,
}

/// An import under way.
struct Importer<'a> {
    surroundings: &'a Surroundings,
    dry_run: bool,
    store: Store,
    told: Told,
}

pub(super) fn run(arguments: &ImportArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let (input, progress) = open_file(arguments)?;
    let mut importer = Importer {
        surroundings,
        dry_run: arguments.dry_run,
        store: open(surroundings)?,
        told: Told::new(),
    };
    importer.store_all(Handfuls::of(input), progress)?;
    let told = importer.told;
    let name = arguments.file.display().to_string();
    for problem in &told.problems {
        complain!("{name}:{}: {}", problem["line"], problem["why"].as_str().unwrap_or_default());
    }
    if told.bad > told.problems.len() as u64 {
        let more = told.bad - told.problems.len() as u64;
        complain!("and {}", plural::counted(more, "line more", "lines more"));
    }
    if told.bad > 0 && told.fitting() == 0 {
        return Err(CliError::new(Kind::Failed, format!("no line of {name} is one of an export"))
            .with_hint("`remembrancer export FILE` writes JSON lines; what `--format markdown` writes is for reading"));
    }
    ask::print("import", &told.json(arguments.dry_run), arguments.json, |_| {
        told.say(arguments.dry_run);
    });
    Ok(())
}

/// The lines, and how far through them it is: of a file by its bytes, of standard input by its lines, since its end is not known.
fn open_file(arguments: &ImportArguments) -> Result<(Box<dyn BufRead>, Progress), CliError> {
    if arguments.file == Path::new("-") {
        return Ok((Box::new(std::io::stdin().lock()), Progress::told(IMPORTING, arguments.json)));
    }
    let file = fs_err::File::open(&arguments.file)?;
    let metadata = file.metadata()?;
    let progress = if metadata.is_file() {
        Progress::counted(IMPORTING, metadata.len(), arguments.json)
    } else {
        Progress::told(IMPORTING, arguments.json)
    };
    Ok((Box::new(BufReader::new(file)), progress))
}

fn open(surroundings: &Surroundings) -> Result<Store, CliError> {
    if ask::data(surroundings, &Request::Ping)?.is_some() {
        return Ok(Store::Daemon);
    }
    let own = ask::writer(surroundings)?;
    control::refuse_if_paused(&ask::reader(surroundings)?, clock::now())?;
    Ok(Store::Own(Box::new(own)))
}

impl Importer<'_> {
    fn store_all(&mut self, mut handfuls: Handfuls<impl BufRead>, mut progress: Progress) -> Result<(), CliError> {
        while let Some(handful) = handfuls.next()? {
            for (line, why) in &handful.problems {
                self.told.add_problem(*line, why);
            }
            let Handful { lines, numbers, .. } = handful;
            if !lines.is_empty() {
                let done = self.store(lines)?;
                self.told.add(&done, &numbers);
            }
            progress.has_read(handfuls.bytes(), &plural::counted(handfuls.lines(), "line", "lines"));
        }
        Ok(())
    }

    fn store(&mut self, lines: Vec<String>) -> Result<Value, CliError> {
        let dry_run = self.dry_run;
        match &mut self.store {
            Store::Own(own) => Ok(control::import(&mut own.1, &lines, clock::now(), dry_run)?),
            Store::Daemon => ask::data(self.surroundings, &Request::Import { lines, dry_run })?.ok_or_else(|| {
                CliError::new(Kind::Daemon, "the daemon ended meanwhile")
                    .with_hint("do it again: what is stored by now is known, and the rest follows")
            }),
        }
    }
}

impl Told {
    fn new() -> Self {
        Self {
            counts: control::IMPORT_OUTCOMES.iter().map(|name| (*name, 0)).collect(),
            ..Self::default()
        }
    }

    /// Adds what became of a handful whose lines have these numbers in the file.
    fn add(&mut self, done: &Value, numbers: &[u64]) {
        for (name, count) in &mut self.counts {
            *count += done[*name].as_u64().unwrap_or_default();
        }
        for problem in done["problems"].as_array().into_iter().flatten() {
            let place = problem["line"].as_u64().and_then(|place| usize::try_from(place).ok());
            let number = place.and_then(|place| numbers.get(place)).copied().unwrap_or_default();
            self.add_problem(number, problem["why"].as_str().unwrap_or_default());
        }
    }

    fn add_problem(&mut self, line: u64, why: &str) {
        self.bad += 1;
        if self.problems.len() < TOLD {
            self.problems.push(json!({"line": line, "why": why}));
        }
    }

    fn of(&self, name: &str) -> u64 {
        self.counts
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(0, |(_, count)| *count)
    }

    fn fitting(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    fn json(&self, dry_run: bool) -> Value {
        let mut told = json!({"dry_run": dry_run, "bad": self.bad, "problems": self.problems});
        for (name, count) in &self.counts {
            told[*name] = (*count).into();
        }
        told
    }

    fn say(&self, dry_run: bool) {
        let added = counted(&self.of("added").into(), "episode", "episodes");
        if dry_run {
            say!("This would import {added}.");
        } else {
            say!("Imported {added}; they are embedded as the daemon comes to them.");
        }
        let left = [
            ("known", "here already"),
            ("forgotten", "forgotten here"),
            ("retired", "removed here by retention"),
            ("excluded", "excluded here, or there"),
            ("shared", "shared by others: they come by the shared store"),
        ];
        for (name, why) in left {
            if self.of(name) > 0 {
                say!("  {} {why}", self.of(name));
            }
        }
        if self.bad > 0 {
            say!("  {} not read", counted(&self.bad.into(), "line", "lines"));
        }
    }
}
