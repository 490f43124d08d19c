//! `share status`, and the line of `status`: what the daemon tells of sharing, or, where none runs, what the store knows.

use remembrancer_hooks::protocol::Request;
use remembrancer_schema::Reader;
use serde_json::{Value, json};

use crate::cli::ask;
use crate::cli::error::CliError;
use crate::cli::output::say;
use crate::cli::steer::counted;
use crate::cli::surroundings::Surroundings;
use crate::control;
use crate::doctor::share::{
    ONCE_LEFT, SEE_PROJECTS, former, is_put_out, left_there as left_told, not_taken_back, unmatched_told,
};
use crate::share;

pub(super) fn run(json: bool, surroundings: &Surroundings) -> Result<(), CliError> {
    let status = ask::data(surroundings, &Request::Status)?;
    let daemon = status.is_some();
    let (sharing, reader) = if let Some(mut status) = status {
        // A database that only the running daemon can read, of another version, tells nothing here.
        (status["sharing"].take(), ask::reader(surroundings).ok())
    } else {
        let reader = ask::reader(surroundings)?;
        (control::share_status(&reader)?, Some(reader))
    };
    let settings = surroundings.config.share.as_ref();
    let patterns = settings.map(|settings| settings.projects.as_slice()).unwrap_or_default();
    let (unmatched, left_there) = match &reader {
        Some(reader) => (unmatched(reader, patterns)?, left_there(reader, &sharing)?),
        None => (Vec::new(), 0),
    };
    let told = json!({
        "set_up": settings.is_some(),
        "daemon": daemon,
        "machine": settings.map(share::machine_name),
        "patterns": patterns,
        "unmatched_patterns": unmatched,
        "left_there": left_there,
        "sharing": sharing,
    });
    ask::print("share-status", &told, json, print);
    Ok(())
}

/// The patterns that name no project of this memory.
///
/// # Errors
/// What the store says.
pub(in crate::cli) fn unmatched(reader: &Reader, patterns: &[String]) -> Result<Vec<String>, CliError> {
    Ok(reader.unmatched_globs(patterns)?)
}

/// How many episodes of this memory a shared store still has that it does not share with any more, and from which they can be taken back.
///
/// # Errors
/// What the store says.
pub(in crate::cli) fn left_there(reader: &Reader, sharing: &Value) -> Result<u64, CliError> {
    if !sharing.is_null() {
        return Ok(0);
    }
    Ok(reader.share_left_there()?)
}

/// Warns of each pattern that names no project here.
pub(super) fn warn_of_unmatched(told: &Value) {
    for pattern in told["unmatched_patterns"].as_array().into_iter().flatten() {
        say!(
            "warning:    {}; {SEE_PROJECTS}",
            unmatched_told(pattern.as_str().unwrap_or_default())
        );
    }
}

fn print(told: &Value) {
    let sharing = &told["sharing"];
    if sharing.is_null() {
        if told["set_up"] == true {
            say!(
                "The settings name a shared store, and sharing has not begun: start the daemon again, which reads them as it starts."
            );
        } else {
            say!("This memory is not shared: the settings name no shared store.");
        }
        warn_of_unmatched(told);
        let left = told["left_there"].as_u64().filter(|left| *left > 0);
        if let Some((found, remedy)) = left.map(left_told) {
            say!("warning:    {found}; {remedy}");
        }
        return;
    }
    if told["set_up"] == false {
        say!(
            "The settings name no shared store any more; what was shared before is below. The daemon ends sharing at its next start."
        );
    }
    say!("state:      {}", state(sharing, told["daemon"] == true));
    print_place(told);
    print_counts(sharing);
    warn_of_unmatched(told);
    for (found, remedy) in not_taken_back(sharing).into_iter().chain(former(sharing)) {
        say!("warning:    {found}; {remedy}");
    }
}

