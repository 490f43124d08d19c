//! `remembrancer audit`: what of the memory a person may want to mend, each with the command for it. It reads the database itself,
//! whether a daemon runs or not, at the lowest priority, and changes nothing.

use std::time::Duration;

use clap::Args;
use jiff::SignedDuration;
use serde_json::Value;

use super::ask;
use super::error::{CliError, Kind};
use super::progress::Progress;
use super::steer::counted;
use super::surroundings::Surroundings;
use crate::cli::output::say;
use crate::whose::{mark, other_of};
use crate::{control, system};

/// What holds of all that is found.
const NOTES: &str = "Nothing is changed: each finding is followed by the command that mends it. Of secrets only the kind is told and \
how many there are. Lists name ten at most; the numbers count all. Exit code 0 whatever is found.";

#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct AuditArguments {
    /// Look for so long at most; what is not finished by then is said.
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    within: SignedDuration,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &AuditArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let within = Duration::try_from(arguments.within)
        .map_err(|_| CliError::new(Kind::Usage, "`--within` is a time from now on, such as 30s or 5m"))?;
    let reader = ask::reader(surroundings)?;
    system::lower_this_thread();
    let mut part = "";
    let mut progress = Progress::told("Looking through the memory", arguments.json);
    let found = control::audit(&reader, within, &mut |step| {
        if part != step.what {
            part = step.what;
            progress = Progress::counted(format!("Looking at {part}"), step.of, arguments.json);
        }
        progress.at(step.done, step.of);
    })?;
    drop(progress);
    ask::print("audit", &found, arguments.json, print);
    Ok(())
}

