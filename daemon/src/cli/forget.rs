//! `remembrancer forget`: deletes for good. What is forgotten never comes back from a transcript that still holds it.

use std::io::{BufRead, IsTerminal};

use clap::{ArgGroup, Args};
use remembrancer_hooks::protocol::ForgetTarget;
use serde_json::{Value, json};

use super::error::{CliError, Kind};
use super::progress::Progress;
use super::selection::Selection;
use super::steer::counted;
use super::surroundings::Surroundings;
use super::{acts, ask};
use crate::cli::output::{say, tell};
use crate::clock;
use crate::forgotten::Forgotten;
use crate::whose::{Others, goes_everywhere, mark, other_of, shared_on};

/// What holds of all ways to name it.
const NOTES: &str = "Several of --session, --project, --path, --matching, --after, --before and --last hold together: only what all of \
them name is deleted. A turn counts by when it began, and goes whole. What happens later in the same session, project or folder is \
remembered: `remembrancer exclude` is for that. Transcripts are not touched; they are the agents'.";

/// The arguments one of which has to be there.
const NAMING: [&str; 9] = [
    "id", "session", "project", "path", "matching", "after", "before", "last", "all",
];

#[derive(Debug, Args)]
#[command(after_help = NOTES, group = ArgGroup::new("what").required(true).multiple(true).args(NAMING))]
#[group(skip)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "options that are independent of one another, not a state"
)]
pub(super) struct ForgetArguments {
    /// The turn of the episode with this id.
    #[arg(conflicts_with_all = ["session", "project", "path", "matching", "after", "before", "last", "all"])]
    id: Option<String>,
    #[command(flatten)]
    selection: Selection,
    /// Everything.
    #[arg(long, conflicts_with_all = ["session", "project", "path", "matching", "after", "before", "last"])]
    all: bool,
    /// Delete nothing; show how much it would be, and its first lines.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask. (For a single id nobody is asked.)
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &ForgetArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    // What is shown beforehand is read here: it has to be what the daemon deletes.
    ask::daemon_of_this_memory(surroundings)?;
    let target = target(arguments, surroundings)?;
    if arguments.dry_run {
        let (preview, _) = acts::forget_preview(surroundings, &target)?;
        ask::print(
            "forget",
            &json!({"dry_run": true, "would_forget": &preview}),
            arguments.json,
            |_| {
                say!("This would delete {}", summary(&preview));
                show_newest(&preview);
            },
        );
        return Ok(());
    }
    if !arguments.yes && !matches!(target, ForgetTarget::Episode(_)) {
        confirm(&target, surroundings)?;
    }
    let progress = Progress::waiting("Forgetting", arguments.json);
    let done = acts::forget(surroundings, &target)?;
    drop(progress);
    ask::print("forget", &done, arguments.json, |done| {
        for sentence in Forgotten::of(done, arguments.id.is_some()).sentences() {
            say!("{sentence}");
        }
    });
    Ok(())
}

fn target(arguments: &ForgetArguments, surroundings: &Surroundings) -> Result<ForgetTarget, CliError> {
    if let Some(id) = &arguments.id {
        return Ok(ForgetTarget::Episode(id.clone()));
    }
    match arguments.selection.target(surroundings, clock::now())? {
        Some(target) => Ok(target),
        None if arguments.all => Ok(ForgetTarget::All),
        None => Err(CliError::new(Kind::Usage, "nothing is named that is to be forgotten")),
    }
}

/// "3 episodes: 2 turns of 1 session, begun from 2026-03-01 to 2026-03-04.", and what of it stays with others who shared it.
pub(crate) fn summary(preview: &Value) -> String {
    [amount(preview)]
        .into_iter()
        .chain(stays(preview))
        .collect::<Vec<_>>()
        .join(" ")
}

