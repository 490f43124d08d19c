//! `remembrancer recall`: what a prompt would be reminded of. Asks the daemon or, where none runs, reads the store without
//! changing it: by words alone, unless told to embed.

use std::path::{Path, PathBuf};
use std::sync::RwLock;
use std::time::Duration;

use clap::Args;
use remembrancer_hooks::clock::{Deadline as WireDeadline, monotonic_ns};
use remembrancer_hooks::protocol::{RecallReply, RecallRequest, Reply, Request};
use remembrancer_hooks::recollection_file::{prompt_hash, prompt_hash_hex};
use remembrancer_processor::Deadline;
use remembrancer_processor::embed::{BertEmbedder, Embed};
use remembrancer_processor::recall::{
    CodeIndex, Degradation, Header, Query, Question, Recall, RecallSettings, ScopeRule, SessionState, Silence, Sources, recall,
};
use remembrancer_schema::{Pause, ProjectId, Reader, SessionKey};
use serde_json::{Value, json};

use super::ask;
use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use crate::cli::output::{say, tell};
use crate::{clock, project};

/// Time for a recall without a daemon: nobody waits to type.
const PATIENCE: Duration = Duration::from_secs(30);

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
        cwd: Some(super::steer::absolute(&cwd)?),
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
    ask::print(&answer, arguments.json, |answer| {
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

fn without_daemon(arguments: &RecallArguments, surroundings: &Surroundings, request: &RecallRequest) -> Result<Value, CliError> {
    let reader = ask::reader(surroundings)?;
    if let Some(reason) = kept_still(&reader, request, surroundings)? {
        return Ok(json!({"context": "", "reason": reason, "shown": [], "stages": [], "degradations": [], "daemon": false}));
    }
    let model = if arguments.embed { Some(model(surroundings)?) } else { None };
    let settings = RecallSettings {
        scope: if arguments.all_projects {
            ScopeRule::All
        } else {
            surroundings.config.recall.scope
        },
        ..surroundings.config.recall.clone()
    };
    let recall = recall_offline(&reader, model.as_ref(), request, &settings, surroundings)?;
    Ok(json!({
        "context": recall.context,
        "reason": recall.silence.map(Silence::as_str),
        "shown": recall.recollections.iter().map(|chosen| json!({
            "id": chosen.episode.uid.short(),
            "score": chosen.score,
            "project": chosen.episode.project_name,
        })).collect::<Vec<_>>(),
        "stages": recall.log.stages.iter().map(|(name, micros)| json!({"name": name, "micros": micros})).collect::<Vec<_>>(),
        "degradations": recall.log.degradations,
        "daemon": false,
    }))
}

/// Why nothing is recalled here and now, by the user's own will: as the daemon does.
fn kept_still(reader: &Reader, request: &RecallRequest, surroundings: &Surroundings) -> Result<Option<&'static str>, CliError> {
    let paused = match reader.paused()? {
        None => false,
        Some(Pause::Indefinite) => true,
        Some(Pause::Until(until)) => clock::now() < until,
    };
    if paused {
        return Ok(Some("paused"));
    }
    let cwd = Path::new(request.cwd.as_deref().unwrap_or_default());
    let by_user = reader.exclusions()?.iter().any(|path| cwd.starts_with(path));
    let by_settings = surroundings
        .config
        .transcripts
        .exclude
        .iter()
        .any(|path| cwd.starts_with(path));
    Ok((by_user || by_settings).then_some("excluded"))
}

fn model(surroundings: &Surroundings) -> Result<BertEmbedder, CliError> {
    let loaded = match &surroundings.config.model_dir {
        None => BertEmbedder::embedded_on(surroundings.config.device),
        Some(folder) => BertEmbedder::from_dir(folder, surroundings.config.device),
    };
    loaded.map_err(|error| CliError::new(Kind::Failed, error))
}

fn recall_offline(
    reader: &Reader,
    model: Option<&BertEmbedder>,
    request: &RecallRequest,
    settings: &RecallSettings,
    surroundings: &Surroundings,
) -> Result<Recall, CliError> {
    let mut codes = CodeIndex::new(model.map_or(0, Embed::dimension));
    if model.is_some() {
        reader.for_each_code(|id, project, code| codes.insert(id, project, code))?;
    }
    let question = Question {
        session: SessionKey {
            agent: request.agent.clone(),
            external_id: request.session.clone(),
        },
        project: project_of(reader, request, surroundings)?,
        query: Query::of(&request.prompt),
        logged_hash: [0; 32],
        header: Header {
            prompt_hash: prompt_hash_hex(&prompt_hash(&request.session, &request.prompt)),
            written: clock::now(),
        },
        now: clock::now(),
    };
    let sources = Sources {
        reader,
        codes: &RwLock::new(codes),
        model_id: model.map_or("", |model| model.model_id()),
        embedding: &mut |_| match model {
            None => Err(Degradation::NoModel),
            Some(model) => model
                .embed_query(&question.query.text)
                .map_err(|_| Degradation::EmbeddingFailed),
        },
        reranker: None,
    };
    Ok(recall(
        &question,
        &SessionState::default(),
        sources,
        settings,
        Deadline::after(PATIENCE),
    ))
}

fn project_of(reader: &Reader, request: &RecallRequest, surroundings: &Surroundings) -> Result<Option<ProjectId>, CliError> {
    let cwd = request.cwd.as_deref().unwrap_or_default();
    Ok(project::known(reader, cwd, Some(&surroundings.home))?)
}
