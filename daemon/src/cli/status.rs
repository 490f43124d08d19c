//! `remembrancer status`: in one screen what is remembered, what waits, how fast recall is, and what is wrong.

use std::time::Duration;

use clap::Args;
use remembrancer_hooks::protocol::Request;
use serde_json::Value;

use super::ask;
use super::error::CliError;
use super::steer::counted;
use super::surroundings::Surroundings;
use crate::cli::output::say;
use crate::health::span;
use crate::single::{Single, SingleError};
use crate::{clock, control, retention};

/// Kinds of what was passed over that the screen names; the others are counted.
const NAMED_KINDS: usize = 8;

#[derive(Debug, Args)]
pub(super) struct StatusArguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// First wait until all that stands in the transcripts now is in the memory.
    #[arg(long)]
    flush: bool,
}

pub(super) fn run(arguments: &StatusArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    if arguments.flush {
        ask::data(surroundings, &Request::Flush)?;
    }
    let mut status = match ask::data(surroundings, &Request::Status)? {
        Some(status) => status,
        None => without_daemon(surroundings)?,
    };
    // By the settings as they stand now, which the daemon reads at its next start: so this is their dry run, too.
    // (A database that only the running daemon can read, of another version, tells nothing here.)
    if let Ok(reader) = ask::reader(surroundings) {
        status["retention"] = retention::describe(surroundings.config.retention, &reader, clock::now())?;
    }
    ask::print("status", &status, arguments.json, print_status);
    Ok(())
}

fn without_daemon(surroundings: &Surroundings) -> Result<Value, CliError> {
    let mut status = control::store_status(&ask::reader(surroundings)?, clock::now())?;
    // A lock that is held without an answer at the socket: the daemon runs, and can't be reached.
    if let Err(error @ SingleError::Running { .. }) = Single::take(&surroundings.places.data_dir()) {
        status["no_daemon"] = format!("{error}, but it does not answer at its socket; stop it and start it again").into();
    }
    Ok(status)
}

/// What the user did with single memories.
fn print_steered(status: &Value) {
    let steered = ["remembered_facts", "muted_turns", "boosted_turns"].map(|key| status[key].as_u64().unwrap_or_default());
    if steered != [0; 3] {
        say!(
            "by you:     {}, {} muted, {} boosted",
            counted(&steered[0].into(), "fact remembered", "facts remembered"),
            counted(&steered[1].into(), "turn", "turns"),
            counted(&steered[2].into(), "turn", "turns")
        );
    }
}

/// One line where this memory is shared.
#[cfg(feature = "share")]
fn print_sharing(status: &Value) {
    if let Some(line) = super::share::status::line(&status["sharing"], status["daemon"].is_object()) {
        say!("sharing:    {line}");
    }
}

fn print_status(status: &Value) {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    match status["daemon"]["pid"].as_u64() {
        Some(pid) => say!(
            "daemon:     running, process {pid}, since {}",
            text(&status["daemon"]["started"])
        ),
        None => say!(
            "daemon:     {}",
            status["no_daemon"]
                .as_str()
                .unwrap_or("not running; start it with `remembrancer run`")
        ),
    }
    print_health(&status["health"]);
    if !status["paused"].is_null() {
        say!("PAUSED      {}", text(&status["paused"]));
    }
    say!(
        "memory:     {} of {} in {}; {} with a vector, {} waiting for one",
        counted(&status["episodes"], "episode", "episodes"),
        counted(&status["sessions"], "session", "sessions"),
        counted(&status["projects"], "project", "projects"),
        number(&status["embedded"]),
        number(&status["embedding_backlog"])
    );
    print_steered(status);
    say!(
        "transcripts: {} read, {} of them gone since; {}, {} passed over; {} waiting",
        number(&status["transcripts"]),
        number(&status["transcripts_missing"]),
        counted(&status["records"], "record", "records"),
        counted(&status["skipped_lines"], "line", "lines"),
        number(&status["ingest"]["transcripts_waiting"])
    );
    say!(
        "model:      {}",
        status["daemon"]["model"]
            .as_str()
            .or(status["embedding_model"].as_str())
            .unwrap_or("none yet")
    );
    if let (Some(rate), Some(left)) = (
        status["ingest"]["embedded_per_second"].as_f64(),
        status["ingest"]["remaining_seconds"].as_u64(),
    ) {
        say!(
            "backfill:   {rate:.0} episodes a second, about {} left",
            span(Duration::from_secs(left))
        );
    }
    if let Some(reranker) = status["daemon"]["reranker"].as_str() {
        say!("reranker:   {reranker}");
    }
    say!(
        "disk:       {:.1} MB",
        (number(&status["database_bytes"]) + number(&status["wal_bytes"])) as f64 / 1e6
    );
    #[cfg(feature = "share")]
    print_sharing(status);
    print_retention(&status["retention"]);
    print_redaction(&status["redaction"]);
    print_backups(status);
    if let Some(resident) = status["daemon"]["memory"]["resident_bytes"].as_u64() {
        let anonymous = number(&status["daemon"]["memory"]["anonymous_bytes"]);
        say!(
            "resident:   {:.0} MB, {:.0} MB of it not backed by a file",
            resident as f64 / 1e6,
            anonymous as f64 / 1e6
        );
    }
    print_recalls(&status["recalls"]);
    if let Some(counts) = counts(&status["counted"]) {
        say!("counted:    {counts}");
    }
    if let Some(counts) = counts(&status["requests_refused"]) {
        say!("refused:    {counts}");
    }
    print_problems(status);
}

