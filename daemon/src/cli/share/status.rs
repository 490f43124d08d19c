//! `share status`, and the line of `status`: what the daemon tells of sharing, or, where none runs, what the store knows.

use remembrancer_hooks::protocol::Request;
use serde_json::{Value, json};

use crate::cli::ask;
use crate::cli::error::CliError;
use crate::cli::output::say;
use crate::cli::steer::counted;
use crate::cli::surroundings::Surroundings;
use crate::control;

pub(super) fn run(json: bool, surroundings: &Surroundings) -> Result<(), CliError> {
    let (sharing, daemon) = match ask::data(surroundings, &Request::Status)? {
        Some(mut status) => (status["sharing"].take(), true),
        None => (control::share_status(&ask::reader(surroundings)?)?, false),
    };
    let told = json!({
        "set_up": surroundings.config.share.is_some(),
        "daemon": daemon,
        "sharing": sharing,
    });
    ask::print("share-status", &told, json, print);
    Ok(())
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
        return;
    }
    if told["set_up"] == false {
        say!(
            "The settings name no shared store any more; what was shared before is below. The daemon ends sharing at its next start."
        );
    }
    say!("state:      {}", state(sharing, told["daemon"] == true));
    let text = |key: &str| sharing[key].as_str().unwrap_or("not known yet").to_owned();
    say!("store:      {}", text("store"));
    say!("member:     {}, this machine {}", text("member"), text("machine"));
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

/// How it is, in words: a refusal before all, since nothing mends it by itself.
fn state(sharing: &Value, daemon: bool) -> String {
    let connection = &sharing["connection"];
    let why = connection["last_error"]["why"].as_str().unwrap_or("the reason is not known");
    if connection["needs_a_change"] == true {
        return format!("REFUSED: {why}");
    }
    if sharing["paused"] == true {
        return "paused until `remembrancer share resume`".to_owned();
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
    #[case::an_error_of_the_past(
        json!({"connection": {"connected_since": "2026-01-01T00:00:00Z", "member": "bo", "last_error": {"why": "away"}}}),
        "connected as bo"
    )]
    #[case::alone(json!({"paused": false}), "the running daemon does not share")]
    fn a_state_is_told_in_words(#[case] sharing: Value, #[case] expected: &str) {
        let said = state(&sharing, true);
        assert!(said.starts_with(expected), "{said}");
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
