//! `mute`, `unmute`, `boost`, `unboost`: what the user decides of single memories, through the daemon or, where none runs, in the store
//! itself. What they list they read of the store, with a daemon or without.

use clap::Args;
use remembrancer_hooks::protocol::Steering;
use serde_json::Value;

use super::error::CliError;
use super::steer::counted;
use super::surroundings::Surroundings;
use super::{acts, ask};
use crate::cli::output::say;
use crate::control;
use crate::whose::{mark, other_of};

/// What holds of all four.
const NOTES: &str = "A memory stands for its whole turn: its parts repeat each other. `mute` and `boost` outlive the database: they hold \
when the transcript is read again, in forks of it, and in a memory that is gone back to.";

#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct SteerArguments {
    /// Ids of memories, or their first digits, as recollections name them.
    #[arg(value_name = "ID", required_unless_present = "list", conflicts_with = "list")]
    ids: Vec<String>,
    /// List those that are now.
    #[arg(long)]
    list: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct UnsteerArguments {
    /// Ids of memories, or their first digits, as `mute --list` or `boost --list` names them.
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn mute(arguments: &SteerArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    if arguments.list {
        return list(false, arguments.json, surroundings);
    }
    let done = acts::steer(surroundings, Steering::Mute, &arguments.ids)?;
    ask::print("mute", &done, arguments.json, |done| {
        say!("Muted, never recalled again: {}.", turns(done));
        show(&done["turns"]);
    });
    Ok(())
}

pub(super) fn unmute(arguments: &UnsteerArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let done = acts::steer(surroundings, Steering::Unmute, &arguments.ids)?;
    ask::print("unmute", &done, arguments.json, |done| {
        say!("May be recalled again: {}.", turns(done));
        show(&done["turns"]);
    });
    Ok(())
}

pub(super) fn boost(arguments: &SteerArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    if arguments.list {
        return list(true, arguments.json, surroundings);
    }
    let done = acts::steer(surroundings, Steering::Boost, &arguments.ids)?;
    ask::print("boost", &done, arguments.json, |done| {
        say!("Boosted, of high importance now: {}.", turns(done));
        show(&done["turns"]);
    });
    Ok(())
}

pub(super) fn unboost(arguments: &UnsteerArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let done = acts::steer(surroundings, Steering::Unboost, &arguments.ids)?;
    ask::print("unboost", &done, arguments.json, |done| {
        say!("As important again as the rules say: {}.", turns(done));
        show(&done["turns"]);
    });
    Ok(())
}

fn turns(done: &Value) -> String {
    let all = done["turns"].as_array().map_or(0, Vec::len) as u64;
    let before = all - done["changed"].as_u64().unwrap_or_default().min(all);
    let counted = counted(&all.into(), "turn", "turns");
    match before {
        0 => counted,
        _ if before == all => format!("{counted}, as before"),
        _ => format!("{counted}, {before} of them as before"),
    }
}

fn show(turns: &Value) {
    for turn in turns.as_array().into_iter().flatten() {
        say!("{}", line(turn));
    }
}

/// Which turn it is, and whose.
fn line(turn: &Value) -> String {
    let text = |key: &str| turn[key].as_str().unwrap_or("-");
    let mark = mark(other_of(turn));
    format!(
        "  {}  {}  {}  {mark}{}",
        text("id"),
        text("date"),
        text("project"),
        text("asked")
    )
}

fn list(boosted: bool, json: bool, surroundings: &Surroundings) -> Result<(), CliError> {
    let found = control::steered(&ask::reader(surroundings)?, boosted)?;
    let name = if boosted { "boosted" } else { "muted" };
    ask::print(if boosted { "boost" } else { "mute" }, &found, json, |found| {
        if found["turns"].as_array().is_none_or(Vec::is_empty) {
            say!("Nothing is {name}.");
        }
        show(&found["turns"]);
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_turn_that_another_member_shared_says_so() {
        let mut turn = json!({"id": "2b3c49c9", "date": "2026-03-02", "project": null, "asked": "Why?"});
        assert_eq!(line(&turn), "  2b3c49c9  2026-03-02  -  Why?");
        turn["shared_by"] = json!({"member": "bob", "machine": "den", "own": false});
        assert_eq!(line(&turn), "  2b3c49c9  2026-03-02  -  [shared by bob] Why?");
    }
}