fn print_retention(retention: &Value) {
    if retention.is_null() {
        return;
    }
    let number = |key: &str| retention[key].as_u64().unwrap_or_default();
    let mut bounds = Vec::new();
    if let Some(days) = retention["max_age_days"].as_u64() {
        bounds.push(format!(
            "{} older than {}",
            counted(&retention["turns_too_old"], "turn", "turns"),
            counted(&days.into(), "day", "days")
        ));
    }
    if let Some(most) = retention["max_bytes"].as_u64() {
        let (used, most) = (number("used_bytes") as f64 / 1e6, most as f64 / 1e6);
        let excess = number("bytes_too_many") as f64 / 1e6;
        bounds.push(format!("{excess:.1} MB too many ({used:.1} of {most:.0} MB in use)"));
    }
    let due = if bounds.is_empty() {
        "no bound".to_owned()
    } else {
        format!("due: {}", bounds.join(", "))
    };
    say!(
        "retention:  {due}; removed so far: {}",
        counted(&retention["turns_removed"], "turn", "turns")
    );
}

fn print_redaction(redaction: &Value) {
    if redaction.is_null() {
        return;
    }
    let number = |key: &str| redaction[key].as_u64().unwrap_or_default();
    if number("rewritten_to") < number("last") {
        say!(
            "redaction:  older texts go through today's rules, {} % are through; until then they are redacted as they are shown",
            number("rewritten_to") * 100 / number("last").max(1)
        );
    } else {
        say!("redaction:  older texts are through today's rules; what they were leaves index, log and copies");
    }
}

fn print_health(health: &Value) {
    let state = text(&health["state"]);
    if state.is_empty() {
        return;
    }
    say!("health:     {state}");
    for why in health["why"].as_array().into_iter().flatten() {
        say!("  {}: {}: {}", text(&why["state"]), text(&why["part"]), text(&why["why"]));
    }
}

fn print_backups(status: &Value) {
    let backups = &status["backups"];
    let failed = status["counted"]["backup-failed"].as_u64().unwrap_or_default();
    let failed = if failed > 0 {
        format!("; {failed} failed since the start")
    } else {
        String::new()
    };
    if let Some(problem) = backups["problem"].as_str() {
        say!("backups:    can't be listed: {problem}{failed}");
        return;
    }
    match backups["newest"].as_str() {
        Some(newest) => say!(
            "backups:    {}, {:.1} MB, the newest {newest}{failed}",
            backups["count"],
            backups["bytes"].as_u64().unwrap_or_default() as f64 / 1e6
        ),
        None => say!("backups:    none yet{failed}"),
    }
}

fn print_recalls(recalls: &Value) {
    let Some(count) = recalls["count"].as_u64() else { return };
    match (recalls["p50_millis"].as_f64(), recalls["p99_millis"].as_f64()) {
        (Some(p50), Some(p99)) => {
            say!(
                "recalls:    {count}, {} shown something, of which {} used; p50 {p50:.1} ms, p99 {p99:.1} ms",
                recalls["shown"],
                counted(&recalls["recollections_used"], "recollection was", "recollections were")
            );
        }
        _ => say!("recalls:    none yet"),
    }
    for (title, key) in [
        ("nothing shown because", "nothing_shown_because"),
        ("degraded", "degradations"),
    ] {
        if let Some(counts) = counts(&recalls[key]) {
            say!("  {title}: {counts}");
        }
    }
}

/// `busy 2, idle 1`; `None` where nothing was counted.
fn counts(by_name: &Value) -> Option<String> {
    let counts = by_name.as_object().filter(|counts| !counts.is_empty())?;
    let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    Some(counts.join(", "))
}

fn print_problems(status: &Value) {
    for path in status["excluded"].as_array().into_iter().flatten() {
        say!("excluded:   {}", text(path));
    }
    for path in status["instructed"].as_array().into_iter().flatten() {
        say!("instructed: {}", text(path));
    }
    for problem in status["problems"].as_array().into_iter().flatten() {
        say!("problem:    {}", text(problem));
    }
    for notice in status["notices"].as_array().into_iter().flatten() {
        say!("notice:     {}", text(notice));
    }
    for files in status["files_not_read"].as_array().into_iter().flatten() {
        say!(
            "not read:   {} in {}, such as {}",
            counted(&files["count"], "file that ends", "files that end"),
            text(&files["suffix"]),
            text(&files["example"])
        );
    }
    let kinds = status["passed_over"].as_array().cloned().unwrap_or_default();
    for kind in kinds.iter().take(NAMED_KINDS) {
        let writer = format!("{} {}", text(&kind["agent"]), text(&kind["version"]));
        say!(
            "passed over: {} x {} ({}), as at {}:{}",
            kind["count"],
            text(&kind["kind"]),
            writer.trim_end(),
            text(&kind["file"]),
            kind["line"]
        );
    }
    if kinds.len() > NAMED_KINDS {
        say!(
            "  and {}; see `remembrancer status --json`",
            counted(&(kinds.len() - NAMED_KINDS).into(), "more kind", "more kinds")
        );
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
