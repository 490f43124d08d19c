//! Daemons and commands killed at any moment: `faults --seed 7 --kind ingest --kills 200`. See `docs/faults.md`.
//!
//! Takes the binaries beside it, or others; prints each broken promise with the home that shows it, and a table at the end. Ends with 1
//! where a promise was broken.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints what it found")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use remembrancer_tests::faults::{HEADER, Kind, Plan, Tally, run};

#[derive(Debug, Parser)]
struct Arguments {
    /// Decides what is written and when is killed.
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// What is interrupted; all kinds without it.
    #[arg(long)]
    kind: Vec<Kind>,
    /// How many kills of each kind.
    #[arg(long, alias = "runs", default_value_t = 50)]
    kills: u64,
    /// The number of the first home, to do again what failed.
    #[arg(long, default_value_t = 0)]
    home: u64,
    /// The program; its hook lies beside it, under the same name with `-hook`.
    #[arg(long)]
    program: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let program = arguments
        .program
        .unwrap_or_else(|| std::env::current_exe().unwrap().with_file_name("remembrancer-under-test"));
    // It is run in other folders than this one.
    let program = std::path::absolute(program).unwrap();
    let name = program.file_name().unwrap().to_string_lossy().into_owned();
    let hook = match name.strip_suffix("-under-test") {
        Some(name) => format!("{name}-hook-under-test"),
        None => format!("{name}-hook"),
    };
    let binaries = (
        program.display().to_string(),
        program.with_file_name(hook).display().to_string(),
    );
    let kinds = if arguments.kind.is_empty() {
        Kind::ALL.to_vec()
    } else {
        arguments.kind
    };
    let mut tallies = Vec::new();
    for kind in kinds {
        let plan = Plan {
            binaries: binaries.clone(),
            seed: arguments.seed,
            kind,
            kills: arguments.kills,
            first_home: arguments.home,
        };
        tallies.push(run(&plan, &mut |line| println!("{line}")));
        println!("{HEADER}\n{}", tallies.last().unwrap());
    }
    println!("\n{HEADER}");
    for tally in &tallies {
        println!("{tally}");
    }
    if tallies.iter().all(Tally::is_whole) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
