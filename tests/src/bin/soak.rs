//! An hour of accelerated life: `cargo build --release && target/release/soak [--short | --minutes N] [--seed N]`.
//!
//! Prints a sample a minute and a table at the end, and fails where something was lost, doubled or grew.

#![expect(clippy::print_stdout, reason = "a program that prints measurements")]

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use remembrancer_tests::Sandbox;
use remembrancer_tests::soak::{Outcome, Plan, live};

/// An hour of accelerated life.
#[derive(Debug, Parser)]
struct Arguments {
    /// As in continuous integration: 40 sessions and 400 prompts, as fast as they go.
    #[arg(long)]
    short: bool,
    /// How long it lasts.
    #[arg(long, default_value_t = 60)]
    minutes: u64,
    /// Makes the same life of the same number.
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Sessions that begin.
    #[arg(long, default_value_t = 1_000)]
    sessions: u32,
    /// Turns that stand in the transcripts before the daemon is started for the first time.
    #[arg(long, default_value_t = 20_000)]
    history: u32,
    /// Prompts that are asked.
    #[arg(long, default_value_t = 10_000)]
    prompts: u32,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let plan = if arguments.short {
        Plan::SHORT
    } else {
        Plan {
            seed: arguments.seed,
            sessions: arguments.sessions,
            history: arguments.history,
            prompts: arguments.prompts,
            lasts: Duration::from_mins(arguments.minutes),
            samples: 120,
        }
    };
    let program = std::env::current_exe().unwrap_or_default();
    let binary = |name: &str| program.with_file_name(name).display().to_string();
    let sandbox = Sandbox::new(&binary("remembrancer"), &binary("remembrancer-hook"));
    println!("  %   anon MB  rss MB   fds  threads  log MB  episodes");
    let outcome = live(&sandbox, plan, |sample| {
        println!(
            "{:3} {:9.1} {:7.1} {:5} {:8} {:7.1} {:9}",
            sample.percent,
            sample.anonymous as f64 / 1e6,
            sample.resident as f64 / 1e6,
            sample.descriptors,
            sample.threads,
            sample.log_bytes as f64 / 1e6,
            sample.episodes
        );
    });
    print(&outcome);
    let faults = outcome.faults();
    for fault in &faults {
        println!("FAILED: {fault}");
    }
    if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn print(outcome: &Outcome) {
    let done: Vec<String> = outcome.done.iter().map(|(name, times)| format!("{times} {name}")).collect();
    let steady = outcome.steady();
    println!("done: {}", done.join(", "));
    println!(
        "hooks: {}; {} showed something, {} over 240 ms",
        outcome.hooks,
        outcome.shown,
        outcome.hooks.over(Duration::from_millis(240))
    );
    println!(
        "turns lost {}, doubled {}, come back {}; without a vector {}",
        outcome.lost.len(),
        outcome.doubled.len(),
        outcome.returned.len(),
        outcome.waiting
    );
    println!(
        "from 40 % on: anonymous {:.1} -> {:.1} MB ({:+.1} %), resident {:.1} -> {:.1} MB, descriptors {} to {}, threads {} to {}, children {}, log at most {:.1} MB, episodes {} -> {}",
        steady.anonymous.0 as f64 / 1e6,
        steady.anonymous.1 as f64 / 1e6,
        steady.growth() * 100.0,
        steady.resident.0 as f64 / 1e6,
        steady.resident.1 as f64 / 1e6,
        steady.descriptors.0,
        steady.descriptors.1,
        steady.threads.0,
        steady.threads.1,
        steady.children,
        steady.log_bytes as f64 / 1e6,
        steady.episodes.0,
        steady.episodes.1,
    );
}
