//! What fuzzing needs besides libFuzzer: its seeds as files, and one input run again. See docs/fuzzing.md.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints what it did")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use remembrancer_tests::fuzz::{TARGETS, find, seeds};

/// Prepares fuzzing, and runs single inputs.
#[derive(Debug, Parser)]
#[command(name = "fuzz")]
enum Command {
    /// Name every target, a line each.
    Targets,
    /// Write the seeds of every target, and what is kept of earlier findings, into FOLDER/TARGET/.
    Seeds {
        /// Where to; made where it is missing.
        folder: PathBuf,
    },
    /// Run inputs; a broken promise is a panic.
    Run {
        /// The target's name.
        target: String,
        /// The inputs.
        files: Vec<PathBuf>,
    },
}

fn main() -> ExitCode {
    match run(Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fuzz: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Targets => TARGETS.iter().for_each(|target| println!("{}", target.name)),
        Command::Seeds { folder } => {
            for target in TARGETS {
                let folder = folder.join(target.name);
                fs_err::create_dir_all(&folder)?;
                let kept = ["corpus", "findings"]
                    .into_iter()
                    .flat_map(|kind| seeds::kept(kind, target.name));
                let all = seeds::of(target.name).into_iter().chain(kept.map(|(_, bytes)| bytes));
                for (number, bytes) in all.enumerate() {
                    fs_err::write(folder.join(format!("seed-{number:03}")), bytes)?;
                }
            }
        }
        Command::Run { target, files } => {
            let found =
                find(&target).ok_or_else(|| anyhow::anyhow!("no target is called {target}; `fuzz targets` names them"))?;
            for file in files {
                (found.run)(&fs_err::read(&file)?);
                println!("{} holds", file.display());
            }
        }
    }
    Ok(())
}
