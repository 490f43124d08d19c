//! `remembrancer recall`: what a prompt would be reminded of. Asks the daemon or, where none runs, reads the store without
//! changing it: by words alone, unless told to embed.

use std::path::{Path, PathBuf};

use clap::Args;
use remembrancer_hooks::clock::{Deadline as WireDeadline, monotonic_ns};
use remembrancer_hooks::protocol::{RecallReply, RecallRequest, Reply, Request};
use remembrancer_processor::embed::BertEmbedder;
use remembrancer_processor::ingest::redact;
use remembrancer_processor::recall::{Recall, ScopeRule, Silence};
use remembrancer_schema::Reader;
use serde_json::{Value, json};

use super::ask;
use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use crate::causes::with_causes;
use crate::cli::output::{say, tell};
use crate::config::Config;
use crate::control::{Offline, in_scope};
use crate::embedder;
use crate::exclusions::Exclusions;
use crate::project::{Folders, identify};
use crate::whose::Sharer;

#[derive(Debug, Args)]
pub(super) struct RecallArguments {
    /// The prompt.
    prompt: String,
    /// The working directory whose project is meant; the current one if not given.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// Look at all projects alike, whatever the settings say.
    #[arg(long)]
    all_projects: bool,
    /// Embed the prompt even though no daemon runs: takes as long as loading the model.
    #[arg(long)]
    embed: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &RecallArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let cwd = match &arguments.cwd {
        Some(cwd) => cwd.clone(),
        None => std::env::current_dir()?,
    };
    let request = RecallRequest {
        agent: crate::recall_task::CLI_AGENT.to_owned(),
        session: format!("{}-{}", std::process::id(), monotonic_ns()),
        cwd: Some(surroundings.as_in_transcripts(&cwd)?),
        at_start: false,
        prompt: arguments.prompt.clone(),
        deadline_ns: Some(WireDeadline::after(monotonic_ns(), surroundings.config.budget).at_ns()),
        prompt_id: None,
        transcript: None,
        all_projects: arguments.all_projects,
    };
    let answer = match ask::reply(surroundings, &Request::Recall(request.clone()))? {
        Some(Reply::Recall(reply)) => of_daemon(&reply),
        Some(Reply::Answer(answer)) => {
            return Err(CliError::new(
                Kind::Daemon,
                answer.error.unwrap_or_else(|| "the daemon refused".to_owned()),
            ));
        }
        None => without_daemon(arguments, surroundings, &request)?,
    };
    ask::print("recall", &answer, arguments.json, |answer| {
        if let Some(context) = answer["context"].as_str().filter(|context| !context.is_empty()) {
            tell!("{context}");
        } else {
            say!("Nothing to recall: {}.", answer["reason"].as_str().unwrap_or("nothing"));
            let scope = in_scope(&surroundings.config.recall, arguments.all_projects).scope;
            let is_project = || identify(&cwd, Some(&surroundings.home), false).is_some();
            if let Some(looked_at) = looked_at(scope, &cwd, is_project) {
                say!("({looked_at}; --all-projects looks at all alike.)");
            }
        }
        for degradation in answer["degradations"].as_array().into_iter().flatten() {
            say!("(degraded: {})", degradation.as_str().unwrap_or_default());
        }
    });
    Ok(())
}

/// Which projects were looked at for a prompt in `cwd`; `None` where all were alike.
fn looked_at(scope: ScopeRule, cwd: &Path, is_project: impl FnOnce() -> bool) -> Option<String> {
    let others = match scope {
        ScopeRule::All => return None,
        ScopeRule::ProjectFirst => ", at other projects only where the evidence is strong",
        ScopeRule::Project => ", at no other project",
    };
    let cwd = cwd.display();
    Some(if is_project() {
        format!("Only the project of {cwd} was looked at{others}")
    } else {
        format!("{cwd} is no project: only what belongs to none was looked at{others}")
    })
}

