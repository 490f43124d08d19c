//! `share projects`: the projects of this memory, by which keys a pattern of `share.projects` may name them, and which are shared. The store
//! alone is read, so that it can be seen before anything leaves.

use remembrancer_processor::ingest::redact;
use remembrancer_schema::{ProjectToShare, ShareState};
use serde_json::{Value, json};

use crate::cli::ask;
use crate::cli::error::CliError;
use crate::cli::output::say;
use crate::cli::share::status::{unmatched, warn_of_unmatched};
use crate::cli::steer::counted;
use crate::cli::surroundings::Surroundings;
use crate::plural;
use crate::share::ShareSettings;

pub(super) fn run(json: bool, surroundings: &Surroundings) -> Result<(), CliError> {
    let reader = ask::reader(surroundings)?;
    let settings = surroundings.config.share.as_ref();
    let patterns = settings.map(|settings| settings.projects.as_slice()).unwrap_or_default();
    let projects = reader.share_projects(patterns)?;
    let state = reader.share_state()?;
    let waiting = state.filter(|state| is_of(settings, state)).map(|state| state.outbox);
    let told = json!({
        "set_up": settings.is_some(),
        "patterns": patterns,
        "unmatched_patterns": unmatched(&reader, patterns)?,
        "waiting": waiting,
        "projects": projects.iter().map(project_json).collect::<Vec<_>>(),
    });
    ask::print("share-projects", &told, json, print);
    Ok(())
}

/// Whether what is known of sharing is of these settings: a daemon has read them, and has asked of all what they allow.
fn is_of(settings: Option<&ShareSettings>, state: &ShareState) -> bool {
    settings.is_some_and(|settings| {
        settings.projects == state.allowed && settings.team_key().is_ok_and(|team_key| team_key == state.team_key)
    })
}

fn project_json(project: &ProjectToShare) -> Value {
    json!({
        "project": redact(&project.name),
        "shared": project.allowed,
        "episodes": project.episodes,
        "sent": project.pushed,
        "taken": project.taken,
        "keys": project.keys,
    })
}

fn print(told: &Value) {
    let projects = told["projects"].as_array().map(Vec::as_slice).unwrap_or_default();
    if projects.is_empty() {
        say!("No project is remembered yet.");
    }
    for project in projects {
        say!("{}", line(project, told["waiting"] == 0));
        for key in project["keys"].as_array().into_iter().flatten() {
            say!("    {}", key.as_str().unwrap_or_default());
        }
    }
    warn_of_unmatched(told);
    if !projects.is_empty() && projects.iter().all(|project| project["shared"] != true) {
        say!(
            "None is shared. A pattern of `share.projects` names a project by any of its keys, and * in it stands for anything, as in \
             [\"github.com/acme/*\"] (`remembrancer config edit`)."
        );
    }
    if told["set_up"] == false {
        say!("The settings name no shared store: nothing leaves this machine.");
    }
}

/// "app: shared; 12 episodes here, 10 at the shared store"; where it `is_settled`, nothing waiting, why that is not all.
fn line(project: &Value, is_settled: bool) -> String {
    let is_shared = if project["shared"] == true { "shared" } else { "not shared" };
    let name = project["project"].as_str().unwrap_or_default();
    let here = counted(&project["episodes"], "episode", "episodes");
    let there = match (project["shared"] == true, project["sent"].as_u64().unwrap_or_default()) {
        (false, 0) => String::new(),
        (false, sent) => format!(", {sent} still at the shared store"),
        (true, sent) => format!(", {sent} at the shared store"),
    };
    let [episodes, sent] = ["episodes", "sent"].map(|member| project[member].as_u64().unwrap_or_default());
    let missing = match episodes.saturating_sub(sent) {
        missing @ 1.. if is_settled && project["shared"] == true => {
            let missing = plural::counted(missing, "is not shared", "are not shared");
            format!(", {missing} (taken back before, or not taken by the server)")
        }
        _ => String::new(),
    };
    let taken = match project["taken"].as_u64().unwrap_or_default() {
        0 => String::new(),
        taken => format!(", {taken} taken from others"),
    };
    format!("{name}: {is_shared}; {here} here{there}{missing}{taken}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;

    use super::*;
    use crate::config::Config;

    const NOT_SHARED: &str = "(taken back before, or not taken by the server)";

    #[rstest]
    #[case::shared(true, 10, false, "app: shared; 12 episodes here, 10 at the shared store".to_owned())]
    #[case::not_yet(true, 0, false, "app: shared; 12 episodes here, 0 at the shared store".to_owned())]
    #[case::all_of_it(true, 12, true, "app: shared; 12 episodes here, 12 at the shared store".to_owned())]
    #[case::not_all(true, 10, true, format!("app: shared; 12 episodes here, 10 at the shared store, 2 are not shared {NOT_SHARED}"))]
    #[case::one_less(true, 11, true, format!("app: shared; 12 episodes here, 11 at the shared store, 1 is not shared {NOT_SHARED}"))]
    #[case::at_home(false, 0, true, "app: not shared; 12 episodes here".to_owned())]
    #[case::not_taken_back_yet(false, 4, false, "app: not shared; 12 episodes here, 4 still at the shared store".to_owned())]
    fn a_project_is_a_line(#[case] allowed: bool, #[case] pushed: u64, #[case] is_settled: bool, #[case] expected: String) {
        let project = ProjectToShare {
            name: "app".to_owned(),
            keys: vec!["github.com/acme/app".to_owned()],
            allowed,
            episodes: 12,
            pushed,
            taken: 0,
        };
        let told = project_json(&project);
        assert_eq!(line(&told, is_settled), expected);
        assert_eq!(told["keys"], json!(["github.com/acme/app"]));
    }

    #[test]
    fn what_others_shared_of_a_project_is_told() {
        let project = ProjectToShare {
            name: "app".to_owned(),
            keys: vec!["github.com/acme/app".to_owned()],
            allowed: false,
            episodes: 0,
            pushed: 0,
            taken: 7,
        };
        let told = project_json(&project);
        assert_eq!(line(&told, true), "app: not shared; 0 episodes here, 7 taken from others");
        assert_eq!(told["taken"], 7);
    }

    #[rstest]
    #[case::of_these("db:5432/memory#acme", "github.com/acme/*", true)]
    #[case::of_another_team("db:5432/memory#other", "github.com/acme/*", false)]
    #[case::of_other_patterns("db:5432/memory#acme", "github.com/ada/*", false)]
    fn what_waits_is_known_once_the_settings_are_read(#[case] team_key: &str, #[case] allowed: &str, #[case] expected: bool) {
        let settings = "[share]\nurl = \"postgres://ada@db/memory\"\nteam = \"acme\"\nprojects = [\"github.com/acme/*\"]\n";
        let config = Config::parse(Path::new("config.toml"), settings, Path::new("/home/ada")).unwrap();
        let state = ShareState {
            team_key: team_key.to_owned(),
            allowed: vec![allowed.to_owned()],
            ..ShareState::default()
        };
        assert_eq!(is_of(config.share.as_ref(), &state), expected);
        assert!(!is_of(None, &state));
    }
}