/// Where, as whom, and of which projects.
fn print_place(told: &Value) {
    let sharing = &told["sharing"];
    let connection = &sharing["connection"];
    let text = |value: &Value| value.as_str().unwrap_or("not known yet").to_owned();
    say!("store:      {}", text(&sharing["store"]));
    let machine = if connection["machine"].is_string() {
        &connection["machine"]
    } else {
        &told["machine"]
    };
    say!("member:     {}, this machine {}", text(&sharing["member"]), text(machine));
    if let Some(at) = connection["last_contact"].as_str() {
        say!("contact:    the last at {at}");
    }
    if is_put_out(sharing) {
        say!(
            "put out:    the team does not let this login in; what it shared before it was put out is taken back, unless it was kept there"
        );
    }
    // Before the first contact the store has not taken the settings up.
    let known = sharing["projects"].as_array().or(told["patterns"].as_array());
    let patterns: Vec<&str> = known.into_iter().flatten().filter_map(Value::as_str).collect();
    if patterns.is_empty() {
        say!("projects:   none are named, and nothing of this machine is shared; {SEE_PROJECTS}");
    } else {
        say!("projects:   {}", patterns.join(", "));
    }
}

fn print_counts(sharing: &Value) {
    say!(
        "sent:       {}; {} to be sent",
        counted(&sharing["sent"], "episode", "episodes"),
        counted(&sharing["waiting"], "change", "changes")
    );
    say!(
        "taken:      {}; {} behind",
        counted(&sharing["taken"], "episode", "episodes"),
        counted(&sharing["behind"], "change", "changes")
    );
    let remote = &sharing["connection"]["remote"];
    if remote.is_object() {
        say!(
            "prompts:    {} had the server searched, {} of them were late; {} went without",
            remote["asked"],
            remote["late"],
            remote["absent"]
        );
    }
    for project in sharing["by_project"].as_array().into_iter().flatten() {
        let name = project["project"].as_str().unwrap_or_default();
        say!("  of {name}: {} sent, {} taken", project["sent"], project["taken"]);
    }
    for origin in sharing["by_origin"].as_array().into_iter().flatten() {
        let name = |key: &str| origin[key].as_str().unwrap_or_default();
        say!("  from {} at {}: {} taken", name("member"), name("machine"), origin["taken"]);
    }
}

/// The line of `status`; none where this memory is not shared.
pub(in crate::cli) fn line(sharing: &Value, daemon: bool) -> Option<String> {
    if sharing.is_null() {
        return None;
    }
    let numbers = format!(
        "{} to be sent, {} behind",
        counted(&sharing["waiting"], "change", "changes"),
        sharing["behind"].as_u64().unwrap_or_default()
    );
    Some(format!("{}; {numbers}", state(sharing, daemon)))
}

/// How it is, in words: that the team was left before all, since nothing else matters once all is taken back; and a refusal, since nothing
/// mends it by itself.
fn state(sharing: &Value, daemon: bool) -> String {
    if sharing["left"] == true {
        return match not_taken_back(sharing) {
            None => format!("left; {ONCE_LEFT}"),
            Some(_) => format!("left, and not all is taken back yet: {}", way(sharing, daemon)),
        };
    }
    let is_refused = sharing["connection"]["needs_a_change"] == true;
    if sharing["paused"] == true && !is_refused {
        return "paused until `remembrancer share resume`".to_owned();
    }
    way(sharing, daemon)
}

/// What is said of `share resume`, from what is known of sharing then; where no daemon runs, nothing is.
pub(super) fn resumed(sharing: &Value, daemon: bool) -> String {
    if sharing["connection"]["connected_since"].is_string() {
        return "Sharing again, what came meanwhile included.".to_owned();
    }
    format!(
        "Sharing goes on, what came meanwhile included, once the server is reached; now: {}.",
        way(sharing, daemon)
    )
}

