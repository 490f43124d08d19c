//! What commands, the MCP server and the page of `serve` do alike: each asks the daemon or, where none runs, does the same on the store
//! itself ([`here`]). A request comes in, what `--json` prints goes out; nothing is printed here but that a model can't be loaded.

use remembrancer_hooks::protocol::{
    ExplainRequest, ForgetTarget, Request, SearchRequest, SessionsRequest, Steering, TimelineRequest,
};
use remembrancer_processor::recall::Degradation;
use serde_json::Value;

use super::ask;
use super::error::{CliError, Kind};
use super::recall::{model_if, offline};
use super::surroundings::Surroundings;
use crate::causes::with_causes;
use crate::cli::output::complain;
use crate::control::{self, ControlError, NewFact};
use crate::exclusions::Exclusions;
use crate::explanation::Explanation;
use crate::project::Folders;
use crate::{clock, embedder};

/// What `request` comes to where no daemon runs, with no model: by words alone.
///
/// # Errors
/// What the store says; that a request needs a daemon.
pub(crate) fn here(surroundings: &Surroundings, request: &Request) -> Result<Value, CliError> {
    let reader = || ask::reader(surroundings);
    Ok(match request {
        Request::Status => control::store_status(&reader()?, clock::now())?,
        Request::Search(request) => control::search_offline(&reader()?, Err(Degradation::NoModel), request, clock::now())?,
        Request::Timeline(request) => control::timeline(&reader()?, request)?,
        Request::Sessions(request) => control::sessions(&reader()?, request)?,
        Request::Session { id, after } => control::session(&reader()?, id, after.as_deref())?,
        Request::Show { id } => {
            let shown = control::show(&reader()?, id)?;
            let transcript = shown.origin.look();
            shown.with(transcript)
        }
        Request::Explanations { session, limit } => control::explanations(&reader()?, session.as_deref(), *limit)?,
        Request::Explain(request) if request.prompt.is_some() => explain_here(surroundings, request, false)?,
        Request::Explain(request) => written(&control::explain(&reader()?, request)?)?,
        Request::Remember { text, project } => remember_here(surroundings, text, project.as_deref())?,
        Request::Steer { how, ids } => steer_here(surroundings, *how, ids)?,
        Request::Forget { target } => forget_here(surroundings, target)?,
        Request::PauseSharing => pause_sharing_here(surroundings, true)?,
        Request::ResumeSharing => pause_sharing_here(surroundings, false)?,
        Request::ShareLeave => leave_sharing_here(surroundings)?,
        _ => return Err(CliError::new(Kind::Daemon, "no daemon runs, and this needs one")),
    })
}

fn act(surroundings: &Surroundings, request: &Request) -> Result<Value, CliError> {
    ask::or_here(surroundings, request, || here(surroundings, request))
}

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
    act(surroundings, &Request::Show { id: id.to_owned() })
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
    act(surroundings, &request)
}

/// A page of turns by time.
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn timeline(surroundings: &Surroundings, request: &TimelineRequest) -> Result<Value, CliError> {
    act(surroundings, &Request::Timeline(request.clone()))
}

/// A page of sessions, the one last at work first.
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn sessions(surroundings: &Surroundings, request: &SessionsRequest) -> Result<Value, CliError> {
    act(surroundings, &Request::Sessions(request.clone()))
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
    act(surroundings, &request)
}

fn remember_here(surroundings: &Surroundings, text: &str, project: Option<&str>) -> Result<Value, CliError> {
    let exclusions = Exclusions::of_settings(&surroundings.config.transcripts.exclude);
    let fact = NewFact::new(&Folders::new(Some(surroundings.home.clone())), text, project)?;
    let (_single, mut writer) = ask::writer(surroundings)?;
    control::may_remember(&ask::reader(surroundings)?, &exclusions, &fact, clock::now())?;
    Ok(control::remember(&mut writer, &fact, clock::now())?)
}

/// What a fact would come to, as far as that can be told before it is stored. It is looked at here, daemon or not.
///
/// # Errors
/// Where a daemon runs that has another memory; where it would not be remembered, or in a folder that is not there.
pub(crate) fn would_remember(surroundings: &Surroundings, text: &str, project: Option<&str>) -> Result<Value, CliError> {
    ask::daemon_of_this_memory(surroundings)?;
    let exclusions = Exclusions::of_settings(&surroundings.config.transcripts.exclude);
    let folders = Folders::new(Some(surroundings.home.clone()));
    let fact = NewFact::new(&folders, text, project)?;
    let reader = ask::reader(surroundings)?;
    control::may_remember(&reader, &exclusions, &fact, clock::now())?;
    if project.is_some_and(|folder| control::is_gone(&folders, folder)) {
        control::refuse_nowhere(&reader, &fact)?;
    }
    Ok(fact.told())
}

