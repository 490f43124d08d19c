//! `remembrancer timeline` and `remembrancer sessions`: what there is, by time. Ask the daemon or, where none runs, read the store.

use std::ops::Range;

use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use remembrancer_hooks::protocol::{SessionsRequest, TimelineRequest};
use serde_json::{Value, json};

use super::error::CliError;
use super::narrowing::NarrowingArguments;
use super::steer::counted;
use super::surroundings::Surroundings;
use super::terminal::{Terminal, column, columns};
use super::{acts, ask};
use crate::cli::output::{say, write_raw};
use crate::whose::{mark, other_of};

/// Lines that are asked for at once.
const PAGE: u32 = 200;
/// The widest column of projects.
const WIDEST_PROJECT: usize = 20;

#[derive(Debug, Args)]
pub(super) struct TimelineArguments {
    #[command(flatten)]
    narrowing: NarrowingArguments,
    /// The turn of this episode, and those around it.
    #[arg(long, value_name = "ID")]
    around: Option<String>,
    /// How many turns to show at most.
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct SessionsArguments {
    #[command(flatten)]
    narrowing: NarrowingArguments,
    /// How many sessions to show at most.
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn timeline(arguments: &TimelineArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let mut request = TimelineRequest {
        narrowing: arguments.narrowing.narrowing(surroundings)?,
        around: arguments.around.clone(),
        ..TimelineRequest::default()
    };
    let mut turns: Vec<Value> = Vec::new();
    let mut ends = (Value::Null, Value::Null);
    let mut around = Value::Null;
    loop {
        let left = arguments.limit - turns.len() as u32;
        // What is around a turn comes at once, and no more of it than a reply holds.
        request.limit = Some(if request.around.is_some() { left } else { left.min(PAGE) });
        let mut page = acts::timeline(surroundings, &request)?;
        let older = page["older"].take();
        if turns.is_empty() {
            ends.1 = page["newer"].take();
            around = page["around"].take();
        }
        let Value::Array(mut before) = page["turns"].take() else {
            break;
        };
        let was_last = before.is_empty() || request.around.is_some();
        before.append(&mut turns);
        turns = before;
        ends.0 = older;
        match ends.0.as_str() {
            Some(place) if !was_last && (turns.len() as u32) < arguments.limit => request.before = Some(place.to_owned()),
            _ => break,
        }
    }
    let found = json!({"turns": turns, "around": around, "older": ends.0, "newer": ends.1});
    let terminal = surroundings.terminal;
    ask::print("timeline", &found, arguments.json, |found| print_timeline(found, terminal));
    Ok(())
}

pub(super) fn sessions(arguments: &SessionsArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let mut request = SessionsRequest {
        narrowing: arguments.narrowing.narrowing(surroundings)?,
        ..SessionsRequest::default()
    };
    let mut sessions: Vec<Value> = Vec::new();
    let older = loop {
        request.limit = Some((arguments.limit - sessions.len() as u32).min(PAGE));
        let mut page = acts::sessions(surroundings, &request)?;
        if let Value::Array(mut more) = page["sessions"].take() {
            sessions.append(&mut more);
        }
        let older = page["older"].take();
        match older.as_str() {
            Some(place) if (sessions.len() as u32) < arguments.limit => request.before = Some(place.to_owned()),
            _ => break older,
        }
    };
    let found = json!({"sessions": sessions, "older": older});
    let terminal = surroundings.terminal;
    ask::print("sessions", &found, arguments.json, |found| print_sessions(found, terminal));
    Ok(())
}

fn print_timeline(found: &Value, terminal: Terminal) {
    let turns = found["turns"].as_array().map(Vec::as_slice).unwrap_or_default();
    if turns.is_empty() {
        say!("There are no such turns.");
        return;
    }
    if found["older"].is_string() {
        write_raw(format_args!("{}\n", terminal.styled("(there are older ones)", true)));
    }
    let projects = turns.iter().filter_map(|turn| turn["project"].as_str());
    let widest = projects.map(columns).max().unwrap_or(1).min(WIDEST_PROJECT);
    let mut day = String::new();
    for turn in turns {
        let (this_day, time) = day_and_time(turn["at"].as_str().unwrap_or_default());
        if this_day != day {
            if !day.is_empty() {
                say!("");
            }
            write_raw(format_args!("{}\n", terminal.styled(&this_day, false)));
            day = this_day;
        }
        let mark = if turn["id"] == found["around"] { '>' } else { ' ' };
        let project = column(turn["project"].as_str().unwrap_or("-"), widest);
        let id = turn["id"].as_str().unwrap_or_default();
        say!("{}", terminal.fit(&format!("{mark} {time}  {id}  {project}  {}", told(turn))));
    }
    if found["newer"].is_string() {
        write_raw(format_args!("{}\n", terminal.styled("(there are newer ones)", true)));
    }
}

/// What a turn is about, and what is special about it.
pub(super) fn told(turn: &Value) -> String {
    let asked = turn["asked"].as_str().filter(|asked| !asked.is_empty());
    let said = asked.map(str::to_owned).or_else(|| {
        let answered = turn["answered"].as_str().filter(|answered| !answered.is_empty())?;
        Some(format!("(answered) {answered}"))
    });
    let mut told = mark(other_of(turn));
    if turn["hidden"] == true {
        told.push_str("[hidden] ");
    }
    if turn["origin"] == "subagent" {
        told.push_str("[helper] ");
    }
    told.push_str(said.as_deref().unwrap_or("(nothing)"));
    told
}

fn print_sessions(found: &Value, terminal: Terminal) {
    let sessions = found["sessions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if sessions.is_empty() {
        say!("There are no such sessions.");
    }
    for session in sessions {
        let text = |key: &str| session[key].as_str().unwrap_or_default();
        let ((day, begin), (last_day, end)) = (day_and_time(text("begin")), day_and_time(text("end")));
        let until = if day == last_day { end } else { format!("{last_day} {end}") };
        let hidden = if session["hidden"] == true { "  [hidden]" } else { "" };
        let head = format!(
            "{day} {begin} to {until}  {}  {}  {}{hidden}",
            counted(&session["turns"], "turn", "turns"),
            text("agent"),
            session["project"].as_str().unwrap_or("-"),
        );
        write_raw(format_args!("{}\n", terminal.styled(&terminal.fit(&head), false)));
        say!("{}", terminal.fit(&format!("    {}", text("id"))));
        let about = session["title"]
            .as_str()
            .or(session["asked"].as_str())
            .unwrap_or("(nothing was asked)");
        say!("{}", terminal.fit(&format!("    {}{about}", mark(other_of(session)))));
    }
    if found["older"].is_string() {
        say!("(There are more: --limit {}.)", sessions.len() * 2);
    }
}

/// The day and the time of a moment on this machine's clock.
pub(super) fn day_and_time(at: &str) -> (String, String) {
    match at.parse::<Timestamp>() {
        Ok(at) => {
            let local = at.to_zoned(TimeZone::system());
            (local.strftime("%Y-%m-%d").to_string(), local.strftime("%H:%M").to_string())
        }
        Err(_) => ("-".to_owned(), "-".to_owned()),
    }
}

/// The day of a moment on this machine's clock.
pub(super) fn date_of(at: &str) -> String {
    day_and_time(at).0
}

/// The marked places of a snippet.
pub(super) fn marks_of(matches: &Value) -> Vec<Range<usize>> {
    let number = |value: &Value| value.as_u64().unwrap_or_default() as usize;
    matches
        .as_array()
        .into_iter()
        .flatten()
        .map(|mark| number(&mark[0])..number(&mark[1]))
        .collect()
}
