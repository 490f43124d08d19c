//! `remembrancer recall`: what a prompt would be reminded of. Asks the daemon or, where none runs, reads the store without
//! changing it: by words alone, unless told to embed.

use std::path::PathBuf;

use clap::Args;
use remembrancer_hooks::clock::{Deadline as WireDeadline, monotonic_ns};
use remembrancer_hooks::protocol::{RecallReply, RecallRequest, Reply, Request};
use remembrancer_processor::embed::BertEmbedder;
use remembrancer_processor::ingest::redact;
use remembrancer_processor::recall::{Recall, Silence};
use serde_json::{Value, json};

use super::ask;
use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use crate::causes::with_causes;
use crate::cli::output::{say, tell};
use crate::config::Config;
use crate::control::Offline;
use crate::embedder;
use crate::exclusions::Exclusions;
use crate::project::Folders;

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
            if !arguments.all_projects {
                say!(
                    "(Looked at the project of {}; --all-projects looks at all alike.)",
                    cwd.display()
                );
            }
        }
        for degradation in answer["degradations"].as_array().into_iter().flatten() {
            say!("(degraded: {})", degradation.as_str().unwrap_or_default());
        }
    });
    Ok(())
}

fn of_daemon(reply: &RecallReply) -> Value {
    json!({
        "context": reply.context,
        "reason": reply.reason,
        "shown": reply.shown,
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

fn without_daemon(arguments: &RecallArguments, surroundings: &Surroundings, request: &RecallRequest) -> Result<Value, CliError> {
    let config = &surroundings.config;
    let model = model_if(arguments.embed, config)?;
    let offline = Offline {
        reader: &ask::reader(surroundings)?,
        model: model.as_ref(),
        settings: &config.recall,
        exclusions: Exclusions::of_settings(&config.transcripts.exclude),
        folders: Folders::new(Some(surroundings.home.clone())),
    };
    Ok(match offline.recall(request)? {
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
        })).collect::<Vec<_>>(),
        "stages": recall.log.stages.iter().map(|(name, micros)| json!({"name": name, "micros": micros})).collect::<Vec<_>>(),
        "degradations": recall.log.degradations,
        "daemon": false,
    })
}
