//! `why`: what became of the last prompt.

use clap::Args;
use remembrancer_hooks::protocol::Request;
use serde_json::Value;

use super::ask;
use super::error::CliError;
use super::steer::counted;
use super::surroundings::Surroundings;
use crate::cli::output::say;
use crate::control;
use crate::whose::{mark, other_of};

#[derive(Debug, Args)]
pub(super) struct WhyArguments {
    /// The last prompt of this session; of all sessions if not given.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &WhyArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let request = Request::Why {
        session: arguments.session.clone(),
    };
    let why = match ask::data(surroundings, &request)? {
        Some(why) => why,
        None => control::why(&ask::reader(surroundings)?, arguments.session.as_deref())?,
    };
    ask::print("why", &why, arguments.json, explain);
    Ok(())
}

/// Prints what `why` answered.
pub(super) fn explain(why: &Value) {
    let text = |key: &str| why[key].as_str().unwrap_or_default().to_owned();
    say!("Prompt of {} in session {}", text("at"), text("session"));
    say!("terms: {}", strings(&why["terms"]).join(" "));
    match why["reason"].as_str() {
        Some(reason) => say!("nothing was shown: {reason}"),
        None => say!("pool: {}", counted(&why["pool"], "candidate", "candidates")),
    }
    let degradations = strings(&why["degradations"]);
    if !degradations.is_empty() {
        say!("degraded: {}", degradations.join(", "));
    }
    print_candidates(&why["candidates"]);
    let stages: Vec<String> = why["stages"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|stage| {
            let millis = stage["micros"].as_f64().unwrap_or_default() / 1_000.0;
            format!("{} {millis:.1}", stage["name"].as_str().unwrap_or_default())
        })
        .collect();
    say!("milliseconds: {}", stages.join(", "));
}

/// Prints the candidates of a `why`, one line each, with the rank in each leg.
pub(super) fn print_candidates(candidates: &Value) {
    let Some(candidates) = candidates.as_array().filter(|candidates| !candidates.is_empty()) else {
        return;
    };
    say!(
        "{:<12} {:<9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}  asked",
        "",
        "id",
        "score",
        "cosine",
        "bm25",
        "vector",
        "recency",
        "access"
    );
    for candidate in candidates {
        let rank = |leg: &str| {
            candidate["ranks"][leg]
                .as_u64()
                .map_or_else(|| "-".to_owned(), |rank| format!("#{rank}"))
        };
        let verdict = match candidate["shown"].as_u64() {
            Some(position) => format!("shown {position}"),
            None => candidate["dropped"].as_str().unwrap_or("-").to_owned(),
        };
        say!(
            "{verdict:<12} {:<9} {:>7.4} {:>7} {:>7} {:>7} {:>7} {:>7}  {}{}",
            candidate["id"].as_str().unwrap_or("gone"),
            candidate["score"].as_f64().unwrap_or_default(),
            candidate["cosine"]
                .as_f64()
                .map_or_else(|| "-".to_owned(), |cosine| format!("{cosine:.3}")),
            rank("bm25"),
            rank("vector"),
            rank("recency"),
            rank("access"),
            mark(other_of(candidate)),
            candidate["asked"].as_str().unwrap_or_default(),
        );
    }
}

fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}
