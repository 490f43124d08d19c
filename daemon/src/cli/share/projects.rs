//! `share projects`: the projects of this memory, by which keys a pattern of `share.projects` may name them, and which are shared. The store
//! alone is read, so that it can be seen before anything leaves.

use remembrancer_processor::ingest::redact;
use remembrancer_schema::ProjectToShare;
use serde_json::{Value, json};

use crate::cli::ask;
use crate::cli::error::CliError;
use crate::cli::output::say;
use crate::cli::share::status::{unmatched, warn_of_unmatched};
use crate::cli::steer::counted;
use crate::cli::surroundings::Surroundings;

pub(super) fn run(json: bool, surroundings: &Surroundings) -> Result<(), CliError> {
    let reader = ask::reader(surroundings)?;
    let settings = surroundings.config.share.as_ref();
    let patterns = settings.map(|settings| settings.projects.as_slice()).unwrap_or_default();
    let projects = reader.share_projects(patterns)?;
    let told = json!({
        "set_up": settings.is_some(),
        "patterns": patterns,
        "unmatched_patterns": unmatched(&reader, patterns)?,
        "projects": projects.iter().map(project_json).collect::<Vec<_>>(),
    });
    ask::print("share-projects", &told, json, print);
    Ok(())
}

fn project_json(project: &ProjectToShare) -> Value {
    json!({
        "project": redact(&project.name),
        "shared": project.allowed,
        "episodes": project.episodes,
        "sent": project.pushed,
        "keys": project.keys,
    })
}

fn print(told: &Value) {
    let projects = told["projects"].as_array().map(Vec::as_slice).unwrap_or_default();
    if projects.is_empty() {
        say!("No project is remembered yet.");
    }
    for project in projects {
        say!("{}", line(project));
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

/// "app: shared; 12 episodes here, 10 of them at the shared store".
fn line(project: &Value) -> String {
    let is_shared = if project["shared"] == true { "shared" } else { "not shared" };
    let name = project["project"].as_str().unwrap_or_default();
    let here = counted(&project["episodes"], "episode", "episodes");
    let there = match (project["shared"] == true, project["sent"].as_u64().unwrap_or_default()) {
        (false, 0) => String::new(),
        (false, sent) => format!(", {sent} still at the shared store"),
        (true, sent) => format!(", {sent} at the shared store"),
    };
    format!("{name}: {is_shared}; {here} here{there}")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::shared(true, 10, "app: shared; 12 episodes here, 10 at the shared store")]
    #[case::not_yet(true, 0, "app: shared; 12 episodes here, 0 at the shared store")]
    #[case::at_home(false, 0, "app: not shared; 12 episodes here")]
    #[case::not_taken_back_yet(false, 4, "app: not shared; 12 episodes here, 4 still at the shared store")]
    fn a_project_is_a_line(#[case] allowed: bool, #[case] pushed: u64, #[case] expected: &str) {
        let project = ProjectToShare {
            name: "app".to_owned(),
            keys: vec!["github.com/acme/app".to_owned()],
            allowed,
            episodes: 12,
            pushed,
        };
        let told = project_json(&project);
        assert_eq!(line(&told), expected);
        assert_eq!(told["keys"], json!(["github.com/acme/app"]));
    }
}