/// How the way to the server is, in words.
fn way(sharing: &Value, daemon: bool) -> String {
    let connection = &sharing["connection"];
    let why = connection["last_error"]["why"].as_str().unwrap_or("the reason is not known");
    if connection["needs_a_change"] == true {
        return format!("REFUSED: {why}");
    }
    if connection["connected_since"].is_string() {
        let member = sharing["member"].as_str().or(connection["member"].as_str());
        return format!("connected as {}", member.unwrap_or("a member"));
    }
    match connection["tried_again"].as_str() {
        Some(at) => format!("not connected: {why}; it is tried again at {at}"),
        None if connection.is_object() => "connecting".to_owned(),
        None if daemon => "the running daemon does not share; start it again with these settings".to_owned(),
        None => "no daemon runs".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::connected(json!({"connection": {"connected_since": "2026-01-01T00:00:00Z"}, "member": "ada"}), "connected as ada")]
    #[case::connecting(json!({"connection": {"connected_since": null, "needs_a_change": false}}), "connecting")]
    #[case::lost(
        json!({"connection": {"tried_again": "2026-01-01T00:00:09Z", "last_error": {"why": "connection refused"}}}),
        "not connected: connection refused; it is tried again at 2026-01-01T00:00:09Z"
    )]
    #[case::refused(
        json!({"connection": {"needs_a_change": true, "tried_again": "2026-01-01T00:05:00Z", "last_error": {"why": "too old"}}, "paused": true}),
        "REFUSED: too old"
    )]
    #[case::paused(
        json!({"connection": {"connected_since": "2026-01-01T00:00:00Z"}, "paused": true}),
        "paused until `remembrancer share resume`"
    )]
    #[case::left(
        json!({"left": true, "paused": true, "connection": {"needs_a_change": true, "last_error": {"why": "no member"}}}),
        "left; take `[share]` out of the settings"
    )]
    #[case::left_and_half_done(
        json!({"left": true, "paused": true, "sent": 3, "connection": {"tried_again": "2026-01-01T00:00:09Z", "last_error": {"why": "away"}}}),
        "left, and not all is taken back yet: not connected: away; it is tried again at 2026-01-01T00:00:09Z"
    )]
    #[case::left_and_put_out(
        json!({"left": true, "paused": true, "sent": 3, "connection": {"put_out": true, "needs_a_change": true, "last_error": {"why": "no member"}}}),
        "left; take `[share]` out of the settings"
    )]
    #[case::an_error_of_the_past(
        json!({"connection": {"connected_since": "2026-01-01T00:00:00Z", "member": "bo", "last_error": {"why": "away"}}}),
        "connected as bo"
    )]
    #[case::alone(json!({"paused": false}), "the running daemon does not share")]
    fn a_state_is_told_in_words(#[case] sharing: Value, #[case] expected: &str) {
        let said = state(&sharing, true);
        assert!(said.starts_with(expected), "{said}");
    }

    #[rstest]
    #[case::connected(json!({"connection": {"connected_since": "2026-01-01T00:00:00Z"}}), true, "Sharing again", "included.")]
    #[case::away(
        json!({"connection": {"tried_again": "2026-01-01T00:00:09Z", "last_error": {"why": "connection refused"}}}),
        true,
        "Sharing goes on",
        "once the server is reached; now: not connected: connection refused; it is tried again at 2026-01-01T00:00:09Z."
    )]
    #[case::refused(
        json!({"connection": {"needs_a_change": true, "last_error": {"why": "too old"}}}),
        true,
        "Sharing goes on",
        "now: REFUSED: too old."
    )]
    #[case::no_daemon(Value::Null, false, "Sharing goes on", "now: no daemon runs.")]
    fn what_a_resume_comes_to_is_told(#[case] sharing: Value, #[case] daemon: bool, #[case] begin: &str, #[case] end: &str) {
        let said = resumed(&sharing, daemon);
        assert!(said.starts_with(begin) && said.ends_with(end), "{said}");
    }

    #[rstest]
    #[case::nobody_knows(json!({}), false)]
    #[case::the_store(json!({"put_out": true}), true)]
    #[case::the_daemon_too(json!({"put_out": true, "connection": {"put_out": true}}), true)]
    #[case::let_in_again(json!({"put_out": true, "connection": {"put_out": false}}), false)]
    fn whether_it_was_put_out_the_daemon_knows_best(#[case] sharing: Value, #[case] expected: bool) {
        assert_eq!(is_put_out(&sharing), expected);
    }

    #[test]
    fn a_memory_that_is_not_shared_has_no_line() {
        assert_eq!(line(&Value::Null, true), None);
        let sharing = json!({"waiting": 1, "behind": 4, "paused": false});
        assert_eq!(
            line(&sharing, false).unwrap(),
            "no daemon runs; 1 change to be sent, 4 behind"
        );
    }
}
