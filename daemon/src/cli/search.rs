//! `remembrancer search`: what is stored that fits some words, best first. Asks the daemon or, where none runs, reads the store
//! itself, and loads the model for it where meaning counts. It leaves no trace.

use std::ops::Range;

use clap::{Args, ValueEnum};
use remembrancer_hooks::protocol::{SearchMode, SearchRequest};
use serde_json::Value;

use super::error::{CliError, Kind};
use super::listing::{date_of, marks_of};
use super::narrowing::NarrowingArguments;
use super::surroundings::Surroundings;
use super::terminal::Terminal;
use super::{acts, ask};
use crate::cli::output::{say, write_raw};
use crate::whose::other_of;

/// By what to search.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    /// By words.
    Lexical,
    /// By meaning.
    Semantic,
    /// By both.
    Hybrid,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The nearest there is is shown, however far: a search has no floor. A prompt is reminded only of what is near enough; \
`remembrancer explain \"PROMPT\"` tells of what, and why."
)]
pub(super) struct SearchArguments {
    /// What to look for, in your own words.
    #[arg(required = true)]
    query: Vec<String>,
    #[command(flatten)]
    narrowing: NarrowingArguments,
    /// Look at all projects: what is done anyway, unless one is named.
    #[arg(long, conflicts_with = "project")]
    all_projects: bool,
    /// By what to search.
    #[arg(long, value_enum, default_value_t = Mode::Hybrid)]
    mode: Mode,
    /// How many to show at most.
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// How many of the best to pass over: those that were shown before.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    offset: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &SearchArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let query = arguments.query.join(" ");
    if query.trim().is_empty() {
        return Err(CliError::new(Kind::Usage, "there is nothing to search for"));
    }
    let request = SearchRequest {
        query,
        narrowing: arguments.narrowing.narrowing(surroundings)?,
        mode: match arguments.mode {
            Mode::Lexical => SearchMode::Lexical,
            Mode::Semantic => SearchMode::Semantic,
            Mode::Hybrid => SearchMode::Hybrid,
        },
        limit: Some(arguments.limit),
        offset: Some(arguments.offset),
    };
    let found = acts::search(surroundings, &request)?;
    let terminal = surroundings.terminal;
    ask::print("search", &found, arguments.json, |found| print(found, terminal));
    Ok(())
}

fn print(found: &Value, terminal: Terminal) {
    let results = found["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let offset = found["offset"].as_u64().unwrap_or_default();
    for (number, result) in (offset + 1..).zip(results) {
        if number > offset + 1 {
            say!("");
        }
        print_result(number, result, terminal);
    }
    if results.is_empty() {
        say!(
            "{}",
            if offset == 0 {
                "Nothing was found."
            } else {
                "There is nothing more."
            }
        );
    }
    if let Some(next) = found["next"].as_u64() {
        say!("\n(There is more: --offset {next}.)");
    }
    for degradation in found["degradations"].as_array().into_iter().flatten() {
        say!("(by words alone: {})", degradation.as_str().unwrap_or_default());
    }
}

fn print_result(number: u64, result: &Value, terminal: Terminal) {
    let text = |key: &str| result[key].as_str().unwrap_or_default();
    let rank = |leg: &str, name: &str| result["ranks"][leg].as_u64().map(|rank| format!("{name} #{rank}"));
    let ranks: Vec<String> = [rank("bm25", "words"), rank("vector", "meaning")]
        .into_iter()
        .flatten()
        .collect();
    let shared = other_of(result).map_or_else(String::new, |login| format!("  shared by {login}"));
    let head = format!(
        "{number}. {}  {}  {}  {}{shared}  {:.3} ({})",
        text("id"),
        date_of(text("at")),
        result["project"].as_str().unwrap_or("-"),
        text("agent"),
        result["score"].as_f64().unwrap_or_default(),
        ranks.join(", ")
    );
    say!("{}", terminal.fit(&head));
    if text("field") != "prompt" {
        say!("{}", terminal.fit(&format!("   {}", text("asked"))));
    }
    let marks: Vec<Range<usize>> = marks_of(&result["matches"]);
    for line in terminal.wrap(text("snippet"), &marks, 3) {
        // Made of pieces that passed `for_terminal`, and of what makes words stand out.
        write_raw(format_args!("{line}\n"));
    }
}