/// That what others shared stays with them; `None` where nothing of it is others'.
pub(crate) fn stays(preview: &Value) -> Option<String> {
    Others::of(&preview["shared"]).sentence(preview["episodes"].as_u64().unwrap_or_default())
}

/// How much it is, and of when, and that what is shared of one's own goes from everywhere.
pub(crate) fn amount(preview: &Value) -> String {
    let everywhere = goes_everywhere(shared_on(preview), preview["episodes"].as_u64().unwrap_or_default());
    [how_much(preview)]
        .into_iter()
        .chain(everywhere)
        .collect::<Vec<_>>()
        .join(" ")
}

fn how_much(preview: &Value) -> String {
    let episodes = counted(&preview["episodes"], "episode", "episodes");
    let (Some(from), Some(to)) = (preview["from"].as_str(), preview["to"].as_str()) else {
        return format!("{episodes}.");
    };
    let begun = if from == to {
        format!("begun on {from}")
    } else {
        format!("begun from {from} to {to}")
    };
    format!(
        "{episodes}: {} of {}, {begun}.",
        counted(&preview["turns"], "turn", "turns"),
        counted(&preview["sessions"], "session", "sessions"),
    )
}

fn show_newest(preview: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let newest = preview["newest"].as_array().map_or(&[][..], Vec::as_slice);
    for turn in newest {
        say!(
            "  {}  {}  {}  {}{}",
            text(&turn["id"]),
            text(&turn["date"]),
            text(&turn["project"]),
            mark(other_of(turn)),
            text(&turn["asked"])
        );
    }
    let more = preview["turns"]
        .as_u64()
        .unwrap_or_default()
        .saturating_sub(newest.len() as u64);
    if more > 0 {
        say!("  and {more} older");
    }
}

fn confirm(target: &ForgetTarget, surroundings: &Surroundings) -> Result<(), CliError> {
    let (preview, _) = acts::forget_preview(surroundings, target)?;
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(CliError::new(Kind::Usage, "this can't be undone, and there is nobody to ask")
            .with_hint("add --yes, or look first with --dry-run"));
    }
    say!("This deletes {}", summary(&preview));
    show_newest(&preview);
    tell!("It can't be undone. Forget? [y/N] ");
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    if answer.trim().eq_ignore_ascii_case("y") || answer.trim().eq_ignore_ascii_case("yes") {
        Ok(())
    } else {
        Err(CliError::new(Kind::Failed, "nothing was forgotten"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_forgotten_says_what_stays_with_others() {
        let mut preview = json!({"episodes": 1, "turns": 1, "sessions": 1, "from": "2026-03-01T12:00:00Z", "to": "2026-03-01T12:00:00Z",
            "shared": []});
        let own = "1 episode: 1 turn of 1 session, begun on 2026-03-01T12:00:00Z.";
        assert_eq!(summary(&preview), own);
        preview["shared"] = json!([{"member": "bob", "episodes": 1}]);
        assert_eq!(
            summary(&preview),
            format!("{own} It goes from your machines alone, and stays with bob, who shared it.")
        );
    }

    #[test]
    fn what_would_be_forgotten_says_that_it_goes_from_the_team_where_it_is_shared() {
        let mut preview = json!({"episodes": 2, "turns": 2, "sessions": 1, "from": "2026-03-01T12:00:00Z", "to": "2026-03-01T12:00:00Z",
            "shared": [], "shared_on": 2});
        let all = "2 episodes: 2 turns of 1 session, begun on 2026-03-01T12:00:00Z.";
        assert_eq!(
            summary(&preview),
            format!("{all} They go from the team and from your other machines, too.")
        );
        preview["shared_on"] = 1.into();
        preview["shared"] = json!([{"member": "bob", "episodes": 1}]);
        assert_eq!(
            summary(&preview),
            format!(
                "{all} Of them 1 episode goes from the team and from your other machines, too. Of them 1 episode goes from your machines \
                 alone, and stays with bob, who shared it."
            )
        );
    }
}
