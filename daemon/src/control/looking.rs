//! What all looks into the memory share: what narrows them, where a list goes on, and how a turn stands in one.

use remembrancer_hooks::protocol::Narrowing;
use remembrancer_processor::ingest::{Agent, redact, redact_folder};
use remembrancer_schema::{EpisodeFilter, EpisodeId, ProjectId, Reader, TurnPlace, TurnRow, UnixMillis};
use serde_json::{Value, json};

use super::{ControlError, first_line_within, rfc3339};
use crate::whose::Sharer;

/// Characters of a line that stands for a text.
pub(super) const LONGEST_LINE: usize = 200;

/// Which episodes a request is about.
///
/// # Errors
/// [`ControlError::Unknown`] where no such project or agent is known, [`ControlError::Senseless`] where no time lies between its
/// times; the store's error.
pub(super) fn filter(reader: &Reader, narrowing: &Narrowing) -> Result<EpisodeFilter, ControlError> {
    if let (Some(since), Some(until)) = (narrowing.since_ms, narrowing.until_ms)
        && since >= until
    {
        return Err(ControlError::Senseless(
            "what is asked for begins no earlier than it ends: no time lies between".to_owned(),
        ));
    }
    Ok(EpisodeFilter {
        project: narrowing.project.as_deref().map(|name| project(reader, name)).transpose()?,
        agent: narrowing.agent.as_deref().map(agent).transpose()?,
        since: narrowing.since_ms.map(UnixMillis),
        until: narrowing.until_ms.map(UnixMillis),
    })
}

fn agent(id: &str) -> Result<String, ControlError> {
    let known: Vec<&str> = Agent::ALL.iter().map(|agent| agent.id()).collect();
    if known.contains(&id) {
        return Ok(id.to_owned());
    }
    Err(ControlError::Unknown(format!(
        "no agent is called {id}; they are {}",
        known.join(", ")
    )))
}

/// A project as the store tells it: its name, and its root folder if it has one.
type KnownProject = (ProjectId, String, Option<String>);

/// The project of a name or a root; of a folder below roots that of the nearest.
fn project(reader: &Reader, name: &str) -> Result<ProjectId, ControlError> {
    let stored_root = redact_folder(name);
    let all = reader.projects()?;
    let below = |root: &str| std::path::Path::new(&*stored_root).starts_with(root);
    match named(&all, name)[..] {
        [one] => Ok(one),
        [] => all
            .iter()
            .filter_map(|(id, _, root)| Some((root.as_deref().filter(|root| below(root))?.len(), *id)))
            .max()
            .map(|(_, id)| id)
            .ok_or_else(|| ControlError::Unknown(format!("no project is named {name:?}, or has that folder"))),
        [_, _, ..] => Err(several(name, &all)),
    }
}

/// The projects that have this name or this root folder.
pub(super) fn named(all: &[KnownProject], name: &str) -> Vec<ProjectId> {
    let (stored_name, stored_root) = (redact(name), redact_folder(name));
    let is_named = |(_, known, root): &&KnownProject| *known == stored_name || root.as_deref() == Some(&*stored_root);
    all.iter().filter(is_named).map(|(id, _, _)| *id).collect()
}

/// Those of all that have this name, whatever their folder.
fn called<'a>(all: &'a [KnownProject], name: &str) -> Vec<&'a KnownProject> {
    let stored_name = redact(name);
    all.iter().filter(|(_, known, _)| *known == stored_name).collect()
}

/// The root folder of the project of a name; none where no project has it, or where it has no folder.
///
/// # Errors
/// Where several have that name; the store's.
pub(crate) fn root_of(reader: &Reader, name: &str) -> Result<Option<String>, ControlError> {
    let all = reader.projects()?;
    match called(&all, name)[..] {
        [] => Ok(None),
        [(_, _, root)] => Ok(root.clone()),
        [_, _, ..] => Err(several(name, &all)),
    }
}

/// That a name is that of several of `all`, and by which folders they are told from each other.
pub(super) fn several(name: &str, all: &[KnownProject]) -> ControlError {
    let roots = called(all, name).into_iter();
    let roots: Vec<&str> = roots.filter_map(|(_, _, root)| root.as_deref()).collect();
    ControlError::Unknown(format!(
        "several projects are named {name}; give the root folder of one: {}",
        roots.join(", ")
    ))
}

/// How many are given: what was asked for, or `usual`, and never more than `most`.
pub(super) fn bounded(asked: Option<u32>, usual: usize, most: usize) -> usize {
    asked.map_or(usual, |asked| asked as usize).clamp(1, most)
}

/// A place as a reply names it.
pub(super) fn cursor(place: TurnPlace) -> String {
    format!("{}-{}", place.at.0, place.id)
}

/// The place that a reply named.
///
/// # Errors
/// [`ControlError::Senseless`] where none did.
pub(super) fn place(cursor: &str) -> Result<TurnPlace, ControlError> {
    let read = || {
        let (at, id) = cursor.rsplit_once('-')?;
        Some(TurnPlace {
            at: UnixMillis(at.parse().ok()?),
            id: EpisodeId(id.parse().ok()?),
        })
    };
    read().ok_or_else(|| ControlError::Senseless(format!("{cursor:?} is no place at which a reply ended")))
}

/// A turn as it stands in a list.
pub(super) fn turn_json(turn: &TurnRow) -> Value {
    json!({
        "id": turn.uid.short(),
        "at": rfc3339(turn.place.at),
        "place": cursor(turn.place),
        "agent": turn.session.agent,
        "session": redact(&turn.session.external_id),
        "project": turn.project_name.as_deref().map(redact),
        "origin": turn.origin.as_str(),
        "hidden": turn.hidden,
        "parts": turn.parts,
        "asked": line(&turn.prompt),
        "answered": turn.answer.as_deref().map(line),
        "shared_by": Sharer::of(turn.shared_by.as_ref()),
    })
}

/// The first line of a text that holds anything, fit to be shown.
pub(super) fn line(text: &str) -> String {
    first_line_within(text, LONGEST_LINE)
}

#[cfg(test)]
mod tests;
