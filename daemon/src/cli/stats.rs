//! `remembrancer stats`: numbers of the memory in one screen: how much, since when, of whom, how large, and what came of it. It reads
//! the database itself; what only a running daemon knows, `status` tells.

use clap::Args;
use serde_json::Value;

use super::ask;
use super::error::CliError;
use super::steer::counted;
use super::surroundings::Surroundings;
use crate::cli::output::say;
use crate::{clock, control};

/// Lines of a table; `--json` has all.
const LINES: usize = 10;

#[derive(Debug, Args)]
pub(super) struct StatsArguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &StatsArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let stats = control::stats(&ask::reader(surroundings)?, clock::now())?;
    ask::print("stats", &stats, arguments.json, print);
    Ok(())
}

fn print(stats: &Value) {
    if stats["episodes"] == 0 {
        say!("Nothing is remembered yet.");
        print_disk(&stats["bytes"]);
        return;
    }
    say!(
        "{} ({}) of {} in {}, of {}",
        counted(&stats["episodes"], "episode", "episodes"),
        counted(&stats["turns"], "turn", "turns"),
        counted(&stats["sessions"], "session", "sessions"),
        counted(&stats["projects"], "project", "projects"),
        counted(&stats["agents"], "agent", "agents")
    );
    if let (Some(first), Some(last)) = (stats["first"].as_str(), stats["last"].as_str()) {
        say!("from {} to {}", day(first), day(last));
    }
    say!(
        "{} with a vector, {} waiting for one, {} hidden by `exclude`",
        stats["embedded"],
        stats["embedding_backlog"],
        stats["hidden"]
    );
    print_table("agent", stats["by_agent"].as_array(), |share| share["agent"].as_str());
    print_table("project", stats["by_project"].as_array(), |share| share["project"].as_str());
    say!("");
    print_disk(&stats["bytes"]);
    print_recollections(stats);
}

fn print_disk(bytes: &Value) {
    let megabytes = |key: &str| bytes[key].as_u64().unwrap_or_default() as f64 / 1e6;
    say!(
        "disk:      {:.1} MB (index {:.1} MB, vectors {:.1} MB), log {:.1} MB, journal {:.1} MB, backups {:.1} MB",
        megabytes("database"),
        megabytes("index"),
        megabytes("vectors"),
        megabytes("log"),
        megabytes("journal"),
        megabytes("backups")
    );
}

fn print_recollections(stats: &Value) {
    let recollections = &stats["recollections"];
    for (days, key) in [("7 days", "last_7_days"), ("30 days", "last_30_days")] {
        let of = &recollections[key];
        say!(
            "{:<10} {} shown, {} of them used; something was shown for {} of {}",
            format!("{days}:"),
            counted(&of["shown"], "recollection", "recollections"),
            of["used"],
            of["prompts_answered"],
            counted(&of["prompts"], "prompt", "prompts")
        );
    }
    if let Some(from) = recollections["logged_from"].as_str() {
        say!(
            "           (prompts and uses are logged from {} on, the last 1,000)",
            day(from)
        );
    }
    let times = &stats["recall_times"];
    if let (Some(p50), Some(p99)) = (times["p50_millis"].as_f64(), times["p99_millis"].as_f64()) {
        say!(
            "answers:   p50 {p50:.1} ms, p99 {p99:.1} ms in the daemon, of {}",
            counted(&times["prompts"], "prompt", "prompts")
        );
    }
}

/// The shares of agents or projects, the largest first.
fn print_table(title: &str, shares: Option<&Vec<Value>>, name: impl Fn(&Value) -> Option<&str>) {
    let shares = shares.map_or(&[][..], Vec::as_slice);
    if shares.is_empty() {
        return;
    }
    say!("\n{title:<28} {:>9} {:>9}  first       last", "episodes", "sessions");
    for share in shares.iter().take(LINES) {
        say!(
            "{:<28} {:>9} {:>9}  {}  {}",
            name(share).unwrap_or("(none)"),
            share["episodes"].as_u64().unwrap_or_default(),
            share["sessions"].as_u64().unwrap_or_default(),
            day(share["first"].as_str().unwrap_or_default()),
            day(share["last"].as_str().unwrap_or_default())
        );
    }
    if shares.len() > LINES {
        say!("and {} more; see `remembrancer stats --json`", shares.len() - LINES);
    }
}

/// The day of a moment.
fn day(moment: &str) -> &str {
    moment.split('T').next().unwrap_or_default()
}
