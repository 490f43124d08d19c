//! What commands and the MCP server do alike: each asks the daemon or, where none runs, does the same on the store itself. A request
//! comes in, what `--json` prints goes out; nothing is printed here but that a model can't be loaded.

use remembrancer_hooks::protocol::{ExplainRequest, ForgetTarget, Request, SearchRequest, SessionsRequest, TimelineRequest};
use remembrancer_processor::recall::Degradation;
use serde_json::Value;

use super::ask;
use super::error::{CliError, Kind};
use super::recall::model_if;
use super::surroundings::Surroundings;
use crate::causes::with_causes;
use crate::cli::output::complain;
use crate::control::{self, ControlError, NewFact, Offline};
use crate::exclusions::Exclusions;
use crate::explanation::Explanation;
use crate::project::Folders;
use crate::{clock, embedder};

/// What is remembered that fits some words, best first.
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn search(surroundings: &Surroundings, request: &SearchRequest) -> Result<Value, CliError> {
    ask::or_here(surroundings, &Request::Search(request.clone()), || {
        search_here(surroundings, request)
    })
}

fn search_here(surroundings: &Surroundings, request: &SearchRequest) -> Result<Value, CliError> {
    let reader = ask::reader(surroundings)?;
    let config = &surroundings.config;
    let loaded = control::to_embed(request).map(|_| embedder::load(config.model_dir.as_deref(), config.device));
    let model = match &loaded {
        Some(Ok(model)) => Ok(model),
        Some(Err(error)) => {
            complain!("(the model can't be loaded: {})", with_causes(error));
            Err(Degradation::NoModel)
        }
        None => Err(Degradation::NoModel),
    };
    Ok(control::search_offline(&reader, model, request, clock::now())?)
}

/// The whole of one episode.
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn show(surroundings: &Surroundings, id: &str) -> Result<Value, CliError> {
    ask::or_here(surroundings, &Request::Show { id: id.to_owned() }, || {
        let shown = control::show(&ask::reader(surroundings)?, id)?;
        let transcript = shown.origin.look();
        Ok(shown.with(transcript))
    })
}

/// Turns of a session in order and in full, from where an earlier reply ended.
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn session(surroundings: &Surroundings, id: &str, after: Option<&str>) -> Result<Value, CliError> {
    let request = Request::Session {
        id: id.to_owned(),
        after: after.map(str::to_owned),
    };
    ask::or_here(surroundings, &request, || {
        Ok(control::session(&ask::reader(surroundings)?, id, after)?)
    })
}

/// A page of turns by time.
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn timeline(surroundings: &Surroundings, request: &TimelineRequest) -> Result<Value, CliError> {
    ask::or_here(surroundings, &Request::Timeline(request.clone()), || {
        Ok(control::timeline(&ask::reader(surroundings)?, request)?)
    })
}

/// A page of sessions, the one last at work first.
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn sessions(surroundings: &Surroundings, request: &SessionsRequest) -> Result<Value, CliError> {
    ask::or_here(surroundings, &Request::Sessions(request.clone()), || {
        Ok(control::sessions(&ask::reader(surroundings)?, request)?)
    })
}

/// Remembers a fact, of the project of a folder or of all.
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn remember(surroundings: &Surroundings, text: &str, project: Option<&str>) -> Result<Value, CliError> {
    let request = Request::Remember {
        text: text.to_owned(),
        project: project.map(str::to_owned),
    };
    ask::or_here(surroundings, &request, || {
        let exclusions = Exclusions::of_settings(&surroundings.config.transcripts.exclude);
        let fact = NewFact::new(&Folders::new(Some(surroundings.home.clone())), text, project)?;
        let (_single, mut writer) = ask::writer(surroundings)?;
        control::may_remember(&ask::reader(surroundings)?, &exclusions, &fact, clock::now())?;
        Ok(control::remember(&mut writer, &fact, clock::now())?)
    })
}

/// What would be deleted, and a digest by which the same turns are known again. It is read here, daemon or not, so that it has to be
/// the memory that the daemon has.
///
/// # Errors
/// Where a daemon runs that has another memory; what the store says.
pub(crate) fn forget_preview(surroundings: &Surroundings, target: &ForgetTarget) -> Result<(Value, String), CliError> {
    ask::daemon_of_this_memory(surroundings)?;
    let reader = ask::reader(surroundings)?;
    let target = control::forget_target(&reader, target.clone())?;
    Ok(control::forget_preview(&reader, &target)?)
}

/// Deletes for good.
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn forget(surroundings: &Surroundings, target: &ForgetTarget) -> Result<Value, CliError> {
    ask::or_here(surroundings, &Request::Forget { target: target.clone() }, || {
        let (_single, mut writer) = ask::writer(surroundings)?;
        let target = control::forget_target(&ask::reader(surroundings)?, target.clone())?;
        let mut done = control::forget(&mut writer, &target, clock::now())?;
        ask::empty_files(surroundings)?;
        // Nobody has looked for what was written since the daemon ran last.
        done["caught_up"] = false.into();
        Ok(done)
    })
}

/// How the answer to a prompt came about: of a logged one, or of one that is put now (where no daemon runs by words alone, unless
/// `embed` has the model loaded).
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn explain(surroundings: &Surroundings, request: &ExplainRequest, embed: bool) -> Result<Value, CliError> {
    ask::or_here(surroundings, &Request::Explain(request.clone()), || {
        if request.prompt.is_some() {
            return explain_now(surroundings, request, embed);
        }
        written(&control::explain(&ask::reader(surroundings)?, request)?)
    })
}

fn explain_now(surroundings: &Surroundings, request: &ExplainRequest, embed: bool) -> Result<Value, CliError> {
    let config = &surroundings.config;
    let model = model_if(embed, config)?;
    let offline = Offline {
        reader: &ask::reader(surroundings)?,
        model: model.as_ref(),
        settings: &config.recall,
        exclusions: Exclusions::of_settings(&config.transcripts.exclude),
        folders: Folders::new(Some(surroundings.home.clone())),
    };
    let Some(recall) = control::recall_of(request) else {
        return Err(CliError::new(Kind::Usage, "there is no prompt to explain"));
    };
    let outcome = offline.recall(&recall)?;
    let settings = control::in_scope(&config.recall, request.all_projects);
    let outcome = outcome.as_ref().map_err(|reason| *reason);
    written(&control::explain_now(offline.reader, request, outcome, &settings, None)?)
}

fn written(explanation: &Explanation) -> Result<Value, CliError> {
    Ok(serde_json::to_value(explanation).map_err(ControlError::from)?)
}

/// The prompts that can be explained, latest first.
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn explanations(surroundings: &Surroundings, session: Option<&str>, limit: Option<u32>) -> Result<Value, CliError> {
    let request = Request::Explanations {
        session: session.map(str::to_owned),
        limit,
    };
    ask::or_here(surroundings, &request, || {
        Ok(control::explanations(&ask::reader(surroundings)?, session, limit)?)
    })
}