/// Decides of single memories.
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn steer(surroundings: &Surroundings, how: Steering, ids: &[String]) -> Result<Value, CliError> {
    act(surroundings, &Request::Steer { how, ids: ids.to_vec() })
}

fn steer_here(surroundings: &Surroundings, how: Steering, ids: &[String]) -> Result<Value, CliError> {
    let (_single, mut writer) = ask::writer(surroundings)?;
    let targets = control::steer_targets(&ask::reader(surroundings)?, how, ids)?;
    let done = control::steer(&mut writer, &targets, how, clock::now())?;
    if how == Steering::Mute {
        ask::empty_files(surroundings)?;
    }
    Ok(done)
}

/// What would be deleted, and a digest by which the same turns are known again. It is read here, daemon or not, so that it has to be
/// the memory that the daemon has.
///
/// # Errors
/// Where a daemon runs that has another memory; what the store says.
pub(crate) fn forget_preview(surroundings: &Surroundings, target: &ForgetTarget) -> Result<(Value, [u8; 32]), CliError> {
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
    act(surroundings, &Request::Forget { target: target.clone() })
}

fn forget_here(surroundings: &Surroundings, target: &ForgetTarget) -> Result<Value, CliError> {
    let (_single, mut writer) = ask::writer(surroundings)?;
    let target = control::forget_target(&ask::reader(surroundings)?, target.clone())?;
    let mut done = control::forget(&mut writer, &target, clock::now())?;
    ask::empty_files(surroundings)?;
    // Nobody has looked for what was written since the daemon ran last.
    done["caught_up"] = false.into();
    Ok(done)
}

/// Stops sharing for now, or goes on with it.
///
/// # Errors
/// Where this memory is not shared; what the daemon or the store says.
#[cfg(feature = "share")]
pub(crate) fn pause_sharing(surroundings: &Surroundings, paused: bool) -> Result<Value, CliError> {
    let request = if paused {
        Request::PauseSharing
    } else {
        Request::ResumeSharing
    };
    act(surroundings, &request)
}

fn pause_sharing_here(surroundings: &Surroundings, paused: bool) -> Result<Value, CliError> {
    control::refuse_unless_shared(&ask::reader(surroundings)?)?;
    let (_single, mut writer) = ask::writer(surroundings)?;
    Ok(control::pause_sharing(&mut writer, paused)?)
}

/// Stops sharing: what others shared goes from the memory, and what it shared is taken back as soon as the shared store is reached.
///
/// # Errors
/// Where this memory is not shared; what the daemon or the store says.
#[cfg(feature = "share")]
pub(crate) fn leave_sharing(surroundings: &Surroundings) -> Result<Value, CliError> {
    act(surroundings, &Request::ShareLeave)
}

fn leave_sharing_here(surroundings: &Surroundings) -> Result<Value, CliError> {
    control::refuse_unless_shared(&ask::reader(surroundings)?)?;
    let (_single, mut writer) = ask::writer(surroundings)?;
    let done = control::leave_sharing(&mut writer)?;
    ask::empty_files(surroundings)?;
    Ok(done)
}

/// How the answer to a prompt came about: of a logged one, or of one that is put now (where no daemon runs by words alone, unless
/// `embed` has the model loaded).
///
/// # Errors
/// What the daemon or the store says.
pub(crate) fn explain(surroundings: &Surroundings, request: &ExplainRequest, embed: bool) -> Result<Value, CliError> {
    let asked = Request::Explain(request.clone());
    ask::or_here(surroundings, &asked, || {
        if embed && request.prompt.is_some() {
            return explain_here(surroundings, request, embed);
        }
        here(surroundings, &asked)
    })
}

fn explain_here(surroundings: &Surroundings, request: &ExplainRequest, embed: bool) -> Result<Value, CliError> {
    let model = model_if(embed, &surroundings.config)?;
    let reader = ask::reader(surroundings)?;
    let Some(recall) = control::recall_of(request) else {
        return Err(CliError::new(Kind::Usage, "there is no prompt to explain"));
    };
    let outcome = offline(surroundings, &reader, model.as_ref()).recall(&recall)?;
    let settings = control::in_scope(&surroundings.config.recall, request.all_projects);
    let outcome = outcome.as_ref().map_err(|reason| *reason);
    written(&control::explain_now(&reader, request, outcome, &settings, None)?)
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
    act(surroundings, &request)
}