fn of_daemon(reply: &RecallReply) -> Value {
    json!({
        "context": reply.context,
        "reason": reply.reason,
        "shown": reply.shown.iter().map(|shown| json!({
            "id": shown.id,
            "score": shown.score,
            "project": shown.project,
            "shared_by": shown.shared_by,
        })).collect::<Vec<_>>(),
        "stages": reply.stages,
        "daemon": true,
    })
}

/// The model, where it is wanted though no daemon runs.
pub(super) fn model_if(wanted: bool, config: &Config) -> Result<Option<BertEmbedder>, CliError> {
    let load = || embedder::load(config.model_dir.as_deref(), config.device);
    let model = wanted.then(load).transpose();
    model.map_err(|error| CliError::new(Kind::Failed, with_causes(&error)))
}

/// What a prompt is answered with where no daemon runs.
pub(super) fn offline<'a>(surroundings: &'a Surroundings, reader: &'a Reader, model: Option<&'a BertEmbedder>) -> Offline<'a> {
    Offline {
        reader,
        model,
        settings: &surroundings.config.recall,
        exclusions: Exclusions::of_settings(&surroundings.config.transcripts.exclude),
        folders: Folders::new(Some(surroundings.home.clone())),
    }
}

fn without_daemon(arguments: &RecallArguments, surroundings: &Surroundings, request: &RecallRequest) -> Result<Value, CliError> {
    let config = &surroundings.config;
    let model = model_if(arguments.embed, config)?;
    let reader = ask::reader(surroundings)?;
    Ok(match offline(surroundings, &reader, model.as_ref()).recall(request)? {
        Ok(recall) => of_recall(&recall),
        Err(reason) => json!({
            "context": "",
            "reason": reason.as_str(),
            "shown": [],
            "stages": [],
            "degradations": [],
            "daemon": false,
        }),
    })
}

fn of_recall(recall: &Recall) -> Value {
    json!({
        "context": recall.context,
        "reason": recall.silence.map(Silence::as_str),
        "shown": recall.recollections.iter().map(|chosen| json!({
            "id": chosen.episode.uid.short(),
            "score": chosen.score,
            "project": chosen.episode.project_name.as_deref().map(redact),
            "shared_by": Sharer::of(chosen.episode.shared_by.as_ref()),
        })).collect::<Vec<_>>(),
        "stages": recall.log.stages.iter().map(|(name, micros)| json!({"name": name, "micros": micros})).collect::<Vec<_>>(),
        "degradations": recall.log.degradations,
        "daemon": false,
    })
}

#[cfg(test)]
mod tests {
    use remembrancer_hooks::protocol::Shown;
    use rstest::rstest;

    use super::*;

    #[test]
    fn what_a_prompt_is_reminded_of_says_who_shared_it() {
        let shown = |shared_by: Option<Value>| Shown {
            id: "1f2e3d4c".to_owned(),
            score: Some(0.5),
            project: None,
            shared_by,
        };
        let by = json!({"member": "bob", "machine": "den", "own": false});
        let reply = RecallReply {
            shown: vec![shown(Some(by.clone())), shown(None)],
            ..RecallReply::nothing("none")
        };
        let told = of_daemon(&reply);
        assert_eq!(
            (&told["shown"][0]["shared_by"], &told["shown"][1]["shared_by"]),
            (&by, &Value::Null)
        );
        assert_eq!(
            told["shown"][1],
            json!({"id": "1f2e3d4c", "score": 0.5, "project": null, "shared_by": null})
        );
    }

    #[rstest]
    #[case::own_first(ScopeRule::ProjectFirst, true, Some("Only the project of /srv/x was looked at, at other"))]
    #[case::own_alone(ScopeRule::Project, true, Some("Only the project of /srv/x was looked at, at no"))]
    #[case::none(ScopeRule::ProjectFirst, false, Some("/srv/x is no project: "))]
    #[case::all(ScopeRule::All, true, None)]
    fn where_it_was_looked_is_told(#[case] scope: ScopeRule, #[case] is_project: bool, #[case] expected: Option<&str>) {
        let told = looked_at(scope, Path::new("/srv/x"), || is_project);
        assert_eq!(told.is_some(), expected.is_some());
        assert!(told.unwrap_or_default().starts_with(expected.unwrap_or_default()));
    }
}