fn print(audit: &Value) {
    for finding in audit["findings"].as_array().into_iter().flatten() {
        print_finding(finding);
    }
    let looked = &audit["looked_at"];
    say!(
        "Looked at {} and {}, of {}.",
        counted(&looked["texts"], "text", "texts"),
        counted(&looked["vectors"], "vector", "vectors"),
        counted(&looked["episodes"], "episode", "episodes")
    );
    let unfinished: Vec<&str> = looked["unfinished"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !unfinished.is_empty() {
        say!(
            "The time was up before all was looked at; not finished: {}. `--within 10m` looks longer.",
            unfinished.join(", ")
        );
    }
}

fn print_finding(finding: &Value) {
    let title = title(finding);
    let unfinished = if finding["complete"] == false { " (not finished)" } else { "" };
    say!("{title}{unfinished}");
    let items = finding["items"].as_array().map_or(&[][..], Vec::as_slice);
    let mend = finding["mend"].as_str();
    for item in items {
        print_item(item, mend.is_none());
    }
    let more = finding["count"]
        .as_u64()
        .unwrap_or_default()
        .saturating_sub(items.len() as u64);
    if more > 0 && !items.is_empty() {
        say!("  and {more} more");
    }
    if let Some(mend) = mend {
        say!("    {mend}");
    }
}

/// What was found, in a line.
fn title(finding: &Value) -> String {
    let count = |one: &str, many: &str| counted(&finding["count"], one, many);
    let surplus = || counted(&finding["surplus"], "episode more than needed", "episodes more than needed");
    let kinds = || {
        let kinds = finding["kinds"].as_object().into_iter().flatten();
        let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{kind} {count}")).collect();
        kinds.join(", ")
    };
    let name = finding["kind"].as_str().unwrap_or_default();
    if finding["count"] == 0 {
        return format!("{}: none", name.replace('-', " "));
    }
    match name {
        "exact-duplicates" => format!("exact duplicates: {}, {}", count("text", "texts"), surplus()),
        "near-duplicates" => format!("near duplicates: {}, {}", count("group", "groups"), surplus()),
        "self-echo" => format!(
            "self echo: {} of what was shown",
            count("episode holds text", "episodes hold text")
        ),
        "secrets" => format!(
            "secrets: {} what today's rules take out ({})",
            count("episode holds", "episodes hold"),
            kinds()
        ),
        "nearly-secrets" => format!(
            "nearly secrets: {} what the rules let pass and what may be one ({})",
            count("episode holds", "episodes hold"),
            kinds()
        ),
        "never-recalled" => format!("never recalled: {} older than 90 days", count("episode", "episodes")),
        "shown-in-vain" => format!(
            "shown in vain: {}, five times or more and never used",
            count("episode", "episodes")
        ),
        "most-shown" => "most shown:".to_owned(),
        "most-used" => "most used:".to_owned(),
        "muted" => format!("muted: {}", count("turn", "turns")),
        "sizes" => format!(
            "sizes: {:.1} MB in {}, without the index",
            finding["bytes"].as_u64().unwrap_or_default() as f64 / 1e6,
            count("project", "projects")
        ),
        other => format!("{other}: {}", finding["count"]),
    }
}

/// One of what was found, with its command where there is none for all of them.
fn print_item(item: &Value, with_command: bool) {
    if let Some(bytes) = item["bytes"].as_u64() {
        say!(
            "  {:>9.1} MB  {}  {}",
            bytes as f64 / 1e6,
            counted(&item["episodes"], "episode", "episodes"),
            item["project"].as_str().unwrap_or("(no project)")
        );
    } else {
        say!("{}", of_episode(item));
    }
    if let Some(mend) = item["mend"].as_str().filter(|_| with_command) {
        say!("    {mend}");
    }
}

/// Which episode it is, and whose.
fn of_episode(item: &Value) -> String {
    let text = |key: &str| item[key].as_str().unwrap_or("-");
    let mark = mark(other_of(item));
    format!(
        "  {}  {}  {}  {mark}{}{}",
        text("id"),
        text("date"),
        text("project"),
        text("asked"),
        extra(item)
    )
}

/// What there is to say of one item beside which it is.
fn extra(item: &Value) -> String {
    if let Some(shown) = item["shown"].as_u64() {
        return format!("  (shown {shown}, used {})", item["used"]);
    }
    if let Some(cosine) = item["cosine"].as_f64() {
        return format!("  (cosine {cosine:.3})");
    }
    let kinds = item["kinds"].as_object().into_iter().flatten();
    let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{kind} {count}")).collect();
    if kinds.is_empty() {
        String::new()
    } else {
        format!("  ({})", kinds.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::none(json!({"kind": "near-duplicates", "count": 0}), "near duplicates: none")]
    #[case::one(
        json!({"kind": "exact-duplicates", "count": 1, "surplus": 1}),
        "exact duplicates: 1 text, 1 episode more than needed"
    )]
    #[case::many(
        json!({"kind": "near-duplicates", "count": 2, "surplus": 5}),
        "near duplicates: 2 groups, 5 episodes more than needed"
    )]
    #[case::secrets(
        json!({"kind": "secrets", "count": 1, "kinds": {"github-token": 2}}),
        "secrets: 1 episode holds what today's rules take out (github-token 2)"
    )]
    #[case::sizes(json!({"kind": "sizes", "count": 1, "bytes": 1_500_000}), "sizes: 1.5 MB in 1 project, without the index")]
    #[case::newer(json!({"kind": "of-tomorrow", "count": 3}), "of-tomorrow: 3")]
    fn a_finding_in_a_line(#[case] finding: Value, #[case] expected: &str) {
        assert_eq!(title(&finding), expected);
    }

    #[test]
    fn what_another_member_shared_says_so() {
        let mut item = json!({"id": "2b3c49c9", "date": "2026-03-02", "project": "shop", "asked": "Why?", "shown": 7, "used": 2});
        assert_eq!(of_episode(&item), "  2b3c49c9  2026-03-02  shop  Why?  (shown 7, used 2)");
        item["shared_by"] = json!({"member": "bob", "machine": "den", "own": false});
        assert!(
            of_episode(&item).contains("  [shared by bob] Why?  ("),
            "{}",
            of_episode(&item)
        );
    }

    #[rstest]
    #[case::counts(json!({"shown": 7, "used": 2}), "  (shown 7, used 2)")]
    #[case::near(json!({"cosine": 0.97}), "  (cosine 0.970)")]
    #[case::kinds(json!({"kinds": {"marker": 1}}), "  (marker 1)")]
    #[case::nothing(json!({"cosine": null}), "")]
    fn what_is_said_beside(#[case] item: Value, #[case] expected: &str) {
        assert_eq!(extra(&item), expected);
    }
}
